/* Reorder: its algorithms. */
#ifndef SRC_REORDER_REORDER_H
#define SRC_REORDER_REORDER_H

#include "src/primitive/problem.h"

extern const struct algorithm reorder_copy, reorder_pack, reorder_unpack, reorder_repack;

/* Cycles for moving all elements once. */
double reorder_estimate(const struct problem *problem, double cycles_per_element);

/* `any` has no meaning for a copy: nothing is chosen. */
void reorder_choose_nothing(const struct algorithm *self, struct problem *problem,
                            const struct cpu *cpu);

size_t reorder_scratch_none(const void *plan, int threads);

#endif
