/* In place of libnuma in static programs for the cycle simulator, whose system calls know no
 * nodes: there is no NUMA, and nothing else is asked then. */
#include <errno.h>
#include <numa.h>
#include <numaif.h>

struct bitmask *numa_all_nodes_ptr;

int numa_available(void)
{
    return -1;
}

int numa_max_node(void)
{
    return 0;
}

int numa_distance(int from, int to)
{
    return from == to ? 10 : 20;
}

int numa_bitmask_isbitset(const struct bitmask *mask, unsigned int node)
{
    (void)mask, (void)node;
    return 0;
}

struct bitmask *numa_allocate_nodemask(void)
{
    return NULL;
}

struct bitmask *numa_bitmask_setbit(struct bitmask *mask, unsigned int node)
{
    (void)node;
    return mask;
}

void numa_bitmask_free(struct bitmask *mask)
{
    (void)mask;
}

long mbind(void *start, unsigned long bytes, int mode, const unsigned long *nodes,
           unsigned long most, unsigned flags)
{
    (void)start, (void)bytes, (void)mode, (void)nodes, (void)most, (void)flags;
    errno = ENOSYS;
    return -1;
}
