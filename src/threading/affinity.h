/* In which order a pool's threads take CPUs. */
#ifndef SRC_THREADING_AFFINITY_H
#define SRC_THREADING_AFFINITY_H

#include <stdbool.h>

#include "arch/topology.h"
#include "neoprene/threadpool.h"

/* The mode that NEOPRENE_AFFINITY names; NEO_AFFINITY_NONE if it is not set or names none. */
neo_affinity affinity_from_environment(void);

/* Where a pool starts and how far its nodes are from each other; all pure data for the tests. */
struct affinity_machine {
    int first_node;
    int (*distance)(int node, int other); /* NULL: all nodes are equally far */
};

/* This machine's; starts at the node on which the caller runs. */
struct affinity_machine affinity_this_machine(void);

/* Fills order[0 … t->count - 1] with indices into t->cpus, the first thread's first. Little cores
 * and second threads of a core come last. mode is compact or spread. False: no memory. */
bool affinity_order(int *order, const struct topology *t, neo_affinity mode,
                    const struct affinity_machine *machine);

#endif
