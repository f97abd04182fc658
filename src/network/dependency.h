/* Which buffers of a network may use the same bytes.
 *
 * Nodes are numbered so that every value is written before it is read. B may reuse A's bytes iff
 * the writer of A and every reader of A happen before B is written:
 *   in order       node r happens before node b iff r < b;
 *   out of order   iff r is a strict ancestor of b, as anything else may run at any time.
 * Two buffers are in conflict unless one of them may reuse the other. This is exact: no pair is in
 * conflict without an execution that shows why (loops aside, see there). */
#ifndef SRC_NETWORK_DEPENDENCY_H
#define SRC_NETWORK_DEPENDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "neoprene/types.h"

#define DEPENDENCY_NONE UINT32_MAX

typedef enum dependency_order { DEPENDENCY_IN_ORDER, DEPENDENCY_OUT_OF_ORDER } dependency_order;

enum {
    DEPENDENCY_OUTPUT = 1u << 0,   /* is read after the end: nothing may reuse it */
    DEPENDENCY_EXTERNAL = 1u << 1, /* has bytes of its own elsewhere: in conflict with nothing */
    DEPENDENCY_IN_PLACE = 1u << 2, /* overwrites the bytes it shares; otherwise it is a view */
};

typedef struct dependency_buffer {
    uint32_t writer; /* node; DEPENDENCY_NONE: it is there before the first node */
    uint32_t flags;
    uint32_t alias_of;  /* a buffer with a smaller number whose bytes these are, or _NONE */
    uint32_t stands_in; /* _NONE, or a buffer with a smaller number, read by the writer, that is
                           read instead of this one when the writer is skipped at run time */
} dependency_buffer;

typedef struct dependency_read {
    uint32_t buffer, node;
} dependency_read;

/* Two nodes in an order that no buffer explains. */
typedef struct dependency_edge {
    uint32_t before, after;
} dependency_edge;

/* Nodes first … last run again and again. All nodes before are done when it begins, and it is done
 * before all nodes after it begin. What comes from outside and is read inside is needed to the end;
 * a value carried from one round to the next is an alias of its first value, and so is kept all the
 * time (also where it is dead for a part of the round). */
typedef struct dependency_loop {
    uint32_t first, last;
} dependency_loop;

typedef struct dependency_graph {
    size_t node_count, buffer_count, read_count, edge_count, loop_count;
    const dependency_buffer *buffers;
    const dependency_read *reads;
    const dependency_edge *edges;
    const dependency_loop *loops;
} dependency_graph;

/* Fills rows, buffer_count rows of bitset_words(buffer_count) words: bit j of row i says that
 * buffers i and j are in conflict. Symmetric; the diagonal and the bits between aliases are clear;
 * rows of aliases are equal. Skippable nodes: in conflict if they are for any outcome.
 * NEO_INVALID_ARGUMENT when a number is out of range or an edge goes backwards.
 * NEO_OUT_OF_MEMORY. */
neo_status dependency_conflicts(const dependency_graph *graph, dependency_order order,
                                uint64_t *rows);

/* The same, in order, as times: buffer i is alive from starts[i] to finishes[i], both included;
 * a finish of -1 is the end. A buffer that no node writes starts at 0. */
neo_status dependency_lives(const dependency_graph *graph, int64_t *starts, int64_t *finishes);

/* Whether all DEPENDENCY_IN_PLACE writes are safe: whoever reads the overwritten value (also
 * through a view, or because a node was skipped) is the overwriting node itself or happens before
 * it, and it is no output. If not, NEO_INVALID_ARGUMENT and *buffer is the first one that is
 * unsafe. */
neo_status dependency_check_in_place(const dependency_graph *graph, dependency_order order,
                                     size_t *buffer);

#endif
