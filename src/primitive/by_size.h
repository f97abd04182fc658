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

/* For their checks: NULL, or a sentence about what is not known although it has to be: weights,
 * bias, and src and dst but for their dimensions in the mask. */
const char *by_size_refuse(const struct problem *problem, uint32_t late_dimensions);

/* The same for operations whose algorithms all have scratchpads that grow with sizes: the user's,
 * which would have to be as large before sizes are known, is refused, too. */
const char *by_size_refuse_growing(const struct problem *problem, uint32_t late_dimensions);

/* For their suppose(): src's and dst's first size, of which one may be known; else it is 1. */
void by_size_suppose_batch(struct problem *problem);

/* The one that an execution gave back last, without a lock, or NULL where another thread has it. It
 * is the caller's until he gives it back, or another one in its place. */
struct implementation *by_size_borrow(const struct implementation *implementation);
void by_size_give_back(const struct implementation *implementation,
                       struct implementation *borrowed);

/* *borrowed becomes one of the last executions' that suits the list's sizes, if it does not suit
 * them itself; false if there is none. The list is not checked yet, but not NULL. */
bool by_size_exchange(const struct implementation *implementation, struct implementation **borrowed,
                      int count, const neo_exec_arg *list);

/* *out: a reference to the implementation of the arguments' sizes, which is kept for the next ones.
 *
 * The user's scratchpad has a size that was asked for before sizes were known; there the best
 * implementation is taken that makes do with it on one thread, whatever the number of threads is,
 * so that results do not depend on that.
 *
 * @return NEO_OK, NEO_INVALID_ARGUMENT (sizes that contradict each other), NEO_OUT_OF_MEMORY. */
neo_status by_size_make(struct implementation **out, const struct implementation *implementation,
                        const struct arguments *args);

#endif
