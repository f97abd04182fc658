/* What the planner's searches work on: non-empty boxes, one for each cluster, and their conflicts.
 */
#ifndef SRC_MEMORY_PLAN_GRAPH_H
#define SRC_MEMORY_PLAN_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "neoprene/types.h"

#define PLAN_NO_ITEM UINT32_MAX
#define PLAN_MAX_SEARCHED 256 /* boxes */

/* A cluster, or a box that is in none; empty boxes are no item. */
typedef struct plan_item {
    int64_t start, finish; /* finish: INT64_MAX for "to the end" */
    size_t size, alignment;
    uint32_t first_box;
} plan_item;

/* The caller's conflicts between boxes, and the item that each box belongs to. */
typedef struct plan_conflict_rows {
    const uint64_t *rows;
    const uint32_t *item_of; /* PLAN_NO_ITEM for empty boxes */
    size_t box_count;
} plan_conflict_rows;

typedef struct plan_graph {
    size_t count, words; /* boxes; words of a row */
    size_t *size;        /* bytes, not 0 */
    size_t *alignment;   /* a power of two */
    uint64_t *position;  /* when it starts, or its place in the caller's list */
    uint64_t *extent;    /* how many steps it lives, or how many conflicts it has */
    size_t *crowd;       /* bytes of all boxes in conflict with it */
    size_t *peak;        /* bytes of the heaviest known clique it is in */
    uint64_t *rows;      /* symmetric, the diagonal is clear */
    size_t lower_bound;
    uint64_t *cliques; /* known cliques as sets, if count <= PLAN_MAX_SEARCHED */
    size_t clique_count;
} plan_graph;

/* Items sorted by start. The graph is to be released also after NEO_OUT_OF_MEMORY. */
neo_status plan_graph_init_timed(plan_graph *graph, const plan_item *items, size_t count);

/* Items sorted by size, largest first. */
neo_status plan_graph_init_untimed(plan_graph *graph, const plan_item *items, size_t count,
                                   const plan_conflict_rows *from);

void plan_graph_deinit(plan_graph *graph);

static inline const uint64_t *plan_graph_row(const plan_graph *graph, size_t box)
{
    return graph->rows + box * graph->words;
}

typedef struct plan_best {
    size_t bytes;   /* SIZE_MAX: no plan yet */
    size_t *offset; /* graph->count entries */
    const char *method;
    bool optimal;
} plan_best;

/* Greedy placements in several orders, then improvement of the best order. Returns false when
 * memory is exhausted; best is then as good as what was found before. */
bool plan_place(const plan_graph *graph, plan_best *best);

/* Exhaustive search for something smaller than best; count <= PLAN_MAX_SEARCHED. Sets best->optimal
 * when best is proven to be the smallest; gives up after a small multiple of that many nodes.
 * Returns false when memory is exhausted. */
bool plan_search(const plan_graph *graph, uint64_t nodes, plan_best *best);

#endif
