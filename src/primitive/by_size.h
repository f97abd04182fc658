/* Implementations for run-time sizes that leave the work to those of the sizes.
 *
 * One holds what was chosen for likely sizes, from which weights that are `any` have their layout,
 * and a few implementations of the sizes executed last. All are the cache's entries, so nothing is
 * chosen or planned twice. */
#ifndef SRC_PRIMITIVE_BY_SIZE_H
#define SRC_PRIMITIVE_BY_SIZE_H

#include "src/primitive/concrete.h"
#include "src/primitive/implementation.h"

/* For operations that suppose sizes. */
extern const struct algorithm by_size;

/* *out: a reference to the implementation of the arguments' sizes.
 *
 * The user's scratchpad has a size that was asked for before sizes were known; there the best
 * implementation is taken that makes do with it on one thread, whatever the number of threads is,
 * so that results do not depend on that.
 *
 * @return NEO_OK, NEO_INVALID_ARGUMENT (sizes that contradict each other), NEO_OUT_OF_MEMORY. */
neo_status by_size_find(struct implementation **out, const struct implementation *implementation,
                        const struct arguments *args);

#endif
