/* Sums of products of any types become results: by lines, or where that is all that is to be done,
 * by a kernel that scales integers' sums a block at a time. */
#include <string.h>

#include "src/core/checked.h"
#include "src/gemm/shift.h"
#include "src/matmul/typed.h"
#include "src/primitive/finish.h"

enum { CHUNK = 256, ROWS = 64 };

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

/* By src's scale of the row, then by those of weights' columns. */
static void scale(const struct execution *execution, const struct line *line, float *values)
{
    const struct problem *problem = execution->problem;
    binary_f32_fn *multiply = problem->binary[BINARY_F32_MUL].run;
    for (enum tensor t = SRC; t <= WEIGHTS; t++) {
        struct line own = *line;
        own.position[k_dim(problem, t)] = 0;
        if (t == SRC)
            own.direction = k_dim(problem, t);
        if (!scale_varies_along_k(problem, t) || is_of_integers(problem))
            quantization_apply(execution, problem->scales[t], &problem->tensors[t], multiply, &own,
                               values);
    }
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
    scale(execution, line, values);
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
    bool is_simple = problem->attributes.post_op_count == 0 && !problem->scales[DST] &&
                     !problem->zero_points[DST] && is_of_columns(&problem->tensors[BIAS]) &&
                     matmul_is_contiguous(dst, dst->ndims - 1);
    bool both = is_shifted(problem, SRC) && is_shifted(problem, WEIGHTS);
    return is_of_integers(problem) && is_simple && !both
               ? gemm_finish_find(cpu->features, type_of(problem, DST))
               : NULL;
}

/* What results of some columns need, whatever their row is. */
struct columns {
    float scales[CHUNK], offsets[CHUNK];
    int32_t zeros[CHUNK]; /* sums of weights' columns, or their zero points */
};

static void fill_columns(const struct execution *execution, const struct gemm_block *block,
                         size_t first, const struct line *line, struct columns *columns)
{
    const struct problem *problem = execution->problem;
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *bias = &problem->tensors[BIAS];
    struct line own = *line;
    for (size_t j = 0; j < line->count; j++)
        columns->scales[j] = 1, columns->offsets[j] = -0.0f; /* which changes nothing */
    own.position[line->direction - 1] = 0;
    quantization_apply(execution, problem->scales[WEIGHTS], weights,
                       problem->binary[BINARY_F32_MUL].run, &own, columns->scales);
    if (bias->ndims)
        line_apply(problem->convert, problem->binary[BINARY_F32_ADD].run, bias,
                   execution->buffers[BIAS], &own, columns->offsets);
    if (block->b_sums)
        memcpy(columns->zeros, block->b_sums + first, line->count * sizeof *columns->zeros);
    for (size_t j = 0; block->a_sums && j < line->count; j++) {
        own.position[line->direction] = line->position[line->direction] + (neo_dim)j;
        columns->zeros[j] = zero_of(execution, WEIGHTS, own.position);
    }
}

/* What results of rows need, whatever their column is: the factors of the columns' zeros, and
 * src's scales. */
static void fill_rows(const struct execution *execution, const struct gemm_block *block,
                      size_t first, size_t count, const struct line *line, int32_t *factors,
                      float *scales)
{
    neo_dim position[NEO_MAX_NDIMS];
    memcpy(position, line->position, sizeof position);
    position[line->direction] = 0;
    for (size_t i = 0; i < count; i++) {
        position[line->direction - 1] = (neo_dim)(block->row + first + i);
        factors[i] = block->a_sums ? -block->a_sums[first + i] : 0;
        if (block->b_sums)
            factors[i] = -zero_of(execution, SRC, position);
        scales[i] = quantization_scale(execution, SRC, position);
    }
}

/* The block's columns from `first` on. */
static void finish_columns(const struct typed_call *call, const struct gemm_block *block,
                           size_t first, struct line *line)
{
    const struct execution *execution = call->execution;
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    bool is_shifted_block = block->a_sums || block->b_sums;
    struct columns columns;
    fill_columns(execution, block, first, line, &columns);
    for (size_t row = 0; row < block->rows; row += ROWS) {
        int32_t factors[ROWS];
        float scales[ROWS];
        size_t rows = min_size(ROWS, block->rows - row);
        fill_rows(execution, block, row, rows, line, factors, scales);
        neo_dim to = matmul_batch_offset(dst, line->position) +
                     (neo_dim)(block->row + row) * dst->strides[line->direction - 1] +
                     line->position[line->direction];
        call->plan->finish(&(struct gemm_finish){
            .m = rows,
            .n = line->count,
            .sums =
                (const int32_t *)(const void *)(block->values + row * block->row_stride + first),
            .row = block->row_stride,
            .rows = is_shifted_block ? factors : NULL,
            .zeros = is_shifted_block ? columns.zeros : NULL,
            .row_scales = execution->problem->scales[SRC] ? scales : NULL,
            .scales = columns.scales,
            .offsets = columns.offsets,
            .dst = element_to(dst->data_type, execution->buffers[DST], to),
            .dst_row = (size_t)dst->strides[line->direction - 1],
        });
    }
}

static void finish_block(const struct typed_call *call, const struct gemm_block *block)
{
    int last = call->execution->problem->tensors[DST].ndims - 1;
    struct line line = {.direction = last};
    matmul_position(call->execution->problem, block->batch, line.position);
    for (size_t first = 0; first < block->columns; first += CHUNK) {
        line.position[last] = (neo_dim)(block->column + first);
        line.count = min_size(CHUNK, block->columns - first);
        finish_columns(call, block, first, &line);
    }
}

void matmul_typed_finish(const void *context, const struct gemm_block *block)
{
    const struct typed_call *call = context;
    (call->plan->finish ? finish_block : finish_lines)(call, block);
}
