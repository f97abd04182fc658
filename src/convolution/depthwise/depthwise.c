/* Depthwise convolution: every channel of dst comes of one channel of src and a kernel of its own.
 * As many channels of dst as the multiplier says come of the same one.
 *
 * A call of the tile kernel does some rows of some channels, as many as stay in the L1 cache. Where
 * neither channels nor columns are next to each other in both images, or no kernel does what is
 * asked of planes (nchw), the rows of source of a block of channels are transposed into the
 * scratchpad, and results back; a multiplier repeats channels there. Rows of source go by pointer.
 */
#include <math.h>

#include "src/convolution/depthwise/depthwise.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"

/* Could the scratchpad's size overflow? Images may be astronomical where strides are 0. What a task
 * has is rows of source or dst, of at most a line of channels each or few enough to fit into the L1
 * cache, pointers to the rows, and zeros; no dimension of it is above this bound. */
static bool shape_fits(const struct convolution_shape *shape)
{
    enum { BYTES = 4096, MOST_TASKS = 1 << 16 }; /* a value's share is far below */
    struct convolution_shape s = *shape;
    size_t width = (size_t)max_size((size_t)s.in[WIDTH], (size_t)s.out[WIDTH]), rows, taps, bytes;
    size_t extent = ((size_t)s.kernel[HEIGHT] - 1) * (size_t)s.dilation[HEIGHT] + 1;
    return checked_mul(&taps, (size_t)s.kernel[DEPTH], (size_t)s.kernel[HEIGHT]) &&
           checked_mul(&bytes, taps, (size_t)s.kernel[WIDTH]) &&
           checked_mul(&bytes, bytes, (size_t)(s.groups * s.oc)) &&
           checked_mul(&bytes, bytes, BYTES) &&
           checked_mul(&rows, (size_t)s.stride[HEIGHT], DEPTHWISE_MOST_ROWS * 2) &&
           checked_mul(&rows, rows, (size_t)s.dilation[HEIGHT]) &&
           checked_add(&rows, rows, extent) &&
           checked_mul(&rows, rows, max_size((size_t)s.kernel[DEPTH], 1)) &&
           checked_add(&rows, rows, taps) &&
           checked_add(&width, width, (size_t)s.kernel[WIDTH] * (size_t)s.dilation[WIDTH]) &&
           checked_mul(&bytes, rows, width) && checked_mul(&bytes, bytes, BYTES) &&
           checked_mul(&bytes, bytes, MOST_TASKS);
}

static bool depthwise_fits(const struct problem *problem)
{
    struct convolution_shape turned = *convolution_shape_of(problem);
    if (!depthwise_may_turn(&turned))
        return shape_fits(&turned);
    convolution_turn_column(&turned);
    return shape_fits(convolution_shape_of(problem)) && shape_fits(&turned);
}

const char *convolution_refuse_groups(const struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    return convolution_is_depthwise(problem)
               ? NULL
               : "groups have more than one input channel, or there are none";
}

static const char *depthwise_refuse(const struct algorithm *self, const struct problem *problem,
                                    const struct cpu *cpu)
{
    (void)self, (void)cpu;
    const char *why = convolution_refuse_tensors(problem, LAYOUT_DEPTHWISE_F32);
    if (why)
        return why;
    if (!depthwise_fits(problem))
        return "the scratchpad would exceed the memory";
    return convolution_refuse_direct(problem);
}

/* There is a packed layout for one output channel of each group. */
static void choose_weights(neo_memory_desc *weights, bool grouped)
{
    if (grouped && weights->dims[1] == 1)
        layout_set(weights, LAYOUT_DEPTHWISE_F32, true);
    else
        desc_set_plain(weights);
}

static void depthwise_choose(const struct algorithm *self, struct problem *problem,
                             const struct cpu *cpu)
{
    (void)self, (void)cpu;
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_ANY)
        choose_weights(&problem->tensors[WEIGHTS], convolution_is_grouped(problem));
}

static double depthwise_estimate(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    (void)self;
    struct convolution_shape s = *convolution_shape_of(problem);
    double outputs = (double)s.batch * (double)s.groups * (double)s.oc, taps = 1;
    for (int i = 0; i < SPACE; i++) {
        outputs *= (double)s.out[i];
        taps *= (double)s.kernel[i];
    }
    double per_cycle = 4 * fmax(cpu->core->fmla_per_cycle, 1);
    return 500 + 2 * outputs * (taps + 1) / per_cycle + outputs * post_ops_cycles(problem);
}

static size_t depthwise_scratch_bytes(const void *plan, int threads)
{
    const struct convolution_depthwise *mine = plan;
    return mine->packed_bytes + mine->task_bytes * (size_t)threads;
}

static const char *depthwise_kernel(const void *plan)
{
    return ((const struct convolution_depthwise *)plan)->kernel;
}

const struct algorithm convolution_depthwise = {
    .name = "depthwise",
    .refuse_all = convolution_refuse_groups,
    .refuse = depthwise_refuse,
    .choose = depthwise_choose,
    .estimate = depthwise_estimate,
    .plan = depthwise_plan,
    .plan_bytes = sizeof(struct convolution_depthwise),
    .scratch_bytes = depthwise_scratch_bytes,
    .kernel = depthwise_kernel,
    .run = depthwise_run,
};
