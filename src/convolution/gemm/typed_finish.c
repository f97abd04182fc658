/* Sums of a convolution of any types become results: by lines of channels, or where channels are
 * next to each other and there is no more to do than a kernel does, a block at a time. */
#include <string.h>

#include "src/convolution/gemm/typed.h"
#include "src/gemm/results.h"
#include "src/gemm/shift.h"
#include "src/primitive/finish.h"
#include "src/tensor/descriptor.h"

enum { CHUNK = 256 };

/* Src's zero point of what panels hold. */
static int32_t zero_of_src(const struct typed_call *call)
{
    return gemm_shift_zero(type_of(call->execution->problem, SRC), src_zero_point(call));
}

/* ---- by lines ---- */

/* Row i of the block, from its column number `first` on: what zero points of either side ask for.
 */
static void shift_sums(const struct typed_call *call, const struct gemm_block *block, size_t i,
                       size_t first, size_t count, int32_t *sums)
{
    int32_t b_zeros[CHUNK];
    struct gemm_shift shift = {
        .k = call->plan->gemm.shape.k,
        .a_zero = zero_of_src(call),
        .a_sum = block->a_sums ? block->a_sums[i] : 0,
        .b_zeros = block->a_sums ? b_zeros : NULL,
        .b_sums = block->b_sums ? block->b_sums + first : NULL,
    };
    for (size_t j = 0; shift.b_zeros && j < count; j++)
        b_zeros[j] =
            convolution_typed_zero_of_weights(call, block->batch, block->column + first + j);
    gemm_shift_sums(&shift, count, sums);
}

/* Channels of weights. */
static struct line channels_line(const struct execution *execution, const struct gemm_block *block,
                                 size_t channel, size_t count)
{
    struct line line = {.count = count, .direction = convolution_is_grouped(execution->problem)};
    convolution_typed_weights_position(execution, block->batch, channel, line.position);
    return line;
}

static void scale_by_channel(const struct execution *execution, const struct gemm_block *block,
                             size_t channel, size_t count, float *values)
{
    const struct problem *problem = execution->problem;
    struct line line = channels_line(execution, block, channel, count);
    quantization_apply(execution, problem->scales[WEIGHTS], &problem->tensors[WEIGHTS],
                       problem->binary[BINARY_F32_MUL].run, &line, values);
}

/* Adds bias to values of dst's channels from number `channel` on. On the stack only while it is
 * wanted. */
static __attribute__((noinline)) void add_bias(const struct execution *execution, neo_dim channel,
                                               size_t count, float *values)
{
    const struct problem *problem = execution->problem;
    const neo_memory_desc *bias = &problem->tensors[BIAS];
    float biases[CHUNK];
    if (!bias->ndims)
        return;
    line_load(problem->convert, bias->data_type, execution->buffers[BIAS],
              channel * bias->strides[0], bias->strides[0], count, biases);
    problem->binary[BINARY_F32_ADD].run(count, values, biases, 1, values);
}

static void finish_part(const struct typed_call *call, const struct gemm_block *block, size_t i,
                        size_t first, const struct line *line)
{
    const struct execution *execution = call->execution;
    const struct problem *problem = execution->problem;
    const neo_memory_desc *dst = &problem->tensors[DST];
    float values[CHUNK], *sums = block->values + i * block->row_stride + first;
    if (call->plan->integers) {
        int32_t *whole = (int32_t *)(void *)sums;
        if (block->a_sums || block->b_sums)
            shift_sums(call, block, i, first, line->count, whole);
        problem->convert[ELEMENT_S32].load(line->count, whole, values);
    } else {
        memcpy(values, sums, line->count * sizeof *values);
    }
    struct line of_src = {.count = line->count};
    quantization_apply(execution, problem->scales[SRC], &problem->tensors[SRC],
                       problem->binary[BINARY_F32_MUL].run, &of_src, values);
    scale_by_channel(execution, block, block->column + first, line->count, values);
    add_bias(execution, line->position[1], line->count, values);
    finish_line(
        execution, line, values, false,
        element_to(dst->data_type, execution->buffers[DST], desc_offset(dst, line->position)),
        dst->strides[1]);
}

static void finish_lines(const struct typed_call *call, const struct gemm_block *block)
{
    const struct convolution_shape *s = &call->plan->shape;
    int ndims = call->execution->problem->tensors[DST].ndims;
    struct line line = {.direction = 1};
    for (size_t i = 0; i < block->rows; i++) {
        convolution_pixel_position(s, ndims, block->row + i, line.position);
        for (size_t first = 0; first < block->columns; first += CHUNK) {
            line.position[1] = (neo_dim)block->batch * s->oc + (neo_dim)(block->column + first);
            line.count = min_size(CHUNK, block->columns - first);
            finish_part(call, block, i, first, &line);
        }
    }
}

/* ---- a block at a time ---- */

/* Channels are next to each other, and so are pixels. */
static bool is_dense(const struct convolution_shape *s)
{
    neo_dim row = s->out[WIDTH] * s->dst.w, plane = row * s->out[HEIGHT];
    return s->dst.c == 1 && (s->out[HEIGHT] == 1 || s->dst.h == row) &&
           (s->out[DEPTH] == 1 || s->dst.d == plane) &&
           (s->batch == 1 || s->dst.n == plane * s->out[DEPTH]);
}

gemm_finish_fn *convolution_typed_finish_kernel(const struct problem *problem,
                                                const struct cpu *cpu)
{
    bool integers = is_of_integers(problem);
    bool both = integers && is_shifted(problem, SRC) && is_shifted(problem, WEIGHTS);
    return is_dense(convolution_shape_of(problem)) && !both
               ? gemm_results_kernel(problem, integers, cpu)
               : NULL;
}

static void fill_columns(const void *context, const struct gemm_block *block, size_t first,
                         size_t count, struct result_columns *out)
{
    const struct typed_call *call = context;
    size_t channel = block->column + first;
    const struct problem *problem = call->execution->problem;
    const neo_memory_desc *bias = &problem->tensors[BIAS];
    neo_dim first_bias = (neo_dim)block->batch * call->plan->shape.oc + (neo_dim)channel;
    struct line line = channels_line(call->execution, block, channel, count);
    if (problem->scales[WEIGHTS])
        quantization_read(call->execution, problem->scales[WEIGHTS], &problem->tensors[WEIGHTS],
                          &line, out->scales);
    if (bias->ndims)
        line_load(problem->convert, bias->data_type, call->execution->buffers[BIAS],
                  first_bias * bias->strides[0], bias->strides[0], count, out->offsets);
    if (block->b_sums)
        memcpy(out->zeros, block->b_sums + first, count * sizeof *out->zeros);
    for (size_t j = 0; block->a_sums && j < count; j++)
        out->zeros[j] = convolution_typed_zero_of_weights(call, block->batch, channel + j);
}

static void fill_rows(const void *context, const struct gemm_block *block, size_t first,
                      size_t count, struct result_rows *out)
{
    static const neo_dim origin[NEO_MAX_NDIMS];
    const struct typed_call *call = context;
    float scale = quantization_scale(call->execution, SRC, origin);
    int32_t factor = block->b_sums ? -zero_of_src(call) : 0;
    for (size_t i = 0; i < count; i++) {
        out->factors[i] = block->a_sums ? -block->a_sums[first + i] : factor;
        out->scales[i] = scale;
    }
}

static void *address(const void *context, const struct gemm_block *block, size_t row, size_t column)
{
    const struct typed_call *call = context;
    const struct convolution_shape *s = &call->plan->shape;
    neo_dim at = (neo_dim)row * s->dst.w + (neo_dim)block->batch * s->oc + (neo_dim)column;
    return element_to(call->execution->problem->tensors[DST].data_type,
                      call->execution->buffers[DST], at);
}

void convolution_typed_results(const struct typed_call *call, struct gemm_results *out)
{
    const struct problem *problem = call->execution->problem;
    const struct gemm_shape *shape = &call->plan->gemm.shape;
    int32_t zero = shape->b_summed ? zero_of_src(call) : 0;
    *out = (struct gemm_results){
        .context = call,
        .run = call->plan->finish,
        .columns = fill_columns,
        .rows = fill_rows,
        .dst = address,
        .dst_row = (size_t)call->plan->shape.dst.w,
        .has_row_scales = problem->scales[SRC] != 0,
        .has_scales = problem->scales[WEIGHTS] != 0,
        .has_offsets = problem->tensors[BIAS].ndims != 0,
        .whole = gemm_results_whole(call->execution),
        .factor = -zero,
        .are_floats = call->plan->integers && gemm_results_are_small(shape->k, zero),
    };
}

bool convolution_typed_ends(const struct typed_call *call)
{
    return call->plan->finish && gemm_results_suit(&call->plan->gemm) && !call->taps;
}

void convolution_typed_finish(const void *context, const struct gemm_block *block)
{
    const struct typed_call *call = context;
    if (call->taps)
        convolution_typed_take_taps_back(call, block);
    if (call->plan->finish)
        gemm_results_run(call->results, block);
    else
        finish_lines(call, block);
}
