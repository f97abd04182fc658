/* Depthwise convolution of any types: what belongs to channels, made once for an execution. Weights
 * that are plain become blocks of channels as kernels read them: integers are s8, without their
 * zero points if all of them are s8 then; else zero points are left to sums of src. */
#include <string.h>

#include "kernels/asm/inline.h"
#include "src/convolution/depthwise/typed.h"
#include "src/gemm/results.h"
#include "src/gemm/shift.h"
#include "src/primitive/quantization.h"
#include "src/tensor/element.h"

/* ---- places and values ---- */

static void weights_position(const struct depthwise_typed_call *call, size_t channel,
                             neo_dim *position)
{
    size_t oc = (size_t)call->plan->shape.oc;
    memset(position, 0, NEO_MAX_NDIMS * sizeof *position);
    if (convolution_is_grouped(call->execution->problem))
        position[0] = (neo_dim)(channel / oc), position[1] = (neo_dim)(channel % oc);
}

static int32_t zero_of_weights(const struct depthwise_typed_call *call, size_t channel)
{
    neo_dim position[NEO_MAX_NDIMS];
    weights_position(call, channel, position);
    return quantization_zero_point(call->execution, WEIGHTS, position);
}

/* Zero points of src, by channel of dst. Gives back how many there are: all others are the last
 * one. */
static size_t read_zeros_of_src(const struct depthwise_typed_call *call, int32_t *zeros)
{
    const struct problem *problem = call->execution->problem;
    size_t oc = (size_t)call->plan->shape.oc;
    bool are_common = gemm_results_are_common(problem, problem->zero_points[SRC]);
    size_t count = are_common ? 1 : call->plan->layout.channels;
    for (size_t c = 0; c < count; c++) {
        neo_dim position[NEO_MAX_NDIMS] = {0, (neo_dim)(c / oc)};
        zeros[c] = quantization_zero_point(call->execution, SRC, position);
    }
    return count;
}

/* Of the first tap, in elements. */
static ptrdiff_t weights_of(const struct depthwise_typed_call *call, size_t channel)
{
    const struct convolution_shape *s = &call->plan->shape;
    size_t oc = (size_t)s->oc;
    return (ptrdiff_t)((neo_dim)(channel / oc) * s->weights_g +
                       (neo_dim)(channel % oc) * s->weights_o);
}

/* offset: of the tap. */
static uint32_t weight_at(const struct depthwise_typed_call *call, size_t channel, ptrdiff_t offset)
{
    const struct execution *execution = call->execution;
    int32_t weight =
        element_read_s32(type_of(execution->problem, WEIGHTS), execution->buffers[WEIGHTS],
                         weights_of(call, channel) + offset);
    return (uint32_t)weight - (uint32_t)zero_of_weights(call, channel);
}

static int8_t packed_weight(const struct depthwise_typed_call *call, size_t channel, size_t tap)
{
    const struct depthwise_layout *layout = &call->plan->layout;
    size_t block = channel / DEPTHWISE_BLOCK, c = channel - depthwise_layout_first(layout, block);
    const int8_t *weights = (const int8_t *)call->weights + block * layout->block_bytes;
    return weights[depthwise_layout_at(layout, tap, c)];
}

uint32_t depthwise_typed_weight(const struct depthwise_typed_call *call, size_t channel, size_t tap)
{
    if (call->plan->is_packed)
        return (uint32_t)packed_weight(call, channel, tap);
    return weight_at(call, channel, (ptrdiff_t)convolution_weights_tap(&call->plan->shape, tap));
}

/* Channels of a block that exist. */
static size_t valid_channels(const struct depthwise_typed *plan)
{
    return min_size(plan->layout.channels, DEPTHWISE_BLOCK);
}

/* ---- weights of a block ---- */

/* How the weights of one tap, which are so far from the first one's, become those of a block's
 * unit. false: not all of them are s8. */
typedef bool put_fn(const struct depthwise_typed_call *call, size_t first, ptrdiff_t offset,
                    void *out);

/* Are those of neighbouring channels next to each other? */
static bool is_in_lines(const struct depthwise_typed *plan)
{
    return plan->shape.weights_g == 1 && plan->shape.oc == 1 &&
           plan->layout.channels >= DEPTHWISE_BLOCK;
}

static bool put_s8_line(const struct depthwise_typed_call *call, size_t first, ptrdiff_t offset,
                        void *out)
{
    const int8_t *weights = call->execution->buffers[WEIGHTS];
    memcpy(out, weights + first + offset, DEPTHWISE_BLOCK * sizeof *weights);
    return true;
}

static bool put_f16_line(const struct depthwise_typed_call *call, size_t first, ptrdiff_t offset,
                         void *out)
{
    const uint16_t *weights = call->execution->buffers[WEIGHTS];
    memcpy(out, weights + first + offset, DEPTHWISE_BLOCK * sizeof *weights);
    return true;
}

static bool put_f16(const struct depthwise_typed_call *call, size_t first, ptrdiff_t offset,
                    void *out)
{
    const uint16_t *weights = call->execution->buffers[WEIGHTS];
    for (size_t c = 0; c < valid_channels(call->plan); c++)
        ((uint16_t *)out)[c] = weights[weights_of(call, first + c) + offset];
    return true;
}

static bool put_without_zeros(const struct depthwise_typed_call *call, size_t first,
                              ptrdiff_t offset, void *out)
{
    for (size_t c = 0; c < valid_channels(call->plan); c++) {
        int32_t weight = (int32_t)weight_at(call, first + c, offset);
        if (weight < INT8_MIN || weight > INT8_MAX)
            return false;
        ((int8_t *)out)[c] = (int8_t)weight;
    }
    return true;
}

/* u8 as s8, less 128. */
static bool put_with_zeros(const struct depthwise_typed_call *call, size_t first, ptrdiff_t offset,
                           void *out)
{
    const struct execution *execution = call->execution;
    enum element type = type_of(execution->problem, WEIGHTS);
    for (size_t c = 0; c < valid_channels(call->plan); c++) {
        ptrdiff_t at = weights_of(call, first + c) + offset;
        ((int8_t *)out)[c] = (int8_t)(element_read_s32(type, execution->buffers[WEIGHTS], at) -
                                      (type == ELEMENT_U8 ? 128 : 0));
    }
    return true;
}

static bool put_one(const struct depthwise_typed_call *call, size_t first, ptrdiff_t offset,
                    void *out)
{
    (void)call, (void)first, (void)offset;
    memset(out, 1, DEPTHWISE_BLOCK);
    return true;
}

static bool put_floats(const struct depthwise_typed_call *call, size_t first, ptrdiff_t offset,
                       void *out)
{
    const struct execution *execution = call->execution;
    const struct problem *problem = execution->problem;
    neo_dim step = is_in_lines(call->plan) ? 1 : 0;
    float *values = out;
    for (size_t c = 0; c < valid_channels(call->plan); c += step ? DEPTHWISE_BLOCK : 1) {
        line_load(problem->convert, problem->tensors[WEIGHTS].data_type,
                  execution->buffers[WEIGHTS], weights_of(call, first + c) + offset, 1,
                  step ? DEPTHWISE_BLOCK : 1, values + c);
    }
    for (size_t c = 0; problem->zero_points[WEIGHTS] && c < valid_channels(call->plan); c++)
        values[c] -= (float)zero_of_weights(call, first + c);
    return true;
}

/* A tap of all blocks. */
INLINE bool put_tap(const struct depthwise_typed_call *call, put_fn *put, size_t blocks, size_t tap,
                    unsigned char *out)
{
    const struct depthwise_typed *plan = call->plan;
    ptrdiff_t offset = (ptrdiff_t)convolution_weights_tap(&plan->shape, tap);
    for (size_t b = 0; b < blocks; b++, out += plan->layout.block_bytes)
        if (!put(call, depthwise_layout_first(&plan->layout, b), offset, out))
            return false;
    return true;
}

/* Does a block have more than is put there? Kernel rows that are missing, or channels. */
static bool has_gaps(const struct depthwise_typed *plan)
{
    return plan->layout.rows % plan->kernel->group || plan->layout.channels < DEPTHWISE_BLOCK;
}

/* All taps, groups of kernel rows outermost. */
INLINE bool put_blocks(const struct depthwise_typed_call *call, put_fn *put, size_t blocks,
                       unsigned char *out)
{
    const struct depthwise_typed *plan = call->plan;
    size_t columns = (size_t)plan->shape.kernel[WIDTH], group = plan->kernel->group;
    size_t line = DEPTHWISE_BLOCK * element_bytes(plan->kernel->weights);
    if (has_gaps(plan))
        memset(out, 0, blocks * plan->layout.block_bytes);
    for (size_t row = 0; row < plan->layout.rows; row++)
        for (size_t k = 0; k < columns; k++) {
            size_t at = (row / group * columns + k) * group + row % group;
            if (!put_tap(call, put, blocks, row * columns + k, out + at * line))
                return false;
        }
    return true;
}

/* Inline, so that the calls for each tap of each block are none. */
INLINE bool put_weights(const struct depthwise_typed_call *call, put_fn *put)
{
    const struct depthwise_typed *plan = call->plan;
    return put_blocks(call, put, plan->layout.blocks, depthwise_part(call, plan->shared.weights));
}

/* ---- sums of weights ---- */

/* The sums of each channel's weights as kernels multiply them, modulo 2^32. */
static void sum_block(const int8_t *restrict weights, size_t bytes, int32_t *restrict sums)
{
    memset(sums, 0, DEPTHWISE_BLOCK * sizeof *sums);
    for (size_t i = 0; i < bytes; i += DEPTHWISE_BLOCK)
        for (size_t c = 0; c < DEPTHWISE_BLOCK; c++)
            sums[c] += weights[i + c];
}

static void sum_weights(const struct depthwise_typed_call *call)
{
    const struct depthwise_typed *plan = call->plan;
    const int8_t *weights = depthwise_part(call, plan->shared.weights);
    int32_t *sums = depthwise_part(call, plan->shared.start);
    size_t bytes = plan->layout.block_bytes;
    for (size_t b = 0; b < plan->layout.blocks; b++)
        sum_block(weights + b * bytes, bytes, sums + depthwise_layout_first(&plan->layout, b));
}

static bool has_lowest(const struct depthwise_typed_call *call)
{
    const struct depthwise_typed *plan = call->plan;
    return memchr(depthwise_part(call, plan->shared.weights), (uint8_t)INT8_MIN,
                  plan->layout.blocks * plan->layout.block_bytes);
}

static void arrange(const struct depthwise_typed_call *call, size_t at, size_t blocks)
{
    const struct depthwise_typed *plan = call->plan;
    size_t units = plan->groups * (size_t)plan->shape.kernel[WIDTH];
    if (plan->kernel->arrange)
        plan->kernel->arrange(blocks * units, depthwise_part(call, at));
}

/* ---- zero points ---- */

/* May sums begin with GEMM_FLOAT_START? They are below 2^22 if zero points of src are of its type.
 */
static bool sums_are_floats(const struct depthwise_typed_call *call)
{
    const struct depthwise_typed *plan = call->plan;
    size_t taps = plan->layout.rows * (size_t)plan->shape.kernel[WIDTH];
    return plan->finish && !call->has_zeros && !call->has_excess && taps < 1 << (22 - 8 - 7);
}

/* What sums begin with, and with weights of 1. sums: of weights; zeros: so many of src's. */
static void fill_starts(const struct depthwise_typed_call *call, const int32_t *sums,
                        const int32_t *zeros, size_t count)
{
    const struct depthwise_typed *plan = call->plan;
    enum element src = type_of(call->execution->problem, SRC);
    uint32_t *start = depthwise_part(call, plan->shared.start);
    uint32_t *ones_start = depthwise_part(call, plan->shared.ones_start);
    uint32_t begin = call->whole.is_float ? GEMM_FLOAT_START : 0;
    uint32_t taps = (uint32_t)plan->layout.rows * (uint32_t)plan->shape.kernel[WIDTH];
    uint32_t zero = 0;
    if (call->has_zeros)
        memset(ones_start, 0, plan->layout.padded * sizeof *ones_start);
    memset(start + plan->layout.channels, 0,
           (plan->layout.padded - plan->layout.channels) * sizeof *start);
    for (size_t c = 0; c < plan->layout.channels; c++) {
        if (c < count)
            zero = (uint32_t)gemm_shift_zero(src, zeros[c]);
        start[c] = (uint32_t)sums[c] * -zero + begin;
        if (call->has_zeros)
            ones_start[c] = taps * -zero;
    }
}

/* Padding is the value of src's type that is nearest to its zero point. */
static void fill_padding(struct depthwise_typed_call *call, const int32_t *zeros, size_t count)
{
    const struct depthwise_typed *plan = call->plan;
    bool has_sign = type_of(call->execution->problem, SRC) == ELEMENT_S8;
    int32_t low = has_sign ? INT8_MIN : 0, high = has_sign ? INT8_MAX : UINT8_MAX;
    uint32_t *excess = depthwise_part(call, plan->shared.excess);
    uint8_t *padding = depthwise_part(call, plan->shared.padding);
    for (size_t c = 0; c < count; c++) {
        int32_t zero = zeros[c], value = zero < low ? low : zero > high ? high : zero;
        padding[c] = (uint8_t)value;
        excess[c] = (uint32_t)value - (uint32_t)zero;
        call->has_excess |= excess[c] != 0;
    }
    memset(padding + count, padding[count - 1], plan->layout.channels - count);
    for (size_t c = count; call->has_excess && c < plan->layout.channels; c++)
        excess[c] = excess[count - 1];
}

/* Gives back sums of weights. */
static const int32_t *find_packed(struct depthwise_typed_call *call)
{
    const struct depthwise_layout *layout = &call->plan->layout;
    call->is_narrow = !memchr(call->weights + layout->flags_at, 1, layout->blocks);
    return (const int32_t *)(const void *)(call->weights + layout->sums_at);
}

static const int32_t *arrange_integers(struct depthwise_typed_call *call)
{
    const struct depthwise_typed *plan = call->plan;
    const struct problem *problem = call->execution->problem;
    enum element weights = type_of(problem, WEIGHTS);
    int32_t *zeros = depthwise_part(call, plan->shared.zeros);
    bool in_lines = is_in_lines(plan) && !is_shifted(problem, WEIGHTS);
    call->has_zeros =
        !(in_lines ? put_weights(call, put_s8_line) : put_weights(call, put_without_zeros));
    if (call->has_zeros) {
        put_weights(call, put_with_zeros);
        put_blocks(call, put_one, 1, depthwise_part(call, plan->shared.ones));
        arrange(call, plan->shared.ones, 1);
        for (size_t c = 0; c < plan->layout.channels; c++)
            zeros[c] = gemm_shift_zero(weights, zero_of_weights(call, c));
    }
    call->is_narrow = !has_lowest(call);
    sum_weights(call);
    arrange(call, plan->shared.weights, plan->layout.blocks);
    return depthwise_part(call, plan->shared.start);
}

static void prepare_integers(struct depthwise_typed_call *call)
{
    const struct depthwise_typed *plan = call->plan;
    int32_t *src_zeros = depthwise_part(call, plan->shared.src_zeros);
    const int32_t *sums = plan->is_packed ? find_packed(call) : arrange_integers(call);
    size_t count = read_zeros_of_src(call, src_zeros);
    fill_padding(call, src_zeros, count);
    call->whole.is_float = sums_are_floats(call);
    fill_starts(call, sums, src_zeros, count);
}

/* Weights of f16 that are multiplied as such have no zero points. */
static void prepare_floats(const struct depthwise_typed_call *call)
{
    const struct depthwise_typed *plan = call->plan;
    bool in_lines = is_in_lines(plan);
    memset(depthwise_part(call, plan->shared.start), 0, plan->layout.padded * sizeof(float));
    if (plan->is_packed)
        return;
    if (plan->kernel->weights == ELEMENT_F16)
        (void)(in_lines ? put_weights(call, put_f16_line) : put_weights(call, put_f16));
    else
        put_weights(call, put_floats);
}

/* ---- scales and bias ---- */

/* Scales of `count` channels that follow each other along one dimension of weights. */
static void scale_channels(const struct depthwise_typed_call *call, size_t first, size_t count,
                           float *scales)
{
    const struct execution *execution = call->execution;
    const struct problem *problem = execution->problem;
    struct line line = {.count = count};
    line.direction = convolution_is_grouped(problem) && call->plan->shape.oc > 1;
    weights_position(call, first, line.position);
    quantization_read(execution, problem->scales[WEIGHTS], &problem->tensors[WEIGHTS], &line,
                      scales + first);
}

static void fill_results(const struct depthwise_typed_call *call)
{
    const struct depthwise_typed *plan = call->plan;
    const struct problem *problem = call->execution->problem;
    const neo_memory_desc *bias = &problem->tensors[BIAS];
    float *scales = depthwise_part(call, plan->shared.scales);
    float *offsets = depthwise_part(call, plan->shared.offsets);
    size_t together = plan->shape.oc > 1 ? (size_t)plan->shape.oc : plan->layout.channels;
    for (size_t c = 0; c < plan->layout.padded; c++)
        scales[c] = 1, offsets[c] = -0.0f; /* which changes nothing */
    for (size_t c = 0; c < plan->layout.channels; c += together)
        scale_channels(call, c, together, scales);
    if (bias->ndims)
        line_load(problem->convert, bias->data_type, call->execution->buffers[BIAS], 0,
                  bias->strides[0], plan->layout.channels, offsets);
}

/* Do kernels make results of sums? Those of integers have to be floats, and division a reciprocal.
 */
static bool ends_in_registers(const struct depthwise_typed_call *call)
{
    const struct gemm_finish *whole = &call->whole;
    bool divides = whole->is_requantized && whole->reciprocal == 0;
    bool suits = !call->plan->kernel->narrow_ends || call->is_narrow;
    return call->plan->ends && (!call->plan->integers || (whole->is_float && !divides && suits));
}

void depthwise_typed_prepare(struct depthwise_typed_call *call)
{
    const struct depthwise_typed *plan = call->plan;
    static const neo_dim origin[NEO_MAX_NDIMS];
    size_t values = plan->layout.padded * sizeof(float);
    call->whole = gemm_results_whole(call->execution);
    call->weights = plan->is_packed ? call->execution->buffers[WEIGHTS]
                                    : depthwise_part(call, plan->shared.weights);
    memset(depthwise_part(call, plan->shared.padding), 0, values);
    if (plan->integers)
        prepare_integers(call);
    else
        prepare_floats(call);
    fill_results(call);
    call->src_scale = quantization_scale(call->execution, SRC, origin);
    call->ends = ends_in_registers(call);
}
