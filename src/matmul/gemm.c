/* Matrix multiplication by the blocked GEMM: packed or plain weights, any strides. */
#include "src/gemm/gemm.h"
#include "arch/costs.h"
#include "src/matmul/matmul.h"
#include "src/primitive/cost.h"
#include "src/primitive/finish.h"
#include "src/tensor/layout.h"

struct matmul_gemm {
    struct gemm_plan gemm;
    bool bias_by_column; /* the tile kernel adds it */
};

static bool is_supported_layout(const neo_memory_desc *weights)
{
    return weights->format_kind != NEO_FORMAT_PACKED || weights->packed.id == LAYOUT_MATMUL_F32;
}

static const char *product_refuse(const struct algorithm *self, const struct problem *problem,
                                  const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return is_supported_layout(&problem->tensors[WEIGHTS])
               ? NULL
               : "the weights are packed for another operation";
}

static double size_or(neo_dim dim, double otherwise)
{
    return dim == NEO_RUNTIME_DIM ? otherwise : (double)dim;
}

/* It may be, as far as is known. */
static bool may_be_contiguous(const neo_memory_desc *desc, int dim)
{
    return matmul_is_contiguous(desc, dim) || desc->strides[dim] == NEO_RUNTIME_DIM;
}

/* Rows of src and of dst are contiguous: src is read in place, unless it takes less time to pack
 * it.
 */
static bool lists_rows(const struct problem *problem, const struct cpu *cpu)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    bool may = may_be_contiguous(src, src->ndims - 1) && may_be_contiguous(dst, dst->ndims - 1);
    if (!may || problem_is_runtime(problem) ||
        problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED)
        return may;
    struct matmul_shape shape = matmul_shape(problem);
    return !gemm_packing_pays(cpu, (double)shape.m, (double)shape.n, (double)shape.k,
                              (size_t)src->strides[src->ndims - 2]);
}

/* The distance of columns of src if they are contiguous, and those of dst are; else 0. */
static size_t column_stride(const struct problem *problem, bool columns)
{
    const neo_memory_desc *src = &problem->tensors[SRC];
    int last = src->ndims - 1;
    bool in_place = columns && !problem_is_runtime(problem) &&
                    src->format_kind == NEO_FORMAT_STRIDED && src->strides[last - 1] == 1 &&
                    src->strides[last] > 0;
    return in_place ? (size_t)src->strides[last] : 0;
}

/* The distance of rows of plain weights if they are contiguous; else 0. */
static size_t weights_row(const struct problem *problem)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    int last = weights->ndims - 1;
    bool rows = weights->format_kind == NEO_FORMAT_STRIDED && !problem_is_runtime(problem) &&
                matmul_is_contiguous(weights, last) && weights->strides[last - 1] > 0;
    return rows ? (size_t)weights->strides[last - 1] : 0;
}

/* Cycles of packing plain weights beyond those that rows take, which are known to the estimate: of
 * columns, transposed, or of scattered elements. */
static double turning_cycles(const neo_memory_desc *weights, double n, double k)
{
    int row = weights->ndims - 2, column = weights->ndims - 1;
    if (weights->format_kind != NEO_FORMAT_STRIDED || matmul_is_contiguous(weights, column))
        return 0;
    const double panel = LAYOUT_PANEL; /* clang wants a double */
    return n * k * (matmul_is_contiguous(weights, row) ? 1 : 3) / 4 + 25 * n / panel;
}

/* On cores that issue in order the swapped product is as fast. */
static bool reads_planes(const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_shape shape = matmul_shape(problem);
    const neo_memory_desc *dst = &problem->tensors[DST];
    bool columns =
        !matmul_is_contiguous(dst, dst->ndims - 1) && matmul_is_contiguous(dst, dst->ndims - 2);
    if (cpu->core->in_order || problem_is_runtime(problem))
        return false;
    struct gemm_shape product = {.m = (size_t)shape.m,
                                 .n = (size_t)shape.n,
                                 .k = (size_t)shape.k,
                                 .columns = columns,
                                 .a_column = column_stride(problem, columns)};
    return gemm_reads_planes(&product, cpu);
}

/* Cycles of stores that the estimate counts, but that kernels for regular rows have beside their
 * last products: those of whole panels and rounds, in tiles that are as high as these kernels. */
static double hidden_stores(const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_shape shape = matmul_shape(problem);
    const neo_dim height = GEMM_F32_LISTED_HEIGHT, rounds = GEMM_F32_REGULAR_ROUNDS;
    bool packed = problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_STRIDED;
    if (cpu->core->in_order || problem_is_runtime(problem) || !packed ||
        !lists_rows(problem, cpu) || shape.m == 0)
        return 0;
    neo_dim tiles = (shape.m + height - 1) / height, tall = (shape.m + tiles - 1) / tiles;
    bool whole = shape.n % 4 == 0 && shape.n > 2 * LAYOUT_PANEL && shape.k % 4 == 0;
    if (!whole || shape.k < 4 * rounds || tall < height)
        return 0;
    return cpu->core->slowness * (double)shape.m * (double)shape.n / 8;
}

static double product_estimate(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self;
    struct matmul_shape shape = matmul_shape(problem);
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    bool packed = problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_STRIDED;
    neo_dim row = src->format_kind == NEO_FORMAT_STRIDED ? src->strides[src->ndims - 2] : 0;
    size_t stride = row == NEO_RUNTIME_DIM ? 0 : (size_t)row;
    double batch = size_or(shape.batch, 1), n = size_or(shape.n, 256), k = size_or(shape.k, 256);
    double m = size_or(shape.m, 256);
    double cycles = reads_planes(problem, cpu) ? gemm_planes_estimate(cpu, batch, m, n, k, packed)
                                               : gemm_estimate(cpu, batch, m, n, k, packed,
                                                               lists_rows(problem, cpu), stride);
    if (!matmul_is_contiguous(dst, dst->ndims - 1)) /* swapped, it packs less; else it is as fast */
        cycles *= core_costs(cpu->core)->gemm.swapped;
    cycles -= batch * hidden_stores(problem, cpu);
    return cycles + batch * turning_cycles(&problem->tensors[WEIGHTS], n, k);
}

static void product_memory(const struct algorithm *self, const struct problem *problem,
                           const struct cpu *cpu, struct cost *cost)
{
    struct matmul_shape shape = matmul_shape(problem);
    bool fetches = !problem_is_runtime(problem) && !reads_planes(problem, cpu) &&
                   problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_STRIDED &&
                   lists_rows(problem, cpu) &&
                   gemm_fetches(cpu, NULL, (double)shape.m, (double)shape.n, (double)shape.k);
    (void)self;
    if (fetches)
        gemm_count_fetching(cost, (double)shape.n);
}

/* ---- plan ---- */

static size_t size_of(neo_dim dim)
{
    return dim == NEO_RUNTIME_DIM ? SIZE_MAX : (size_t)dim;
}

/* The distance of rows of src. Where anything is open, so is this: whether rows are read in place
 * is decided at execution, and the scratchpad must be enough for both ways. */
static size_t row_distance(const struct problem *problem)
{
    const neo_memory_desc *src = &problem->tensors[SRC];
    return problem_is_runtime(problem) ? SIZE_MAX : (size_t)src->strides[src->ndims - 2];
}

static enum gemm_output choose_output(const struct problem *problem, bool bias_fused,
                                      bool contiguous)
{
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    if (!contiguous || fusion.reads_dst || problem_is_runtime(problem))
        return GEMM_STAGED;
    return fusion.complete && bias_fused ? GEMM_DIRECT : GEMM_IN_PLACE;
}

static void product_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_gemm *mine = plan;
    struct matmul_shape shape = matmul_shape(problem);
    const neo_memory_desc *dst = &problem->tensors[DST];
    int row_dim = dst->ndims - 2, column_dim = dst->ndims - 1;
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    bool rows = matmul_is_contiguous(dst, column_dim),
         columns = !rows && matmul_is_contiguous(dst, row_dim);
    const neo_memory_desc *bias = &problem->tensors[BIAS];
    mine->bias_by_column = !bias->ndims || matmul_is_bias_by_column(problem);
    gemm_plan_init(&mine->gemm,
                   &(struct gemm_shape){
                       .batch = size_of(shape.batch),
                       .m = size_of(shape.m),
                       .n = size_of(shape.n),
                       .k = size_of(shape.k),
                       .b_packed = problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED,
                       .b_row = weights_row(problem),
                       .columns = columns,
                       .output = choose_output(problem, mine->bias_by_column, rows || columns),
                       .low = fusion.low,
                       .high = fusion.high,
                       .segment = lists_rows(problem, cpu) ? size_of(shape.k) : 0,
                       .a_is_regular = true,
                       .a_stride = row_distance(problem),
                       .a_column = column_stride(problem, columns),
                   },
                   cpu);
}

static size_t product_scratch_bytes(const void *plan, int threads)
{
    return gemm_scratch_bytes(&((const struct matmul_gemm *)plan)->gemm, threads);
}

static const char *product_kernel(const void *plan)
{
    return ((const struct matmul_gemm *)plan)->gemm.kernel;
}

/* ---- run ---- */

struct matmul_call {
    const struct matmul_gemm *plan;
    const struct execution *execution;
};

static const float *find_weights(const struct matmul_call *call, const neo_dim *position)
{
    const neo_memory_desc *weights = &call->execution->problem->tensors[WEIGHTS];
    const float *buffer = call->execution->buffers[WEIGHTS];
    if (!call->plan->gemm.shape.b_packed)
        return buffer + matmul_batch_offset(weights, position);
    return buffer + matmul_weights_index(weights, position) * layout_shape(weights).step;
}

static void locate(const void *context, size_t batch, struct gemm_place *out)
{
    const struct matmul_call *call = context;
    const struct execution *execution = call->execution;
    const neo_memory_desc *tensors = execution->problem->tensors, *dst = &tensors[DST];
    neo_dim position[NEO_MAX_NDIMS];
    int ndims = dst->ndims;
    matmul_position(execution->problem, batch, position);
    *out = (struct gemm_place){
        .b = find_weights(call, position),
        .c = (float *)execution->buffers[DST] + matmul_batch_offset(dst, position),
        .c_row = dst->dims[ndims - 2] == 1 && call->plan->gemm.shape.columns
                     ? 1
                     : (size_t)dst->strides[ndims - 2],
        .c_column = call->plan->gemm.shape.columns ? (size_t)dst->strides[ndims - 1] : 1,
        .bias = call->plan->bias_by_column ? execution->buffers[BIAS] : NULL,
    };
}

/* A row is one segment. */
static void list_a(const void *context, const void *task_scratch, const struct gemm_list *list)
{
    const struct matmul_call *call = context;
    const struct execution *execution = call->execution;
    const neo_memory_desc *src = &execution->problem->tensors[SRC];
    neo_dim position[NEO_MAX_NDIMS], stride = src->strides[src->ndims - 2];
    (void)task_scratch;
    matmul_position(execution->problem, list->batch, position);
    const float *from = (const float *)execution->buffers[SRC] +
                        matmul_batch_offset(src, position) + (neo_dim)list->row * stride +
                        (neo_dim)list->first;
    const float **out = list->out;
    for (size_t t = 0; t < list->tall + list->low; t++, out += GEMM_F32_LIST)
        for (size_t i = 0; i < list->height - (t >= list->tall); i++, from += stride)
            out[i] = from;
}

static void pack_a(const void *context, void *task_scratch, const struct gemm_panel *panel)
{
    const struct matmul_call *call = context;
    const struct execution *execution = call->execution;
    const neo_memory_desc *src = &execution->problem->tensors[SRC];
    neo_dim position[NEO_MAX_NDIMS], m_stride = src->strides[src->ndims - 2];
    neo_dim k_stride = src->strides[src->ndims - 1];
    (void)task_scratch;
    matmul_position(execution->problem, panel->batch, position);
    pack_f32(&(struct pack_f32_panel){
        .width = panel->width,
        .count = panel->lanes,
        .k = panel->depth,
        .src = (const float *)execution->buffers[SRC] + matmul_batch_offset(src, position) +
               (neo_dim)panel->lane * m_stride + (neo_dim)panel->first * k_stride,
        .lane = m_stride,
        .step = k_stride,
        .out = panel->out,
    });
}

static void pack_b(const void *context, const struct gemm_panel *panel)
{
    const struct matmul_call *call = context;
    const struct execution *execution = call->execution;
    const neo_memory_desc *weights = &execution->problem->tensors[WEIGHTS];
    neo_dim position[NEO_MAX_NDIMS], k_stride = weights->strides[weights->ndims - 2];
    neo_dim n_stride = weights->strides[weights->ndims - 1];
    matmul_position(execution->problem, panel->batch, position);
    pack_f32(&(struct pack_f32_panel){
        .width = panel->width,
        .count = panel->lanes,
        .k = panel->depth,
        .src = (const float *)execution->buffers[WEIGHTS] + matmul_batch_offset(weights, position) +
               (neo_dim)panel->first * k_stride + (neo_dim)panel->lane * n_stride,
        .lane = n_stride,
        .step = k_stride,
        .out = panel->out,
    });
}

/* Finishes the block along its contiguous direction, one line at a time. */
static void finish(const void *context, const struct gemm_block *block)
{
    const struct matmul_call *call = context;
    const struct execution *execution = call->execution;
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    int row_dim = dst->ndims - 2, column_dim = dst->ndims - 1;
    bool columns = call->plan->gemm.shape.columns;
    struct line line = {.direction = columns ? row_dim : column_dim,
                        .count = columns ? block->rows : block->columns};
    matmul_position(execution->problem, block->batch, line.position);
    float *base = (float *)execution->buffers[DST] + matmul_batch_offset(dst, line.position);
    size_t lines = columns ? block->columns : block->rows;
    size_t stride = columns ? block->column_stride : block->row_stride;
    for (size_t i = 0; i < lines; i++) {
        line.position[row_dim] = (neo_dim)(block->row + (columns ? 0 : i));
        line.position[column_dim] = (neo_dim)(block->column + (columns ? i : 0));
        float *to = base + line.position[row_dim] * dst->strides[row_dim] +
                    line.position[column_dim] * dst->strides[column_dim];
        finish_line(execution, &line, block->values + i * stride, !call->plan->bias_by_column, to,
                    dst->strides[line.direction]);
    }
}

static void product_run(const void *plan, const struct execution *execution)
{
    struct matmul_call mine = {plan, execution};
    struct gemm_call call = {.context = &mine,
                             .locate = locate,
                             .pack_a = pack_a,
                             .list_a = list_a,
                             .pack_b = pack_b,
                             .finish = finish};
    gemm_run(&mine.plan->gemm, &call, execution->parallel, execution->threads, execution->scratch);
}

const struct algorithm matmul_gemm = {
    .name = "gemm",
    .by_vectors = true,
    .refuse = product_refuse,
    .choose = matmul_choose_packed,
    .estimate = product_estimate,
    .memory = product_memory,
    .plan = product_plan,
    .plan_bytes = sizeof(struct matmul_gemm),
    .scratch_bytes = product_scratch_bytes,
    .kernel = product_kernel,
    .run = product_run,
};
