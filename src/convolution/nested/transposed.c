/* Convolution of images with channels first (nchw) as one with channels last, or the other way
 * round: src is transposed before, and dst after it.
 *
 * That takes a fraction of a cycle for each value, but the sums are then made of patches whose
 * channels follow each other: short ones need not be gathered, and groups, ragged sizes and few
 * pixels get what there is for these. One image or both are transposed, as is best for the nested
 * convolution; rows of src that no pixel of dst needs are left out.
 *
 * Groups of few channels, which fill no vector, are planes whose pixels do: images with channels
 * last become such for the algorithm of planes.
 *
 * Winograd's algorithm is nested by algorithms of their own, as its errors go by its name. */
#include <math.h>

#include "arch/costs.h"
#include "src/convolution/nested/transposed.h"
#include "src/core/checked.h"
#include "src/primitive/cost.h"
#include "src/primitive/implementation.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/selection.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"

enum { MOST_BYTES = 12 << 20 }; /* of images */

static const enum tensor tensors[] = {SRC, DST};

/* ---- which ---- */

/* Are images with channels last made into planes? */
static bool is_to_planes(const struct algorithm *only)
{
    return only == &convolution_planes;
}

/* Do pixels follow each other at one distance, and channels at another? One of them is 1. */
static bool can_be_turned(const neo_memory_desc *desc, bool to_planes)
{
    neo_dim pixels = 1, pixel = to_planes ? desc->strides[desc->ndims - 1] : 1;
    for (int i = desc->ndims - 1; i >= 2; i--) {
        if (desc->dims[i] != 1 && desc->strides[i] != pixels * pixel)
            return false;
        pixels *= desc->dims[i];
    }
    return desc->dims[1] > 1 && pixels > 1 && (desc->strides[1] == 1) == to_planes &&
           (pixel == 1) != to_planes;
}

/* In one piece, and its copy dense in the other order. */
static struct planes planes_of(const neo_memory_desc *desc, bool to_planes)
{
    neo_dim pixels = 1, channels = desc->dims[1];
    for (int i = 2; i < desc->ndims; i++)
        pixels *= desc->dims[i];
    return (struct planes){
        .images = (size_t)desc->dims[0],
        .pieces = 1,
        .channels = (size_t)channels,
        .pixels = (size_t)pixels,
        .tensor = {.image = desc->strides[0],
                   .channel = desc->strides[1],
                   .pixel = to_planes ? desc->strides[desc->ndims - 1] : 1},
        .copy = {.image = pixels * channels,
                 .channel = to_planes ? pixels : 1,
                 .pixel = to_planes ? 1 : channels},
    };
}

/* Of a copy. */
static size_t bytes_of(const struct planes *planes)
{
    size_t values = planes->images * planes->pieces * planes->channels * planes->pixels;
    return convolution_part(values * sizeof(float));
}

/* Which rows of src, planes in three dimensions, a convolution needs: some pieces of `rows`, each
 * `step` rows behind the one before. */
struct needed {
    neo_dim pieces, rows, step;
};

/* Rows that end below the last ones that are needed are left out, and those between the kernel's
 * places if they are further apart than its own rows. */
static struct needed needed_rows(const struct problem *problem)
{
    struct convolution_shape s = *convolution_shape_of(problem);
    int ndims = problem->tensors[SRC].ndims, d = SPACE - (ndims - 2);
    neo_dim extent = (s.kernel[d] - 1) * s.dilation[d] + 1;
    neo_dim size = (s.out[d] - 1) * s.stride[d] + extent;
    if (ndims > 3 && s.padding[d] == 0 && s.stride[d] > extent && size <= s.in[d])
        return (struct needed){s.out[d], extent, s.stride[d]};
    size -= s.padding[d];
    return (struct needed){1, size < 1 ? 1 : size < s.in[d] ? size : s.in[d], 0};
}

static struct planes needed_planes(const struct problem *problem, bool to_planes)
{
    struct needed needed = needed_rows(problem);
    neo_memory_desc src = problem->tensors[SRC];
    src.dims[2] = needed.pieces * needed.rows;
    struct planes planes = planes_of(&src, to_planes);
    neo_dim row = (neo_dim)planes.pixels / src.dims[2];
    planes.pieces = (size_t)needed.pieces;
    planes.pixels = (size_t)(needed.rows * row);
    planes.tensor.piece = needed.step * row * planes.tensor.pixel;
    planes.copy.piece = needed.rows * row * planes.copy.pixel;
    return planes;
}

/* Src with these rows, one piece behind the other. */
static void leave_out_rows(struct problem *problem)
{
    struct needed needed = needed_rows(problem);
    neo_memory_desc *src = &problem->tensors[SRC];
    if (needed.pieces > 1) {
        problem->window.strides[0] = needed.rows;
        problem->window.right[0] = 0;
    } else
        problem->window.right[0] += src->dims[2] - needed.rows;
    src->dims[2] = needed.pieces * needed.rows;
}

/* Every tensor has its layout, but for weights. Turned: a bit for each tensor. */
static void make_nested(struct problem *nested, const struct problem *problem, unsigned turned,
                        const struct algorithm *only)
{
    void (*set_order)(neo_memory_desc *) =
        is_to_planes(only) ? desc_set_plain : convolution_set_channels_last;
    *nested = *problem;
    if (!only)
        nested->convolution_algorithm = NEO_CONVOLUTION_DIRECT;
    if (turned >> SRC & 1)
        leave_out_rows(nested);
    for (size_t i = 0; i < count_of(tensors); i++)
        if (turned >> tensors[i] & 1)
            set_order(&nested->tensors[tensors[i]]);
    convolution_derive(nested);
}

/* Cycles of transposing, in whole vectors of channels; copies that the L2 cache does not keep go to
 * the next one and come back. */
static double transposing_cycles(const struct problem *nested, unsigned turned,
                                 const struct cpu *cpu)
{
    const double image = 60, far = 2, value = core_costs(cpu->core)->patches.transposed;
    double images = 0, values = 0;
    for (size_t i = 0; i < count_of(tensors); i++) {
        if (!(turned >> tensors[i] & 1))
            continue;
        struct planes planes = planes_of(&nested->tensors[tensors[i]], false);
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
    double meanwhile, others; /* of its cost */
};

/* What can be turned: a bit for each tensor. */
static unsigned possible_turns(const struct problem *problem, bool to_planes)
{
    unsigned possible = 0;
    for (size_t i = 0; i < count_of(tensors); i++)
        possible |= (unsigned)can_be_turned(&problem->tensors[tensors[i]], to_planes) << tensors[i];
    return post_ops_fusion(problem).reads_dst ? possible & ~(1u << DST) : possible;
}

/* The algorithm, if it serves the problem; without one, the best that does. */
static struct candidate best_of(const struct algorithm *only, const struct problem *nested,
                                const struct cpu *cpu)
{
    if (!only)
        return selection_best(nested, &convolution_transposed, cpu);
    if (selection_refuse(only, nested, cpu))
        return (struct candidate){0};
    return candidate_of(only, nested, cpu, only->estimate(only, nested, cpu));
}

/* The estimate of planes is made for comparing them with other convolutions of planes. Beside those
 * of convolutions with channels last, a call begins sooner on cores that reorder than is said
 * there, but that of a row that is alone; rows that a dilation is apart take longer beside
 * products, whose estimates are high for few channels; and copies have to be worth their memory. */
static double beside_others(double cycles, const struct problem *nested, const struct core *core)
{
    const double said = 1200, begins = 800; /* clang wants doubles */
    const neo_memory_desc *dst = &nested->tensors[DST];
    double factor = core_costs(core)->patches.beside;
    for (int i = 0; i < dst->ndims - 2; i++)
        if (nested->window.dilations[i] > 0)
            factor = core_costs(core)->patches.apart;
    bool alone = dst->ndims == 3 || dst->dims[2] == 1;
    double sooner = alone || core->in_order ? 0 : said - begins * core->slowness;
    return (cycles - sooner) * factor;
}

/* Empty if nothing serves the images like that. */
static __attribute__((noinline)) struct choice choice_of(const struct problem *problem,
                                                         const struct algorithm *only,
                                                         unsigned turned, const struct cpu *cpu)
{
    const double nesting = 150; /* clang wants a double */
    struct problem nested;
    make_nested(&nested, problem, turned, only);
    struct candidate best = best_of(only, &nested, cpu);
    if (!best.algorithm)
        return (struct choice){.cycles = HUGE_VAL};
    struct choice choice = {turned, best.cost.cycles, best.algorithm, best.cost.meanwhile,
                            best.cost.others};
    choice.cycles += nesting + transposing_cycles(&nested, turned, cpu);
    if (is_to_planes(only))
        choice.cycles = beside_others(choice.cycles, &nested, cpu->core);
    return choice;
}

/* Of what can be turned: src, dst or both. */
static struct choice choose(const struct problem *problem, const struct algorithm *only,
                            const struct cpu *cpu)
{
    struct choice best = {.cycles = HUGE_VAL};
    unsigned possible = possible_turns(problem, is_to_planes(only));
    for (unsigned turned = 1; turned < 1u << TENSOR_COUNT; turned++) {
        if (turned & ~possible)
            continue;
        struct choice this = choice_of(problem, only, turned, cpu);
        if (this.cycles < best.cycles)
            best = this;
    }
    return best;
}

/* Does anything serve the images turned as far as possible? Then the choice is not empty. */
static __attribute__((noinline)) bool is_served(const struct problem *problem,
                                                const struct algorithm *only, const struct cpu *cpu)
{
    struct problem nested;
    make_nested(&nested, problem, possible_turns(problem, is_to_planes(only)), only);
    if (only)
        return !selection_refuse(only, &nested, cpu);
    return selection_exists(&nested, &convolution_transposed, cpu);
}

/* ---- refuse, choose, estimate ---- */

static const char *refuse_images(const struct problem *problem, bool to_planes)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    if (desc_is_empty(src) || desc_is_empty(dst))
        return "there is nothing to transpose";
    if (!possible_turns(problem, to_planes))
        return "neither image has pixels that follow each other in the other order";
    if (post_ops_have_operand(&problem->attributes))
        return "a post-operation has an operand";
    struct planes in = planes_of(src, to_planes), out = planes_of(dst, to_planes);
    if (bytes_of(&in) + bytes_of(&out) > MOST_BYTES)
        return "the images are large";
    return NULL;
}

static const char *refuse_from_planes(const struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    return refuse_images(problem, false);
}

static const char *refuse_to_planes(const struct problem *problem, const struct cpu *cpu)
{
    const char *why = convolution_planes.refuse_all(problem, cpu);
    return why ? why : refuse_images(problem, true);
}

static const char *transposed_refuse(const struct algorithm *self, const struct problem *problem,
                                     const struct cpu *cpu)
{
    const struct algorithm *only = self->by;
    if (!is_served(problem, only, cpu))
        return "nothing serves the images in the other order";
    return only ? NULL : convolution_refuse_direct(problem);
}

/* What is turned is chosen once more by plan(): a nested algorithm serves what it has chosen. */
static void transposed_choose(const struct algorithm *self, struct problem *problem,
                              const struct cpu *cpu)
{
    const struct algorithm *only = self->by;
    struct problem nested;
    if (problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_ANY)
        return;
    struct choice choice = choose(problem, only, cpu);
    make_nested(&nested, problem, choice.turned, only);
    choice.nested->choose(choice.nested, &nested, cpu);
    problem->tensors[WEIGHTS] = nested.tensors[WEIGHTS];
}

static double transposed_estimate(const struct algorithm *self, const struct problem *problem,
                                  const struct cpu *cpu)
{
    const struct algorithm *only = self->by;
    return choose(problem, only, cpu).cycles;
}

static void transposed_memory(const struct algorithm *self, const struct problem *problem,
                              const struct cpu *cpu, struct cost *cost)
{
    struct choice nested = choose(problem, self->by, cpu);
    cost->meanwhile = fmin(nested.meanwhile, cost->cycles);
    cost->others = fmax(cost->others, nested.others);
}

/* ---- plan ---- */

/* How one piece comes from one of them to the other. */
static struct copy_f32_plane piece_of(const struct planes *planes, const struct places *from,
                                      const struct places *to)
{
    if (from->channel == 1)
        return (struct copy_f32_plane){.rows = planes->pixels,
                                       .cols = planes->channels,
                                       .src_row = from->pixel,
                                       .src_col = from->channel,
                                       .dst_row = to->pixel,
                                       .dst_col = to->channel};
    return (struct copy_f32_plane){.rows = planes->channels,
                                   .cols = planes->pixels,
                                   .src_row = from->channel,
                                   .src_col = from->pixel,
                                   .dst_row = to->channel,
                                   .dst_col = to->pixel};
}

static void make_plan(struct convolution_transposed *mine, const struct problem *problem,
                      const struct algorithm *only, const struct cpu *cpu)
{
    bool to_planes = is_to_planes(only);
    mine->turned = choose(problem, only, cpu).turned;
    mine->copy = copy_f32_find(cpu->features)->run;
    if (mine->turned >> SRC & 1)
        mine->planes[SRC] = needed_planes(problem, to_planes);
    if (mine->turned >> DST & 1)
        mine->planes[DST] = planes_of(&problem->tensors[DST], to_planes);
    struct planes *src = &mine->planes[SRC], *dst = &mine->planes[DST];
    src->piece = piece_of(src, &src->tensor, &src->copy);
    dst->piece = piece_of(dst, &dst->copy, &dst->tensor);
    mine->src_bytes = bytes_of(src);
    mine->bytes = mine->src_bytes + bytes_of(dst);
}

static void plan_transposed(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    uint32_t layout = weights->format_kind == NEO_FORMAT_PACKED ? weights->packed.id : 0;
    make_plan(plan, problem, convolution_winograd(layout), cpu);
}

static void plan_planes(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    make_plan(plan, problem, &convolution_planes, cpu);
}

static neo_status nest(struct implementation *implementation)
{
    struct convolution_transposed *mine = (void *)implementation->plan;
    const struct problem *problem = &implementation->problem;
    const struct algorithm *only = implementation->algorithm->by;
    struct problem nested;
    make_nested(&nested, problem, mine->turned, only);
    struct description description = problem_describe(&nested);
    neo_status status = is_to_planes(only)
                            ? implementation_nest_by(implementation, &description, only)
                            : implementation_nest(implementation, &description);
    if (status == NEO_OK)
        mine->kernel = implementation->nested[0]->algorithm->name;
    return status;
}

static const char *kernel(const void *plan)
{
    return ((const struct convolution_transposed *)plan)->kernel;
}

/* ---- one algorithm for direct ones, one for planes, and one for each of Winograd's ---- */

/* What they all have, but for the plan. */
#define TRANSPOSED                                                                             \
    .refuse = transposed_refuse, .choose = transposed_choose, .estimate = transposed_estimate, \
    .memory = transposed_memory, .plan_bytes = sizeof(struct convolution_transposed),          \
    .nest = nest, .scratch_bytes = transposed_scratch_bytes, .kernel = kernel,                 \
    .run = transposed_run

const struct algorithm convolution_transposed = {
    .name = "transposed",
    .refuse_all = refuse_from_planes,
    .plan = plan_transposed,
    TRANSPOSED,
};

const struct algorithm convolution_transposed_planes = {
    .name = "transposed_planes",
    .by = &convolution_planes,
    .refuse_all = refuse_to_planes,
    .plan = plan_planes,
    TRANSPOSED,
};

const struct algorithm convolution_transposed_winograd_2 = {
    .name = "transposed_winograd_2",
    .weights_layout = LAYOUT_WINOGRAD_2_F32,
    .by = &convolution_winograd_2,
    .refuse_all = refuse_from_planes,
    .plan = plan_transposed,
    TRANSPOSED,
};

const struct algorithm convolution_transposed_winograd_4 = {
    .name = "transposed_winograd_4",
    .weights_layout = LAYOUT_WINOGRAD_4_F32,
    .by = &convolution_winograd_4,
    .refuse_all = refuse_from_planes,
    .plan = plan_transposed,
    TRANSPOSED,
};

const struct algorithm convolution_transposed_winograd_6 = {
    .name = "transposed_winograd_6",
    .weights_layout = LAYOUT_WINOGRAD_6_F32,
    .by = &convolution_winograd_6,
    .refuse_all = refuse_from_planes,
    .plan = plan_transposed,
    TRANSPOSED,
};

#undef TRANSPOSED
