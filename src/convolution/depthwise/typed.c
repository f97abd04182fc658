/* Depthwise convolution of tensors of any types: selection and plan. */
#include "src/convolution/depthwise/typed.h"

#include "arch/costs.h"
#include "src/gemm/results.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/types.h"
#include "src/tensor/descriptor.h"

static size_t taps_of(const struct convolution_shape *s)
{
    return (size_t)(s->kernel[DEPTH] * s->kernel[HEIGHT] * s->kernel[WIDTH]);
}

/* ---- the kernel, and the layout that it reads ---- */

/* What weights are in full: their zero points may take them out of their own type. */
static enum element exact_weights(const struct problem *problem)
{
    return problem->zero_points[WEIGHTS] ? ELEMENT_F32 : type_of(problem, WEIGHTS);
}

/* Do attributes permit sums of f16, of so few products? */
static enum element sums_of(const struct problem *problem)
{
    enum { MOST_TAPS = 1024 };
    neo_accumulation_mode mode = problem->attributes.accumulation;
    bool permits = mode == NEO_ACCUMULATION_F16 || mode == NEO_ACCUMULATION_RELAXED ||
                   mode == NEO_ACCUMULATION_ANY;
    return permits && taps_of(convolution_shape_of(problem)) <= MOST_TAPS ? ELEMENT_F16
                                                                          : ELEMENT_F32;
}

static const struct depthwise_taps_kernel *find_kernel(const struct problem *problem,
                                                       const struct cpu *cpu)
{
    const struct convolution_shape *s = convolution_shape_of(problem);
    return depthwise_taps_find(cpu->features, type_of(problem, SRC), exact_weights(problem),
                               sums_of(problem), (size_t)s->kernel[WIDTH], (size_t)s->stride[WIDTH],
                               (size_t)s->dilation[WIDTH]);
}

static enum layout_id packed_layout(const struct problem *problem, const struct cpu *cpu)
{
    const struct depthwise_taps_kernel *kernel = find_kernel(problem, cpu);
    return depthwise_layout_of(kernel->weights, kernel->group);
}

/* Zero points are not known before an execution, and may leave no weights that fit. */
static bool can_pack(const struct problem *problem, const struct cpu *cpu)
{
    return !problem->zero_points[WEIGHTS] &&
           depthwise_layout_holds(find_kernel(problem, cpu)->weights, type_of(problem, WEIGHTS));
}

static bool suits_packed(const struct problem *problem, const struct cpu *cpu)
{
    return can_pack(problem, cpu) &&
           problem->tensors[WEIGHTS].packed.id == packed_layout(problem, cpu);
}

/* ---- selection ---- */

/* Could the scratchpad's size overflow? Images may be astronomical where strides are 0. */
static bool fits(const struct convolution_shape *s)
{
    enum { BYTES = 256, MOST_TASKS = 1 << 16 }; /* a value's share is below */
    size_t taps, bytes, columns, channels = (size_t)(s->groups * s->oc) + DEPTHWISE_BLOCK;
    return checked_mul(&taps, (size_t)s->kernel[DEPTH], (size_t)s->kernel[HEIGHT] + 4) &&
           checked_mul(&bytes, taps, (size_t)s->kernel[WIDTH]) &&
           checked_mul(&bytes, bytes, channels) && checked_mul(&bytes, bytes, BYTES) &&
           checked_mul(&columns, (size_t)s->kernel[WIDTH], (size_t)s->dilation[WIDTH]) &&
           checked_add(&columns, columns, DEPTHWISE_TILE * (size_t)s->stride[WIDTH]) &&
           checked_mul(&bytes, columns, taps) &&
           checked_mul(&bytes, bytes, BYTES * DEPTHWISE_TILE) &&
           checked_mul(&bytes, bytes, MOST_TASKS);
}

static const char *typed_refuse(const struct algorithm *self, const struct problem *problem,
                                const struct cpu *cpu)
{
    (void)self;
    if (is_f32_alone(problem))
        return "all tensors are of f32";
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED && !suits_packed(problem, cpu))
        return "the weights are packed for another algorithm, or have zero points of their own";
    if (problem->zero_points[SRC] && !is_of_integers(problem))
        return "floats have a zero point";
    if (!fits(convolution_shape_of(problem)))
        return "the scratchpad would exceed the memory";
    return convolution_refuse_direct(problem);
}

/* Weights that are `any` are packed for the kernel; or they have channels next to each other, tap
 * by tap. */
static void typed_choose(const struct algorithm *self, struct problem *problem,
                         const struct cpu *cpu)
{
    static const char *const tags[] = {"dabc", "deabc", "defabc"};
    neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    (void)self;
    if (weights->format_kind != NEO_FORMAT_ANY)
        return;
    if (can_pack(problem, cpu))
        layout_set(weights, packed_layout(problem, cpu), convolution_is_grouped(problem));
    else if (convolution_is_grouped(problem))
        desc_set_tag(weights, tags[weights->ndims - 4]);
    else
        desc_set_plain(weights);
}

static double typed_estimate(const struct algorithm *self, const struct problem *problem,
                             const struct cpu *cpu)
{
    const struct convolution_shape *s = convolution_shape_of(problem);
    double outputs = (double)s->batch * (double)s->groups * (double)s->oc;
    bool gathers = s->src.c != 1 || s->oc != 1;
    const struct other_costs *costs = &core_costs(cpu->core)->other;
    double tap = gathers ? 4 : is_of_integers(problem) ? costs->integer_tap : costs->tap;
    (void)self;
    for (int d = 0; d < SPACE; d++)
        outputs *= (double)s->out[d];
    double each = costs->output + (double)taps_of(s) * tap;
    return 500 + outputs * (each + post_ops_cycles(problem));
}

/* ---- plan ---- */

/* Takes bytes of the scratchpad. */
static size_t take(size_t *end, size_t bytes)
{
    size_t at = *end;
    *end += convolution_part(bytes);
    return at;
}

static void plan_shared(struct depthwise_typed *plan)
{
    struct depthwise_shared_parts *parts = &plan->shared;
    size_t values = plan->layout.padded * sizeof(float), end = 0;
    parts->weights = take(&end, plan->is_packed ? 0 : plan->layout.sums_at);
    parts->ones = take(&end, plan->layout.block_bytes);
    parts->start = take(&end, values);
    parts->ones_start = take(&end, values);
    parts->scales = take(&end, values);
    parts->offsets = take(&end, values);
    parts->zeros = take(&end, values);
    parts->src_zeros = take(&end, values);
    parts->excess = take(&end, values);
    parts->padding = take(&end, values);
    parts->bytes = end;
}

static void plan_task(struct depthwise_typed *plan, size_t bytes)
{
    struct depthwise_task_parts *parts = &plan->task;
    size_t pixels = plan->tile_height * plan->tile_width, end = 0;
    size_t channels = DEPTHWISE_CHUNK * DEPTHWISE_BLOCK;
    size_t lines = plan->tile_height * plan->columns * plan->lists * plan->kernel->group;
    parts->lines = take(&end, lines * sizeof(void *));
    parts->sums = take(&end, pixels * channels * sizeof(float));
    parts->more_sums = take(&end, pixels * channels * sizeof(float));
    parts->row_scales = take(&end, pixels * sizeof(float));
    parts->patch = take(&end, plan->gathers ? plan->tile_height * plan->layout.rows *
                                                  plan->columns * channels * bytes
                                            : 0);
    parts->bytes = end;
}

/* Is a column of three kernel rows, and that of the pixel below one row farther down? */
static bool has_pairs(const struct depthwise_typed *plan)
{
    const struct convolution_shape *s = &plan->shape;
    return plan->kernel->run_pair && !plan->gathers && s->kernel[DEPTH] == 1 &&
           s->kernel[HEIGHT] == 3 && s->stride[HEIGHT] == 1 && s->dilation[HEIGHT] == 1 &&
           s->out[HEIGHT] > 1;
}

/* Several rows, if they are short: whole pairs of them. */
static void plan_tiles(struct depthwise_typed *plan)
{
    const struct convolution_shape *s = &plan->shape;
    size_t width = max_size((size_t)s->out[WIDTH], 1), height = max_size((size_t)s->out[HEIGHT], 1);
    plan->pairs = has_pairs(plan);
    plan->takes_rows = plan->kernel->takes_rows == plan->groups;
    plan->lists = div_up(plan->layout.rows + plan->pairs, plan->kernel->group);
    plan->tiles_across = div_up(width, plan->pairs ? DEPTHWISE_TILE / 2 : DEPTHWISE_TILE);
    plan->tile_width = div_up(width, plan->tiles_across);
    plan->is_dense = plan->tiles_across == 1 && s->dst.h == s->out[WIDTH] * s->dst.w;
    size_t together = plan->pairs ? 2 : 1, most = DEPTHWISE_TILE / plan->tile_width / together;
    size_t rows = div_up(height, together);
    plan->tiles_down = div_up(rows, most);
    plan->tile_height = div_up(rows, plan->tiles_down) * together;
    plan->columns = (plan->tile_width - 1) * (size_t)s->stride[WIDTH] +
                    (size_t)((s->kernel[WIDTH] - 1) * s->dilation[WIDTH]) + 1;
}

/* Kernels that write results of a tile at once want channels that are next to each other. */
static void plan_results(struct depthwise_typed *plan, const struct problem *problem,
                         const struct cpu *cpu)
{
    if (plan->shape.dst.c == 1)
        plan->finish = gemm_results_kernel(problem, plan->integers, cpu);
    bool is_scaled = problem->scales[SRC] || problem->scales[WEIGHTS] || problem->scales[DST] ||
                     problem->zero_points[DST];
    plan->ends = plan->finish && (plan->integers || !is_scaled) &&
                 plan->layout.channels >= DEPTHWISE_BLOCK &&
                 plan->kernel->ends >> type_of(problem, DST) & 1;
}

static void typed_plan(void *out, const struct problem *problem, const struct cpu *cpu)
{
    struct depthwise_typed *plan = out;
    const struct convolution_shape *s = &plan->shape;
    enum element src = type_of(problem, SRC);
    plan->shape = *convolution_shape_of(problem);
    plan->integers = is_of_integers(problem);
    plan->kernel = find_kernel(problem, cpu);
    plan->is_packed = problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED;
    plan->layout = depthwise_layout_make(
        plan->kernel->weights, plan->kernel->group, (size_t)(s->groups * s->oc),
        (size_t)(s->kernel[DEPTH] * s->kernel[HEIGHT]), (size_t)s->kernel[WIDTH]);
    plan->gathers = s->src.c != 1 || s->oc != 1 || plan->layout.channels < DEPTHWISE_BLOCK;
    plan->chunks = div_up(plan->layout.blocks, DEPTHWISE_CHUNK);
    plan->groups = div_up(plan->layout.rows, plan->kernel->group);
    plan_tiles(plan);
    plan_shared(plan);
    plan_task(plan, element_bytes(src));
    plan_results(plan, problem, cpu);
}

static size_t typed_scratch_bytes(const void *plan, int threads)
{
    const struct depthwise_typed *mine = plan;
    return mine->shared.bytes + (size_t)threads * mine->task.bytes;
}

static const char *typed_kernel(const void *plan)
{
    return ((const struct depthwise_typed *)plan)->kernel->name;
}

const struct algorithm convolution_depthwise_typed = {
    .name = "depthwise_typed",
    .types = convolution_types,
    .quantizes = true,
    .refuse_all = convolution_refuse_groups,
    .refuse = typed_refuse,
    .choose = typed_choose,
    .estimate = typed_estimate,
    .plan = typed_plan,
    .plan_bytes = sizeof(struct depthwise_typed),
    .scratch_bytes = typed_scratch_bytes,
    .kernel = typed_kernel,
    .run = depthwise_typed_run,
};
