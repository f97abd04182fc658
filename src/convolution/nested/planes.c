/* Convolution of planes (nchw) in their own order, as a depthwise one in three dimensions: the
 * input channels of a group are the planes of one image with depth, of which a kernel as deep makes
 * each output channel.
 *
 * Vectors are of neighbouring pixels, so nothing is transposed, and any number of channels will do,
 * on either side: few of them, which are parts of vectors elsewhere, and such that images are much
 * to transpose beside their products. */
#include <math.h>

#include "arch/costs.h"
#include "src/convolution/convolution.h"
#include "src/core/checked.h"
#include "src/primitive/implementation.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/selection.h"
#include "src/tensor/descriptor.h"

enum { LANES = 4 };

static const double lanes = LANES; /* clang wants doubles */

/* ---- the depthwise convolution ---- */

static neo_memory_desc tensor_of(int ndims, const neo_dim *dims, const neo_dim *strides)
{
    neo_memory_desc desc = {
        .ndims = ndims, .data_type = NEO_F32, .format_kind = NEO_FORMAT_STRIDED};
    for (int i = 0; i < ndims; i++) {
        desc.dims[i] = dims[i];
        desc.strides[i] = strides[i];
    }
    return desc;
}

/* Every tensor of the convolution has its layout. */
static void make_nested(struct problem *nested, const struct problem *problem)
{
    struct convolution_shape s = *convolution_shape_of(problem);
    const neo_dim *in = s.in, *out = s.out, *kernel = s.kernel;
    *nested = *problem;
    nested->convolution_algorithm = NEO_CONVOLUTION_DIRECT;
    nested->tensors[SRC] =
        tensor_of(5, (neo_dim[]){s.batch, s.groups, s.ic, in[HEIGHT], in[WIDTH]},
                  (neo_dim[]){s.src.n, s.ic * s.src.c, s.src.c, s.src.h, s.src.w});
    nested->tensors[DST] =
        tensor_of(5, (neo_dim[]){s.batch, s.groups * s.oc, 1, out[HEIGHT], out[WIDTH]},
                  (neo_dim[]){s.dst.n, s.dst.c, s.dst.n, s.dst.h, s.dst.w});
    nested->tensors[WEIGHTS] =
        tensor_of(6, (neo_dim[]){s.groups, s.oc, 1, s.ic, kernel[HEIGHT], kernel[WIDTH]},
                  (neo_dim[]){s.weights_g, s.weights_o, s.weights_i, s.weights_i,
                              s.weights_space[HEIGHT], s.weights_space[WIDTH]});
    for (int i = 0; i < SPACE; i++) {
        neo_dim size = i == DEPTH ? s.ic : in[i], taps = i == DEPTH ? s.ic : kernel[i];
        nested->window.strides[i] = s.stride[i];
        nested->window.dilations[i] = s.dilation[i] - 1;
        nested->window.left[i] = s.padding[i];
        nested->window.right[i] =
            (out[i] - 1) * s.stride[i] + (taps - 1) * s.dilation[i] + 1 - size - s.padding[i];
    }
    convolution_derive(nested);
}

/* Those that are `any` become what depthwise kernels read: channels next to each other, and then
 * taps. */
static void choose_layouts(struct problem *problem)
{
    static const char *const tags[][2] = {{"bca", "cdab"}, {"bcda", "cdeab"}};
    neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    if (weights->format_kind != NEO_FORMAT_ANY)
        return;
    desc_set_tag(weights, tags[problem->tensors[DST].ndims == 4][convolution_is_grouped(problem)]);
    convolution_derive(problem);
}

/* ---- refuse, choose, estimate ---- */

static bool are_planes(const struct convolution_shape *s)
{
    return s->src.w == 1 && s->dst.w == 1 && s->in[WIDTH] >= LANES && s->out[WIDTH] >= LANES;
}

/* Bytes of source that some rows of dst need, of all channels of a group; they are copied. */
static double source_bytes(const struct convolution_shape *s)
{
    const double rows = 4; /* clang wants a double */
    double extent = (double)((s->kernel[HEIGHT] - 1) * s->dilation[HEIGHT]);
    double width = (double)s->out[WIDTH] + (double)((s->kernel[WIDTH] - 1) * s->dilation[WIDTH]);
    return (fmin(rows, (double)s->out[HEIGHT]) + extent) * width * (double)s->ic * sizeof(float);
}

static const char *refuse_shape(const struct convolution_shape *s, const struct cpu *cpu)
{
    if (!are_planes(s))
        return "pixels of a row do not follow each other, or are few";
    if (s->ic < 1 || s->batch < 1 || s->groups < 1 || s->oc < 1 || s->out[HEIGHT] < 1)
        return "there is nothing to add up";
    if (source_bytes(s) > (double)cpu->l1_bytes)
        return "the rows of source that some rows of dst need exceed the L1 cache";
    return NULL;
}

static __attribute__((noinline)) const char *refuse_nested(const struct problem *chosen,
                                                           const struct cpu *cpu)
{
    struct problem nested;
    make_nested(&nested, chosen);
    /* cppcheck-suppress returnDanglingLifetime ; a refusal is a constant sentence */
    return selection_refuse(&convolution_depthwise, &nested, cpu);
}

static __attribute__((noinline)) const char *refuse_chosen(const struct problem *problem,
                                                           const struct cpu *cpu)
{
    struct problem chosen = *problem;
    choose_layouts(&chosen);
    return refuse_nested(&chosen, cpu);
}

/* In whatever order images have their channels. */
static const char *planes_refuse_all(const struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    enum { MOST_ROWS = 7 };
    const struct convolution_shape *s = convolution_shape_of(problem);
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    if (problem->tensors[DST].ndims == 5 || convolution_is_depthwise(problem))
        return "it is depthwise, or three-dimensional";
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED)
        return "the weights are packed for another algorithm";
    if (!fusion.complete || fusion.reads_dst || post_ops_have_operand(&problem->attributes))
        return "a post-operation is more than a clamp";
    if (s->stride[HEIGHT] != 1 || s->stride[WIDTH] != 1)
        return "a stride is not 1";
    return s->kernel[HEIGHT] > MOST_ROWS ? "the kernel is high" : NULL;
}

static const char *planes_refuse(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    (void)self;
    const char *why = refuse_shape(convolution_shape_of(problem), cpu);
    why = why ? why : refuse_chosen(problem, cpu);
    return why ? why : convolution_refuse_direct(problem);
}

static void planes_choose(const struct algorithm *self, struct problem *problem,
                          const struct cpu *cpu)
{
    (void)self, (void)cpu;
    choose_layouts(problem);
}

/* Weights whose channels do not follow each other are copied a tap at a time. */
static double packing_cycles(const struct convolution_shape *s)
{
    double taps = (double)(s->ic * s->kernel[HEIGHT] * s->kernel[WIDTH]);
    bool are_packed = (s->oc == 1 || s->weights_o == 1) &&
                      (s->groups == 1 || s->weights_g == s->oc * s->weights_o);
    return are_packed ? 0 : taps * (60 + (double)(s->groups * s->oc));
}

/* The tiles of depthwise/f32/planes/copied_neon.c: rectangles, of which some rows of dst share the
 * rows that are loaded, and vectors of which each is loaded for one product. */
enum { RECTANGLE_ROWS = 5, RECTANGLE_VECTORS = 3 };

/* So many products of sums of their own, and loads. Cores that issue in order wait for these. */
static double tile_cycles(double products, double loads, const struct core *core)
{
    const double latency = 4; /* clang wants a double */
    double pipes = fmax(core->fmla_per_cycle, 1), load = core_costs(core)->patches.load;
    if (core->in_order)
        return (products + load * loads) / pipes;
    return fmax(fmax(products / pipes, latency), loads / fmax(core->loads_per_cycle, 1));
}

/* Do chains of rows, which are a dilation apart, have rectangles? */
static bool has_rectangles(const struct convolution_shape *s)
{
    const neo_dim least = 2; /* rows, before the last one of a chain */
    neo_dim kernel = s->kernel[HEIGHT];
    return (kernel == 3 || kernel == 5 || kernel == 7) &&
           s->out[HEIGHT] > least * s->dilation[HEIGHT] && s->out[WIDTH] > LANES;
}

/* Parts as equal as they can be, each of `most` at most: how much one is on average. */
static double part_of(size_t all, size_t most)
{
    return (double)all / (double)div_up(all, most);
}

/* Cycles in which a column's taps can follow each other: products of a rectangle wait for each
 * other, beside the next ones' as far as the core looks ahead. */
static double chain_cycles(const struct convolution_shape *s, double size, const struct core *core)
{
    const double ahead = 64; /* products, for each one that starts in a cycle */
    double taps = (double)s->kernel[HEIGHT], columns = (double)(s->ic * s->kernel[WIDTH]);
    double rectangles = ahead * core->fmla_per_cycle / (columns * taps * size);
    return core->in_order ? 0 : taps * core->fmla_latency / fmax(rectangles, 1);
}

/* Of all tiles of an image, for one column of a kernel's plane. */
static double column_cycles(const struct convolution_shape *s, const struct core *core)
{
    const double tile = 10, beside = 2; /* of a tap: addresses and weights; clang wants doubles */
    size_t height = (size_t)s->out[HEIGHT], across = div_up((size_t)s->out[WIDTH], LANES);
    double vectors = (double)(height * across), taps = (double)s->kernel[HEIGHT];
    double rows = part_of(div_up(height, (size_t)s->dilation[HEIGHT]), RECTANGLE_ROWS);
    double width = part_of(across, RECTANGLE_VECTORS), size = rows * width;
    double loads = width * (rows + taps - 1) + 1;
    if (has_rectangles(s))
        return vectors / size *
               (fmax(tile_cycles(size * taps, loads, core), chain_cycles(s, size, core)) +
                core->slowness * beside);
    return vectors / tile * taps * tile_cycles(tile, tile + beside, core);
}

/* Of a call: lists of rows, of taps and of what tiles have. */
static double call_cycles(const struct convolution_shape *s, double taps)
{
    const double begin = 1200, tap = 12, place = 4;
    return begin + tap * taps + place * (double)s->out[HEIGHT] * (double)s->out[WIDTH] / lanes;
}

/* Of an output channel; and of each of its taps, whose weights are brought. */
static const double BEGIN_CYCLES = 10, WEIGHT_CYCLES = 2;

static __attribute__((noinline)) struct convolution_shape
chosen_shape(const struct problem *problem)
{
    struct problem chosen = *problem;
    choose_layouts(&chosen);
    return *convolution_shape_of(&chosen);
}

/* For each column of a kernel's plane there are the tiles; then there is what begins and ends
 * these, weights to bring, and copies of the rows of source. */
static double planes_estimate(const struct algorithm *self, const struct problem *problem,
                              const struct cpu *cpu)
{
    (void)self;
    const struct convolution_shape shape = chosen_shape(problem), *s = &shape;
    double images = (double)s->batch * (double)s->groups, oc = (double)s->oc, ic = (double)s->ic;
    double values = (double)s->out[HEIGHT] * (double)s->out[WIDTH];
    double columns = ic * (double)s->kernel[WIDTH], taps = columns * (double)s->kernel[HEIGHT];
    double in = ic * (double)s->in[HEIGHT] * (8 + (double)s->in[WIDTH] / lanes);
    double store = core_costs(cpu->core)->patches.store;
    double channel = BEGIN_CYCLES + WEIGHT_CYCLES * taps + store * values;
    return packing_cycles(s) + images * oc * columns * column_cycles(s, cpu->core) +
           cpu->core->slowness * (call_cycles(s, taps) + images * (oc * channel + in));
}

/* ---- plan, run ---- */

/* All there is to know is that of what is nested. */
static void planes_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    (void)plan, (void)problem, (void)cpu;
}

static neo_status planes_nest(struct implementation *implementation)
{
    struct problem nested;
    make_nested(&nested, &implementation->problem);
    struct description description = problem_describe(&nested);
    return implementation_nest_by(implementation, &description, &convolution_depthwise);
}

static size_t planes_scratch_bytes(const void *plan, int threads)
{
    (void)plan, (void)threads;
    return 0;
}

static const char *planes_kernel(const void *plan)
{
    (void)plan;
    return convolution_depthwise.name;
}

static bool planes_is_nested_one(const void *plan)
{
    (void)plan;
    return true;
}

static void planes_run(const void *plan, const struct execution *execution)
{
    (void)plan;
    implementation_run_nested(execution, 0, execution->buffers);
}

const struct algorithm convolution_planes = {
    .name = "planes",
    .refuse_all = planes_refuse_all,
    .refuse = planes_refuse,
    .choose = planes_choose,
    .estimate = planes_estimate,
    .plan = planes_plan,
    .nest = planes_nest,
    .scratch_bytes = planes_scratch_bytes,
    .kernel = planes_kernel,
    .run = planes_run,
    .is_nested_one = planes_is_nested_one,
};
