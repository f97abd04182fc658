/* Convolution of images with channels first (nchw) as one with channels last: src is transposed
 * before, and dst after it.
 *
 * That takes a fraction of a cycle for each value, but the sums are then made of patches whose
 * channels follow each other: short ones need not be gathered, and groups, ragged sizes and few
 * pixels get what there is for these. One image or both are transposed, as is best for the nested
 * convolution; rows of src that no pixel of dst needs are left out.
 *
 * Winograd's algorithm is nested by algorithms of their own, as its errors go by its name. */
#include <math.h>

#include "src/convolution/convolution_transposed.h"
#include "src/core/checked.h"
#include "src/memory/descriptor.h"
#include "src/primitive/implementation.h"
#include "src/primitive/post_ops.h"
#include "src/weights/layout.h"

enum { MOST_BYTES = 12 << 20 }; /* of images */

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
    struct planes planes = {(size_t)desc->dims[0], 1, (size_t)desc->dims[1], 1,
                            desc->strides[0],      0, desc->strides[1]};
    for (int i = 2; i < desc->ndims; i++)
        planes.pixels *= (size_t)desc->dims[i];
    return planes;
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
    struct convolution_shape s;
    convolution_shape_init(&s, problem);
    int ndims = problem->tensors[SRC].ndims, d = SPACE - (ndims - 2);
    neo_dim extent = (s.kernel[d] - 1) * s.dilation[d] + 1;
    neo_dim size = (s.out[d] - 1) * s.stride[d] + extent;
    if (ndims > 3 && s.padding[d] == 0 && s.stride[d] > extent && size <= s.in[d])
        return (struct needed){s.out[d], extent, s.stride[d]};
    size -= s.padding[d];
    return (struct needed){1, size < 1 ? 1 : size < s.in[d] ? size : s.in[d], 0};
}

static struct planes needed_planes(const struct problem *problem)
{
    struct needed needed = needed_rows(problem);
    const neo_memory_desc *src = &problem->tensors[SRC];
    struct planes planes = planes_of(src);
    size_t row = planes.pixels / (size_t)src->dims[2];
    planes.pieces = (size_t)needed.pieces;
    planes.pixels = (size_t)needed.rows * row;
    planes.piece = needed.step * (neo_dim)row;
    return planes;
}

/* Src with these rows, one piece behind the other. */
static void leave_out_rows(struct problem *problem)
{
    struct needed needed = needed_rows(problem);
    neo_memory_desc *src = &problem->tensors[SRC];
    if (needed.pieces > 1) {
        problem->strides[0] = needed.rows;
        problem->padding_right[0] = 0;
    } else
        problem->padding_right[0] += src->dims[2] - needed.rows;
    src->dims[2] = needed.pieces * needed.rows;
}

/* Every tensor has its layout, but for weights. Turned: a bit for each tensor. */
static void make_nested(struct problem *nested, const struct problem *problem, unsigned turned,
                        const struct algorithm *winograd)
{
    *nested = *problem;
    if (!winograd)
        nested->convolution_algorithm = NEO_CONVOLUTION_DIRECT;
    if (turned >> SRC & 1)
        leave_out_rows(nested);
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

/* What can be turned: a bit for each tensor. */
static unsigned possible_turns(const struct problem *problem)
{
    unsigned possible = 0;
    for (size_t i = 0; i < count_of(tensors); i++)
        possible |= (unsigned)has_planes(&problem->tensors[tensors[i]]) << tensors[i];
    return post_ops_fusion(problem).reads_dst ? possible & ~(1u << DST) : possible;
}

/* The algorithm, if it serves the problem; without one, the best that does. */
static const struct algorithm *best_of(const struct algorithm *winograd,
                                       const struct problem *nested, const struct cpu *cpu,
                                       double *cycles)
{
    if (!winograd)
        return convolution_best(nested, &convolution_transposed_f32, cpu, cycles);
    if (winograd->refuse(winograd, nested, cpu))
        return NULL;
    *cycles = winograd->estimate(winograd, nested, cpu);
    return winograd;
}

/* Of what can be turned: src, dst or both. */
static struct choice choose(const struct problem *problem, const struct algorithm *winograd,
                            const struct cpu *cpu)
{
    const double nesting = 150; /* clang wants a double */
    struct choice best = {.cycles = HUGE_VAL};
    unsigned possible = possible_turns(problem);
    for (unsigned turned = 1; turned < 1u << TENSOR_COUNT; turned++) {
        struct problem nested;
        if (turned & ~possible)
            continue;
        make_nested(&nested, problem, turned, winograd);
        struct choice this = {.turned = turned};
        this.nested = best_of(winograd, &nested, cpu, &this.cycles);
        if (!this.nested)
            continue;
        this.cycles += nesting + transposing_cycles(&nested, turned, cpu);
        if (this.cycles < best.cycles)
            best = this;
    }
    return best;
}

/* Does anything serve the images turned as far as possible? Then the choice is not empty. */
static bool is_served(const struct problem *problem, const struct algorithm *winograd,
                      const struct cpu *cpu)
{
    struct problem nested;
    make_nested(&nested, problem, possible_turns(problem), winograd);
    if (winograd)
        return !winograd->refuse(winograd, &nested, cpu);
    return convolution_is_served(&nested, &convolution_transposed_f32, cpu);
}

/* ---- refuse, choose, estimate ---- */

static const char *transposed_refuse(const struct algorithm *self, const struct problem *problem,
                                     const struct cpu *cpu)
{
    const struct algorithm *winograd = convolution_winograd(self->weights_layout);
    struct problem chosen = *problem;
    convolution_choose_images(&chosen);
    const neo_memory_desc *src = &chosen.tensors[SRC], *dst = &chosen.tensors[DST];
    if (desc_is_empty(src) || desc_is_empty(dst))
        return "there is nothing to transpose";
    if (!possible_turns(&chosen))
        return "neither image has pixels that follow each other, and channels apart";
    if (post_ops_have_operand(&problem->attributes))
        return "a post-operation has an operand";
    struct planes in = planes_of(src), out = planes_of(dst);
    if (bytes_of(&in) + bytes_of(&out) > MOST_BYTES)
        return "the images are large";
    if (!is_served(&chosen, winograd, cpu))
        return "nothing serves the images with channels last";
    return winograd ? NULL : convolution_refuse_direct(problem);
}

/* What is turned is chosen once more by plan(): a nested algorithm serves what it has chosen. */
static void transposed_choose(const struct algorithm *self, struct problem *problem,
                              const struct cpu *cpu)
{
    const struct algorithm *winograd = convolution_winograd(self->weights_layout);
    struct problem nested;
    convolution_choose_images(problem);
    if (problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_ANY)
        return;
    struct choice choice = choose(problem, winograd, cpu);
    make_nested(&nested, problem, choice.turned, winograd);
    choice.nested->choose(choice.nested, &nested, cpu);
    problem->tensors[WEIGHTS] = nested.tensors[WEIGHTS];
}

static double transposed_estimate(const struct algorithm *self, const struct problem *problem,
                                  const struct cpu *cpu)
{
    const struct algorithm *winograd = convolution_winograd(self->weights_layout);
    struct problem chosen = *problem;
    convolution_choose_images(&chosen);
    return choose(&chosen, winograd, cpu).cycles;
}

/* ---- plan ---- */

static void plan_transposed(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_transposed *mine = plan;
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    uint32_t layout = weights->format_kind == NEO_FORMAT_PACKED ? weights->packed.id : 0;
    mine->turned = choose(problem, convolution_winograd(layout), cpu).turned;
    mine->copy = copy_f32_find(cpu->features)->run;
    if (mine->turned >> SRC & 1)
        mine->planes[SRC] = needed_planes(problem);
    if (mine->turned >> DST & 1)
        mine->planes[DST] = planes_of(&problem->tensors[DST]);
    mine->src_bytes = bytes_of(&mine->planes[SRC]);
    mine->bytes = mine->src_bytes + bytes_of(&mine->planes[DST]);
}

static neo_status nest(struct implementation *implementation)
{
    struct convolution_transposed *mine = (void *)implementation->plan;
    const struct problem *problem = &implementation->problem;
    struct problem nested;
    make_nested(&nested, problem, mine->turned,
                convolution_winograd(implementation->algorithm->weights_layout));
    struct description description = problem_describe(&nested);
    neo_status status = implementation_nest(implementation, &description);
    if (status == NEO_OK)
        mine->kernel = implementation->nested[0]->algorithm->name;
    return status;
}

static const char *kernel(const void *plan)
{
    return ((const struct convolution_transposed *)plan)->kernel;
}

/* ---- one algorithm for direct ones, and one for each of Winograd's ---- */

/* What they all have. */
#define TRANSPOSED                                                                              \
    .refuse = transposed_refuse, .choose = transposed_choose, .estimate = transposed_estimate,  \
    .plan = plan_transposed, .plan_bytes = sizeof(struct convolution_transposed), .nest = nest, \
    .scratch_bytes = transposed_scratch_bytes, .kernel = kernel, .run = transposed_run

const struct algorithm convolution_transposed_f32 = {
    .name = "transposed",
    TRANSPOSED,
};

const struct algorithm convolution_transposed_winograd_2_f32 = {
    .name = "transposed_winograd_2",
    .weights_layout = LAYOUT_WINOGRAD_2_F32,
    TRANSPOSED,
};

const struct algorithm convolution_transposed_winograd_4_f32 = {
    .name = "transposed_winograd_4",
    .weights_layout = LAYOUT_WINOGRAD_4_F32,
    TRANSPOSED,
};

const struct algorithm convolution_transposed_winograd_6_f32 = {
    .name = "transposed_winograd_6",
    .weights_layout = LAYOUT_WINOGRAD_6_F32,
    TRANSPOSED,
};

#undef TRANSPOSED
