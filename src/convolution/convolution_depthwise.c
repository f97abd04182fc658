/* Depthwise convolution: every channel of dst comes of one channel of src and a kernel of its own.
 * As many channels of dst as the multiplier says come of the same one.
 *
 * A call of the tile kernel does some rows of some channels, as many as stay in the L1 cache. Where
 * neither channels nor columns are next to each other in both images, or no kernel does what is
 * asked of planes (nchw), the rows of source of a block of channels are transposed into the
 * scratchpad, and results back; a multiplier repeats channels there. Rows of source go by pointer,
 * so that taps along the depth become further kernel rows. */
#include <math.h>
#include <string.h>

#include "kernels/copy_f32.h"
#include "kernels/dwconv_f32.h"
#include "src/convolution/convolution.h"
#include "src/core/checked.h"
#include "src/memory/descriptor.h"
#include "src/primitive/finish.h"
#include "src/threading/partition.h"
#include "src/weights/layout.h"
#include "src/weights/pack.h"

enum {
    MOST_ROWS = 32,          /* of dst in a call */
    SLIDING_ROWS = 4,        /* of dst that the fastest kernels do at a time */
    CHANNELS = 16,           /* of a cache line */
    TRANSPOSED_CHANNELS = 4, /* interleaved by one instruction */
    GATHER_BYTES = 24 << 10, /* of transposed source, with a row more than there is */
    PLANES = 16,             /* in a call that does planes as they are */
    PLANE_COLUMNS = 4,       /* of dst; narrower ones are transposed */
    PLANE_BYTES = 256 << 10, /* of scratchpad for such a call, at most */
    MOST_ZEROS = 1 << 16,    /* values; longer rows of padding are left to the kernel */
};

#define PACK_CYCLES 1.5 /* for each of the plain weights that are packed */

struct convolution_depthwise {
    struct convolution_shape shape;
    struct dwconv_f32_task task;           /* what all calls have in common */
    dwconv_f32_fn *run[IN_ORDER_WIDE + 1]; /* by IN_ORDER_* of the core it runs on */
    copy_f32_fn *copy;
    const char *kernel;
    const struct cpu *cpu;
    size_t channels, multiplier; /* of dst; for each of src */
    bool by_plane;               /* planes as they are */
    bool gathers;  /* source is transposed into the scratchpad, or channels of it repeated */
    bool scatters; /* and results back from there */
    bool reads_dst;
    bool staged;   /* sums are in the scratchpad, [row][column][channel], until they are finished */
    bool finishes; /* there is more to do than a bias and a clamp */
    size_t taps;
    size_t row_pointers;        /* of a call */
    size_t rows, channel_block; /* of dst, in a call */
    size_t zeros;               /* values of a row of padding; 0: none */
    size_t packed_bytes;        /* of the scratchpad; then for each task: */
    size_t zero_bytes, pointer_bytes, source_bytes, stage_bytes, kernel_bytes, task_bytes;
};

/* ---- refuse, choose, estimate ---- */

/* Could the scratchpad's size overflow? Images may be astronomical where strides are 0. What a task
 * has is rows of source or dst, of at most a line of channels each or few enough to fit into the L1
 * cache, pointers to the rows, and zeros; no dimension of it is above this bound. */
static bool depthwise_fits(const struct problem *problem)
{
    enum { BYTES = 4096, MOST_TASKS = 1 << 16 }; /* a value's share is far below */
    struct convolution_shape s;
    convolution_shape_init(&s, problem);
    size_t width = (size_t)max_size((size_t)s.in[WIDTH], (size_t)s.out[WIDTH]), rows, taps, bytes;
    size_t extent = ((size_t)s.kernel[HEIGHT] - 1) * (size_t)s.dilation[HEIGHT] + 1;
    return checked_mul(&taps, (size_t)s.kernel[DEPTH], (size_t)s.kernel[HEIGHT]) &&
           checked_mul(&bytes, taps, (size_t)s.kernel[WIDTH]) &&
           checked_mul(&bytes, bytes, (size_t)(s.groups * s.oc)) &&
           checked_mul(&bytes, bytes, BYTES) &&
           checked_mul(&rows, (size_t)s.stride[HEIGHT], MOST_ROWS * 2) &&
           checked_add(&rows, rows, extent) && checked_add(&rows, rows, taps) &&
           checked_add(&width, width, (size_t)s.kernel[WIDTH] * (size_t)s.dilation[WIDTH]) &&
           checked_mul(&bytes, rows, width) && checked_mul(&bytes, bytes, BYTES) &&
           checked_mul(&bytes, bytes, MOST_TASKS);
}

static const char *depthwise_refuse(const struct problem *problem, const struct cpu *cpu)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *bias = &problem->tensors[BIAS];
    (void)cpu;
    if (!convolution_is_depthwise(problem))
        return "a group has more than one input channel";
    if (weights->format_kind == NEO_FORMAT_PACKED && weights->packed.id != LAYOUT_DEPTHWISE_F32)
        return "the weights are packed for another algorithm";
    if (bias->ndims && bias->dims[0] != 1 && bias->format_kind == NEO_FORMAT_STRIDED &&
        bias->strides[0] != 1)
        return "the values of bias do not follow each other";
    if (!depthwise_fits(problem))
        return "the scratchpad would exceed the memory";
    return convolution_refuse_direct(problem);
}

/* There is a packed layout for one output channel of each group. */
static void choose_weights(neo_memory_desc *weights)
{
    if (weights->dims[1] == 1)
        layout_set(weights, LAYOUT_DEPTHWISE_F32, true);
    else
        desc_set_plain(weights);
}

static void depthwise_choose(struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    convolution_choose_images(problem);
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_ANY)
        choose_weights(&problem->tensors[WEIGHTS]);
}

static double depthwise_estimate(const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_shape s;
    convolution_shape_init(&s, problem);
    double outputs = (double)s.batch * (double)s.groups * (double)s.oc, taps = 1;
    for (int i = 0; i < SPACE; i++) {
        outputs *= (double)s.out[i];
        taps *= (double)s.kernel[i];
    }
    double per_cycle = 4.0 * fmax(cpu->core->fmla_per_cycle, 1);
    return 500 + 2 * outputs * (taps + 1) / per_cycle + outputs * post_ops_cycles(problem);
}

/* ---- plan ---- */

static size_t at_least_1(neo_dim size)
{
    return size < 1 ? 1 : (size_t)size;
}

/* Rows of source that rows of dst need: their taps' rows are listed one by one if the kernel is
 * three-dimensional, and then a call has one row of dst. */
static void plan_kernel_rows(struct convolution_depthwise *mine)
{
    const struct convolution_shape *s = &mine->shape;
    struct dwconv_f32_task *task = &mine->task;
    bool deep = s->kernel[DEPTH] > 1;
    task->kh = (size_t)(s->kernel[DEPTH] * s->kernel[HEIGHT]);
    task->kw = (size_t)s->kernel[WIDTH];
    task->stride_h = deep ? 1 : (size_t)s->stride[HEIGHT];
    task->stride_w = (size_t)s->stride[WIDTH];
    task->dilation_h = deep ? 1 : (size_t)s->dilation[HEIGHT];
    task->dilation_w = (size_t)s->dilation[WIDTH];
    mine->taps = task->kh * task->kw;
}

/* Can whole rows be repeated value by value? */
static bool repeats_pixels(const struct convolution_depthwise *mine)
{
    const struct image_strides *src = &mine->shape.src;
    return mine->gathers && mine->multiplier > 1 && src->c == 1 && src->w == mine->shape.groups;
}

/* Channels such that the source of the rows that a kernel does at a time stays in the L1 cache
 * while one vector after the other of its channels is read. */
static size_t choose_channels(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t rows = (SLIDING_ROWS - 1) * task->stride_h + (task->kh - 1) * task->dilation_h + 1;
    size_t bytes = rows * at_least_1(mine->shape.in[WIDTH]) * sizeof(float);
    size_t most = max_size(mine->cpu->l1_bytes / 2 / bytes / CHANNELS, 1) * CHANNELS;
    if (mine->by_plane)
        most = PLANES;
    else if (repeats_pixels(mine))
        most = mine->channels;
    else if (mine->gathers || mine->scatters)
        most = TRANSPOSED_CHANNELS;
    return min_size(mine->channels, max_size(most / mine->multiplier, 1) * mine->multiplier);
}

/* As many rows as the copied or transposed source has room for. */
static size_t choose_rows(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    if (!mine->gathers && !mine->by_plane)
        return MOST_ROWS;
    size_t together = mine->by_plane ? 1 : mine->channel_block;
    size_t row_bytes = at_least_1(mine->shape.in[WIDTH]) * together * sizeof(float);
    size_t room = GATHER_BYTES / row_bytes, extent = (task->kh - 1) * task->dilation_h + 1;
    size_t rows = room > extent ? (room - extent) / task->stride_h + 1 : 1;
    return max_size(rows / SLIDING_ROWS, 1) * SLIDING_ROWS;
}

static void plan_pieces(struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    mine->channel_block = choose_channels(mine);
    bool deep = mine->shape.kernel[DEPTH] > 1;
    size_t rows = deep ? 1 : choose_rows(mine);
    rows = mine->staged ? min_size(rows, 2 * SLIDING_ROWS) : rows;
    mine->rows = min_size(rows, at_least_1(mine->shape.out[HEIGHT]));
    mine->row_pointers = (mine->rows - 1) * task->stride_h + (task->kh - 1) * task->dilation_h + 1;
}

/* Zeros for the rows of padding, if there is padding. */
static size_t choose_zeros(const struct convolution_depthwise *mine)
{
    const struct convolution_shape *s = &mine->shape;
    size_t count = (size_t)s->in[WIDTH] * mine->task.column;
    size_t zeros = count + mine->channel_block;
    return zeros < MOST_ZEROS && !mine->by_plane ? zeros : 0;
}

static size_t unit(size_t bytes)
{
    return round_up(bytes, SCRATCH_ALIGNMENT);
}

static void plan_scratch(struct convolution_depthwise *mine, bool plain_weights)
{
    size_t row = mine->channel_block * sizeof(float);
    size_t stage = mine->rows * (size_t)mine->shape.out[WIDTH] * row;
    size_t source = mine->row_pointers * (size_t)mine->shape.in[WIDTH] * row;
    size_t weights = mine->channels * mine->taps * sizeof(float);
    mine->packed_bytes = plain_weights ? unit(weights) : 0;
    mine->zeros = choose_zeros(mine);
    mine->zero_bytes = unit(mine->zeros * sizeof(float));
    mine->pointer_bytes = unit(mine->row_pointers * sizeof(float *));
    mine->source_bytes = mine->gathers ? unit(source) : 0;
    mine->stage_bytes = mine->staged ? unit(stage) : 0;
    mine->task_bytes = mine->zero_bytes + mine->pointer_bytes + mine->source_bytes +
                       mine->stage_bytes + unit(mine->kernel_bytes);
}

/* The kernel for pieces of planes, or of interleaved channels; NULL: there is none but the
 * reference for planes, or it wants too much memory. */
static const struct dwconv_f32_kernel *plan_way(struct convolution_depthwise *mine, bool by_plane,
                                                const struct cpu *cpu)
{
    const struct convolution_shape *s = &mine->shape;
    struct dwconv_f32_task *task = &mine->task;
    mine->by_plane = by_plane;
    mine->gathers = !by_plane && ((s->groups > 1 && s->src.c != 1) || mine->multiplier > 1);
    mine->scatters = !by_plane && mine->channels > 1 && s->dst.c != 1;
    mine->staged = mine->reads_dst || mine->scatters;
    plan_pieces(mine);
    task->channels = mine->channel_block;
    task->column = mine->gathers ? mine->channel_block : (size_t)s->src.w;
    task->multiplier = by_plane ? mine->multiplier : 1;
    task->src_plane = by_plane ? (size_t)s->src.c : 1;
    task->dst_plane = by_plane ? (size_t)s->dst.c : 1;
    task->dst_column = mine->staged ? mine->channel_block : (size_t)s->dst.w;
    task->dst_row = mine->staged ? (size_t)s->out[WIDTH] * mine->channel_block : (size_t)s->dst.h;
    task->out_rows = mine->rows;
    const struct dwconv_f32_kernel *kernel =
        dwconv_f32_find(cpu->features, cpu->core->in_order, task);
    mine->kernel_bytes = kernel->scratch_bytes ? kernel->scratch_bytes(task) : 0;
    bool is_reference = kernel == &dwconv_f32_ref && (cpu->features & CPU_NEON);
    return by_plane && (is_reference || mine->kernel_bytes > PLANE_BYTES) ? NULL : kernel;
}

static void plan_kernel(struct convolution_depthwise *mine, const struct cpu *cpu)
{
    const struct convolution_shape *s = &mine->shape;
    bool are_planes = s->src.w == 1 && s->dst.w == 1 && s->out[WIDTH] >= PLANE_COLUMNS &&
                      s->in[WIDTH] / s->stride[WIDTH] >= PLANE_COLUMNS;
    const struct dwconv_f32_kernel *kernel = NULL;
    if (are_planes && !mine->finishes)
        kernel = plan_way(mine, true, cpu);
    if (!kernel)
        kernel = plan_way(mine, false, cpu);
    for (int i = 0; i <= IN_ORDER_WIDE; i++)
        mine->run[i] = dwconv_f32_find(cpu->features, i, &mine->task)->run;
    mine->kernel = kernel->name;
    mine->copy = copy_f32_find(cpu->features)->run;
}

static void depthwise_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_depthwise *mine = plan;
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    convolution_shape_init(&mine->shape, problem);
    const struct convolution_shape *s = &mine->shape;
    mine->cpu = cpu;
    mine->multiplier = at_least_1(s->oc);
    mine->channels = at_least_1(s->groups) * mine->multiplier;
    mine->reads_dst = fusion.reads_dst;
    mine->finishes = !fusion.complete || fusion.reads_dst;
    mine->task = (struct dwconv_f32_task){
        .out_cols = (size_t)s->out[WIDTH],
        .first = -s->padding[WIDTH],
        .columns = (size_t)s->in[WIDTH],
        .weights_tap = mine->channels,
        .low = mine->finishes ? -INFINITY : fusion.low,
        .high = mine->finishes ? INFINITY : fusion.high,
    };
    plan_kernel_rows(mine);
    plan_kernel(mine, cpu);
    plan_scratch(mine, problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED);
}

static size_t depthwise_scratch_bytes(const void *plan, int threads)
{
    const struct convolution_depthwise *mine = plan;
    return mine->packed_bytes + mine->task_bytes * (size_t)threads;
}

static const char *depthwise_kernel(const void *plan)
{
    return ((const struct convolution_depthwise *)plan)->kernel;
}

/* ---- run ---- */

struct run {
    const struct convolution_depthwise *plan;
    const struct execution *execution;
    const float *weights; /* [tap][channel] */
};

/* Rows of some channels of one image. */
struct piece {
    neo_dim n, channel, depth;
    size_t channels, row, rows;
};

/* One task's parts of the scratchpad. */
struct scratch {
    float *zeros; /* NULL: none */
    const float **rows;
    float *source, *stage;
    void *kernel;
    dwconv_f32_fn *run; /* for the core of this thread */
};

static struct scratch scratch_of(const struct run *run, int index)
{
    const struct convolution_depthwise *plan = run->plan;
    unsigned char *zeros = (unsigned char *)run->execution->scratch + plan->packed_bytes +
                           (size_t)index * plan->task_bytes;
    unsigned char *rows = zeros + plan->zero_bytes, *source = rows + plan->pointer_bytes;
    memset(zeros, 0, plan->zeros * sizeof(float));
    int in_order = parallel_in_order_here(run->execution->parallel);
    return (struct scratch){
        .zeros = plan->zeros ? (float *)(void *)zeros : NULL,
        .rows = (const float **)(void *)rows,
        .source = (float *)(void *)source,
        .stage = (float *)(void *)(source + plan->source_bytes),
        .run = plan->run[in_order < 0 ? plan->cpu->core->in_order : in_order],
        .kernel = source + plan->source_bytes + plan->stage_bytes,
    };
}

static bool is_inside(neo_dim at, neo_dim size)
{
    return at >= 0 && at < size;
}

/* Lists the rows of source. */
static void list_rows(const struct run *run, const struct piece *piece,
                      const struct scratch *scratch)
{
    const struct convolution_depthwise *plan = run->plan;
    const struct convolution_shape *s = &plan->shape;
    const float *src = (const float *)run->execution->buffers[SRC] + piece->n * s->src.n +
                       piece->channel / (neo_dim)plan->multiplier * s->src.c;
    neo_dim d = piece->depth * s->stride[DEPTH] - s->padding[DEPTH];
    neo_dim h = (neo_dim)piece->row * s->stride[HEIGHT] - s->padding[HEIGHT];
    bool deep = s->kernel[DEPTH] > 1;
    for (size_t i = 0; i < plan->row_pointers; i++) {
        neo_dim kd = deep ? (neo_dim)i / s->kernel[HEIGHT] * s->dilation[DEPTH] : 0;
        neo_dim kh = deep ? (neo_dim)i % s->kernel[HEIGHT] * s->dilation[HEIGHT] : (neo_dim)i;
        bool inside = is_inside(d + kd, s->in[DEPTH]) && is_inside(h + kh, s->in[HEIGHT]);
        scratch->rows[i] = inside ? src + (d + kd) * s->src.d + (h + kh) * s->src.h : NULL;
    }
}

/* Whole rows of pixels, every value as often as the multiplier says. */
static void repeat_values(const struct convolution_depthwise *plan, const float *src, size_t count,
                          float *out)
{
    plan->copy(&(struct copy_f32_plane){
        .rows = plan->multiplier,
        .cols = count * (size_t)plan->shape.groups,
        .src = src,
        .src_row = 0,
        .src_col = 1,
        .dst = out,
        .dst_row = 1,
        .dst_col = (ptrdiff_t)plan->multiplier,
    });
}

static void transpose_channels(const struct convolution_depthwise *plan, const struct piece *piece,
                               const float *src, size_t count, float *out)
{
    size_t step = plan->multiplier;
    for (size_t i = 0; i < step; i++)
        plan->copy(&(struct copy_f32_plane){
            .rows = piece->channels / step,
            .cols = count,
            .src = src,
            .src_row = plan->shape.src.c,
            .src_col = plan->shape.src.w,
            .dst = out + i,
            .dst_row = (ptrdiff_t)step,
            .dst_col = (ptrdiff_t)plan->channel_block,
        });
}

/* Transposes or repeats count rows that follow each other in src, and lists their copies instead.
 */
static void gather_rows(const struct run *run, const struct piece *piece, const float **rows,
                        size_t count, float *out)
{
    const struct convolution_depthwise *plan = run->plan;
    const struct convolution_shape *s = &plan->shape;
    size_t width = (size_t)s->in[WIDTH];
    bool together = s->src.h == s->in[WIDTH] * s->src.w;
    for (size_t i = 0; i < count; i += together ? count : 1) {
        size_t pixels = together ? count * width : width;
        float *to = out + i * width * plan->channel_block;
        if (repeats_pixels(plan))
            repeat_values(plan, rows[i], pixels, to);
        else
            transpose_channels(plan, piece, rows[i], pixels, to);
    }
    for (size_t i = 0; i < count; i++)
        rows[i] = out + i * width * plan->channel_block;
}

static void gather(const struct run *run, const struct piece *piece, const struct scratch *scratch)
{
    const struct convolution_depthwise *plan = run->plan;
    const float **rows = scratch->rows;
    size_t used = (piece->rows - 1) * plan->task.stride_h + plan->row_pointers -
                  (plan->rows - 1) * plan->task.stride_h;
    for (size_t i = 0, count; i < used; i += count) {
        count = 1;
        if (!rows[i])
            continue;
        while (i + count < used && rows[i + count] == rows[i + count - 1] + plan->shape.src.h)
            count++;
        gather_rows(run, piece, rows + i, count,
                    scratch->source + i * (size_t)plan->shape.in[WIDTH] * plan->channel_block);
    }
}

static float *dst_of(const struct run *run, const struct piece *piece)
{
    const struct image_strides *dst = &run->plan->shape.dst;
    return (float *)run->execution->buffers[DST] + piece->n * dst->n + piece->channel * dst->c +
           piece->depth * dst->d + (neo_dim)piece->row * dst->h;
}

/* Post-operations on the channels of each pixel of a row. */
static void finish_row(const struct run *run, const struct piece *piece, size_t row, float *values,
                       float *dst)
{
    const struct convolution_depthwise *plan = run->plan;
    const struct convolution_shape *s = &plan->shape;
    int last = run->execution->problem->tensors[DST].ndims - 1;
    struct line line = {
        .position = {piece->n, piece->channel}, .direction = 1, .count = piece->channels};
    if (last >= 4)
        line.position[last - 2] = piece->depth;
    if (last >= 3)
        line.position[last - 1] = (neo_dim)(piece->row + row);
    for (neo_dim x = 0; x < s->out[WIDTH]; x++) {
        line.position[last] = x;
        finish_line(run->execution, &line, values + (size_t)x * plan->task.dst_column, false,
                    dst + x * s->dst.w, s->dst.c);
    }
}

/* Final results from the scratchpad to dst. */
static void scatter(const struct run *run, const struct piece *piece, const float *stage,
                    float *dst)
{
    const struct convolution_depthwise *plan = run->plan;
    const struct convolution_shape *s = &plan->shape;
    bool together = s->dst.h == s->out[WIDTH] * s->dst.w;
    size_t width = (size_t)s->out[WIDTH];
    for (size_t row = 0; row < piece->rows; row += together ? piece->rows : 1)
        plan->copy(&(struct copy_f32_plane){
            .rows = together ? piece->rows * width : width,
            .cols = piece->channels,
            .src = stage + row * plan->task.dst_row,
            .src_row = (ptrdiff_t)plan->channel_block,
            .src_col = 1,
            .dst = dst + (neo_dim)row * s->dst.h,
            .dst_row = s->dst.w,
            .dst_col = s->dst.c,
        });
}

static void run_piece(const struct run *run, const struct piece *piece,
                      const struct scratch *scratch)
{
    const struct convolution_depthwise *plan = run->plan;
    const struct convolution_shape *s = &plan->shape;
    const float *bias = run->execution->buffers[BIAS];
    struct dwconv_f32_task task = plan->task;
    float *dst = dst_of(run, piece);
    task.channels = piece->channels;
    task.out_rows = piece->rows;
    task.scratch = scratch->kernel;
    task.rows = scratch->rows;
    task.zeros = scratch->zeros;
    task.weights = run->weights + piece->channel;
    task.bias = bias ? bias + piece->channel : NULL;
    task.dst = plan->staged ? scratch->stage : dst;
    scratch->run(&task);
    for (size_t row = 0; plan->finishes && row < piece->rows; row++)
        finish_row(run, piece, row, task.dst + row * task.dst_row, dst + (neo_dim)row * s->dst.h);
    if (plan->staged && !plan->finishes)
        scatter(run, piece, task.dst, dst);
}

/* Rows of a block of channels. */
static void run_plane(const struct run *run, struct piece *piece, struct span rows,
                      const struct scratch *scratch)
{
    for (size_t row = rows.begin; row < rows.end; row += piece->rows) {
        piece->row = row;
        piece->rows = min_size(run->plan->rows, rows.end - row);
        list_rows(run, piece, scratch);
        if (run->plan->gathers)
            gather(run, piece, scratch);
        run_piece(run, piece, scratch);
    }
}

static size_t block_count(const struct convolution_depthwise *plan)
{
    return div_up(plan->channels, plan->channel_block);
}

static size_t plane_count(const struct convolution_depthwise *plan)
{
    const struct convolution_shape *s = &plan->shape;
    return (size_t)(s->batch * s->out[DEPTH]) * block_count(plan);
}

static void run_rows(void *argument, struct span mine, int slot)
{
    const struct run *run = argument;
    const struct convolution_shape *s = &run->plan->shape;
    size_t height = (size_t)s->out[HEIGHT], depth = (size_t)s->out[DEPTH];
    size_t blocks = block_count(run->plan), block = run->plan->channel_block;
    struct scratch scratch = scratch_of(run, slot);
    while (mine.begin < mine.end) {
        size_t plane = mine.begin / height, row = mine.begin % height;
        size_t rows = min_size(height - row, mine.end - mine.begin);
        struct piece piece = {
            .n = (neo_dim)(plane / depth / blocks),
            .channel = (neo_dim)(plane / depth % blocks * block),
            .depth = (neo_dim)(plane % depth),
        };
        piece.channels = min_size(block, run->plan->channels - (size_t)piece.channel);
        run_plane(run, &piece, (struct span){row, row + rows}, &scratch);
        mine.begin += rows;
    }
}

/* Weights of several output channels a group; a tap after the other. */
static void pack_repeated(const struct convolution_depthwise *plan, const float *weights,
                          float *packed)
{
    const struct convolution_shape *s = &plan->shape;
    for (size_t tap = 0; tap < plan->taps; tap++)
        plan->copy(&(struct copy_f32_plane){
            .rows = (size_t)s->groups,
            .cols = plan->multiplier,
            .src = weights + convolution_weights_tap(s, tap),
            .src_row = s->weights_g,
            .src_col = s->weights_o,
            .dst = packed + tap * plan->channels,
            .dst_row = (ptrdiff_t)plan->multiplier,
            .dst_col = 1,
        });
}

/* The weights as the kernel wants them: plain ones are packed into the scratchpad. */
static const float *weights_of(const struct convolution_depthwise *plan,
                               const struct execution *execution)
{
    const neo_memory_desc *given = &execution->problem->tensors[WEIGHTS];
    if (!plan->packed_bytes)
        return execution->buffers[WEIGHTS];
    if (plan->multiplier > 1) {
        pack_repeated(plan, execution->buffers[WEIGHTS], execution->scratch);
        return execution->scratch;
    }
    neo_memory_desc packed = *given;
    layout_set(&packed, LAYOUT_DEPTHWISE_F32, true);
    struct weights_transfer transfer = {.plain = given,
                                        .packed = &packed,
                                        .plain_data = execution->buffers[WEIGHTS],
                                        .packed_data = execution->scratch,
                                        .cpu = plan->cpu};
    size_t floats = plan->packed_bytes / sizeof(float);
    double cycles = PACK_CYCLES * (double)floats;
    weights_pack(&transfer, execution->parallel,
                 partition_threads(cycles, execution->threads, plan->cpu->core));
    return execution->scratch;
}

static void depthwise_run(const void *plan, const struct execution *execution)
{
    const struct convolution_depthwise *mine = plan;
    size_t rows = plane_count(mine) * (size_t)mine->shape.out[HEIGHT];
    if (rows == 0 || mine->shape.out[WIDTH] == 0)
        return;
    struct run run = {mine, execution, weights_of(mine, execution)};
    parallel_for_tiles(execution->parallel, rows, execution->threads, run_rows, &run);
}

const struct algorithm convolution_depthwise_f32 = {
    .name = "depthwise",
    .refuse = depthwise_refuse,
    .choose = depthwise_choose,
    .estimate = depthwise_estimate,
    .plan = depthwise_plan,
    .plan_bytes = sizeof(struct convolution_depthwise),
    .scratch_bytes = depthwise_scratch_bytes,
    .kernel = depthwise_kernel,
    .run = depthwise_run,
};
