/* Convolution as its definition reads. */
#include <math.h>

#include "src/convolution/convolution.h"
#include "src/primitive/finish.h"
#include "src/primitive/quantization.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/element.h"
#include "src/threading/partition.h"

static const char *reference_refuse(const struct algorithm *self, const struct problem *problem,
                                    const struct cpu *cpu)
{
    (void)self, (void)cpu;
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED)
        return "the weights are packed";
    return convolution_refuse_direct(problem);
}

static void reference_choose(const struct algorithm *self, struct problem *problem,
                             const struct cpu *cpu)
{
    (void)self, (void)cpu;
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_ANY)
        desc_set_plain(&problem->tensors[WEIGHTS]);
}

static double reference_estimate(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    struct convolution_shape s;
    (void)self, (void)cpu;
    s = *convolution_shape_of(problem);
    double work = 10000 + 20 * (double)s.batch * (double)s.groups * (double)s.oc * (double)s.ic;
    for (int i = 0; i < SPACE; i++)
        work *= (double)s.out[i] * (double)s.kernel[i];
    return work;
}

static void reference_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    *(struct convolution_shape *)plan = *convolution_shape_of(problem);
}

static const char *reference_kernel(const void *plan)
{
    (void)plan;
    return "convolution_ref";
}

/* ---- one element ---- */

/* What its sum runs over. Offsets are in elements: of the output's image and group, and of its
 * group and channel. */
struct factors {
    const struct convolution_shape *s;
    const struct execution *execution;
    bool integers; /* both are: their sum is exact, modulo 2^32 */
    enum element src_type, weights_type;
    neo_dim src, weights;
    neo_dim src_position[NEO_MAX_NDIMS], weights_position[NEO_MAX_NDIMS];
    int32_t zero_point; /* of weights */
};

/* One of the two. */
struct sum {
    float real;
    uint32_t whole;
};

static int32_t src_zero_point(const struct factors *f, neo_dim channel)
{
    neo_dim position[NEO_MAX_NDIMS] = {f->src_position[0], f->src_position[1] + channel};
    return quantization_zero_point(f->execution, SRC, position);
}

/* The part of the sum that one tap gives: the channels of one group. */
static void add_integers(const struct factors *f, neo_dim src, neo_dim weights, struct sum *sum)
{
    const void *const *buffers = (const void *const *)f->execution->buffers;
    for (neo_dim c = 0; c < f->s->ic; c++) {
        int32_t a = element_read_s32(f->src_type, buffers[SRC], (ptrdiff_t)(src + c * f->s->src.c));
        int32_t b = element_read_s32(f->weights_type, buffers[WEIGHTS],
                                     (ptrdiff_t)(weights + c * f->s->weights_i));
        sum->whole += ((uint32_t)a - (uint32_t)src_zero_point(f, c)) *
                      ((uint32_t)b - (uint32_t)f->zero_point);
    }
}

static void add_floats(const struct factors *f, neo_dim src, neo_dim weights, struct sum *sum)
{
    const void *const *buffers = (const void *const *)f->execution->buffers;
    for (neo_dim c = 0; c < f->s->ic; c++) {
        float a = element_read_f32(f->src_type, buffers[SRC], (ptrdiff_t)(src + c * f->s->src.c));
        float b = element_read_f32(f->weights_type, buffers[WEIGHTS],
                                   (ptrdiff_t)(weights + c * f->s->weights_i));
        sum->real = fmaf(a - (float)src_zero_point(f, c), b - (float)f->zero_point, sum->real);
    }
}

/* Taps in the padding add nothing: they stand for 0, whatever the zero point is. */
static void add_tap(const struct factors *f, const neo_dim *out, const neo_dim *tap,
                    struct sum *sum)
{
    const struct convolution_shape *s = f->s;
    neo_dim at[SPACE], weights = f->weights;
    for (int i = 0; i < SPACE; i++) {
        at[i] = out[i] * s->stride[i] - s->padding[i] + tap[i] * s->dilation[i];
        if (at[i] < 0 || at[i] >= s->in[i])
            return;
        weights += tap[i] * s->weights_space[i];
    }
    neo_dim src = f->src + at[DEPTH] * s->src.d + at[HEIGHT] * s->src.h + at[WIDTH] * s->src.w;
    (f->integers ? add_integers : add_floats)(f, src, weights, sum);
}

static float convolve(const struct factors *f, const neo_dim *out)
{
    const neo_dim *kernel = f->s->kernel;
    struct sum sum = {0, 0};
    neo_dim tap[SPACE];
    for (tap[DEPTH] = 0; tap[DEPTH] < kernel[DEPTH]; tap[DEPTH]++)
        for (tap[HEIGHT] = 0; tap[HEIGHT] < kernel[HEIGHT]; tap[HEIGHT]++)
            for (tap[WIDTH] = 0; tap[WIDTH] < kernel[WIDTH]; tap[WIDTH]++)
                add_tap(f, out, tap, &sum);
    float value = f->integers ? (float)(int32_t)sum.whole : sum.real;
    value *= quantization_scale(f->execution, SRC, f->src_position);
    return value * quantization_scale(f->execution, WEIGHTS, f->weights_position);
}

static struct factors factors_of(const struct convolution_shape *s,
                                 const struct execution *execution, const struct line *line)
{
    const neo_memory_desc *tensors = execution->problem->tensors;
    neo_dim image = line->position[0], channel = line->position[1], group = channel / s->oc;
    struct factors f = {
        .s = s,
        .execution = execution,
        .src_type = element_of(tensors[SRC].data_type),
        .weights_type = element_of(tensors[WEIGHTS].data_type),
        .src = image * s->src.n + group * s->ic * s->src.c,
        .weights = group * s->weights_g + channel % s->oc * s->weights_o,
        .src_position = {image, group * s->ic},
        .weights_position = {channel},
    };
    if (convolution_is_grouped(execution->problem))
        f.weights_position[0] = group, f.weights_position[1] = channel % s->oc;
    f.integers = element_is_integer(f.src_type) && element_is_integer(f.weights_type);
    f.zero_point = quantization_zero_point(execution, WEIGHTS, f.weights_position);
    return f;
}

static void run_element(const struct convolution_shape *s, const struct execution *execution,
                        const struct line *line, const neo_dim *out)
{
    const neo_memory_desc *bias = &execution->problem->tensors[BIAS];
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    struct factors factors = factors_of(s, execution, line);
    float value = convolve(&factors, out);
    if (bias->ndims)
        value += element_read(bias->data_type, execution->buffers[BIAS],
                              line->position[1] * bias->strides[0]);
    finish_line(
        execution, line, &value, false,
        element_to(dst->data_type, execution->buffers[DST], desc_offset(dst, line->position)), 1);
}

struct reference_run {
    const struct convolution_shape *shape;
    const struct execution *execution;
};

static void run_pixels(void *argument, struct span mine, int slot)
{
    const struct reference_run *run = argument;
    const struct convolution_shape *s = run->shape;
    int ndims = run->execution->problem->tensors[DST].ndims;
    (void)slot;
    struct line line = {.direction = 1, .count = 1};
    for (size_t pixel = mine.begin; pixel < mine.end; pixel++) {
        convolution_pixel_position(s, ndims, pixel, line.position);
        neo_dim out[SPACE] = {0};
        for (int i = 2; i < ndims; i++)
            out[i - ndims + SPACE] = line.position[i];
        for (neo_dim c = 0; c < s->groups * s->oc; c++) {
            line.position[1] = c;
            run_element(s, run->execution, &line, out);
        }
    }
}

static void reference_run(const void *plan, const struct execution *execution)
{
    const struct convolution_shape *s = plan;
    struct reference_run run = {s, execution};
    size_t pixels = (size_t)(s->batch * s->out[DEPTH] * s->out[HEIGHT] * s->out[WIDTH]);
    parallel_for_tiles(execution->parallel, pixels, execution->threads, run_pixels, &run);
}

const struct algorithm convolution_reference = {
    .name = "reference",
    .types = convolution_types,
    .quantizes = true,
    .refuse = reference_refuse,
    .choose = reference_choose,
    .estimate = reference_estimate,
    .plan = reference_plan,
    .plan_bytes = sizeof(struct convolution_shape),
    .kernel = reference_kernel,
    .run = reference_run,
};
