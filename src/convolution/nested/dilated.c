/* Dilated convolution of stride 1 as dense ones, by Winograd's algorithm.
 *
 * With dilation d, pixels of dst that are d apart have their taps on pixels of src that are d
 * apart, and no others do: so there are d dense convolutions in each direction. Their images, with
 * zeros for padding, are copied to follow each other as a batch, and results back. The copies are
 * little beside the products, of which Winograd's algorithm has a third or a quarter.
 *
 * There is one algorithm for each of Winograd's, as errors go by the name. */
#include <math.h>

#include "arch/costs.h"
#include "src/convolution/nested/dilated.h"
#include "src/core/checked.h"
#include "src/primitive/cost.h"
#include "src/primitive/implementation.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/selection.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"

enum { MOST_BYTES = 16 << 20 }; /* of copies */

/* ---- sizes ---- */

/* false: they overflow, or are large. A row of src may be longer than the copies, where negative
 * padding leaves most of it out: each thread has room for one. */
static bool copies_fit(const struct convolution_dilated *mine)
{
    const struct convolution_shape *s = &mine->shape;
    size_t src = sizeof(float), dst = sizeof(float), row = sizeof(float);
    bool fits = checked_mul(&src, src, (size_t)s->batch) && checked_mul(&src, src, (size_t)s->ic) &&
                checked_mul(&dst, dst, (size_t)s->batch) && checked_mul(&dst, dst, (size_t)s->oc) &&
                checked_mul(&row, row, (size_t)s->ic) &&
                checked_mul(&row, row, (size_t)s->in[WIDTH]);
    for (int i = 0; i < SPACE && fits; i++)
        fits = checked_mul(&src, src, (size_t)mine->parts[i]) &&
               checked_mul(&dst, dst, (size_t)mine->parts[i]) &&
               checked_mul(&src, src, (size_t)mine->in[i]) &&
               checked_mul(&dst, dst, (size_t)mine->out[i]);
    return fits && src <= MOST_BYTES && dst <= MOST_BYTES && row <= MOST_BYTES;
}

/* Of a convolution with pixels. */
static struct convolution_dilated parts_of(const struct problem *problem)
{
    struct convolution_dilated mine = {0};
    struct convolution_shape *s = &mine.shape;
    *s = *convolution_shape_of(problem);
    for (int i = 0; i < SPACE; i++) {
        mine.step[i] = s->kernel[i] == 1 ? 1 : s->dilation[i];
        mine.parts[i] = mine.step[i] < s->out[i] ? mine.step[i] : s->out[i];
        mine.out[i] = (s->out[i] - 1) / mine.step[i] + 1;
        mine.in[i] = mine.out[i] + s->kernel[i] - 1;
    }
    mine.count = (size_t)s->batch * (size_t)mine.parts[HEIGHT] * (size_t)mine.parts[WIDTH];
    return mine;
}

/* Values of all parts. */
static size_t values_of(const struct convolution_dilated *mine, const neo_dim *size,
                        neo_dim channels)
{
    return mine->count * (size_t)(size[HEIGHT] * size[WIDTH] * channels);
}

/* ---- the dense convolution ---- */

static void make_image(neo_memory_desc *desc, const struct convolution_dilated *mine,
                       const neo_dim *size)
{
    desc->dims[0] = (neo_dim)mine->count;
    for (int i = 2; i < desc->ndims; i++)
        desc->dims[i] = size[SPACE - desc->ndims + i];
    convolution_set_channels_last(desc);
}

static void make_nested(struct problem *nested, const struct problem *problem)
{
    struct convolution_dilated mine = parts_of(problem);
    *nested = *problem;
    make_image(&nested->tensors[SRC], &mine, mine.in);
    make_image(&nested->tensors[DST], &mine, mine.out);
    for (int i = 0; i < SPACE; i++)
        nested->window.dilations[i] = nested->window.left[i] = nested->window.right[i] = 0;
    convolution_derive(nested);
}

/* ---- refuse, choose, estimate ---- */

static __attribute__((noinline)) const char *refuse_nested(const struct algorithm *winograd,
                                                           const struct problem *problem,
                                                           const struct cpu *cpu)
{
    struct problem nested;
    make_nested(&nested, problem);
    /* cppcheck-suppress returnDanglingLifetime ; a refusal is a constant sentence */
    return selection_refuse(winograd, &nested, cpu);
}

static __attribute__((noinline)) struct cost
nested_cost(const struct algorithm *winograd, const struct problem *problem, const struct cpu *cpu)
{
    struct problem nested;
    make_nested(&nested, problem);
    return cost_of(winograd, &nested, cpu, winograd->estimate(winograd, &nested, cpu));
}

static bool has_pixels(const struct problem *problem)
{
    return !desc_is_empty(&problem->tensors[SRC]) && !desc_is_empty(&problem->tensors[DST]);
}

static const char *dilated_refuse_all(const struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    if (problem->tensors[DST].ndims == 5 || !has_pixels(problem))
        return "it is three-dimensional, or has no pixels";
    struct convolution_dilated mine = parts_of(problem);
    if (mine.step[HEIGHT] == 1 && mine.step[WIDTH] == 1)
        return "there is no dilation";
    if (mine.shape.stride[HEIGHT] != 1 || mine.shape.stride[WIDTH] != 1)
        return "a stride is not 1";
    if (!copies_fit(&mine))
        return "the images are large";
    if (post_ops_have_operand(&problem->attributes) || post_ops_fusion(problem).reads_dst)
        return "a post-operation has an operand, or reads dst";
    return NULL;
}

static const char *dilated_refuse(const struct algorithm *self, const struct problem *problem,
                                  const struct cpu *cpu)
{
    return refuse_nested(self->by, problem, cpu);
}

static void dilated_choose(const struct algorithm *self, struct problem *problem,
                           const struct cpu *cpu)
{
    const struct algorithm *winograd = self->by;
    struct problem nested;
    make_nested(&nested, problem);
    winograd->choose(winograd, &nested, cpu);
    problem->tensors[WEIGHTS] = nested.tensors[WEIGHTS];
}

/* Cycles of copying an image to its parts, or back. Where channels are apart, whole rows of the
 * image are transposed before; if the dilation is along columns, too, a part of each is copied
 * then. */
static double image_cycles(const struct convolution_dilated *mine, const struct core *core,
                           const neo_dim *size, double values, bool is_apart)
{
    const struct patches_costs *costs = &core_costs(core)->patches;
    const double row = 60, row_apart = 240; /* clang wants doubles */
    double rows = (double)mine->count * (double)size[HEIGHT];
    double copy = row * rows + costs->near * values;
    if (!is_apart)
        return copy;
    return row_apart * rows / (double)mine->step[WIDTH] + costs->far * values + copy;
}

/* Copies that the L2 cache does not keep go to the next one and come back. */
static double copying_cycles(const struct convolution_dilated *mine, const struct cpu *cpu)
{
    const struct convolution_shape *s = &mine->shape;
    double src = (double)values_of(mine, mine->in, s->ic);
    double dst = (double)values_of(mine, mine->out, s->oc);
    double cycles = image_cycles(mine, cpu->core, mine->in, src, s->src.c != 1) +
                    image_cycles(mine, cpu->core, mine->out, dst, s->dst.c != 1);
    bool is_far = (src + dst) * sizeof(float) > (double)cpu->l2_bytes;
    return cpu->core->slowness * cycles + (is_far ? 2 * (src + dst) : 0);
}

static double dilated_estimate(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    const double nesting = 300; /* clang wants a double */
    struct convolution_dilated mine = parts_of(problem);
    return nesting + nested_cost(self->by, problem, cpu).cycles + copying_cycles(&mine, cpu);
}

static void dilated_memory(const struct algorithm *self, const struct problem *problem,
                           const struct cpu *cpu, struct cost *cost)
{
    struct cost nested = nested_cost(self->by, problem, cpu);
    cost->meanwhile = fmin(nested.meanwhile, cost->cycles);
    cost->others = fmax(cost->others, nested.others);
}

/* ---- plan ---- */

/* Rows whose parts' pixels are not neighbours, and channels are not either. */
static void plan_lines(struct convolution_dilated *mine)
{
    const struct convolution_shape *s = &mine->shape;
    mine->src_line = mine->step[WIDTH] > 1 && s->src.c != 1;
    mine->dst_line = mine->step[WIDTH] > 1 && s->dst.c != 1;
    neo_dim src = mine->src_line ? s->in[WIDTH] * s->ic : 0;
    neo_dim dst = mine->dst_line ? s->out[WIDTH] * s->oc : 0;
    neo_dim most = src > dst ? src : dst;
    mine->line = convolution_part((size_t)most * sizeof(float)) / sizeof(float);
}

static void plan_dilated(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_dilated *mine = plan;
    *mine = parts_of(problem);
    mine->copy = copy_f32_find(cpu->features)->run;
    const struct convolution_shape *s = &mine->shape;
    mine->src_bytes = convolution_part(values_of(mine, mine->in, s->ic) * sizeof(float));
    mine->bytes =
        mine->src_bytes + convolution_part(values_of(mine, mine->out, s->oc) * sizeof(float));
    plan_lines(mine);
}

static neo_status nest(struct implementation *implementation)
{
    struct convolution_dilated *mine = (void *)implementation->plan;
    const struct algorithm *winograd = implementation->algorithm->by;
    struct problem nested;
    make_nested(&nested, &implementation->problem);
    struct description description = problem_describe(&nested);
    mine->kernel = winograd->name;
    return implementation_nest_by(implementation, &description, winograd);
}

static const char *kernel(const void *plan)
{
    return ((const struct convolution_dilated *)plan)->kernel;
}

/* ---- one algorithm for each of Winograd's ---- */

/* What they all have. */
#define DILATED                                                                           \
    .refuse_all = dilated_refuse_all, .refuse = dilated_refuse, .choose = dilated_choose, \
    .estimate = dilated_estimate, .memory = dilated_memory, .plan = plan_dilated,         \
    .plan_bytes = sizeof(struct convolution_dilated), .nest = nest,                       \
    .scratch_bytes = dilated_scratch_bytes, .kernel = kernel, .run = dilated_run

const struct algorithm convolution_dilated_winograd_2 = {
    .name = "dilated_winograd_2",
    .weights_layout = LAYOUT_WINOGRAD_2_F32,
    .by = &convolution_winograd_2,
    DILATED,
};

const struct algorithm convolution_dilated_winograd_4 = {
    .name = "dilated_winograd_4",
    .weights_layout = LAYOUT_WINOGRAD_4_F32,
    .by = &convolution_winograd_4,
    DILATED,
};

const struct algorithm convolution_dilated_winograd_6 = {
    .name = "dilated_winograd_6",
    .weights_layout = LAYOUT_WINOGRAD_6_F32,
    .by = &convolution_winograd_6,
    DILATED,
};

#undef DILATED
