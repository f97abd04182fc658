/* Convolution of images with channels first (nchw) as one with channels last: src is transposed
 * before, and dst after it.
 *
 * That takes a fraction of a cycle for each value, but the sums are then made of patches whose
 * channels follow each other: short ones need not be gathered, and groups, ragged sizes and few
 * pixels get what there is for these. One image or both are transposed, as is best for the nested
 * convolution. */
#include <math.h>
#include <string.h>

#include "kernels/copy_f32.h"
#include "src/convolution/convolution.h"
#include "src/core/checked.h"
#include "src/memory/descriptor.h"
#include "src/primitive/implementation.h"
#include "src/primitive/post_ops.h"

enum {
    PART = 64,            /* pixels, about, that a thread transposes at a time */
    MOST_BYTES = 8 << 20, /* of images */
};

/* One tensor as planes of pixels, of which each image has as many as channels. */
struct planes {
    size_t images, channels, pixels;
    neo_dim image, channel; /* from one of them to the next */
};

struct convolution_transposed {
    const char *kernel; /* the algorithm of the nested convolution */
    copy_f32_fn *copy;
    struct planes planes[TENSOR_COUNT]; /* of src and dst; no images: that tensor is in place */
};

static const enum tensor tensors[] = {SRC, DST};

/* ---- which ---- */

/* Are channels of the tensor apart, and pixels of a channel next to each other? */
static bool has_planes(const neo_memory_desc *desc)
{
    neo_dim next = 1;
    for (int i = desc->ndims - 1; i >= 2; i--) {
        if (desc->dims[i] != 1 && desc->strides[i] != next)
            return false;
        next *= desc->dims[i];
    }
    return desc->dims[1] > 1 && next > 1 && desc->strides[1] != 1;
}

static struct planes planes_of(const neo_memory_desc *desc)
{
    struct planes planes = {(size_t)desc->dims[0], (size_t)desc->dims[1], 1, desc->strides[0],
                            desc->strides[1]};
    for (int i = 2; i < desc->ndims; i++)
        planes.pixels *= (size_t)desc->dims[i];
    return planes;
}

static size_t values_of(const struct planes *planes)
{
    return planes->images * planes->channels * planes->pixels;
}

static size_t bytes_of(const struct planes *planes)
{
    return round_up(values_of(planes) * sizeof(float), SCRATCH_ALIGNMENT);
}

/* Leaves rows, planes in three dimensions, of src out that no pixel of dst needs. */
static void crop(struct problem *problem)
{
    struct convolution_shape s;
    convolution_shape_init(&s, problem);
    neo_memory_desc *src = &problem->tensors[SRC];
    int outermost = SPACE - (src->ndims - 2);
    neo_dim size = (s.out[outermost] - 1) * s.stride[outermost] +
                   (s.kernel[outermost] - 1) * s.dilation[outermost] + 1 - s.padding[outermost];
    neo_dim spare = src->dims[2] - (size < 1 ? 1 : size);
    if (spare <= 0)
        return;
    src->dims[2] -= spare;
    problem->padding_right[0] += spare;
}

/* Every tensor has its layout, but for weights. Turned: a bit for each tensor. */
static void make_nested(struct problem *nested, const struct problem *problem, unsigned turned)
{
    *nested = *problem;
    nested->convolution_algorithm = NEO_CONVOLUTION_DIRECT; /* Winograd's errors go by its name */
    if (turned >> SRC & 1)
        crop(nested);
    for (size_t i = 0; i < count_of(tensors); i++)
        if (turned >> tensors[i] & 1)
            convolution_set_channels_last(&nested->tensors[tensors[i]]);
}

/* Cycles of transposing, in whole vectors of channels; copies that the L2 cache does not keep go to
 * the next one and come back. */
static double transposing_cycles(const struct problem *nested, unsigned turned,
                                 const struct cpu *cpu)
{
    const double image = 60, far = 2, value = cpu->core->in_order ? 0.6 : 0.4;
    double images = 0, values = 0;
    for (size_t i = 0; i < count_of(tensors); i++) {
        if (!(turned >> tensors[i] & 1))
            continue;
        struct planes planes = planes_of(&nested->tensors[tensors[i]]);
        images += (double)planes.images;
        values += (double)(planes.images * planes.pixels * round_up(planes.channels, 4));
    }
    bool is_far = values * sizeof(float) > (double)cpu->l2_bytes;
    return cpu->core->slowness * (image * images + value * values) + (is_far ? far * values : 0);
}

struct choice {
    unsigned turned; /* 0: nothing can be */
    double cycles;
    const struct algorithm *nested;
};

/* Of what can be turned: src, dst or both. */
static struct choice choose(const struct problem *problem, const struct cpu *cpu)
{
    const double nesting = 150; /* clang wants a double */
    struct choice best = {.cycles = HUGE_VAL};
    unsigned possible = 0;
    for (size_t i = 0; i < count_of(tensors); i++)
        possible |= (unsigned)has_planes(&problem->tensors[tensors[i]]) << tensors[i];
    if (post_ops_fusion(problem).reads_dst)
        possible &= ~(1u << DST);
    for (unsigned turned = 1; turned < 1u << TENSOR_COUNT; turned++) {
        struct problem nested;
        if (turned & ~possible)
            continue;
        make_nested(&nested, problem, turned);
        struct choice this = {.turned = turned};
        this.nested = convolution_best(&nested, &convolution_transposed_f32, cpu, &this.cycles);
        if (!this.nested)
            continue;
        this.cycles += nesting + transposing_cycles(&nested, turned, cpu);
        if (this.cycles < best.cycles)
            best = this;
    }
    return best;
}

/* ---- refuse, choose, estimate ---- */

static const char *transposed_refuse(const struct problem *problem, const struct cpu *cpu)
{
    struct problem chosen = *problem;
    convolution_choose_images(&chosen);
    const neo_memory_desc *src = &chosen.tensors[SRC], *dst = &chosen.tensors[DST];
    if (desc_is_empty(src) || desc_is_empty(dst))
        return "there is nothing to transpose";
    if (!has_planes(src) && (!has_planes(dst) || post_ops_fusion(&chosen).reads_dst))
        return "neither image has pixels that follow each other, and channels apart";
    if (post_ops_have_operand(&problem->attributes))
        return "a post-operation has an operand";
    struct planes in = planes_of(src), out = planes_of(dst);
    if (bytes_of(&in) + bytes_of(&out) > MOST_BYTES)
        return "the images are large";
    if (!choose(&chosen, cpu).nested)
        return "nothing serves the images with channels last";
    return convolution_refuse_direct(problem);
}

static void transposed_choose(struct problem *problem, const struct cpu *cpu)
{
    struct problem nested;
    convolution_choose_images(problem);
    struct choice choice = choose(problem, cpu);
    make_nested(&nested, problem, choice.turned);
    choice.nested->choose(&nested, cpu);
    problem->tensors[WEIGHTS] = nested.tensors[WEIGHTS];
    problem->tensors[BIAS] = nested.tensors[BIAS];
}

static double transposed_estimate(const struct problem *problem, const struct cpu *cpu)
{
    struct problem chosen = *problem;
    convolution_choose_images(&chosen);
    return choose(&chosen, cpu).cycles;
}

/* ---- plan ---- */

static void transposed_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_transposed *mine = plan;
    struct choice choice = choose(problem, cpu);
    struct problem cropped = *problem;
    crop(&cropped);
    mine->kernel = choice.nested->name;
    mine->copy = copy_f32_find(cpu->features)->run;
    for (size_t i = 0; i < count_of(tensors); i++)
        if (choice.turned >> tensors[i] & 1)
            mine->planes[tensors[i]] = planes_of(&cropped.tensors[tensors[i]]);
}

static neo_status transposed_nest(struct implementation *implementation)
{
    const struct convolution_transposed *mine = (const void *)implementation->plan;
    struct problem nested;
    unsigned turned = 0;
    for (size_t i = 0; i < count_of(tensors); i++)
        turned |= (unsigned)(mine->planes[tensors[i]].images > 0) << tensors[i];
    make_nested(&nested, &implementation->problem, turned);
    struct description description = problem_describe(&nested);
    return implementation_nest(implementation, &description);
}

static size_t transposed_scratch_bytes(const void *plan, int threads)
{
    const struct convolution_transposed *mine = plan;
    (void)threads;
    return bytes_of(&mine->planes[SRC]) + bytes_of(&mine->planes[DST]);
}

static const char *transposed_kernel(const void *plan)
{
    return ((const struct convolution_transposed *)plan)->kernel;
}

/* ---- run ---- */

struct transposition {
    const struct convolution_transposed *plan;
    const struct planes *planes;
    const float *src;
    float *dst;
    bool to_planes; /* the way back */
    size_t parts;   /* of each image */
};

/* Pixels of one image. */
static void transpose_pixels(const struct transposition *t, size_t image, struct span pixels)
{
    const struct planes *planes = t->planes;
    size_t count = pixels.end - pixels.begin, channels = planes->channels;
    ptrdiff_t first = (ptrdiff_t)image * planes->image + (ptrdiff_t)pixels.begin;
    size_t copied = (image * planes->pixels + pixels.begin) * channels;
    if (t->to_planes)
        t->plan->copy(&(struct copy_f32_plane){.rows = count,
                                               .cols = channels,
                                               .src = t->src + copied,
                                               .src_row = (ptrdiff_t)channels,
                                               .src_col = 1,
                                               .dst = t->dst + first,
                                               .dst_row = 1,
                                               .dst_col = planes->channel});
    else
        t->plan->copy(&(struct copy_f32_plane){.rows = channels,
                                               .cols = count,
                                               .src = t->src + first,
                                               .src_row = planes->channel,
                                               .src_col = 1,
                                               .dst = t->dst + copied,
                                               .dst_row = 1,
                                               .dst_col = (ptrdiff_t)channels});
}

/* Part number i / parts of an image, and so on. */
static void transpose_parts(void *argument, struct span parts, int slot)
{
    const struct transposition *t = argument;
    (void)slot;
    for (size_t i = parts.begin; i < parts.end; i++)
        transpose_pixels(t, i / t->parts,
                         partition_span(t->planes->pixels, t->parts, i % t->parts));
}

static void transpose(const struct execution *execution, struct transposition *t)
{
    size_t images = t->planes->images, pixels = t->planes->pixels;
    if (execution->threads == 1) {
        for (size_t i = 0; i < images; i++)
            transpose_pixels(t, i, (struct span){0, pixels});
        return;
    }
    t->parts = div_up(pixels, PART);
    parallel_for_tiles(execution->parallel, images * t->parts, execution->threads, transpose_parts,
                       t);
}

static void transposed_run(const void *plan, const struct execution *execution)
{
    const struct convolution_transposed *mine = plan;
    const struct planes *src = &mine->planes[SRC], *dst = &mine->planes[DST];
    void *buffers[TENSOR_COUNT];
    memcpy(buffers, execution->buffers, sizeof buffers);
    if (src->images) {
        buffers[SRC] = execution->scratch;
        transpose(execution, &(struct transposition){.plan = mine,
                                                     .planes = src,
                                                     .src = execution->buffers[SRC],
                                                     .dst = buffers[SRC]});
    }
    if (dst->images)
        buffers[DST] = (unsigned char *)execution->scratch + bytes_of(src);
    implementation_run_nested(execution, 0, buffers);
    if (dst->images)
        transpose(execution, &(struct transposition){.plan = mine,
                                                     .planes = dst,
                                                     .src = buffers[DST],
                                                     .dst = execution->buffers[DST],
                                                     .to_planes = true});
}

const struct algorithm convolution_transposed_f32 = {
    .name = "transposed",
    .refuse = transposed_refuse,
    .choose = transposed_choose,
    .estimate = transposed_estimate,
    .plan = transposed_plan,
    .plan_bytes = sizeof(struct convolution_transposed),
    .nest = transposed_nest,
    .scratch_bytes = transposed_scratch_bytes,
    .kernel = transposed_kernel,
    .run = transposed_run,
};
