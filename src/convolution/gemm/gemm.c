/* Convolution as a matrix multiplication of patches by weights.
 *
 * Rows are pixels of dst, columns output channels of one group, and the reduction runs over taps
 * (outer) and input channels. Patches are gathered into the panels of the GEMM a tile of rows and a
 * block of the reduction at a time, so no more than a few kilobytes of them ever exist. */
#include <math.h>
#include <stdalign.h>

#include "arch/costs.h"
#include "src/convolution/gemm/gemm.h"
#include "src/core/checked.h"
#include "src/primitive/cost.h"
#include "src/primitive/post_ops.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/layout.h"

/* The value of one channel, or of one pixel of a row, stands for all of them. Here a stride of 0 is
 * that of an image which is still to be chosen. */
static bool repeats_values(const neo_memory_desc *src)
{
    int last = src->ndims - 1;
    return src->format_kind == NEO_FORMAT_STRIDED &&
           ((src->dims[1] > 1 && src->strides[1] == 0) ||
            (src->dims[last] > 1 && src->strides[last] == 0));
}

static const char *gemm_refuse(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self, (void)cpu;
    const char *why = convolution_refuse_tensors(problem, LAYOUT_CONVOLUTION_F32);
    if (!why && repeats_values(&problem->tensors[SRC]))
        why = "a value of src stands for several";
    return why ? why : convolution_refuse_direct(problem);
}

static double pixels_of(const struct convolution_shape *shape)
{
    return (double)shape->out[DEPTH] * (double)shape->out[HEIGHT] * (double)shape->out[WIDTH];
}

static double source_pixels_of(const struct convolution_shape *shape)
{
    return (double)shape->in[DEPTH] * (double)shape->in[HEIGHT] * (double)shape->in[WIDTH];
}

/* Rows of dst are contiguous, and the runs of values of a patch long enough to be read in place. */
static bool lists_rows(const struct convolution_gemm *plan)
{
    enum { FEW = 4 };
    const struct convolution_shape *s = &plan->shape;
    bool rows = s->dst.c <= 1 || s->oc == 1;
    return rows && plan->has_segments && plan->segment >= FEW;
}

/* Of the address of a segment, for the kernel's panels, each of which begins every segment; one
 * alone waits for it. Without a table, segments of a pixel have in common where it is. */
static double listing_cycles(const struct convolution_shape *s, const struct core *core,
                             double segments)
{
    const double nr = GEMM_F32_NR, height = GEMM_F32_LISTED_HEIGHT; /* clang wants doubles */
    double panels = ceil((double)s->oc / nr);
    const struct patches_costs *costs = &core_costs(core)->patches;
    bool table = segments_fit_table(ceil(pixels_of(s) / height), segments);
    return (table ? costs->table : costs->pixel + 11 / segments) +
           fmax(panels, costs->least_panels);
}

/* Of a tap of a pixel, by the kind of core (IN_ORDER_*), if its channels are no neighbours: they
 * are loaded one by one. */
static double lane_cycles(const struct convolution_shape *s, const struct core *core)
{
    const struct patches_costs *costs = &core_costs(core)->patches;
    return costs->lane_tap + costs->lane_channel * (double)s->ic;
}

/* On cores that issue in order, what else lists take: edges; and for matrices after the first one,
 * tiles in blocks of k, as there is a table only if all of it is one. */
static double listing_in_order(const struct convolution_shape *s, double k)
{
    const double height = GEMM_F32_LISTED_HEIGHT, most_k = 256; /* clang wants doubles */
    double tiles = (double)s->batch * ceil(pixels_of(s) / height), blocks = ceil(k / most_k);
    bool has_edges = s->kernel[DEPTH] * s->kernel[HEIGHT] * s->kernel[WIDTH] > 1;
    return (has_edges ? 150 : 0) +
           (blocks > 1 ? (double)(s->groups - 1) * tiles * blocks * 150 : 0);
}

/* Of steps of the reduction, each of all panels, in which there is nothing to be multiplied. */
static double skipping_cycles(const struct convolution_shape *s, const struct cpu *cpu, double k)
{
    const double nr = GEMM_F32_NR, step = 256; /* clang wants a double */
    return 75 * cpu->core->slowness * (double)s->groups * k / step * ceil((double)s->oc / nr);
}

/* The part of tiles that are pixels of one row; others lack few taps, but of the smallest images,
 * where it is known how many. */
static double of_one_row(const struct convolution_shape *s, const struct cpu *cpu)
{
    if (patches_are_few(s))
        return 1;
    neo_dim height = gemm_f32_listed_find(cpu->features, cpu->core->in_order)->height;
    neo_dim row = s->out[WIDTH];
    return row % height == 0 ? 1 : row > height ? 1 - (double)height / (double)row : 0;
}

/* Are pixels of a channel contiguous in both images, and read in place? */
static bool reads_planes(const struct convolution_shape *s, const struct cpu *cpu)
{
    bool planes = s->src.w == 1 && s->src.c > 1 && s->dst.w == 1 && s->dst.c > 1;
    struct gemm_shape product = {.m = (size_t)pixels_of(s),
                                 .n = (size_t)s->oc,
                                 .k = (size_t)s->ic,
                                 .columns = true,
                                 .a_column = (size_t)s->src.c};
    return planes && gemm_reads_planes(&product, cpu);
}

/* Are sums of a pixel copied from where whole vectors of them fit? On cores that issue in order,
 * the estimate of the product has what more than one vector takes. */
static bool sums_are_between(const struct convolution_shape *s, const struct core *core)
{
    bool rows = s->dst.c <= 1 && !core->in_order;
    return s->oc < 4 || (rows && s->oc % 4 != 0);
}

static double product_estimate(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self;
    struct convolution_gemm plan = {0};
    plan.shape = *convolution_shape_of(problem);
    const struct convolution_shape *s = &plan.shape;
    segments_plan(&plan, cpu);
    double pixels = pixels_of(s);
    double taps = (double)s->kernel[DEPTH] * (double)s->kernel[HEIGHT] * (double)s->kernel[WIDTH];
    bool listed = lists_rows(&plan) && gemm_lists(cpu, (double)plan.shape.oc);
    double pieces = plan.has_segments ? taps * (double)s->ic / (double)plan.segment : taps;
    double gather = (double)s->batch * pixels * pieces * (double)s->groups;
    double lanes = s->src.c > 1 && !plan.has_segments ? lane_cycles(s, cpu->core) : 16;
    bool regular = taps == 1 && pixels == source_pixels_of(s);
    bool packed = problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_STRIDED;
    if (regular && reads_planes(s, cpu))
        return gemm_planes_estimate(cpu, (double)(s->groups * s->batch), pixels, (double)s->oc,
                                    (double)s->ic, packed);
    gather *= regular ? 1 : listed ? listing_cycles(s, cpu->core, pieces) : lanes;
    double k = taps * (double)s->ic;
    if (!regular && listed && cpu->core->in_order)
        gather += listing_in_order(s, k);
    if (plan.has_segments)
        gather *= cpu->core->slowness;
    if (!listed && sums_are_between(s, cpu->core))
        gather += 40 * cpu->core->slowness * (double)s->batch * pixels * (double)s->groups;
    if (listed) {
        double zeros = of_one_row(s, cpu);
        zeros *= patches_zeros(&plan, k, (double)s->oc);
        gather += patches_are_few(s) ? skipping_cycles(s, cpu, zeros * k) : 0;
        k *= 1 - zeros;
    }
    return gather + gemm_estimate(cpu, (double)s->groups, (double)s->batch * pixels, (double)s->oc,
                                  k, packed, listed, (size_t)s->src.w * (size_t)s->stride[WIDTH]);
}

static void product_memory(const struct algorithm *self, const struct problem *problem,
                           const struct cpu *cpu, struct cost *cost)
{
    struct convolution_gemm plan = {.shape = *convolution_shape_of(problem)};
    const struct convolution_shape *s = &plan.shape;
    double taps = (double)s->kernel[DEPTH] * (double)s->kernel[HEIGHT] * (double)s->kernel[WIDTH];
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED ||
        !gemm_fetches(cpu, NULL, (double)s->batch * pixels_of(s), (double)s->oc,
                      taps * (double)s->ic))
        return;
    segments_plan(&plan, cpu);
    (void)self;
    if (lists_rows(&plan))
        gemm_count_fetching(cost, (double)s->oc);
}

/* ---- plan ---- */

/* The innermost dimensions of dst's pixels (batch, depth, height, width) that one stride can walk.
 */
struct pixel_run {
    size_t count;
    neo_dim stride;
};

static struct pixel_run pixel_run(const neo_dim *sizes, const neo_dim *strides)
{
    struct pixel_run run = {1, 0};
    for (int i = SPACE; i >= 0; i--) {
        if (sizes[i] == 1)
            continue;
        if (run.count > 1 && strides[i] != run.stride * (neo_dim)run.count)
            break;
        if (run.count == 1)
            run.stride = strides[i];
        run.count *= (size_t)sizes[i];
    }
    return run;
}

/* Both images' pixels are walked by one stride, in the same order, and nothing lies between taps.
 */
static bool is_affine(const struct convolution_shape *s, struct pixel_run src, struct pixel_run dst)
{
    for (int i = 0; i < SPACE; i++)
        if (s->kernel[i] != 1 || s->stride[i] != 1 || s->padding[i] != 0 || s->in[i] != s->out[i])
            return false;
    return src.count >= dst.count;
}

static void plan_pixels(struct convolution_gemm *mine, struct gemm_shape *gemm)
{
    const struct convolution_shape *s = &mine->shape;
    neo_dim out[] = {s->batch, s->out[DEPTH], s->out[HEIGHT], s->out[WIDTH]};
    neo_dim in[] = {s->batch, s->in[DEPTH], s->in[HEIGHT], s->in[WIDTH]};
    struct pixel_run dst = pixel_run(out, (neo_dim[]){s->dst.n, s->dst.d, s->dst.h, s->dst.w});
    struct pixel_run src = pixel_run(in, (neo_dim[]){s->src.n, s->src.d, s->src.h, s->src.w});
    mine->row_stride = dst.count == 1 ? 1 : (size_t)dst.stride;
    mine->rows_are_affine = is_affine(s, src, dst);
    mine->src_row_stride = src.stride;
    size_t image = (size_t)(s->out[DEPTH] * s->out[HEIGHT] * s->out[WIDTH]);
    if (mine->edge_row) /* a task has copies of one image's edges */
        dst.count = min_size(dst.count, image);
    gemm->m = dst.count;
    mine->images = dst.count % image ? 0 : dst.count / image;
    gemm->batch = (size_t)s->batch * image / dst.count * mine->matrices;
}

/* Values of the source that a block of pixels reads of those beside it: of rows, or planes, or
 * columns where there are no rows. */
static size_t shared_values(const struct convolution_shape *s)
{
    int dim = s->out[DEPTH] > 1 ? DEPTH : s->out[HEIGHT] > 1 ? HEIGHT : WIDTH;
    neo_dim reach = (s->kernel[dim] - 1) * s->dilation[dim] + 1 - s->stride[dim];
    size_t count = reach > 0 ? (size_t)(reach * s->ic) : 0;
    for (int inner = dim + 1; inner <= WIDTH; inner++)
        count *= (size_t)s->in[inner];
    return count;
}

static neo_dim greatest_divisor(neo_dim a, neo_dim b)
{
    return b == 0 ? a : greatest_divisor(b, a % b);
}

/* Places along a dimension of src that any pixel of dst has a tap at. */
static size_t reached(const struct convolution_shape *s, int d)
{
    neo_dim apart =
        s->kernel[d] == 1 ? s->stride[d] : greatest_divisor(s->stride[d], s->dilation[d]);
    return div_up((size_t)s->in[d], (size_t)apart);
}

static void plan_values(const struct convolution_shape *s, struct gemm_shape *gemm)
{
    size_t image = reached(s, DEPTH) * reached(s, HEIGHT) * reached(s, WIDTH) * (size_t)s->ic;
    size_t pixels = (size_t)(s->out[DEPTH] * s->out[HEIGHT] * s->out[WIDTH]);
    size_t images = max_size(gemm->m / max_size(pixels, 1), 1);
    gemm->a_values = min_size(images * image, gemm->m * gemm->k);
    gemm->a_shared = shared_values(s);
}

static enum gemm_output choose_output(const struct problem *problem, bool contiguous)
{
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    if (!contiguous || fusion.reads_dst)
        return GEMM_STAGED;
    return fusion.complete ? GEMM_DIRECT : GEMM_IN_PLACE;
}

/* Patches are read in place. */
static void plan_lists(const struct convolution_gemm *mine, struct gemm_shape *gemm)
{
    const struct convolution_shape *s = &mine->shape;
    neo_dim row = mine->rows_are_affine ? mine->src_row_stride : s->src.w * s->stride[WIDTH];
    gemm->segment = mine->segment;
    gemm->a_stride = (size_t)row;
    gemm->a_is_regular = mine->rows_are_affine;
    gemm->a_has_parts = mine->columns.count > 0;
    gemm->c_stride = mine->row_stride;
    plan_values(s, gemm);
    gemm->a_has_zeros = patches_zeros(mine, (double)gemm->k, (double)gemm->n) > 0;
}

void convolution_gemm_plan(struct convolution_gemm *mine, const struct problem *problem,
                           const struct cpu *cpu)
{
    const struct convolution_shape *s = &mine->shape;
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    struct gemm_shape gemm = {
        .n = (size_t)s->oc,
        .k = (size_t)s->kernel[DEPTH] * (size_t)s->kernel[HEIGHT] * (size_t)s->kernel[WIDTH] *
             (size_t)s->ic,
        .b_packed = problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED,
        .low = fusion.low,
        .high = fusion.high,
    };
    segments_plan(mine, cpu);
    if (!mine->columns.count) {
        mine->matrices = (size_t)s->groups;
        mine->dst_step = s->oc * s->dst.c;
        mine->channel_step = s->oc;
    }
    if (!desc_is_empty(&problem->tensors[DST]))
        plan_pixels(mine, &gemm);
    gemm.task_scratch_bytes = mine->edge_bytes;
    bool rows = s->oc == 1 || s->dst.c == 1;
    gemm.columns = !rows && mine->row_stride == 1;
    gemm.output = choose_output(problem, rows || gemm.columns);
    if (rows && lists_rows(mine))
        plan_lists(mine, &gemm);
    if (gemm.columns && mine->rows_are_affine && mine->src_row_stride == 1)
        gemm.a_column = (size_t)s->src.c;
    if (gemm.b_packed && s->groups > 1)
        mine->group_values = layout_shape(&problem->tensors[WEIGHTS]).step;
    gemm_plan_init(&mine->gemm, &gemm, cpu);
    segments_plan_table(mine);
}

static void product_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_gemm *mine = plan;
    mine->shape = *convolution_shape_of(problem);
    convolution_gemm_plan(mine, problem, cpu);
}

size_t convolution_gemm_table_bytes(const void *plan)
{
    return ((const struct convolution_gemm *)plan)->table_bytes;
}

void convolution_gemm_fill_table(void *plan, void *table)
{
    segments_fill_table(plan, table);
}

/* One task that needs little has its scratchpad on the stack: a block of memory would take longer
 * to find than some small convolutions take. */
enum { STACK_BYTES = 8 << 10 };

size_t convolution_gemm_scratch_bytes(const void *plan, int threads)
{
    size_t bytes = gemm_scratch_bytes(&((const struct convolution_gemm *)plan)->gemm, threads);
    return threads == 1 && bytes <= STACK_BYTES ? 0 : bytes;
}

const char *convolution_gemm_kernel(const void *plan)
{
    return ((const struct convolution_gemm *)plan)->gemm.kernel;
}

/* ---- run ---- */

/* Of the first pixel of a matrix of the GEMM, in dst: one division at most. */
static neo_dim first_offset(const struct convolution_gemm *plan, size_t batch)
{
    const struct image_strides *strides = &plan->shape.dst;
    struct pixel pixel = first_of(plan, batch);
    neo_dim image = pixel.n * strides->n;
    return plan->images ? image
                        : image + pixel.at[DEPTH] * strides->d + pixel.at[HEIGHT] * strides->h +
                              pixel.at[WIDTH] * strides->w;
}

static void locate(const void *context, size_t batch, struct gemm_place *out)
{
    const struct convolution_call *call = context;
    const struct convolution_gemm *plan = call->plan;
    void *const *buffers = call->execution->buffers;
    neo_dim matrix = matrix_of(plan, batch);
    const float *weights = buffers[WEIGHTS], *bias = buffers[BIAS];
    *out = (struct gemm_place){
        .b = plan->gemm.shape.b_packed ? weights + (size_t)matrix * plan->group_values : NULL,
        .c = (float *)buffers[DST] + first_offset(plan, batch) + matrix * plan->dst_step,
        .c_row = plan->row_stride,
        .c_column = plan->gemm.shape.columns ? (size_t)plan->shape.dst.c : 1,
        .bias = bias ? bias + matrix * plan->channel_step : NULL,
    };
}

static void locate_column(const void *context, size_t batch, struct gemm_place *out)
{
    const struct convolution_call *call = context;
    locate(context, batch, out);
    out->part = convolution_column(call->plan, batch).part;
}

/* Patches in place. */
static void list_a(const void *context, const void *task_scratch, const struct gemm_list *list)
{
    const struct convolution_call *call = context;
    if (call->plan->rows_are_affine)
        *list->out = convolution_gemm_affine_row(call, list->batch, list->row) +
                     (neo_dim)list->first * call->plan->shape.src.c;
    else if (call->plan->table)
        segments_list_from_table(call, task_scratch, list);
    else
        segments_list(call, task_scratch, list);
}

static void run_with(const void *plan, const struct execution *execution, void *scratch)
{
    struct convolution_call mine = {plan, execution};
    struct gemm_call call = {.context = &mine,
                             .locate = mine.plan->columns.count ? locate_column : locate,
                             .prepare_a = mine.plan->edge_row ? convolution_gemm_prepare_a : NULL,
                             .pack_a = convolution_gemm_pack_a,
                             .list_a = list_a,
                             .reach = convolution_gemm_reach,
                             .pack_b = convolution_gemm_pack_b,
                             .finish = convolution_gemm_finish};
    gemm_run(&mine.plan->gemm, &call, execution->parallel, execution->threads, scratch);
}

static __attribute__((noinline)) void run_on_stack(const void *plan,
                                                   const struct execution *execution)
{
    alignas(SCRATCH_ALIGNMENT) unsigned char scratch[STACK_BYTES];
    run_with(plan, execution, scratch);
}

void convolution_gemm_run(const void *plan, const struct execution *execution)
{
    if (execution->scratch)
        run_with(plan, execution, execution->scratch);
    else
        run_on_stack(plan, execution);
}

const struct algorithm convolution_gemm = {
    .name = "gemm",
    .by_vectors = true,
    .refuse = gemm_refuse,
    .choose = convolution_choose_packed,
    .estimate = product_estimate,
    .memory = product_memory,
    .plan = product_plan,
    .plan_bytes = sizeof(struct convolution_gemm),
    .table_bytes = convolution_gemm_table_bytes,
    .fill_table = convolution_gemm_fill_table,
    .scratch_bytes = convolution_gemm_scratch_bytes,
    .kernel = convolution_gemm_kernel,
    .run = convolution_gemm_run,
};
