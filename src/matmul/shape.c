/* Matrix multiplication: shapes and layouts. */
#include "src/matmul/matmul.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"

void matmul_choose_plain(const struct algorithm *self, struct problem *problem,
                         const struct cpu *cpu)
{
    (void)self, (void)cpu;
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (problem->tensors[t].ndims && problem->tensors[t].format_kind == NEO_FORMAT_ANY)
            desc_set_plain(&problem->tensors[t]);
}

void matmul_choose_packed(const struct algorithm *self, struct problem *problem,
                          const struct cpu *cpu)
{
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_ANY)
        layout_set(&problem->tensors[WEIGHTS], LAYOUT_MATMUL_F32, false);
    matmul_choose_plain(self, problem, cpu);
}

struct matmul_shape matmul_shape(const struct problem *problem)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    int ndims = dst->ndims;
    struct matmul_shape shape = {
        .batch = 1,
        .m = dst->dims[ndims - 2],
        .n = dst->dims[ndims - 1],
        .k = problem->tensors[SRC].dims[ndims - 1],
    };
    for (int i = 0; i < ndims - 2; i++)
        if (shape.batch == NEO_RUNTIME_DIM || dst->dims[i] == NEO_RUNTIME_DIM)
            shape.batch = NEO_RUNTIME_DIM;
        else
            shape.batch *= dst->dims[i];
    return shape;
}

bool matmul_is_contiguous(const neo_memory_desc *desc, int dim)
{
    return desc->format_kind == NEO_FORMAT_ANY || desc->dims[dim] == 1 || desc->strides[dim] == 1;
}

bool matmul_is_bias_by_column(const struct problem *problem)
{
    const neo_memory_desc *bias = &problem->tensors[BIAS], *dst = &problem->tensors[DST];
    int last = bias->ndims - 1;
    for (int i = 0; i < last; i++)
        if (bias->dims[i] != 1)
            return false;
    if (bias->ndims && bias->dims[last] == 1)
        return dst->dims[last] == 1;
    return bias->ndims && bias->strides[last] == 1;
}

void matmul_position(const struct problem *problem, size_t index, neo_dim *position)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    position[dst->ndims - 1] = position[dst->ndims - 2] = 0;
    for (int i = dst->ndims - 3; i >= 0; i--) {
        position[i] = (neo_dim)(index % (size_t)dst->dims[i]);
        index /= (size_t)dst->dims[i];
    }
}

neo_dim matmul_batch_offset(const neo_memory_desc *tensor, const neo_dim *position)
{
    neo_dim offset = 0;
    for (int i = 0; i < tensor->ndims - 2; i++)
        if (tensor->dims[i] != 1)
            offset += position[i] * tensor->strides[i];
    return offset;
}

size_t matmul_weights_index(const neo_memory_desc *weights, const neo_dim *position)
{
    size_t index = 0;
    for (int i = 0; i < weights->ndims - 2; i++)
        index =
            index * (size_t)weights->dims[i] + (weights->dims[i] == 1 ? 0 : (size_t)position[i]);
    return index;
}
