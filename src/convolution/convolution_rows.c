/* Convolution of few input channels: the first layer of networks that see images.
 *
 * With three channels, gathering patches costs more than their sums. Here each row of source that a
 * row of dst needs is spread once into planes, one for each channel, with zeros where the padding
 * is; a ring of them serves the rows of dst that follow. The kernel walks along these rows, so
 * there are neither patches nor conditions, and the order of the images' dimensions only matters
 * where a row is spread and where a tile is stored. */
#include <math.h>
#include <string.h>

#include "kernels/copy_f32.h"
#include "kernels/rowconv_f32.h"
#include "src/convolution/convolution.h"
#include "src/core/checked.h"
#include "src/memory/descriptor.h"
#include "src/primitive/finish.h"
#include "src/threading/partition.h"
#include "src/weights/layout.h"

enum {
    PIXELS = ROWCONV_F32_PIXELS,
    MOST_CHANNELS = 64,
    MOST_RING_BYTES = 512 << 10,
    PANEL_WIDTHS = LAYOUT_PANEL / 4,
};

struct convolution_rows {
    struct convolution_shape shape;
    struct layout_shape weights;
    rowconv_f32_fn *run[PANEL_WIDTHS]; /* by width / 4 - 1 */
    copy_f32_fn *copy;
    const char *kernel;
    const struct cpu *cpu;
    float low, high;
    bool planes;   /* pixels of dst, or of the staged sums, are contiguous; else channels are */
    bool staged;   /* sums of a row are in the scratchpad until they are finished */
    bool finishes; /* there is more to do than a bias and a clamp */
    size_t tiles;  /* of a row of dst */
    size_t pixel, channel;           /* strides of what the kernel writes */
    size_t ring, row_floats;         /* rows of source, and their padded length */
    size_t packed_bytes, bias_bytes; /* of the scratchpad; then for each task: */
    size_t held_bytes, table_bytes, ring_bytes, stage_bytes, task_bytes;
};

/* ---- refuse, choose, estimate ---- */

static size_t ring_rows(const struct convolution_shape *s)
{
    return (size_t)((s->kernel[HEIGHT] - 1) * s->dilation[HEIGHT] + 1);
}

/* All that tiles of the row read, and up to four values more. */
static size_t row_floats(const struct convolution_shape *s)
{
    size_t pixels = round_up(max_size((size_t)s->out[WIDTH], 1), PIXELS);
    size_t read = (pixels - 1) * (size_t)s->stride[WIDTH] + (size_t)s->kernel[WIDTH];
    size_t given = (size_t)(s->padding[WIDTH] + s->in[WIDTH]);
    return round_up(max_size(read, given) + 4, 4);
}

static bool is_row_served(const struct convolution_shape *s)
{
    neo_dim taps = s->kernel[WIDTH], stride = s->stride[WIDTH];
    return (taps == 3 || taps == 5 || taps == 7) && (stride == 1 || stride == 2) &&
           s->dilation[WIDTH] == 1;
}

/* One more row: of zeros. */
static bool is_ring_small(const struct convolution_shape *s)
{
    size_t bytes;
    return checked_mul(&bytes, ring_rows(s) * (size_t)s->ic + 1, row_floats(s) * sizeof(float)) &&
           bytes <= MOST_RING_BYTES;
}

/* The kernel reads a panel for each tile, and the sums of a tile are not divided along k. */
static bool is_panel_small(const struct convolution_shape *s, const struct cpu *cpu)
{
    enum { LEAST_L1 = 16 << 10 };
    size_t taps = (size_t)(s->kernel[HEIGHT] * s->kernel[WIDTH]), room = cpu->l1_bytes * 5 / 8;
    return taps * (size_t)s->ic * LAYOUT_PANEL * sizeof(float) <= max_size(room, LEAST_L1);
}

static const char *rows_refuse(const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_shape s;
    convolution_shape_init(&s, problem);
    const char *why = convolution_refuse_tensors(problem, LAYOUT_CONVOLUTION_F32);
    if (why)
        return why;
    if (s.groups != 1 || s.ic < 1 || s.ic > MOST_CHANNELS)
        return "there are groups, or no or many input channels";
    if (problem->tensors[DST].ndims == 5)
        return "the images are three-dimensional";
    if (!is_row_served(&s))
        return "the kernel is not 3, 5 or 7 wide, dense, with a stride of 1 or 2";
    if (!is_ring_small(&s))
        return "the rows of source that a row of dst needs are too large";
    if (!is_panel_small(&s, cpu))
        return "a panel of weights is too large for the L1 cache";
    return convolution_refuse_direct(problem);
}

static double rows_estimate(const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_shape s;
    convolution_shape_init(&s, problem);
    double rows = (double)s.batch * (double)s.out[HEIGHT];
    double tiles = rows * ceil((double)s.out[WIDTH] / (double)PIXELS);
    double kernel_rows = (double)s.ic * (double)s.kernel[HEIGHT];
    double k = kernel_rows * (double)s.kernel[WIDTH];
    double per_cycle = 4.0 * fmax(cpu->core->fmla_per_cycle, 1);
    double panels = ceil((double)s.oc / (double)ROWCONV_F32_WIDTH);
    double vectors = ceil((double)s.oc / 4);
    if (vectors <= 1) /* a panel of one has as many loads as one of two */
        vectors = 1.8 * cpu->core->slowness;
    double sums = tiles * (double)PIXELS * vectors * 4 * k / per_cycle;
    bool wide = cpu->core->in_order == IN_ORDER_WIDE;
    if (wide) /* loads take the place of some of them */
        sums *= 1.03;
    double around = tiles * panels * ((wide ? 65 : 40) + 2 * kernel_rows) + rows * panels * 60;
    double spread = (double)s.batch * (double)(s.in[HEIGHT] * s.in[WIDTH] * s.ic) / 2;
    bool plain = problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED;
    double packing = plain ? k * (double)s.oc : 0;
    double outputs = tiles * (double)PIXELS * (double)s.oc;
    return 1000 + sums + cpu->core->slowness * (around + spread) + packing +
           outputs * post_ops_cycles(problem);
}

/* ---- plan ---- */

static size_t unit(size_t bytes)
{
    return round_up(bytes, SCRATCH_ALIGNMENT);
}

/* A tile is whole: where dst has no room for that, sums are staged. */
static void plan_output(struct convolution_rows *mine, struct post_ops_fusion fusion)
{
    const struct convolution_shape *s = &mine->shape;
    size_t columns = mine->weights.columns, pixels = mine->tiles * PIXELS;
    mine->planes = s->dst.c != 1 && s->dst.w == 1;
    bool direct = mine->planes || s->dst.c == 1;
    mine->staged = fusion.reads_dst || !direct || s->out[WIDTH] < PIXELS || s->oc % 4 != 0;
    mine->finishes = !fusion.complete || fusion.reads_dst;
    mine->low = mine->finishes ? -INFINITY : fusion.low;
    mine->high = mine->finishes ? INFINITY : fusion.high;
    mine->pixel = mine->planes ? 1 : mine->staged ? columns : (size_t)s->dst.w;
    mine->channel = !mine->planes ? 1 : mine->staged ? pixels : (size_t)s->dst.c;
}

/* The kernel reads a bias of whole panels. */
static bool copies_bias(const struct convolution_rows *mine, const struct problem *problem)
{
    return problem->tensors[BIAS].ndims && mine->weights.columns != mine->weights.n;
}

static void plan_scratch(struct convolution_rows *mine, const struct problem *problem)
{
    const struct convolution_shape *s = &mine->shape;
    const struct layout_shape *weights = &mine->weights;
    size_t row = mine->row_floats * sizeof(float), channels = (size_t)s->ic;
    size_t column = weights->columns * sizeof(float);
    bool plain_weights = problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED;
    mine->packed_bytes = plain_weights ? unit(weights->k * column) : 0;
    mine->bias_bytes = copies_bias(mine, problem) ? unit(column) : 0;
    mine->held_bytes = unit(mine->ring * sizeof(neo_dim));
    mine->table_bytes = unit(channels * (size_t)s->kernel[HEIGHT] * sizeof(float *));
    mine->ring_bytes = unit((mine->ring * channels + 1) * row);
    mine->stage_bytes = mine->staged ? unit(mine->tiles * PIXELS * column) : 0;
    mine->task_bytes = mine->held_bytes + mine->table_bytes + mine->ring_bytes + mine->stage_bytes;
}

static void plan_kernels(struct convolution_rows *mine, const struct cpu *cpu)
{
    const struct convolution_shape *s = &mine->shape;
    for (size_t i = 0; i < PANEL_WIDTHS; i++) {
        const struct rowconv_f32_kernel *kernel =
            rowconv_f32_find(cpu, (size_t)s->stride[WIDTH], (size_t)s->kernel[WIDTH], (i + 1) * 4);
        mine->run[i] = kernel->run;
        mine->kernel = kernel->name;
    }
    mine->copy = copy_f32_find(cpu->features)->run;
    mine->cpu = cpu;
}

static void rows_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_rows *mine = plan;
    neo_memory_desc packed = problem->tensors[WEIGHTS];
    convolution_shape_init(&mine->shape, problem);
    layout_set(&packed, LAYOUT_CONVOLUTION_F32, convolution_is_grouped(problem));
    mine->weights = layout_shape(&packed);
    mine->tiles = div_up((size_t)mine->shape.out[WIDTH], PIXELS);
    mine->ring = ring_rows(&mine->shape);
    mine->row_floats = row_floats(&mine->shape);
    plan_kernels(mine, cpu);
    plan_output(mine, post_ops_fusion(problem));
    plan_scratch(mine, problem);
}

static size_t rows_scratch_bytes(const void *plan, int threads)
{
    const struct convolution_rows *mine = plan;
    return mine->packed_bytes + mine->bias_bytes + mine->task_bytes * (size_t)threads;
}

static const char *rows_kernel(const void *plan)
{
    return ((const struct convolution_rows *)plan)->kernel;
}

/* ---- run ---- */

struct run {
    const struct convolution_rows *plan;
    const struct execution *execution;
    const float *weights, *bias;
};

/* One task's parts of the scratchpad. Row h of source is in place h % ring of the ring if held says
 * so; there, a plane for each channel. */
struct task {
    const struct run *run;
    neo_dim *held;
    const float **table;
    float *zeros, *rows, *stage;
};

static struct task task_of(const struct run *run, int slot)
{
    const struct convolution_rows *plan = run->plan;
    unsigned char *held = (unsigned char *)run->execution->scratch + plan->packed_bytes +
                          plan->bias_bytes + (size_t)slot * plan->task_bytes;
    unsigned char *table = held + plan->held_bytes, *ring = table + plan->table_bytes;
    memset(ring, 0, plan->ring_bytes);
    return (struct task){
        .run = run,
        .held = (neo_dim *)(void *)held,
        .table = (const float **)(void *)table,
        .zeros = (float *)(void *)ring,
        .rows = (float *)(void *)ring + plan->row_floats,
        .stage = (float *)(void *)(ring + plan->ring_bytes),
    };
}

static void forget_rows(const struct task *task)
{
    for (size_t i = 0; i < task->run->plan->ring; i++)
        task->held[i] = -1;
}

/* Where row h of source of image n is; what lies left and right of it stays zero. */
static const float *find_row(const struct task *task, neo_dim n, neo_dim h)
{
    const struct convolution_rows *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    size_t place = (size_t)h % plan->ring;
    float *row = task->rows + place * (size_t)s->ic * plan->row_floats;
    if (task->held[place] == h)
        return row;
    task->held[place] = h;
    plan->copy(&(struct copy_f32_plane){
        .rows = (size_t)s->in[WIDTH],
        .cols = (size_t)s->ic,
        .src = (const float *)task->run->execution->buffers[SRC] + n * s->src.n + h * s->src.h,
        .src_row = s->src.w,
        .src_col = s->src.c,
        .dst = row + s->padding[WIDTH],
        .dst_row = 1,
        .dst_col = (ptrdiff_t)plan->row_floats,
    });
    return row;
}

static void list_rows(const struct task *task, neo_dim n, neo_dim h)
{
    const struct convolution_rows *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    size_t channels = (size_t)s->ic, kernel_rows = (size_t)s->kernel[HEIGHT];
    neo_dim at = h * s->stride[HEIGHT] - s->padding[HEIGHT];
    for (size_t r = 0; r < kernel_rows; r++, at += s->dilation[HEIGHT]) {
        bool inside = at >= 0 && at < s->in[HEIGHT];
        const float *row = inside ? find_row(task, n, at) : task->zeros;
        for (size_t c = 0; c < channels; c++)
            task->table[c * kernel_rows + r] = inside ? row + c * plan->row_floats : row;
    }
}

/* A row of one panel. Where dst ends within a tile, the last tile overlaps the one before. */
static void run_panel(const struct convolution_rows *plan, struct rowconv_f32_task *call,
                      size_t first)
{
    size_t width = (size_t)plan->shape.out[WIDTH], whole = width / PIXELS;
    rowconv_f32_fn *run = plan->run[call->width / 4 - 1];
    float *dst = call->dst + first * plan->channel;
    struct rowconv_f32_task piece = *call;
    piece.dst = dst;
    piece.tiles = plan->staged ? plan->tiles : whole;
    run(&piece);
    if (plan->staged || whole == plan->tiles)
        return;
    piece.tiles = 1;
    piece.from = (width - PIXELS) * call->stride;
    piece.dst = dst + (width - PIXELS) * plan->pixel;
    run(&piece);
}

static void run_panels(const struct task *task, float *out)
{
    const struct convolution_rows *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    const float *bias = task->run->bias;
    struct rowconv_f32_task call = {
        .rows = task->table,
        .channels = (size_t)s->ic,
        .kernel_rows = (size_t)s->kernel[HEIGHT],
        .dst = out,
        .pixel = plan->pixel,
        .channel = plan->channel,
        .low = plan->low,
        .high = plan->high,
        .stride = (size_t)s->stride[WIDTH],
        .taps = (size_t)s->kernel[WIDTH],
    };
    for (size_t p = 0; p < layout_panel_count(plan->weights.n); p++) {
        struct layout_panel panel = layout_panel(plan->weights.n, p);
        size_t offset = layout_panel_offset(plan->weights.n, p);
        call.weights = task->run->weights + offset * plan->weights.k;
        call.width = panel.width;
        call.bias = bias ? bias + panel.first : NULL;
        run_panel(plan, &call, offset);
    }
}

static void copy_row(const struct convolution_rows *plan, const float *values, float *dst)
{
    const struct convolution_shape *s = &plan->shape;
    plan->copy(&(struct copy_f32_plane){.rows = (size_t)s->out[WIDTH],
                                        .cols = (size_t)s->oc,
                                        .src = values,
                                        .src_row = (ptrdiff_t)plan->pixel,
                                        .src_col = (ptrdiff_t)plan->channel,
                                        .dst = dst,
                                        .dst_row = s->dst.w,
                                        .dst_col = s->dst.c});
}

/* What a bias and a clamp leave over. values are a row of sums; they may be dst itself. */
static void finish_row(const struct task *task, neo_dim n, neo_dim h, float *values, float *dst)
{
    const struct convolution_rows *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    int last = task->run->execution->problem->tensors[DST].ndims - 1;
    struct line line = {.position = {n}, .direction = plan->planes ? last : 1};
    int other = plan->planes ? 1 : last;
    size_t lines = (size_t)(plan->planes ? s->oc : s->out[WIDTH]);
    size_t values_step = plan->planes ? plan->channel : plan->pixel;
    neo_dim dst_step = plan->planes ? s->dst.c : s->dst.w;
    line.count = (size_t)(plan->planes ? s->out[WIDTH] : s->oc);
    if (last > 2)
        line.position[2] = h;
    for (size_t i = 0; i < lines; i++, line.position[other]++)
        finish_line(task->run->execution, &line, values + i * values_step, false,
                    dst + (neo_dim)i * dst_step, plan->planes ? s->dst.w : s->dst.c);
}

static void run_row(const struct task *task, neo_dim n, neo_dim h)
{
    const struct convolution_rows *plan = task->run->plan;
    const struct image_strides *strides = &plan->shape.dst;
    float *dst = (float *)task->run->execution->buffers[DST] + n * strides->n + h * strides->h;
    float *out = plan->staged ? task->stage : dst;
    list_rows(task, n, h);
    run_panels(task, out);
    if (plan->finishes)
        finish_row(task, n, h, out, dst);
    else if (plan->staged)
        copy_row(plan, out, dst);
}

static void run_rows(void *argument, struct span rows, int slot)
{
    const struct run *run = argument;
    size_t height = (size_t)run->plan->shape.out[HEIGHT];
    struct task task = task_of(run, slot);
    for (size_t i = rows.begin; i < rows.end; i++) {
        if (i == rows.begin || i % height == 0)
            forget_rows(&task);
        run_row(&task, (neo_dim)(i / height), (neo_dim)(i % height));
    }
}

static const float *bias_of(const struct convolution_rows *plan, const struct execution *execution)
{
    const float *given = execution->buffers[BIAS];
    if (!plan->bias_bytes)
        return given;
    float *bias = (float *)(void *)((unsigned char *)execution->scratch + plan->packed_bytes);
    memset(bias, 0, plan->bias_bytes);
    memcpy(bias, given, plan->weights.n * sizeof *bias);
    return bias;
}

static void rows_run(const void *plan, const struct execution *execution)
{
    const struct convolution_rows *mine = plan;
    const struct convolution_shape *s = &mine->shape;
    size_t rows = (size_t)(s->batch * s->out[HEIGHT]);
    if (rows == 0 || mine->tiles == 0)
        return;
    struct run run = {mine, execution, convolution_packed_weights(execution, mine->cpu),
                      bias_of(mine, execution)};
    parallel_for_tiles(execution->parallel, rows, execution->threads, run_rows, &run);
}

const struct algorithm convolution_rows_f32 = {
    .name = "rows",
    .refuse = rows_refuse,
    .choose = convolution_choose_packed,
    .estimate = rows_estimate,
    .plan = rows_plan,
    .plan_bytes = sizeof(struct convolution_rows),
    .scratch_bytes = rows_scratch_bytes,
    .kernel = rows_kernel,
    .run = rows_run,
};
