/* Pages of one NUMA node, and pages dealt out over all nodes. */
#include <sys/mman.h>

#include "arch/nodes.h"
#include "src/memory/kinds/kinds.h"
#include "src/memory/kinds/mapping.h"

/* The pages are not there yet, so the policy decides where the first touch puts them. */
static neo_status obtain(struct allocation_need *need, struct allocation *out,
                         enum nodes_policy policy, const struct nodes *nodes, const char **why_not)
{
    struct mapping range;
    if (!mapping_create(&range, need->bytes, need->alignment, PROT_READ | PROT_WRITE))
        return NEO_OUT_OF_MEMORY;
    if (!nodes_set_policy(range.base, range.bytes, policy, nodes)) {
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
    struct nodes all, one = {{0}};
    int node = need->request->node;
    bool has_nodes = nodes_allowed(&all);
    if (!has_nodes || !nodes_have(&all, node)) {
        *why_not = has_nodes ? "there is no such NUMA node with memory"
                             : "this system has no NUMA support";
        return NEO_UNSUPPORTED;
    }
    nodes_add(&one, node);
    neo_status status = obtain(need, out, NODES_BIND, &one, why_not);
    out->node = status == NEO_OK ? node : -1;
    return status;
}

static neo_status interleaved_obtain(struct allocation_need *need, struct allocation *out,
                                     const char **why_not)
{
    struct nodes all;
    if (!nodes_allowed(&all)) {
        *why_not = "this system has no NUMA support";
        return NEO_UNSUPPORTED;
    }
    return obtain(need, out, NODES_INTERLEAVE, &all, why_not);
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
