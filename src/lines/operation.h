/* What operations on lines have in common. */
#ifndef SRC_LINES_OPERATION_H
#define SRC_LINES_OPERATION_H

#include "src/core/log.h"
#include "src/lines/line.h"
#include "src/primitive/finish.h"
#include "src/primitive/problem.h"

/* Element (0, 0, …) of a tensor of problem_tensor(). */
static inline void *execution_buffer(const struct execution *execution, int tensor)
{
    return tensor < TENSOR_COUNT ? execution->buffers[tensor]
                                 : execution->extras[tensor - TENSOR_COUNT];
}

/* What tasks are given: a plan, and the execution it is for. */
struct lines_task {
    const void *plan;
    const struct execution *execution;
};

/* Calls run(&task, …) for all of so many tiles, in the execution's threads. */
void lines_run(const struct execution *execution, const void *plan, size_t tiles,
               parallel_tiles_fn *run);

/* Parts of struct algorithm. The first one declines packed layouts alone; the second one gives all
 * that is `any` the order of src, or of dst, or row-major order. */
const char *lines_refuse(const struct algorithm *self, const struct problem *problem,
                         const struct cpu *cpu);
void lines_choose(const struct algorithm *self, struct problem *problem, const struct cpu *cpu);
size_t lines_scratch_none(const void *plan, int threads);
void lines_describe(const struct problem *problem, char *out, size_t size); /* dst's sizes */

/* For operations whose sources and dst may have one scale each. Multiplies count values by that of
 * a tensor of problem_tensor(), if it has one; dst's is finish_line()'s. */
const char *lines_check_quantization(const struct problem *problem, const struct quantization *q,
                                     enum tensor t);
void lines_scale(const struct execution *execution, int tensor, size_t count, float *values);
float lines_scale_of(const struct execution *execution, int tensor); /* 1 if it has none */

/* Cycles for an operation that spends so many on each element of dst. */
double lines_cycles(const struct problem *problem, double cycles_per_element);

/* NULL, or a sentence: two tensors do not have the same number of dimensions and sizes; a source's
 * sizes are neither dst's nor 1. Sizes that are not known yet are left to the execution. */
const char *lines_check_same(const struct problem *problem, int tensor);
bool lines_is_same_size(neo_dim a, neo_dim b);
const char *lines_check_axis(const struct problem *problem, int64_t axis); /* of dst */

/* For the beginning of public functions: is this an argument list with a NULL in it? Logs it. Here,
 * so that analysers know that whoever goes on has all pointers. */
static inline neo_status lines_check_pointers(const char *function, neo_primitive_desc **out,
                                              bool has_null)
{
    if (out)
        *out = NULL;
    if (out && !has_null)
        return NEO_OK;
    (void)log_refusal(function, "a pointer that has to be there is NULL");
    return NEO_INVALID_ARGUMENT;
}

/* *extras become extra tensors of count sources, to be freed; NEO_INVALID_ARGUMENT, and a line in
 * the log, if there is none or there are too many. */
neo_status lines_sources(const char *function, struct extra **extras, int count,
                         const neo_memory_desc *sources);

#endif
