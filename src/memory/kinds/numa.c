/* Pages of one NUMA node, and pages dealt out over all nodes. */
#include <numa.h>
#include <numaif.h>
#include <sys/mman.h>

#include "src/memory/kinds/kinds.h"
#include "src/memory/kinds/mapping.h"

/* The pages are not there yet, so the policy decides where the first touch puts them. */
static neo_status obtain(struct allocation_need *need, struct allocation *out, int policy,
                         const struct bitmask *nodes, const char **why_not)
{
    struct mapping range;
    if (!mapping_create(&range, need->bytes, need->alignment, PROT_READ | PROT_WRITE))
        return NEO_OUT_OF_MEMORY;
    if (mbind(range.base, range.bytes, policy, nodes->maskp, nodes->size + 1, 0)) {
        mapping_destroy(&range);
        *why_not = "the kernel refuses the NUMA policy";
        return NEO_UNSUPPORTED;
    }
    mapping_give(&range, out);
    return NEO_OK;
}

static neo_status bound_obtain(struct allocation_need *need, struct allocation *out,
                               const char **why_not)
{
    int node = need->request->node;
    if (numa_available() < 0 || node > numa_max_node() ||
        !numa_bitmask_isbitset(numa_all_nodes_ptr, (unsigned)node)) {
        *why_not = numa_available() < 0 ? "this system has no NUMA support"
                                        : "there is no such NUMA node with memory";
        return NEO_UNSUPPORTED;
    }
    struct bitmask *nodes = numa_allocate_nodemask();
    if (!nodes)
        return NEO_OUT_OF_MEMORY;
    numa_bitmask_setbit(nodes, (unsigned)node);
    neo_status status = obtain(need, out, MPOL_BIND, nodes, why_not);
    numa_free_nodemask(nodes);
    out->node = status == NEO_OK ? node : -1;
    return status;
}

static neo_status interleaved_obtain(struct allocation_need *need, struct allocation *out,
                                     const char **why_not)
{
    if (numa_available() < 0) {
        *why_not = "this system has no NUMA support";
        return NEO_UNSUPPORTED;
    }
    return obtain(need, out, MPOL_INTERLEAVE, numa_all_nodes_ptr, why_not);
}

const struct kind_operations kind_numa_bound = {
    .obtain = bound_obtain,
    .release = mapping_release,
    .has_pages = true,
    .is_zeroed = true,
};

const struct kind_operations kind_numa_interleaved = {
    .obtain = interleaved_obtain,
    .release = mapping_release,
    .has_pages = true,
    .is_zeroed = true,
};
