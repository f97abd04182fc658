/* Gives every box of bytes an offset in one arena, so that boxes which are alive together do not
 * overlap and the arena is small.
 *
 * A box is alive from step start to step finish, both included. Instead of times, the caller may
 * give the conflicts themselves (work that runs out of order has no single time line).
 *
 * The planner tries several greedy orders with two ways to choose a gap, improves the best one, and
 * searches exhaustively where that is affordable. It stops as soon as the lower bound is reached.
 * The answer is a pure function of the input: all budgets count work, never time. */
#ifndef SRC_MEMORY_PLAN_INTERVAL_PLAN_H
#define SRC_MEMORY_PLAN_INTERVAL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "neoprene/types.h"

#define PLAN_TO_THE_END (-1) /* as finish */
#define PLAN_NO_CLUSTER 0u   /* as cluster */
#define PLAN_MAX_BOXES 65536

typedef struct plan_box {
    int64_t start;    /* at least 0 */
    int64_t finish;   /* at least start, or PLAN_TO_THE_END */
    size_t size;      /* bytes; an empty box conflicts with nothing and gets offset 0 */
    size_t alignment; /* of the offset: a power of two; 0 means 1 */
    uint32_t cluster; /* boxes of one cluster other than PLAN_NO_CLUSTER are the same bytes: one box
                         with the largest size and alignment, alive from the first start to the last
                         finish (with conflicts: in conflict with all that any of them is) */
} plan_box;

typedef struct plan_report {
    size_t bytes;          /* the arena */
    size_t lower_bound;    /* no plan can be smaller: the most that is alive at once */
    size_t no_reuse_bytes; /* the arena if no byte were used twice */
    bool optimal;          /* bytes is the least possible (known, not guessed) */
    const char *method;    /* what found the plan: a static text */
} plan_report;

/* Plans boxes with times. offsets has count entries; on failure it and report are undefined.
 * NEO_OK also for no boxes. NEO_INVALID_ARGUMENT: a negative start, a finish before its start, an
 * alignment that is no power of two, or sizes whose sum does not fit size_t. NEO_UNSUPPORTED: more
 * than PLAN_MAX_BOXES boxes. NEO_OUT_OF_MEMORY. */
neo_status plan_intervals(const plan_box *boxes, size_t count, size_t *offsets,
                          plan_report *report);

/* Plans boxes whose start and finish are not looked at: bit j of row i says that boxes i and j must
 * not overlap (one direction is enough; bits of a box with itself or its cluster are ignored). Row
 * i begins at conflicts + i * bitset_words(count). The lower bound is the heaviest of the cliques
 * that a greedy search finds. */
neo_status plan_conflicts(const plan_box *boxes, size_t count, const uint64_t *conflicts,
                          size_t *offsets, plan_report *report);

#endif
