/* Convolution: the public function, checks, shapes. */
#include "src/convolution/convolution.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "neoprene/convolution.h"
#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/packed/pack.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"

/* ---- checks ---- */

struct span convolution_inner_pixels(const struct convolution_shape *shape, int dimension)
{
    neo_dim out = shape->out[dimension], stride = shape->stride[dimension];
    neo_dim padding = shape->padding[dimension];
    neo_dim reach = (shape->kernel[dimension] - 1) * shape->dilation[dimension];
    neo_dim begin = padding ? (padding - 1) / stride + 1 : 0;
    neo_dim room = shape->in[dimension] + padding - reach;
    neo_dim end = room > 0 ? (room - 1) / stride + 1 : 0;
    begin = begin < out ? begin : out;
    end = end < out ? end : out;
    return (struct span){(size_t)begin, (size_t)(end > begin ? end : begin)};
}

bool convolution_is_grouped(const struct problem *problem)
{
    return problem->tensors[WEIGHTS].ndims == problem->tensors[DST].ndims + 1;
}

static const char *check_ndims(const struct problem *problem)
{
    const neo_memory_desc *tensors = problem->tensors;
    int ndims = tensors[DST].ndims;
    if (!tensors[SRC].ndims || !tensors[WEIGHTS].ndims || !ndims)
        return "src, weights or dst is absent";
    if (ndims < 3 || ndims > 5 || tensors[SRC].ndims != ndims)
        return "src and dst do not both have 3, 4 or 5 dimensions";
    if (tensors[WEIGHTS].ndims != ndims && tensors[WEIGHTS].ndims != ndims + 1)
        return "weights have neither as many dimensions as dst nor one more for groups";
    for (int t = SRC; t <= DST; t++)
        if (t != WEIGHTS && tensors[t].format_kind == NEO_FORMAT_PACKED)
            return "only weights can be packed";
    if (tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED &&
        tensors[WEIGHTS].packed.grouped != convolution_is_grouped(problem))
        return "packed weights disagree with the number of dimensions about groups";
    return NULL;
}

static const char *check_channels(const struct problem *problem)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *dst = &problem->tensors[DST], *bias = &problem->tensors[BIAS];
    bool grouped = convolution_is_grouped(problem);
    neo_dim groups = grouped ? weights->dims[0] : 1;
    neo_dim oc = weights->dims[grouped], ic = weights->dims[grouped + 1];
    if (groups < 1)
        return "there are no groups";
    if (src->dims[0] != dst->dims[0])
        return "the batch of src is not that of dst";
    if (src->dims[1] % groups || src->dims[1] / groups != ic)
        return "the channels of src are not groups times the input channels of weights";
    if (dst->dims[1] % groups || dst->dims[1] / groups != oc)
        return "the channels of dst are not groups times the output channels of weights";
    if (bias->ndims && (bias->ndims != 1 || bias->dims[0] != dst->dims[1]))
        return "bias is not one value per channel of dst";
    return NULL;
}

static const char *check_space(const struct problem *problem)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *dst = &problem->tensors[DST];
    int space = dst->ndims - 2, first = weights->ndims - space;
    for (int i = 0; i < space; i++) {
        neo_dim stride = problem->strides[i], dilation = problem->dilations[i];
        neo_dim left = problem->padding_left[i], right = problem->padding_right[i], extent, padded;
        if (stride < 1 || stride > INT32_MAX)
            return "a stride is out of range";
        if (dilation < 0 || dilation >= INT32_MAX)
            return "a dilation is out of range";
        if (left < 0)
            return "a padding on the left is negative";
        if (weights->dims[first + i] < 1)
            return "a kernel size is less than 1";
        if (__builtin_mul_overflow(weights->dims[first + i] - 1, dilation + 1, &extent) ||
            __builtin_add_overflow(src->dims[2 + i], left, &padded) ||
            __builtin_add_overflow(padded, right, &padded) ||
            __builtin_sub_overflow(padded, extent, &padded) || left > INT32_MAX ||
            right > INT32_MAX || extent > INT32_MAX)
            return "the padding or the kernel's extent is out of range";
        if (padded < 1 ? dst->dims[2 + i] != 0 : (padded - 1) / stride + 1 != dst->dims[2 + i])
            return "a spatial size of dst does not follow from src, kernel, stride, dilation and "
                   "padding";
    }
    return NULL;
}

static const char *convolution_check(struct problem *problem, bool *unsupported)
{
    if (problem->prop_kind != NEO_FORWARD_TRAINING && problem->prop_kind != NEO_FORWARD_INFERENCE)
        return "prop_kind is neither forward_training nor forward_inference";
    if ((unsigned)problem->convolution_algorithm > NEO_CONVOLUTION_WINOGRAD)
        return "the algorithm is unknown";
    const char *wrong = check_ndims(problem);
    if (wrong)
        return wrong;
    if (problem_is_runtime(problem)) {
        *unsupported = true;
        return "run-time sizes are not supported";
    }
    wrong = check_channels(problem);
    return wrong ? wrong : check_space(problem);
}

/* ---- shapes ---- */

static struct image_strides image_strides(const neo_memory_desc *desc)
{
    struct image_strides strides = {0};
    if (desc->format_kind != NEO_FORMAT_STRIDED)
        return strides;
    const neo_dim *s = desc->strides;
    int last = desc->ndims - 1;
    strides.n = s[0];
    strides.c = s[1];
    strides.w = s[last];
    strides.h = last >= 3 ? s[last - 1] : 0;
    strides.d = last >= 4 ? s[last - 2] : 0;
    return strides;
}

void convolution_shape_init(struct convolution_shape *shape, const struct problem *problem)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    const neo_memory_desc *dst = &problem->tensors[DST];
    int grouped = convolution_is_grouped(problem), space = dst->ndims - 2;
    bool plain = weights->format_kind == NEO_FORMAT_STRIDED;
    *shape = (struct convolution_shape){
        .batch = dst->dims[0],
        .groups = grouped ? weights->dims[0] : 1,
        .oc = weights->dims[grouped],
        .ic = weights->dims[grouped + 1],
        .src = image_strides(src),
        .dst = image_strides(dst),
        .weights_g = plain && grouped ? weights->strides[0] : 0,
        .weights_o = plain ? weights->strides[grouped] : 0,
        .weights_i = plain ? weights->strides[grouped + 1] : 0,
    };
    for (int i = 0; i < SPACE; i++) {
        int j = i - (SPACE - space); /* the problem's own index, if it has this dimension */
        shape->in[i] = j < 0 ? 1 : src->dims[2 + j];
        shape->out[i] = j < 0 ? 1 : dst->dims[2 + j];
        shape->kernel[i] = j < 0 ? 1 : weights->dims[grouped + 2 + j];
        shape->stride[i] = j < 0 ? 1 : problem->strides[j];
        shape->dilation[i] = j < 0 ? 1 : problem->dilations[j] + 1;
        shape->padding[i] = j < 0 ? 0 : problem->padding_left[j];
        shape->weights_space[i] = j < 0 || !plain ? 0 : weights->strides[grouped + 2 + j];
    }
}

void convolution_turn_column(struct convolution_shape *s)
{
    if (s->out[WIDTH] != 1 || s->kernel[WIDTH] != 1 || s->padding[WIDTH] != 0)
        return;
    neo_dim *const all[] = {s->in,       s->out,     s->kernel,       s->stride,
                            s->dilation, s->padding, s->weights_space};
    static const neo_dim absent[] = {1, 1, 1, 1, 1, 0, 0};
    for (size_t i = 0; i < count_of(all); i++) {
        memmove(all[i] + 1, all[i], (SPACE - 1) * sizeof *all[i]);
        all[i][0] = absent[i];
    }
    s->src = (struct image_strides){s->src.n, s->src.c, 0, s->src.d, s->src.h};
    s->dst = (struct image_strides){s->dst.n, s->dst.c, 0, s->dst.d, s->dst.h};
}

neo_dim convolution_weights_tap(const struct convolution_shape *s, size_t tap)
{
    size_t kw = (size_t)s->kernel[WIDTH], kh = (size_t)s->kernel[HEIGHT];
    return (neo_dim)(tap % kw) * s->weights_space[WIDTH] +
           (neo_dim)(tap / kw % kh) * s->weights_space[HEIGHT] +
           (neo_dim)(tap / kw / kh) * s->weights_space[DEPTH];
}

bool convolution_is_depthwise(const struct problem *problem)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    if (convolution_is_grouped(problem))
        return weights->dims[2] == 1;
    return weights->dims[0] == 1 && weights->dims[1] == 1;
}

struct span convolution_taps(const struct convolution_shape *shape, int dimension, neo_dim first,
                             neo_dim last)
{
    neo_dim stride = shape->stride[dimension], padding = shape->padding[dimension];
    neo_dim step = shape->dilation[dimension], begin = 0, end = shape->kernel[dimension];
    /* Where src begins, from the last pixel's first tap on, and where it ends, from the first's. */
    neo_dim before = padding - last * stride;
    neo_dim behind = padding - first * stride + shape->in[dimension];
    if (before > 0)
        begin = before > (end - 1) * step ? end : (before - 1) / step + 1;
    if (behind <= (end - 1) * step)
        end = behind > begin * step ? (behind - 1) / step + 1 : begin;
    return (struct span){(size_t)begin, (size_t)end};
}

void convolution_pixel_position(const struct convolution_shape *shape, int ndims, size_t index,
                                neo_dim *position)
{
    for (int i = ndims - 1; i >= 2; i--) {
        size_t size = (size_t)shape->out[i - ndims + SPACE];
        position[i] = (neo_dim)(index % size);
        index /= size;
    }
    position[1] = 0;
    position[0] = (neo_dim)index;
}

void convolution_set_channels_last(neo_memory_desc *desc)
{
    static const char *const tags[] = {"acb", "acdb", "acdeb"};
    desc->format_kind = NEO_FORMAT_ANY;
    desc_set_tag(desc, tags[desc->ndims - 3]);
}

void convolution_choose_images(struct problem *problem)
{
    neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    neo_memory_desc *bias = &problem->tensors[BIAS];
    if (src->format_kind == NEO_FORMAT_ANY && dst->format_kind == NEO_FORMAT_ANY) {
        convolution_set_channels_last(src);
        convolution_set_channels_last(dst);
    }
    if (src->format_kind == NEO_FORMAT_ANY)
        desc_set_order_of(src, dst);
    if (dst->format_kind == NEO_FORMAT_ANY)
        desc_set_order_of(dst, src);
    if (bias->ndims && bias->format_kind == NEO_FORMAT_ANY)
        desc_set_plain(bias);
}

void convolution_choose_packed(const struct algorithm *self, struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self, (void)cpu;
    convolution_choose_images(problem);
    neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    if (weights->format_kind == NEO_FORMAT_ANY)
        layout_set(weights, LAYOUT_CONVOLUTION_F32, convolution_is_grouped(problem));
}

const char *convolution_refuse_tensors(const struct problem *problem, uint32_t layout)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *bias = &problem->tensors[BIAS];
    if (weights->format_kind == NEO_FORMAT_PACKED && weights->packed.id != layout)
        return "the weights are packed for another algorithm";
    if (bias->ndims && bias->dims[0] != 1 && bias->format_kind == NEO_FORMAT_STRIDED &&
        bias->strides[0] != 1)
        return "the values of bias do not follow each other";
    return NULL;
}

const char *convolution_refuse_direct(const struct problem *problem)
{
    return problem->convolution_algorithm == NEO_CONVOLUTION_WINOGRAD ? "Winograd was asked for"
                                                                      : NULL;
}

const float *convolution_packed_weights(const struct execution *execution, const struct cpu *cpu)
{
    const neo_memory_desc *given = &execution->problem->tensors[WEIGHTS];
    if (given->format_kind == NEO_FORMAT_PACKED)
        return execution->buffers[WEIGHTS];
    neo_memory_desc packed = *given;
    layout_set(&packed, LAYOUT_CONVOLUTION_F32, convolution_is_grouped(execution->problem));
    struct weights_transfer transfer = {.plain = given,
                                        .packed = &packed,
                                        .plain_data = execution->buffers[WEIGHTS],
                                        .packed_data = execution->scratch,
                                        .cpu = cpu};
    weights_pack(&transfer, execution->parallel, execution->threads);
    return execution->scratch;
}

/* ---- the operation ---- */

static void convolution_describe(const struct problem *problem, char *out, size_t size)
{
    struct convolution_shape s;
    convolution_shape_init(&s, problem);
    static const char axes[] = "dhw";
    size_t used = (size_t)snprintf(out, size, "g%" PRId64 "mb%" PRId64 "_ic%" PRId64 "oc%" PRId64,
                                   s.groups, s.batch, s.ic * s.groups, s.oc * s.groups);
    for (int i = SPACE - (problem->tensors[DST].ndims - 2); i < SPACE && used < size; i++)
        used += (size_t)snprintf(out + used, size - used,
                                 "_i%c%" PRId64 "o%c%" PRId64 "k%c%" PRId64 "s%c%" PRId64
                                 "d%c%" PRId64 "p%c%" PRId64,
                                 axes[i], s.in[i], axes[i], s.out[i], axes[i], s.kernel[i], axes[i],
                                 s.stride[i], axes[i], s.dilation[i] - 1, axes[i], s.padding[i]);
}

static const struct algorithm *const convolution_algorithms[] = {
    &convolution_depthwise,
    &convolution_winograd_2,
    &convolution_winograd_4,
    &convolution_winograd_6,
    &convolution_planes,
    &convolution_rows,
    &convolution_indirect,
    &convolution_gemm,
    &convolution_columns,
    &convolution_matmul,
    &convolution_transposed,
    &convolution_transposed_planes,
    &convolution_transposed_winograd_2,
    &convolution_transposed_winograd_4,
    &convolution_transposed_winograd_6,
    &convolution_dilated_winograd_2,
    &convolution_dilated_winograd_4,
    &convolution_dilated_winograd_6,
    &convolution_reference,
};
_Static_assert(count_of(convolution_algorithms) <= MAX_ALGORITHMS, "there is room to rank all");

const struct algorithm *convolution_best(const struct problem *problem, const struct algorithm *but,
                                         const struct cpu *cpu, double *estimate)
{
    const struct algorithm *best = NULL;
    for (size_t i = 0; i < count_of(convolution_algorithms); i++) {
        const struct algorithm *algorithm = convolution_algorithms[i];
        if (algorithm == but || algorithm->refuse(algorithm, problem, cpu))
            continue;
        double cycles = algorithm->estimate(algorithm, problem, cpu);
        if (!best || cycles < *estimate)
            *estimate = cycles, best = algorithm;
    }
    return best;
}

bool convolution_is_served(const struct problem *problem, const struct algorithm *but,
                           const struct cpu *cpu)
{
    for (size_t i = 0; i < count_of(convolution_algorithms); i++) {
        const struct algorithm *algorithm = convolution_algorithms[i];
        if (algorithm != but && !algorithm->refuse(algorithm, problem, cpu))
            return true;
    }
    return false;
}

static const struct operation convolution_operation = {
    .name = "convolution",
    .check = convolution_check,
    .algorithms = convolution_algorithms,
    .algorithm_count = count_of(convolution_algorithms),
    .describe = convolution_describe,
};

neo_status neo_convolution_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                 const neo_convolution_desc *desc,
                                                 const neo_attributes *attributes)
{
    if (out)
        *out = NULL;
    if (!out || !engine || !desc)
        return log_refusal(__func__, "out, engine or desc is NULL");
    struct description description = {
        .operation = &convolution_operation,
        .tensors = {&desc->src, &desc->weights, &desc->bias, &desc->dst},
        .attributes = attributes,
        .prop_kind = desc->prop_kind,
        .convolution_algorithm = desc->algorithm,
        .strides = desc->strides,
        .dilations = desc->dilations,
        .padding_left = desc->padding_left,
        .padding_right = desc->padding_right,
    };
    return primitive_desc_create(out, engine, &description);
}
