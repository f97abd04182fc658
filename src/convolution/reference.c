/* Convolution as its definition reads. */
#include <math.h>

#include "src/convolution/convolution.h"
#include "src/primitive/finish.h"
#include "src/tensor/descriptor.h"
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
    double work = 1e4 + 20.0 * (double)s.batch * (double)s.groups * (double)s.oc * (double)s.ic;
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
    return "convolution_f32_ref";
}

/* The part of the sum that one tap gives: the channels of one group. */
static float add_tap(const struct convolution_shape *s, const float *src, const float *weights,
                     float sum)
{
    for (neo_dim c = 0; c < s->ic; c++)
        sum = fmaf(src[c * s->src.c], weights[c * s->weights_i], sum);
    return sum;
}

/* src and weights: of the output's image and group, and of its group and channel. */
static float convolve(const struct convolution_shape *s, const float *src, const float *weights,
                      const neo_dim *out)
{
    float sum = 0;
    for (neo_dim kd = 0; kd < s->kernel[DEPTH]; kd++)
        for (neo_dim kh = 0; kh < s->kernel[HEIGHT]; kh++)
            for (neo_dim kw = 0; kw < s->kernel[WIDTH]; kw++) {
                neo_dim d =
                    out[DEPTH] * s->stride[DEPTH] - s->padding[DEPTH] + kd * s->dilation[DEPTH];
                neo_dim h =
                    out[HEIGHT] * s->stride[HEIGHT] - s->padding[HEIGHT] + kh * s->dilation[HEIGHT];
                neo_dim w =
                    out[WIDTH] * s->stride[WIDTH] - s->padding[WIDTH] + kw * s->dilation[WIDTH];
                if (d < 0 || d >= s->in[DEPTH] || h < 0 || h >= s->in[HEIGHT] || w < 0 ||
                    w >= s->in[WIDTH])
                    continue;
                sum = add_tap(s, src + d * s->src.d + h * s->src.h + w * s->src.w,
                              weights + kd * s->weights_space[DEPTH] +
                                  kh * s->weights_space[HEIGHT] + kw * s->weights_space[WIDTH],
                              sum);
            }
    return sum;
}

static void run_element(const struct convolution_shape *s, const struct execution *execution,
                        const struct line *line, const neo_dim *out)
{
    const neo_memory_desc *tensors = execution->problem->tensors;
    neo_dim channel = line->position[1], group = channel / s->oc;
    const float *src = (const float *)execution->buffers[SRC] + line->position[0] * s->src.n +
                       group * s->ic * s->src.c;
    const float *weights = (const float *)execution->buffers[WEIGHTS] + group * s->weights_g +
                           channel % s->oc * s->weights_o;
    float value = convolve(s, src, weights, out);
    if (tensors[BIAS].ndims)
        value += ((const float *)execution->buffers[BIAS])[channel * tensors[BIAS].strides[0]];
    float *to = (float *)execution->buffers[DST] + desc_offset(&tensors[DST], line->position);
    finish_line(execution, line, &value, false, to, 1);
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
    .refuse = reference_refuse,
    .choose = reference_choose,
    .estimate = reference_estimate,
    .plan = reference_plan,
    .plan_bytes = sizeof(struct convolution_shape),
    .kernel = reference_kernel,
    .run = reference_run,
};
