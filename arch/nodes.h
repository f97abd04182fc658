/* NUMA nodes, by the kernel's own calls: programs need no library for them. */
#ifndef ARCH_NODES_H
#define ARCH_NODES_H

#include <stdbool.h>
#include <stddef.h>

enum { NODES_MOST = 1024, NODES_WORDS = NODES_MOST / (8 * sizeof(unsigned long)) };

struct nodes {
    unsigned long bits[NODES_WORDS]; /* node 0 is the lowest one */
};

/* The nodes whose memory this process may have. False: the kernel knows no nodes. */
bool nodes_allowed(struct nodes *nodes);

bool nodes_have(const struct nodes *nodes, int node);
void nodes_add(struct nodes *nodes, int node);

enum nodes_policy { NODES_BIND, NODES_INTERLEAVE };

/* Where the pages of whole pages of memory come from when they are touched; false: the kernel
 * refuses. */
bool nodes_set_policy(void *data, size_t bytes, enum nodes_policy policy,
                      const struct nodes *nodes);

/* As the firmware tells, 10 from a node to itself; 0: it does not. */
int nodes_distance(int node, int other);

#endif
