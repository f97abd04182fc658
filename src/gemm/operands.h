/* What the types of a problem's tensors mean for its products. */
#ifndef SRC_GEMM_OPERANDS_H
#define SRC_GEMM_OPERANDS_H

#include "src/primitive/problem.h"
#include "src/tensor/element.h"

static inline enum element type_of(const struct problem *problem, enum tensor t)
{
    return element_of(problem->tensors[t].data_type);
}

static inline bool is_of_integers(const struct problem *problem)
{
    return element_is_integer(type_of(problem, SRC)) &&
           element_is_integer(type_of(problem, WEIGHTS));
}

/* Does a sum lack something for each element of the other side? */
static inline bool is_shifted(const struct problem *problem, enum tensor t)
{
    return problem->zero_points[t] || type_of(problem, t) == ELEMENT_U8;
}

/* Are all tensors of f32, without scales and zero points? */
static inline bool is_f32_alone(const struct problem *problem)
{
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (problem->tensors[t].ndims && problem->tensors[t].data_type != NEO_F32)
            return false;
    return !problem->attributes.quantization_count;
}

#endif
