/* Convolution of tensors of any types by the blocked GEMM: patches by weights, with taps before
 * channels along k. Patches become panels of the type that is multiplied, and so do weights, if
 * they are not packed already. Sums are staged until they are results. */
#include "src/convolution/gemm/typed.h"
#include "src/gemm/multiplied.h"
#include "src/primitive/cost.h"
#include "src/primitive/types.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/typed_layout.h"

static const struct gemm_type *multiplied(const struct problem *problem, const struct cpu *cpu)
{
    return gemm_multiplied(problem, cpu, problem->zero_points[WEIGHTS]);
}

/* ---- selection ---- */

static const char *typed_refuse(const struct algorithm *self, const struct problem *problem,
                                const struct cpu *cpu)
{
    (void)self;
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    const struct gemm_type *type = multiplied(problem, cpu);
    bool packed = weights->format_kind == NEO_FORMAT_PACKED;
    if (is_f32_alone(problem) && !type)
        return "all tensors are of f32, and are multiplied as such";
    if (packed && (!type || weights->packed.id != typed_layout_of(LAYOUT_CONVOLUTION_TYPED, type)))
        return "the weights are packed for another type";
    if (problem->zero_points[SRC] && !is_of_integers(problem))
        return "floats have a zero point";
    return convolution_refuse_direct(problem);
}

static double typed_weight_bits(const struct algorithm *self, const struct problem *problem,
                                const struct cpu *cpu)
{
    (void)self;
    return gemm_weight_bits(problem, multiplied(problem, cpu));
}

/* Weights that are `any` are packed if that is for their own type's instructions. */
static void typed_choose(const struct algorithm *self, struct problem *problem,
                         const struct cpu *cpu)
{
    (void)self;
    const struct gemm_type *type = multiplied(problem, cpu);
    neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    if (weights->format_kind != NEO_FORMAT_ANY)
        return;
    if (type)
        layout_set(weights, typed_layout_of(LAYOUT_CONVOLUTION_TYPED, type),
                   convolution_is_grouped(problem));
    else
        desc_set_plain(weights);
}

static size_t pixels_of(const struct convolution_shape *s)
{
    return (size_t)(s->batch * s->out[DEPTH] * s->out[HEIGHT] * s->out[WIDTH]);
}

static size_t depth_of(const struct convolution_shape *s)
{
    return (size_t)(s->kernel[DEPTH] * s->kernel[HEIGHT] * s->kernel[WIDTH] * s->ic);
}

/* Each element of a patch is copied, and so are sums. */
static double typed_estimate(const struct algorithm *self, const struct problem *problem,
                             const struct cpu *cpu)
{
    const struct convolution_shape *s = convolution_shape_of(problem);
    const struct gemm_type *type = multiplied(problem, cpu);
    double groups = (double)s->groups, m = (double)pixels_of(s), n = (double)s->oc;
    bool packed = problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_STRIDED;
    double k = (double)depth_of(s), copied = groups * (m * k + (packed ? 0 : n * k) + m * n);
    (void)self;
    return gemm_typed_estimate(cpu, type, groups, m, n, k, packed) + copied / 2;
}

static void typed_memory(const struct algorithm *self, const struct problem *problem,
                         const struct cpu *cpu, struct cost *cost)
{
    const struct convolution_shape *s = convolution_shape_of(problem);
    const struct gemm_type *type = multiplied(problem, cpu);
    bool packed = problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_STRIDED;
    bool fetches =
        type && packed &&
        gemm_fetches(cpu, type, (double)pixels_of(s), (double)s->oc, (double)depth_of(s));
    (void)self;
    if (fetches)
        gemm_count_fetching(cost, (double)s->oc);
}

/* ---- plan ---- */

static void typed_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_typed *mine = plan;
    const struct gemm_type *type = multiplied(problem, cpu);
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    bool packed = weights->format_kind == NEO_FORMAT_PACKED;
    mine->shape = *convolution_shape_of(problem);
    mine->integers = is_of_integers(problem);
    mine->finish = convolution_typed_finish_kernel(problem, cpu);
    if (!packed)
        mine->weights = weights_matrix_of_convolution(weights, convolution_is_grouped(problem));
    gemm_side_init(&mine->a, problem->tensors[SRC].data_type, type, cpu);
    gemm_side_init(&mine->b, weights->data_type, type, cpu);
    convolution_typed_plan_patches(mine);
    convolution_typed_plan_taps(mine, problem);
    gemm_plan_init(
        &mine->gemm,
        &(struct gemm_shape){
            .batch = (size_t)mine->shape.groups,
            .m = pixels_of(&mine->shape),
            .n = (size_t)mine->shape.oc,
            .k = depth_of(&mine->shape),
            .type = type,
            .b_packed = packed,
            .a_summed = mine->integers && is_shifted(problem, WEIGHTS),
            /* weights without rows have no buffer, so no sums behind them */
            .b_summed = mine->integers && is_shifted(problem, SRC) && depth_of(&mine->shape),
            .output = GEMM_STAGED,
            .task_scratch_bytes = convolution_typed_patches_scratch(mine),
        },
        cpu);
}

static size_t typed_scratch_bytes(const void *plan, int threads)
{
    const struct convolution_typed *mine = plan;
    return mine->taps_bytes + gemm_scratch_bytes(&mine->gemm, threads);
}

static const char *typed_kernel(const void *plan)
{
    return ((const struct convolution_typed *)plan)->gemm.kernel;
}

/* ---- run ---- */

static void locate(const void *context, size_t batch, struct gemm_place *out)
{
    const struct typed_call *call = context;
    const struct gemm_shape *shape = &call->plan->gemm.shape;
    *out = (struct gemm_place){0};
    if (!shape->b_packed)
        return;
    const char *matrix = (const char *)call->execution->buffers[WEIGHTS] +
                         batch * typed_layout_step(shape->type, shape->k, shape->n);
    size_t sums_at = typed_layout_sums_at(shape->type, shape->k, shape->n);
    out->b = (const float *)(const void *)matrix;
    out->b_sums = (const int32_t *)(const void *)(matrix + sums_at);
}

/* Integers that became floats, without their zero points. */
static void subtract_zero_points(const struct typed_call *call, const struct gemm_panel *panel)
{
    float *out = panel->out;
    for (size_t j = 0; j < panel->lanes; j++) {
        float zero = (float)convolution_typed_weights_zero_point(call->execution, panel->batch,
                                                                 panel->lane + j);
        for (size_t p = 0; p < panel->depth; p++)
            out[p * panel->width + j] -= zero;
    }
}

static void pack_b(const void *context, const struct gemm_panel *panel)
{
    const struct typed_call *call = context;
    weights_matrix_pack(&call->plan->weights, &call->plan->b,
                        &(struct weights_panel){
                            .data = call->execution->buffers[WEIGHTS],
                            .matrix = (neo_dim)panel->batch * call->plan->shape.weights_g,
                            .first = panel->lane,
                            .lanes = panel->lanes,
                            .width = panel->width,
                            .row = panel->first,
                            .depth = panel->depth,
                            .panel = panel->out,
                            .sums = panel->sums,
                        });
    if (!call->plan->integers && call->execution->problem->zero_points[WEIGHTS])
        subtract_zero_points(call, panel);
}

/* What fills the padding: src's zero point, or the value of its type that is nearest to it. */
static uint8_t padding_byte(const struct typed_call *call)
{
    bool is_signed = type_of(call->execution->problem, SRC) == ELEMENT_S8;
    int32_t low = is_signed ? INT8_MIN : 0, high = is_signed ? INT8_MAX : UINT8_MAX;
    int32_t zero_point = src_zero_point(call);
    return (uint8_t)(zero_point < low ? low : zero_point > high ? high : zero_point);
}

static void typed_run(const void *plan, const struct execution *execution)
{
    struct gemm_results results;
    struct typed_call mine = {.plan = plan, .execution = execution, .results = &results};
    char *scratch = execution->scratch;
    struct gemm_call call = {.context = &mine,
                             .locate = locate,
                             .prepare_a = convolution_typed_prepare,
                             .pack_a = convolution_typed_pack_a,
                             .pack_panels_a = convolution_typed_pack_panels,
                             .pack_b = pack_b,
                             .finish = convolution_typed_finish};
    if (mine.plan->integers)
        mine.zero = padding_byte(&mine);
    if (mine.plan->taps_bytes)
        convolution_typed_count_taps(&mine, scratch);
    if (mine.plan->finish)
        convolution_typed_results(&mine, &results);
    if (convolution_typed_ends(&mine))
        call.results = &results;
    gemm_run(&mine.plan->gemm, &call, execution->parallel, execution->threads,
             scratch + mine.plan->taps_bytes);
}

const struct algorithm convolution_typed = {
    .name = "typed",
    .types = convolution_types,
    .quantizes = true,
    .refuse = typed_refuse,
    .choose = typed_choose,
    .estimate = typed_estimate,
    .memory = typed_memory,
    .weight_bits = typed_weight_bits,
    .plan = typed_plan,
    .plan_bytes = sizeof(struct convolution_typed),
    .scratch_bytes = typed_scratch_bytes,
    .kernel = typed_kernel,
    .run = typed_run,
};
