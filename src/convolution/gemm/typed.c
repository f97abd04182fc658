/* Convolution of tensors of any types by the blocked GEMM: patches by weights, with taps before
 * channels along k. A patch's elements are gathered as they are stored, some steps of k at a time,
 * and become a panel of the type that is multiplied; so do weights. Sums are staged, and become
 * results a line of channels at a time. */
#include <string.h>

#include "kernels/asm/inline.h"
#include "src/convolution/convolution.h"
#include "src/gemm/gemm.h"
#include "src/gemm/shift.h"
#include "src/packed/side.h"
#include "src/primitive/finish.h"
#include "src/primitive/quantization.h"
#include "src/primitive/types.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/element.h"

struct convolution_typed {
    struct convolution_shape shape; /* first: it is the reference's plan, too */
    struct gemm_plan gemm;
    struct gemm_side a, b;
    bool integers;
};

static enum element type_of(const struct problem *problem, enum tensor t)
{
    return element_of(problem->tensors[t].data_type);
}

static bool is_of_integers(const struct problem *problem)
{
    return element_is_integer(type_of(problem, SRC)) &&
           element_is_integer(type_of(problem, WEIGHTS));
}

/* What is multiplied; NULL: f32, by its own kernels. */
static const struct gemm_type *multiplied(const struct problem *problem, const struct cpu *cpu)
{
    enum element a = type_of(problem, SRC), b = type_of(problem, WEIGHTS);
    if (is_of_integers(problem))
        return gemm_type_choose(cpu, ELEMENT_S8, ELEMENT_S32);
    if (a != b || a == ELEMENT_F32 || problem->zero_points[WEIGHTS])
        return NULL;
    const struct gemm_type *type = gemm_type_choose(cpu, a, ELEMENT_F32);
    return type == &gemm_types[GEMM_F32] ? NULL : type;
}

/* ---- selection ---- */

static bool is_f32_alone(const struct problem *problem)
{
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (problem->tensors[t].ndims && problem->tensors[t].data_type != NEO_F32)
            return false;
    return !problem->attributes.quantization_count;
}

static const char *typed_refuse(const struct algorithm *self, const struct problem *problem,
                                const struct cpu *cpu)
{
    (void)self, (void)cpu;
    const struct quantization *all = problem->attributes.quantizations;
    int zero_point = problem->zero_points[SRC];
    if (is_f32_alone(problem))
        return "all tensors are of f32";
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED)
        return "the weights are packed";
    if (zero_point && !is_of_integers(problem))
        return "floats have a zero point";
    if (zero_point && all[zero_point - 1].mask)
        return "channels of src have zero points of their own";
    return convolution_refuse_direct(problem);
}

static void typed_choose(const struct algorithm *self, struct problem *problem,
                         const struct cpu *cpu)
{
    (void)self, (void)cpu;
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_ANY)
        desc_set_plain(&problem->tensors[WEIGHTS]);
}

static size_t pixels_of(const struct convolution_shape *s)
{
    return (size_t)(s->batch * s->out[DEPTH] * s->out[HEIGHT] * s->out[WIDTH]);
}

static size_t depth_of(const struct convolution_shape *s)
{
    return (size_t)(s->kernel[DEPTH] * s->kernel[HEIGHT] * s->kernel[WIDTH] * s->ic);
}

/* Products take as many cycles as those of f32, by what an instruction does of either; and each
 * element of a patch is copied. */
static double typed_estimate(const struct algorithm *self, const struct problem *problem,
                             const struct cpu *cpu)
{
    const struct convolution_shape *s = convolution_shape_of(problem);
    const struct gemm_type *type = multiplied(problem, cpu), *f32 = &gemm_types[GEMM_F32];
    double groups = (double)s->groups, m = (double)pixels_of(s), n = (double)s->oc;
    double k = (double)depth_of(s), copied = groups * (m * k + n * k + m * n);
    (void)self;
    if (type)
        k *= (double)f32->products / (double)type->products;
    return gemm_estimate(cpu, groups, m, n, k, false, false, 0) + 0.5 * copied;
}

/* ---- plan ---- */

static bool is_shifted(const struct problem *problem, enum tensor t)
{
    return problem->zero_points[t] || type_of(problem, t) == ELEMENT_U8;
}

static void typed_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_typed *mine = plan;
    const struct gemm_type *type = multiplied(problem, cpu);
    mine->shape = *convolution_shape_of(problem);
    mine->integers = is_of_integers(problem);
    gemm_side_init(&mine->a, problem->tensors[SRC].data_type, type, cpu);
    gemm_side_init(&mine->b, problem->tensors[WEIGHTS].data_type, type, cpu);
    gemm_plan_init(&mine->gemm,
                   &(struct gemm_shape){
                       .batch = (size_t)mine->shape.groups,
                       .m = pixels_of(&mine->shape),
                       .n = (size_t)mine->shape.oc,
                       .k = depth_of(&mine->shape),
                       .type = type,
                       .a_summed = mine->integers && is_shifted(problem, WEIGHTS),
                       .b_summed = mine->integers && is_shifted(problem, SRC),
                       .output = GEMM_STAGED,
                   },
                   cpu);
}

static size_t typed_scratch_bytes(const void *plan, int threads)
{
    return gemm_scratch_bytes(&((const struct convolution_typed *)plan)->gemm, threads);
}

static const char *typed_kernel(const void *plan)
{
    return ((const struct convolution_typed *)plan)->gemm.kernel;
}

/* ---- packing ---- */

enum { STEPS = 256 /* of k, whole groups */, LANES = 12, CHUNK = 256 };

struct typed_call {
    const struct convolution_typed *plan;
    const struct execution *execution;
    uint8_t zero; /* each byte of an element that stands for 0 */
};

static void locate(const void *context, size_t batch, struct gemm_place *out)
{
    (void)context, (void)batch;
    *out = (struct gemm_place){0};
}

INLINE void gather_bytes(unsigned char *to, const unsigned char *from, neo_dim step, size_t count,
                         size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * bytes, from + (neo_dim)i * step * (neo_dim)bytes, bytes);
}

/* `count` elements of as many bytes, `step` elements from each other. */
static void gather(unsigned char *to, const unsigned char *from, neo_dim step, size_t count,
                   size_t bytes)
{
    if (step == 1)
        memcpy(to, from, count * bytes);
    else if (bytes == 1)
        gather_bytes(to, from, step, count, 1);
    else if (bytes == 2)
        gather_bytes(to, from, step, count, 2);
    else
        gather_bytes(to, from, step, count, 4);
}

/* Where in src a tap of a pixel is, from the pixel's image and group on; -1: in the padding. */
static neo_dim tap_offset(const struct convolution_shape *s, const neo_dim *out, size_t tap)
{
    const neo_dim strides[SPACE] = {s->src.d, s->src.h, s->src.w};
    neo_dim offset = 0;
    for (int i = SPACE - 1; i >= 0; i--) {
        neo_dim at = (neo_dim)(tap % (size_t)s->kernel[i]) * s->dilation[i];
        at += out[i] * s->stride[i] - s->padding[i];
        tap /= (size_t)s->kernel[i];
        if (at < 0 || at >= s->in[i])
            return -1;
        offset += at * strides[i];
    }
    return offset;
}

/* The pixel's place in dst, and its image in *image. */
static void pixel_place(const struct convolution_shape *s, size_t pixel, neo_dim *out,
                        neo_dim *image)
{
    for (int i = SPACE - 1; i >= 0; i--) {
        out[i] = (neo_dim)(pixel % (size_t)s->out[i]);
        pixel /= (size_t)s->out[i];
    }
    *image = (neo_dim)pixel;
}

/* Steps [first, first + count) of k of a pixel's patch. */
static void gather_patch(const struct typed_call *call, size_t group, size_t pixel, size_t first,
                         size_t count, unsigned char *to)
{
    const struct convolution_shape *s = &call->plan->shape;
    size_t bytes = element_bytes(call->plan->a.stored), ic = (size_t)s->ic;
    neo_dim out[SPACE], image;
    pixel_place(s, pixel, out, &image);
    neo_dim base = image * s->src.n + (neo_dim)group * s->ic * s->src.c;
    const unsigned char *src = call->execution->buffers[SRC];
    while (count) {
        size_t channel = first % ic, part = min_size(ic - channel, count);
        neo_dim offset = tap_offset(s, out, first / ic);
        if (offset < 0)
            memset(to, call->zero, part * bytes);
        else
            gather(to, src + (base + offset + (neo_dim)channel * s->src.c) * (neo_dim)bytes,
                   s->src.c, part, bytes);
        first += part, count -= part, to += part * bytes;
    }
}

/* The same of the weights of an output channel. */
static void gather_weights(const struct typed_call *call, size_t group, size_t channel,
                           size_t first, size_t count, unsigned char *to)
{
    const struct convolution_shape *s = &call->plan->shape;
    size_t bytes = element_bytes(call->plan->b.stored), ic = (size_t)s->ic;
    neo_dim base = (neo_dim)group * s->weights_g + (neo_dim)channel * s->weights_o;
    const unsigned char *weights = call->execution->buffers[WEIGHTS];
    while (count) {
        size_t from = first % ic, part = min_size(ic - from, count);
        neo_dim offset =
            base + convolution_weights_tap(s, first / ic) + (neo_dim)from * s->weights_i;
        gather(to, weights + offset * (neo_dim)bytes, s->weights_i, part, bytes);
        first += part, count -= part, to += part * bytes;
    }
}

typedef void gather_fn(const struct typed_call *call, size_t group, size_t lane, size_t first,
                       size_t count, unsigned char *to);

static void pack_side(const struct typed_call *call, const struct gemm_side *side,
                      gather_fn *gather_lane, const struct gemm_panel *panel)
{
    size_t bytes = element_bytes(side->stored);
    for (size_t p = 0; p < panel->depth; p += STEPS) {
        _Alignas(16) unsigned char values[LANES * STEPS * sizeof(float)];
        size_t count = min_size(STEPS, panel->depth - p);
        for (size_t i = 0; i < panel->lanes; i++)
            gather_lane(call, panel->batch, panel->lane + i, panel->first + p, count,
                        values + i * STEPS * bytes);
        size_t at = gemm_panel_at(side->group, panel->width, 0, p);
        gemm_side_pack(side, &(struct gemm_side_panel){
                                 .data = values,
                                 .lane = STEPS,
                                 .step = 1,
                                 .width = panel->width,
                                 .count = panel->lanes,
                                 .k = count,
                                 .out = (char *)panel->out + at * element_bytes(side->to),
                                 .sums = panel->sums,
                             });
    }
}

static void pack_a(const void *context, void *task_scratch, const struct gemm_panel *panel)
{
    const struct typed_call *call = context;
    (void)task_scratch;
    pack_side(call, &call->plan->a, gather_patch, panel);
}

/* A position in weights: of an output channel of a group. */
static void weights_position(const struct execution *execution, size_t group, size_t channel,
                             neo_dim *position)
{
    memset(position, 0, NEO_MAX_NDIMS * sizeof *position);
    if (convolution_is_grouped(execution->problem))
        position[0] = (neo_dim)group, position[1] = (neo_dim)channel;
    else
        position[0] = (neo_dim)channel;
}

static int32_t weights_zero_point(const struct execution *execution, size_t group, size_t channel)
{
    neo_dim position[NEO_MAX_NDIMS];
    weights_position(execution, group, channel, position);
    return quantization_zero_point(execution, WEIGHTS, position);
}

/* Integers that became floats, without their zero points. */
static void subtract_zero_points(const struct typed_call *call, const struct gemm_panel *panel)
{
    float *out = panel->out;
    for (size_t j = 0; j < panel->lanes; j++) {
        float zero = (float)weights_zero_point(call->execution, panel->batch, panel->lane + j);
        for (size_t p = 0; p < panel->depth; p++)
            out[p * panel->width + j] -= zero;
    }
}

static void pack_b(const void *context, const struct gemm_panel *panel)
{
    const struct typed_call *call = context;
    pack_side(call, &call->plan->b, gather_weights, panel);
    if (!call->plan->integers && call->execution->problem->zero_points[WEIGHTS])
        subtract_zero_points(call, panel);
}

/* ---- results ---- */

static int32_t src_zero_point(const struct execution *execution)
{
    return quantization_zero_point(execution, SRC, (const neo_dim[NEO_MAX_NDIMS]){0});
}

/* Row i of the block, from its column number `first` on: what zero points of either side ask for.
 */
static void shift_sums(const struct typed_call *call, const struct gemm_block *block, size_t i,
                       size_t first, size_t count, int32_t *sums)
{
    const struct execution *execution = call->execution;
    enum element weights = type_of(execution->problem, WEIGHTS);
    int32_t b_zeros[CHUNK];
    struct gemm_shift shift = {
        .k = call->plan->gemm.shape.k,
        .a_zero = gemm_shift_zero(type_of(execution->problem, SRC), src_zero_point(execution)),
        .a_sum = block->a_sums ? block->a_sums[i] : 0,
        .b_zeros = block->a_sums ? b_zeros : NULL,
        .b_sums = block->b_sums ? block->b_sums + first : NULL,
    };
    for (size_t j = 0; shift.b_zeros && j < count; j++)
        b_zeros[j] = gemm_shift_zero(
            weights, weights_zero_point(execution, block->batch, block->column + first + j));
    gemm_shift_sums(&shift, count, sums);
}

/* values are those of a line of dst's channels. */
static void scale_and_add_bias(const struct execution *execution, const struct gemm_block *block,
                               size_t channel, const struct line *line, float *values)
{
    const struct problem *problem = execution->problem;
    const struct binary_f32_kernel *binary = problem->binary;
    const neo_memory_desc *bias = &problem->tensors[BIAS];
    struct line own = {.count = line->count};
    quantization_apply(execution, problem->scales[SRC], &problem->tensors[SRC],
                       binary[BINARY_F32_MUL].run, &own, values);
    weights_position(execution, block->batch, channel, own.position);
    own.direction = convolution_is_grouped(problem);
    quantization_apply(execution, problem->scales[WEIGHTS], &problem->tensors[WEIGHTS],
                       binary[BINARY_F32_MUL].run, &own, values);
    if (!bias->ndims)
        return;
    float biases[CHUNK];
    line_load(problem->convert, bias->data_type, execution->buffers[BIAS],
              line->position[1] * bias->strides[0], bias->strides[0], line->count, biases);
    binary[BINARY_F32_ADD].run(line->count, values, biases, 1, values);
}

static void finish_part(const struct typed_call *call, const struct gemm_block *block, size_t i,
                        size_t first, const struct line *line)
{
    const struct execution *execution = call->execution;
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    float values[CHUNK], *sums = block->values + i * block->row_stride + first;
    if (call->plan->integers) {
        int32_t *whole = (int32_t *)(void *)sums;
        if (block->a_sums || block->b_sums)
            shift_sums(call, block, i, first, line->count, whole);
        execution->problem->convert[ELEMENT_S32].load(line->count, whole, values);
    } else {
        memcpy(values, sums, line->count * sizeof *values);
    }
    scale_and_add_bias(execution, block, block->column + first, line, values);
    finish_line(
        execution, line, values, false,
        element_to(dst->data_type, execution->buffers[DST], desc_offset(dst, line->position)),
        dst->strides[1]);
}

static void finish(const void *context, const struct gemm_block *block)
{
    const struct typed_call *call = context;
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

/* ---- run ---- */

/* Is there an element of src that stands for 0? */
static bool has_zero(const struct execution *execution, int32_t zero_point)
{
    bool is_signed = type_of(execution->problem, SRC) == ELEMENT_S8;
    return is_signed ? zero_point >= INT8_MIN && zero_point <= INT8_MAX
                     : zero_point >= 0 && zero_point <= UINT8_MAX;
}

/* The padding is full of zero points. Where src's is no value of its type, the definition is all
 * that is left. */
static void typed_run(const void *plan, const struct execution *execution)
{
    struct typed_call mine = {plan, execution, 0};
    struct gemm_call call = {
        .context = &mine, .locate = locate, .pack_a = pack_a, .pack_b = pack_b, .finish = finish};
    if (mine.plan->integers) {
        int32_t zero_point = src_zero_point(execution);
        if (!has_zero(execution, zero_point)) {
            convolution_reference.run(&mine.plan->shape, execution);
            return;
        }
        mine.zero = (uint8_t)zero_point;
    }
    gemm_run(&mine.plan->gemm, &call, execution->parallel, execution->threads, execution->scratch);
}

const struct algorithm convolution_typed = {
    .name = "typed",
    .types = convolution_types,
    .quantizes = true,
    .refuse = typed_refuse,
    .choose = typed_choose,
    .estimate = typed_estimate,
    .plan = typed_plan,
    .plan_bytes = sizeof(struct convolution_typed),
    .scratch_bytes = typed_scratch_bytes,
    .kernel = typed_kernel,
    .run = typed_run,
};
