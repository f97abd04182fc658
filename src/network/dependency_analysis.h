/* What follows from a dependency graph: who happens before whom, and what comes after all users of
 * a buffer. Shared by the questions of dependency.c. */
#ifndef SRC_NETWORK_DEPENDENCY_ANALYSIS_H
#define SRC_NETWORK_DEPENDENCY_ANALYSIS_H

#include "src/memory/plan/bitset.h"
#include "src/network/dependency.h"

/* Buffers that share their bytes are a cluster, named by the smallest number among them. */
typedef struct analysis {
    const dependency_graph *graph;
    dependency_order order;
    size_t words;        /* of a set of nodes */
    uint64_t *followers; /* per node, out of order only: the nodes it happens before */
    uint32_t *cluster;   /* per buffer */
    uint64_t *after;     /* per buffer, valid for names: nodes after all users of the cluster */
} analysis;

/* Checks the graph and fills *a, which is to be released whatever is returned. */
neo_status analyse(analysis *a, const dependency_graph *graph, dependency_order order);
void analysis_release(analysis *a);

/* The nodes that a node happens before; for execution out of order. */
static inline uint64_t *followers_of(const analysis *a, size_t node)
{
    return a->followers + node * a->words;
}

static inline uint64_t *after_of(const analysis *a, size_t cluster)
{
    return a->after + cluster * a->words;
}

#endif
