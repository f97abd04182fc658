/* Where the matrices of a batch are. */
#include "src/matmul/batch.h"

/* Strides of a packed tensor's batch dimensions, in matrices. */
static void packed_strides(const neo_memory_desc *weights, size_t elements, neo_dim *strides)
{
    neo_dim stride = (neo_dim)elements;
    for (int i = weights->ndims - 3; i >= 0; i--) {
        strides[i] = stride;
        stride *= weights->dims[i];
    }
}

/* The dimensions with more than one matrix must follow from each other: each stride is the inner
 * one's times its size. */
static bool constant_step(const neo_memory_desc *desc, const neo_dim *strides,
                          const neo_memory_desc *dst, neo_dim *step)
{
    neo_dim wanted = 0;
    bool first = true;
    *step = 0;
    for (int i = dst->ndims - 3; i >= 0; i--) {
        if (dst->dims[i] == 1)
            continue;
        neo_dim stride = desc->dims[i] == 1 ? 0 : strides[i];
        if (first)
            *step = stride;
        else if (stride != wanted)
            return false;
        wanted = stride * dst->dims[i];
        first = false;
    }
    return true;
}

bool matmul_batch_steps(const struct problem *problem, size_t packed_elements,
                        struct matmul_steps *out)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *dst = &problem->tensors[DST];
    neo_dim strides[NEO_MAX_NDIMS] = {0};
    const neo_dim *weights_strides = weights->strides;
    if (packed_elements) {
        packed_strides(weights, packed_elements, strides);
        weights_strides = strides;
    }
    return constant_step(src, src->strides, dst, &out->src) &&
           constant_step(weights, weights_strides, dst, &out->weights) &&
           constant_step(dst, dst->strides, dst, &out->dst);
}
