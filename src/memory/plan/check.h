/* Verifies a memory plan. It shares nothing with the planner but the description of a box, so that
 * a mistake in one is seen by the other. */
#ifndef SRC_MEMORY_PLAN_CHECK_H
#define SRC_MEMORY_PLAN_CHECK_H

#include "src/memory/plan/interval_plan.h"

typedef struct plan_fault {
    const char *text;     /* what is wrong: a static text */
    size_t first, second; /* the boxes; equal when only one is concerned */
} plan_fault;

/* NEO_OK when all boxes lie inside bytes, aligned, members of a cluster at one offset, and no two
 * boxes that are alive together overlap. NEO_CORRUPT otherwise, with the first fault found.
 * NEO_OUT_OF_MEMORY when it could not be checked. */
neo_status plan_check_intervals(const plan_box *boxes, size_t count, const size_t *offsets,
                                size_t bytes, plan_fault *fault);

/* The same with conflicts, as plan_conflicts() takes them. */
neo_status plan_check_conflicts(const plan_box *boxes, size_t count, const uint64_t *conflicts,
                                const size_t *offsets, size_t bytes, plan_fault *fault);

#endif
