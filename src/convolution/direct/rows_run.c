/* Convolution of few input channels: rows of source in a ring, rows of dst, and tasks of these. */
#include <string.h>

#include "src/convolution/direct/rows.h"
#include "src/primitive/finish.h"
#include "src/threading/partition.h"

enum { PIXELS = ROWCONV_F32_PIXELS };

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

/* Tiles of a row, for one panel. Where dst ends within a tile, the last tile overlaps the one
 * before. */
static void run_panel(const struct convolution_rows *plan, struct rowconv_f32_task *call,
                      float *dst, struct span tiles)
{
    size_t width = (size_t)plan->shape.out[WIDTH], whole = width / PIXELS;
    rowconv_f32_fn *run = plan->run[call->width / 4 - 1];
    size_t end = plan->staged ? tiles.end : min_size(tiles.end, whole);
    if (end > tiles.begin) {
        call->tiles = end - tiles.begin;
        call->from = tiles.begin * PIXELS * call->stride;
        call->dst = dst + tiles.begin * PIXELS * plan->pixel;
        run(call);
    }
    if (end == tiles.end)
        return;
    call->tiles = 1;
    call->from = (width - PIXELS) * call->stride;
    call->dst = dst + (width - PIXELS) * plan->pixel;
    run(call);
}

static void run_panels(const struct task *task, float *out, struct span tiles)
{
    const struct convolution_rows *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    const float *bias = task->run->bias;
    struct rowconv_f32_task call = {
        .rows = task->table,
        .channels = (size_t)s->ic,
        .kernel_rows = (size_t)s->kernel[HEIGHT],
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
        run_panel(plan, &call, out + offset * plan->channel, tiles);
    }
}

/* All panels for one part of the row, then for the next: what they share stays in the L1 cache. */
static void run_parts(const struct task *task, float *out)
{
    const struct convolution_rows *plan = task->run->plan;
    for (size_t i = 0; i < plan->tiles; i += plan->part)
        run_panels(task, out, (struct span){i, min_size(i + plan->part, plan->tiles)});
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
    run_parts(task, out);
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

void rows_run(const void *plan, const struct execution *execution)
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
