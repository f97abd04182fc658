/* Descriptions by pointers, and problems, which are their copies. */
#include "src/primitive/problem.h"

#include <string.h>

#include "src/core/checked.h"
#include "src/tensor/descriptor.h"

/* Elements of a tensor, and strides and offsets: products of one of these with a spatial parameter
 * are far from the limits of their types. */
#define MOST ((neo_dim)1 << 46)

static bool is_moderate(const neo_memory_desc *desc)
{
    bool strided = desc->format_kind == NEO_FORMAT_STRIDED;
    size_t elements = 1;
    if (strided && desc->offset > MOST)
        return false;
    for (int i = 0; i < desc->ndims; i++) {
        if (strided && desc->dims[i] != 1 && desc->strides[i] > MOST)
            return false;
        if (desc->dims[i] > 0 && !checked_mul(&elements, elements, (size_t)desc->dims[i]))
            return false;
    }
    return elements <= (size_t)MOST;
}

bool problem_is_moderate(const struct problem *problem)
{
    bool multiplies = problem->tensors[WEIGHTS].ndims > 0;
    if (!multiplies && desc_is_empty(&problem->tensors[SRC])) /* no size of it is used */
        return true;
    for (int t = 0; t < problem_tensor_count(problem); t++)
        if (!is_moderate(problem_tensor(problem, t)))
            return false;
    return true;
}

void problem_settle_strides(struct problem *problem)
{
    for (int t = 0; t < problem_tensor_count(problem); t++) {
        neo_memory_desc *desc = problem_tensor(problem, t);
        for (int i = 0; desc->format_kind == NEO_FORMAT_STRIDED && i < desc->ndims; i++)
            if (desc->dims[i] == 1 && desc->strides[i] > MOST)
                desc->strides[i] = 1;
    }
}

bool problem_is_runtime(const struct problem *problem)
{
    for (int t = 0; t < problem_tensor_count(problem); t++) {
        const neo_memory_desc *desc = problem_tensor(problem, t);
        if (desc->ndims && desc_is_runtime(desc))
            return true;
    }
    const neo_attributes *attributes = &problem->attributes;
    for (int i = 0; i < attributes->post_op_count; i++)
        if (attributes->post_ops[i].kind == NEO_POST_OP_BINARY &&
            (desc_is_runtime(&attributes->post_ops[i].binary.src1) ||
             desc_is_runtime(&attributes->post_ops[i].binary.condition)))
            return true;
    return false;
}

int problem_extra(const struct problem *problem, int arg)
{
    for (int i = 0; i < problem->extra_count; i++)
        if (problem->extras[i].arg == arg)
            return i;
    return -1;
}

void problem_init(struct problem *problem, const struct description *d)
{
    *problem = (struct problem){
        .operation = d->operation,
        .attributes = *d->attributes,
        .prop_kind = d->prop_kind,
        .convolution_algorithm = d->convolution_algorithm,
        .extra_count = d->extra_count,
        .extras = (struct extra *)(uintptr_t)d->extras,
    };
    if (d->parameters)
        memcpy(problem->parameters, d->parameters, d->operation->parameter_bytes);
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (d->tensors[t])
            problem->tensors[t] = *d->tensors[t];
    problem->has_window = d->window != NULL;
    if (d->window)
        problem->window = *d->window;
}

struct description problem_describe(const struct problem *problem)
{
    struct description d = {
        .operation = problem->operation,
        .attributes = &problem->attributes,
        .prop_kind = problem->prop_kind,
        .convolution_algorithm = problem->convolution_algorithm,
        .extra_count = problem->extra_count,
        .extras = problem->extras,
        .parameters = problem->operation->parameter_bytes ? problem->parameters : NULL,
        .window = problem->has_window ? &problem->window : NULL,
    };
    for (int t = 0; t < TENSOR_COUNT; t++)
        d.tensors[t] = &problem->tensors[t];
    return d;
}
