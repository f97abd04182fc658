/* Matrix multiplication of tensors of any types by the blocked GEMM. A block of either side becomes
 * panels of the type that is multiplied when it is packed; sums are staged, and become results a
 * line at a time. Integers are multiplied as s8 and summed in s32, floats as f32 or as what they
 * are stored as, integers by floats as f32, decompressed as they are packed, or as s8, if floats
 * may become that. */
#include "src/matmul/typed.h"
#include "src/core/checked.h"
#include "src/gemm/multiplied.h"
#include "src/primitive/cost.h"
#include "src/primitive/quantization.h"
#include "src/primitive/types.h"
#include "src/tensor/block_layout.h"
#include "src/tensor/typed_layout.h"

static bool is_in_blocks(const struct problem *problem)
{
    struct gemm_blocks blocks;
    return block_layout_read(&blocks, &problem->tensors[WEIGHTS]);
}

static const struct gemm_type *multiplied(const struct problem *problem, const struct cpu *cpu)
{
    bool are_adjusted = is_adjusted(problem, SRC) || is_adjusted(problem, WEIGHTS);
    if (matmul_is_dynamic(problem))
        return gemm_type_choose(cpu, ELEMENT_S8, ELEMENT_S32);
    return gemm_multiplied(problem, cpu, are_adjusted || is_in_blocks(problem));
}

/* ---- selection ---- */

static const char *typed_refuse(const struct algorithm *self, const struct problem *problem,
                                const struct cpu *cpu)
{
    (void)self;
    const struct gemm_type *type = multiplied(problem, cpu);
    if (is_f32_alone(problem) && !type)
        return "all tensors are of f32, and are multiplied as such";
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    bool packed = weights->format_kind == NEO_FORMAT_PACKED && !is_in_blocks(problem);
    if (is_in_blocks(problem) && is_of_integers(problem))
        return "integers are not multiplied by weights in blocks with scales";
    if (is_in_blocks(problem) && problem->attributes.dynamic_src != NEO_DATA_TYPE_UNDEF)
        return MATMUL_IS_DYNAMIC;
    if (packed && (!type || weights->packed.id != typed_layout_of(LAYOUT_MATMUL_TYPED, type)))
        return "the weights are packed for another type";
    bool differ = quantization_part(problem, SRC, k_dim(problem, SRC)) ||
                  quantization_part(problem, WEIGHTS, k_dim(problem, WEIGHTS));
    if (is_of_integers(problem) && differ)
        return "scales or zero points of integers differ along k";
    return NULL;
}

static double size_or(neo_dim dim)
{
    return dim == NEO_RUNTIME_DIM ? 256 : (double)dim;
}

/* Elements of both sides are converted or copied, but for packed weights, and so are sums. */
static double typed_estimate(const struct algorithm *self, const struct problem *problem,
                             const struct cpu *cpu)
{
    struct matmul_shape shape = matmul_shape(problem);
    const struct gemm_type *type = multiplied(problem, cpu);
    double batch = size_or(shape.batch), m = size_or(shape.m), n = size_or(shape.n);
    double k = size_or(shape.k), quantizing = matmul_is_dynamic(problem) ? batch * m * k : 0;
    bool packed = type && problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_STRIDED;
    double elements = batch * (m * k + (packed ? 0 : n * k) + m * n);
    (void)self;
    return gemm_typed_estimate(cpu, type, batch, m, n, k, packed) + elements / 2 + quantizing;
}

static void typed_memory(const struct algorithm *self, const struct problem *problem,
                         const struct cpu *cpu, struct cost *cost)
{
    struct matmul_shape shape = matmul_shape(problem);
    const struct gemm_type *type = multiplied(problem, cpu);
    bool packed = problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_STRIDED;
    bool fetches = type && packed && !is_in_blocks(problem) && !problem_is_runtime(problem) &&
                   gemm_fetches(cpu, type, (double)shape.m, (double)shape.n, (double)shape.k);
    (void)self;
    if (fetches)
        gemm_count_fetching(cost, (double)shape.n);
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
    const struct gemm_type *type = multiplied(problem, cpu);
    neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    if (weights->format_kind == NEO_FORMAT_ANY && type)
        layout_set(weights, typed_layout_of(LAYOUT_MATMUL_TYPED, type), false);
    matmul_choose_plain(self, problem, cpu);
}

/* ---- plan ---- */

static size_t size_of(neo_dim dim)
{
    return dim == NEO_RUNTIME_DIM ? SIZE_MAX : (size_t)dim;
}

static void plan_quantizing(struct matmul_typed *mine, const struct problem *problem,
                            const struct cpu *cpu)
{
    enum { UNIT = 16, LINE = 64 };
    struct matmul_shape shape = matmul_shape(problem);
    if (!matmul_is_dynamic(problem))
        return;
    mine->quantize = quantize_find(cpu->features, ELEMENT_S8);
    if (problem_is_runtime(problem))
        return;
    size_t rows = (size_t)(shape.batch * shape.m);
    mine->row_bytes = round_up((size_t)shape.k, UNIT);
    mine->row_scales = round_up(rows * mine->row_bytes, LINE);
    mine->quantized_bytes = round_up(mine->row_scales + rows * sizeof(float), SCRATCH_ALIGNMENT);
}

static void typed_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_typed *mine = plan;
    struct matmul_shape shape = matmul_shape(problem);
    const struct gemm_type *type = multiplied(problem, cpu);
    mine->integers = are_integers_multiplied(problem);
    mine->finish = matmul_typed_finish_kernel(problem, cpu);
    plan_quantizing(mine, problem, cpu);
    gemm_side_init(&mine->a, mine->quantize ? NEO_S8 : problem->tensors[SRC].data_type, type, cpu);
    gemm_side_init(&mine->b, problem->tensors[WEIGHTS].data_type, type, cpu);
    mine->in_blocks = block_layout_read(&mine->blocks, &problem->tensors[WEIGHTS]);
    mine->decompress = gemm_blocks_find(cpu->features);
    gemm_plan_init(&mine->gemm,
                   &(struct gemm_shape){
                       .batch = size_of(shape.batch),
                       .m = size_of(shape.m),
                       .n = size_of(shape.n),
                       .k = size_of(shape.k),
                       .type = type,
                       .b_packed = problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED &&
                                   !mine->in_blocks,
                       .a_summed = mine->integers && is_shifted(problem, WEIGHTS),
                       /* weights without rows have no buffer, so no sums behind them */
                       .b_summed = mine->integers && is_shifted(problem, SRC) && size_of(shape.k),
                       .output = GEMM_STAGED,
                   },
                   cpu);
}

static size_t typed_scratch_bytes(const void *plan, int threads)
{
    const struct matmul_typed *mine = plan;
    return mine->quantized_bytes + gemm_scratch_bytes(&mine->gemm, threads);
}

static const char *typed_kernel(const void *plan)
{
    return ((const struct matmul_typed *)plan)->gemm.kernel;
}

/* ---- packing ---- */

static void locate(const void *context, size_t batch, struct gemm_place *out)
{
    const struct typed_call *call = context;
    const neo_memory_desc *weights = &call->execution->problem->tensors[WEIGHTS];
    const struct gemm_shape *shape = &call->plan->gemm.shape;
    neo_dim position[NEO_MAX_NDIMS];
    *out = (struct gemm_place){0};
    if (!shape->b_packed)
        return;
    matmul_position(call->execution->problem, batch, position);
    const char *matrix = (const char *)call->execution->buffers[WEIGHTS] +
                         matmul_weights_index(weights, position) *
                             typed_layout_step(shape->type, shape->k, shape->n);
    out->b = (const float *)(const void *)matrix;
    out->b_sums = (const int32_t *)(const void *)(matrix + typed_layout_sums_at(
                                                               shape->type, shape->k, shape->n));
}

/* One lane of a panel of f32, k of which share a scale and a zero point. */
static void adjust_lane(float *values, size_t width, size_t k, float zero_point, float scale)
{
    for (size_t p = 0; p < k; p++)
        values[p * width] = (values[p * width] - zero_point) * scale;
}

/* position: of the panel's first element in tensor t; lanes are along lane_dim. */
static void adjust(const struct execution *execution, enum tensor t, int lane_dim,
                   const struct gemm_panel *panel, neo_dim *position)
{
    const struct problem *problem = execution->problem;
    int along = k_dim(problem, t);
    size_t part = (size_t)quantization_part(problem, t, along), end = panel->first + panel->depth;
    bool scales = scale_varies_along_k(problem, t);
    float *out = panel->out;
    for (size_t p = panel->first; p < end;) {
        size_t next = part ? min_size((p / part + 1) * part, end) : end;
        position[along] = (neo_dim)p;
        for (size_t i = 0; i < panel->lanes; i++) {
            position[lane_dim] = (neo_dim)(panel->lane + i);
            adjust_lane(out + (p - panel->first) * panel->width + i, panel->width, next - p,
                        (float)quantization_zero_point(execution, t, position),
                        scales ? quantization_scale(execution, t, position) : 1);
        }
        p = next;
    }
}

static void pack_side(const struct typed_call *call, enum tensor t, const struct gemm_side *side,
                      const struct gemm_panel *panel)
{
    const struct execution *execution = call->execution;
    const neo_memory_desc *desc = &execution->problem->tensors[t];
    int along = k_dim(execution->problem, t), lane_dim = 2 * desc->ndims - 3 - along;
    neo_dim position[NEO_MAX_NDIMS];
    matmul_position(execution->problem, panel->batch, position);
    gemm_side_pack(side, &(struct gemm_side_panel){
                             .data = execution->buffers[t],
                             .first = (ptrdiff_t)(matmul_batch_offset(desc, position) +
                                                  (neo_dim)panel->lane * desc->strides[lane_dim] +
                                                  (neo_dim)panel->first * desc->strides[along]),
                             .lane = (ptrdiff_t)desc->strides[lane_dim],
                             .step = (ptrdiff_t)desc->strides[along],
                             .width = panel->width,
                             .count = panel->lanes,
                             .k = panel->depth,
                             .out = panel->out,
                             .sums = panel->sums,
                         });
    if (!call->plan->integers && is_adjusted(execution->problem, t))
        adjust(execution, t, lane_dim, panel, position);
}

static void pack_quantized(const struct typed_call *call, const struct gemm_panel *panel)
{
    const struct matmul_typed *plan = call->plan;
    size_t row = panel->batch * plan->gemm.shape.m + panel->lane;
    gemm_side_pack(&plan->a, &(struct gemm_side_panel){
                                 .data = call->rows,
                                 .first = (ptrdiff_t)(row * plan->row_bytes + panel->first),
                                 .lane = (ptrdiff_t)plan->row_bytes,
                                 .step = 1,
                                 .width = panel->width,
                                 .count = panel->lanes,
                                 .k = panel->depth,
                                 .out = panel->out,
                                 .sums = panel->sums,
                             });
}

static void pack_a(const void *context, void *task_scratch, const struct gemm_panel *panel)
{
    const struct typed_call *call = context;
    (void)task_scratch;
    if (call->plan->quantize)
        pack_quantized(call, panel);
    else
        pack_side(call, SRC, &call->plan->a, panel);
}

static void pack_b(const void *context, const struct gemm_panel *panel)
{
    const struct typed_call *call = context;
    if (call->plan->in_blocks) {
        matmul_blocks_to_panel(call, panel);
        return;
    }
    pack_side(call, WEIGHTS, &call->plan->b, panel);
}

static void quantize_rows(void *argument, struct span rows, int slot)
{
    const struct typed_call *call = argument;
    const struct matmul_typed *plan = call->plan;
    (void)slot;
    for (size_t i = rows.begin; i < rows.end; i++)
        call->row_scales[i] = matmul_quantize_row(call->execution, plan->quantize, i,
                                                  call->rows + i * plan->row_bytes);
}

static void quantize(struct typed_call *call)
{
    const struct execution *execution = call->execution;
    const struct gemm_shape *shape = &call->plan->gemm.shape;
    parallel_for_tiles(execution->parallel, shape->batch * shape->m, execution->threads,
                       quantize_rows, call);
}

static void typed_run(const void *plan, const struct execution *execution)
{
    struct gemm_results results;
    char *scratch = execution->scratch;
    const size_t scales_at = ((const struct matmul_typed *)plan)->row_scales;
    struct typed_call mine = {.plan = plan,
                              .execution = execution,
                              .results = &results,
                              .rows = (int8_t *)scratch,
                              .row_scales = (float *)(void *)(scratch + scales_at)};
    struct gemm_call call = {.context = &mine,
                             .locate = locate,
                             .pack_a = pack_a,
                             .pack_b = pack_b,
                             .finish = matmul_typed_finish};
    if (mine.plan->finish)
        matmul_typed_results(&mine, &results);
    if (matmul_typed_ends(&mine))
        call.results = &results;
    if (mine.plan->quantize)
        quantize(&mine);
    gemm_run(&mine.plan->gemm, &call, execution->parallel, execution->threads,
             scratch + mine.plan->quantized_bytes);
}

const struct algorithm matmul_typed = {
    .name = "typed",
    .types = matmul_types,
    .quantizes = true,
    .refuse = typed_refuse,
    .choose = typed_choose,
    .estimate = typed_estimate,
    .memory = typed_memory,
    .weight_bits = typed_weight_bits,
    .plan = typed_plan,
    .plan_bytes = sizeof(struct matmul_typed),
    .scratch_bytes = typed_scratch_bytes,
    .kernel = typed_kernel,
    .run = typed_run,
};
