/* Depthwise convolution: pieces of rows and channels, one after the other, and tasks of them. */
#include <string.h>

#include "src/convolution/depthwise/depthwise.h"

enum { PLANES_OF_THREAD = 8 }; /* at least, where threads share whole planes */

static struct scratch scratch_of(const struct run *run, int index)
{
    const struct convolution_depthwise *plan = run->plan;
    unsigned char *zeros = (unsigned char *)run->execution->scratch + plan->packed_bytes +
                           (size_t)index * plan->task_bytes;
    unsigned char *rows = zeros + plan->zero_bytes, *source = rows + plan->pointer_bytes;
    int kind = parallel_kind_here(run->execution->parallel);
    kind = kind < 0 ? core_kind(plan->cpu->core) : kind;
    size_t count = plan->leaves_out_padding && !kind ? 0 : plan->zeros;
    memset(zeros, 0, count * sizeof(float));
    return (struct scratch){
        .zeros = count ? (float *)(void *)zeros : NULL,
        .rows = (const float **)(void *)rows,
        .source = (float *)(void *)source,
        .stage = (float *)(void *)(source + plan->source_bytes),
        .run = plan->run[kind],
        .kernel = source + plan->source_bytes + plan->stage_bytes,
    };
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

/* Planes of the kernel that are padding, at its ends, need not be done; all of them are left. This
 * looks at no rows, so that it does not depend on how these are cut into pieces. */
static void leave_out_planes(const struct run *run, const struct piece *piece,
                             struct dwconv_f32_task *task)
{
    const struct convolution_shape *s = &run->plan->shape;
    neo_dim planes = s->kernel[DEPTH], begin = 0, end = planes, dilation = s->dilation[DEPTH];
    neo_dim first = piece->depth * s->stride[DEPTH] - s->padding[DEPTH];
    while (begin < planes && first + begin * dilation < 0)
        begin++;
    while (end > begin && first + (end - 1) * dilation >= s->in[DEPTH])
        end--;
    if (begin == end)
        return;
    task->kd = (size_t)(end - begin);
    task->rows += (size_t)begin * task->rows_plane;
    task->weights += (size_t)begin * task->kh * task->kw * task->weights_tap;
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
    if (task.kd > 1 && !plan->by_plane)
        leave_out_planes(run, piece, &task);
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
        depthwise_list_rows(run, piece, scratch);
        if (run->plan->gathers)
            depthwise_gather(run, piece, scratch);
        run_piece(run, piece, scratch);
    }
}

static size_t block_count(const struct run *run)
{
    return div_up(run->plan->channels, run->block);
}

static size_t plane_count(const struct run *run)
{
    const struct convolution_shape *s = &run->plan->shape;
    return (size_t)(s->batch * s->out[DEPTH]) * block_count(run);
}

/* The rows of one block of channels that come first of these; returns how many there are. */
static size_t take_rows(const struct run *run, struct span mine, struct piece *piece)
{
    const struct convolution_shape *s = &run->plan->shape;
    size_t height = (size_t)s->out[HEIGHT], depth = (size_t)s->out[DEPTH];
    size_t blocks = block_count(run), block = run->block;
    size_t plane = mine.begin / height;
    piece->n = (neo_dim)(plane / depth / blocks);
    piece->channel = (neo_dim)(plane / depth % blocks * block);
    piece->depth = (neo_dim)(plane % depth);
    piece->channels = min_size(block, run->plan->channels - (size_t)piece->channel);
    piece->row = mine.begin % height;
    piece->rows = min_size(height - piece->row, mine.end - mine.begin);
    return piece->rows;
}

/* Whole planes, of source as it is: those of the first image. */
static size_t take_planes(const struct run *run, struct span mine, struct piece *piece)
{
    const struct convolution_shape *s = &run->plan->shape;
    size_t groups = (size_t)s->groups, group = mine.begin % groups;
    size_t count = min_size(groups - group, mine.end - mine.begin);
    piece->n = (neo_dim)(mine.begin / groups);
    piece->channel = (neo_dim)(group * run->plan->multiplier);
    piece->channels = count * run->plan->multiplier;
    piece->rows = run->plan->rows;
    return count;
}

/* Of rows of blocks of channels, or of whole planes. */
static void run_span(void *argument, struct span mine, int slot)
{
    const struct run *run = argument;
    struct scratch scratch = scratch_of(run, slot);
    mine.begin *= run->together;
    mine.end *= run->together;
    while (mine.begin < mine.end) {
        struct piece piece = {0};
        mine.begin +=
            run->whole_planes ? take_planes(run, mine, &piece) : take_rows(run, mine, &piece);
        run_plane(run, &piece, (struct span){piece.row, piece.row + piece.rows}, &scratch);
    }
}

/* Does a call do all rows of a plane, and are there planes enough for threads to share? */
static bool suits_whole_planes(const struct convolution_depthwise *plan, size_t planes, int threads)
{
    const struct convolution_shape *s = &plan->shape;
    return plan->by_plane && s->out[DEPTH] == 1 && plan->rows == (size_t)s->out[HEIGHT] &&
           planes >= (size_t)threads * PLANES_OF_THREAD;
}

void depthwise_run(const void *plan, const struct execution *execution)
{
    const struct convolution_depthwise *mine = plan;
    const struct convolution_shape *s = &mine->shape;
    size_t planes = (size_t)(s->batch * s->groups);
    if (s->batch * s->out[DEPTH] * s->out[HEIGHT] * s->out[WIDTH] == 0)
        return;
    struct run run = {mine,
                      execution,
                      depthwise_weights(mine, execution),
                      suits_whole_planes(mine, planes, execution->threads),
                      mine->task.whole_images ? mine->rows : 1,
                      execution->threads > 1 ? mine->shared_block : mine->channel_block};
    size_t rows = plane_count(&run) * (size_t)s->out[HEIGHT] / run.together;
    parallel_for_tiles(execution->parallel, run.whole_planes ? planes : rows, execution->threads,
                       run_span, &run);
}
