/* Rows of floats become s8. */
#include "src/matmul/quantized.h"

#include <math.h>

#include "src/core/checked.h"
#include "src/gemm/operands.h"
#include "src/primitive/quantization.h"

enum { CHUNK = 256 };

bool matmul_is_dynamic(const struct problem *problem)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    return problem->attributes.dynamic_src == NEO_S8 && !problem->scales[SRC] &&
           !problem->zero_points[SRC] && !element_is_integer(type_of(problem, SRC)) &&
           element_is_integer(type_of(problem, WEIGHTS)) &&
           !quantization_part(problem, WEIGHTS, weights->ndims - 2);
}

/* One row of src. */
struct row {
    const struct execution *execution;
    neo_data_type type;
    neo_dim first, step;
    bool in_place;
    size_t k, at_once; /* elements that load() gives */
};

static struct row row_of(const struct execution *execution, size_t number)
{
    const struct problem *problem = execution->problem;
    const neo_memory_desc *src = &problem->tensors[SRC];
    int last = src->ndims - 1;
    size_t m = (size_t)problem->tensors[DST].dims[last - 1], k = (size_t)src->dims[last];
    neo_dim position[NEO_MAX_NDIMS];
    matmul_position(problem, number / m, position);
    neo_dim first =
        matmul_batch_offset(src, position) + (neo_dim)(number % m) * src->strides[last - 1];
    bool in_place = src->data_type == NEO_F32 && src->strides[last] == 1;
    return (struct row){.execution = execution,
                        .type = src->data_type,
                        .first = first,
                        .step = src->strides[last],
                        .in_place = in_place,
                        .k = k,
                        .at_once = in_place ? max_size(k, 1) : CHUNK};
}

/* Elements [from, from + count) as f32, in chunk or where they are. */
static const float *load(const struct row *row, size_t from, size_t count, float *chunk)
{
    const struct execution *execution = row->execution;
    neo_dim first = row->first + (neo_dim)from * row->step;
    if (row->in_place)
        return (const float *)execution->buffers[SRC] + first;
    line_load(execution->problem->convert, row->type, execution->buffers[SRC], first, row->step,
              count, chunk);
    return chunk;
}

static float largest(const struct row *row, const struct quantize_kernel *kernel)
{
    float range[2] = {0, 0}, chunk[CHUNK];
    for (size_t from = 0; from < row->k; from += row->at_once) {
        size_t count = min_size(row->at_once, row->k - from);
        kernel->range(count, load(row, from, count, chunk), range);
    }
    return fmaxf(-range[0], range[1]);
}

float matmul_quantize_row(const struct execution *execution, const struct quantize_kernel *kernel,
                          size_t number, int8_t *out)
{
    const float least = 0x1p-119f; /* whose reciprocal times 127 is finite */
    struct row row = row_of(execution, number);
    float size = largest(&row, kernel), factor = size >= least ? 127 / size : 0, chunk[CHUNK];
    for (size_t from = 0; from < row.k; from += row.at_once) {
        size_t count = min_size(row.at_once, row.k - from);
        kernel->multiply(&(struct quantize_line){
            .n = count, .src = load(&row, from, count, chunk), .dst = out + from, .scale = factor});
    }
    return isinf(size) ? NAN : size / 127;
}
