/* Reorder: its algorithms. */
#ifndef SRC_REORDER_REORDER_H
#define SRC_REORDER_REORDER_H

#include "src/primitive/problem.h"

extern const struct algorithm reorder_copy, reorder_pack, reorder_unpack, reorder_repack;

extern const struct algorithm reorder_pack_typed, reorder_unpack_typed;
extern const struct algorithm reorder_pack_depthwise, reorder_unpack_depthwise;
extern const struct algorithm reorder_converted;

extern const struct type_set reorder_types[];     /* what plain tensors may have */
extern const struct type_set reorder_all_types[]; /* packed ones, too */

/* Cycles for moving all elements once. */
static inline double reorder_estimate(const struct problem *problem, double cycles_per_element)
{
    return 300 + cycles_per_element * (double)neo_memory_desc_elements(&problem->tensors[DST]);
}

#endif
