/* Sums of products of any types become results: by lines, or where that is all that is to be done,
 * by a kernel that scales integers' sums a block at a time. */
#include <string.h>

#include "src/core/checked.h"
#include "src/gemm/results.h"
#include "src/gemm/shift.h"
#include "src/matmul/typed.h"
#include "src/primitive/finish.h"

enum { CHUNK = 256 };

/* ---- by lines ---- */

static int32_t zero_of(const struct execution *execution, enum tensor t, const neo_dim *position)
{
    return gemm_shift_zero(type_of(execution->problem, t),
                           quantization_zero_point(execution, t, position));
}

/* Row i of the block, from its column number `first` on: what zero points of either side ask for.
 */
static void shift_sums(const struct execution *execution, const struct gemm_block *block, size_t i,
                       const struct line *line, size_t first, int32_t *sums)
{
    int last = execution->problem->tensors[DST].ndims - 1;
    int32_t b_zeros[CHUNK];
    neo_dim position[NEO_MAX_NDIMS];
    memcpy(position, line->position, sizeof position);
    position[last] = 0;
    struct gemm_shift shift = {
        .k = (size_t)execution->problem->tensors[SRC].dims[last],
        .a_zero = zero_of(execution, SRC, position),
        .a_sum = block->a_sums ? block->a_sums[i] : 0,
        .b_zeros = block->a_sums ? b_zeros : NULL,
        .b_sums = block->b_sums ? block->b_sums + first : NULL,
    };
    position[last - 1] = 0;
    for (size_t j = 0; shift.b_zeros && j < line->count; j++) {
        position[last] = line->position[last] + (neo_dim)j;
        b_zeros[j] = zero_of(execution, WEIGHTS, position);
    }
    gemm_shift_sums(&shift, line->count, sums);
}

/* By src's scale of the row, then by those of weights' columns. row: of all matrices, the number of
 * one that is quantised. */
static void scale(const struct typed_call *call, const struct line *line, size_t row, float *values)
{
    const struct execution *execution = call->execution;
    const struct problem *problem = execution->problem;
    binary_f32_fn *multiply = problem->binary[BINARY_F32_MUL].run;
    if (call->plan->quantize)
        multiply(line->count, values, &call->row_scales[row], 0, values);
    for (enum tensor t = SRC; t <= WEIGHTS; t++) {
        struct line own = *line;
        own.position[k_dim(problem, t)] = 0;
        if (t == SRC)
            own.direction = k_dim(problem, t);
        if (!scale_varies_along_k(problem, t) || call->plan->integers)
            quantization_apply(execution, problem->scales[t], &problem->tensors[t], multiply, &own,
                               values);
    }
}

/* Of row i of the block, among those of all matrices. */
static size_t row_number(const struct typed_call *call, const struct gemm_block *block, size_t i)
{
    return block->batch * call->plan->gemm.shape.m + block->row + i;
}

/* Columns [first, first + line->count) of row i of the block. */
static void finish_part(const struct typed_call *call, const struct gemm_block *block, size_t i,
                        size_t first, const struct line *line)
{
    const struct execution *execution = call->execution;
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    int last = dst->ndims - 1;
    float values[CHUNK], *sums = block->values + i * block->row_stride + first;
    if (call->plan->integers) {
        int32_t *whole = (int32_t *)(void *)sums;
        if (block->a_sums || block->b_sums)
            shift_sums(execution, block, i, line, first, whole);
        execution->problem->convert[ELEMENT_S32].load(line->count, whole, values);
    } else {
        memcpy(values, sums, line->count * sizeof *values);
    }
    scale(call, line, row_number(call, block, i), values);
    neo_dim to = matmul_batch_offset(dst, line->position) +
                 line->position[last - 1] * dst->strides[last - 1] +
                 line->position[last] * dst->strides[last];
    finish_line(execution, line, values, true,
                element_to(dst->data_type, execution->buffers[DST], to), dst->strides[last]);
}

static void finish_lines(const struct typed_call *call, const struct gemm_block *block)
{
    int last = call->execution->problem->tensors[DST].ndims - 1;
    struct line line = {.direction = last};
    matmul_position(call->execution->problem, block->batch, line.position);
    for (size_t i = 0; i < block->rows; i++) {
        line.position[last - 1] = (neo_dim)(block->row + i);
        for (size_t first = 0; first < block->columns; first += CHUNK) {
            line.position[last] = (neo_dim)(block->column + first);
            line.count = min_size(CHUNK, block->columns - first);
            finish_part(call, block, i, first, &line);
        }
    }
}

/* ---- a block at a time ---- */

static bool is_of_columns(const neo_memory_desc *bias)
{
    for (int i = 0; i < bias->ndims - 1; i++)
        if (bias->dims[i] != 1)
            return false;
    return true;
}

gemm_finish_fn *matmul_typed_finish_kernel(const struct problem *problem, const struct cpu *cpu)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    bool integers = are_integers_multiplied(problem);
    bool both = integers && is_shifted(problem, SRC) && is_shifted(problem, WEIGHTS);
    bool fits = is_of_columns(&problem->tensors[BIAS]) && !both &&
                matmul_is_contiguous(dst, dst->ndims - 1);
    return fits ? gemm_results_kernel(problem, integers, cpu) : NULL;
}

/* The line of dst's columns from number `first` of the block on, in row 0. */
static struct line columns_line(const struct typed_call *call, const struct gemm_block *block,
                                size_t first, size_t count)
{
    const neo_memory_desc *dst = &call->execution->problem->tensors[DST];
    struct line line = {.direction = dst->ndims - 1, .count = count};
    matmul_position(call->execution->problem, block->batch, line.position);
    line.position[line.direction] = (neo_dim)(block->column + first);
    return line;
}

/* Of columns that follow each other; a bias may be one value for all of them. */
static void load_bias(const struct execution *execution, neo_dim first, size_t count, float *out)
{
    const struct problem *problem = execution->problem;
    const neo_memory_desc *bias = &problem->tensors[BIAS];
    int last = bias->ndims - 1;
    neo_dim step = bias->dims[last] == 1 ? 0 : bias->strides[last];
    line_load(problem->convert, bias->data_type, execution->buffers[BIAS], first * step, step,
              count, out);
}

static void fill_columns(const void *context, const struct gemm_block *block, size_t first,
                         size_t count, struct result_columns *out)
{
    const struct typed_call *call = context;
    const struct execution *execution = call->execution;
    const struct problem *problem = execution->problem;
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *bias = &problem->tensors[BIAS];
    struct line line = columns_line(call, block, first, count);
    bool are_applied = !call->plan->integers && scale_varies_along_k(problem, WEIGHTS);
    if (problem->scales[WEIGHTS])
        quantization_read(execution, are_applied ? 0 : problem->scales[WEIGHTS], weights, &line,
                          out->scales);
    if (bias->ndims)
        load_bias(execution, line.position[line.direction], count, out->offsets);
    if (block->b_sums)
        memcpy(out->zeros, block->b_sums + first, count * sizeof *out->zeros);
    for (size_t j = 0; block->a_sums && j < count; j++, line.position[line.direction]++)
        out->zeros[j] = zero_of(execution, WEIGHTS, line.position);
}

static void fill_rows(const void *context, const struct gemm_block *block, size_t first,
                      size_t count, struct result_rows *out)
{
    const struct typed_call *call = context;
    const struct execution *execution = call->execution;
    neo_dim position[NEO_MAX_NDIMS];
    int row = execution->problem->tensors[DST].ndims - 2;
    matmul_position(execution->problem, block->batch, position);
    for (size_t i = 0; i < count; i++) {
        position[row] = (neo_dim)(block->row + first + i);
        position[row + 1] = 0;
        out->factors[i] = block->a_sums ? -block->a_sums[first + i] : 0;
        if (block->b_sums)
            out->factors[i] = -zero_of(execution, SRC, position);
        out->scales[i] = call->plan->quantize ? call->row_scales[row_number(call, block, first + i)]
                                              : quantization_scale(execution, SRC, position);
    }
}

static void *address(const void *context, const struct gemm_block *block, size_t row, size_t column)
{
    const struct typed_call *call = context;
    const neo_memory_desc *dst = &call->execution->problem->tensors[DST];
    neo_dim position[NEO_MAX_NDIMS];
    matmul_position(call->execution->problem, block->batch, position);
    neo_dim to = matmul_batch_offset(dst, position) + (neo_dim)row * dst->strides[dst->ndims - 2] +
                 (neo_dim)column;
    return element_to(dst->data_type, call->execution->buffers[DST], to);
}

void matmul_typed_results(const struct typed_call *call, struct gemm_results *out)
{
    static const neo_dim origin[NEO_MAX_NDIMS];
    const struct problem *problem = call->execution->problem;
    const struct gemm_shape *shape = &call->plan->gemm.shape;
    const neo_memory_desc *dst = &problem->tensors[DST];
    int32_t zero = shape->b_summed ? zero_of(call->execution, SRC, origin) : 0;
    bool integers = call->plan->integers;
    *out = (struct gemm_results){
        .context = call,
        .run = call->plan->finish,
        .columns = fill_columns,
        .rows = fill_rows,
        .dst = address,
        .dst_row = (size_t)dst->strides[dst->ndims - 2],
        .has_row_scales =
            call->plan->quantize ||
            (problem->scales[SRC] && (integers || !scale_varies_along_k(problem, SRC))),
        .has_scales = problem->scales[WEIGHTS] != 0,
        .has_offsets = problem->tensors[BIAS].ndims != 0,
        .whole = gemm_results_whole(call->execution),
        .factor = -zero,
        .are_floats = integers && gemm_results_are_small(shape->k, zero),
    };
}

bool matmul_typed_ends(const struct typed_call *call)
{
    const struct problem *problem = call->execution->problem;
    return call->plan->finish && gemm_results_suit(&call->plan->gemm) &&
           gemm_results_are_common(problem, problem->zero_points[SRC]);
}

void matmul_typed_finish(const void *context, const struct gemm_block *block)
{
    const struct typed_call *call = context;
    if (call->plan->finish)
        gemm_results_run(call->results, block);
    else
        finish_lines(call, block);
}
