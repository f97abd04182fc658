/* Indirect convolution: pieces of pixels one after the other, and tasks of rows. */
#include <string.h>

#include "src/convolution/direct/indirect.h"
#include "src/primitive/finish.h"
#include "src/threading/partition.h"

static struct task task_of(const struct run *run, int index, struct listed_piece *pieces)
{
    const struct convolution_indirect *plan = run->plan;
    const struct convolution_shape *s = &plan->shape;
    neo_dim column = plan->gathers ? (neo_dim)plan->channels : s->src.w;
    neo_dim row = plan->gathers ? s->in[WIDTH] * column : s->src.h;
    unsigned char *pixels = (unsigned char *)run->execution->scratch + plan->packed_bytes +
                            (size_t)index * plan->task_bytes;
    unsigned char *zeros = pixels + plan->pixel_bytes, *stage = zeros + plan->zero_bytes;
    memset(zeros, 0, plan->zero_bytes);
    return (struct task){
        .run = run,
        .pixels = (const float **)(void *)pixels,
        .zeros = (float *)(void *)zeros,
        .stage = (float *)(void *)stage,
        .source = (float *)(void *)(stage + plan->stage_bytes),
        .row_stride = row,
        .column_stride = column,
        .grid = tap_grid(s, (size_t)s->kernel[HEIGHT], row, column),
        .pieces = pieces,
    };
}

/* Rows of source, transposed. Only images without depth come here. */
static void gather(struct task *task, const struct piece *piece, size_t rows)
{
    const struct convolution_indirect *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    size_t width = (size_t)s->in[WIDTH];
    neo_dim top = piece->at[HEIGHT] * s->stride[HEIGHT] - s->padding[HEIGHT];
    neo_dim begin = top < 0 ? 0 : top, end = top + (neo_dim)indirect_reached_rows(s, rows);
    end = end < s->in[HEIGHT] ? end : s->in[HEIGHT];
    bool together = s->src.h == s->in[WIDTH] * s->src.w;
    neo_dim step = together && end > begin ? end - begin : 1;
    for (neo_dim row = begin; row < end; row += step)
        plan->copy(&(struct copy_f32_plane){
            .rows = plan->channels,
            .cols = (size_t)step * width,
            .src = (const float *)task->run->execution->buffers[SRC] + piece->n * s->src.n +
                   row * s->src.h,
            .src_row = s->src.c,
            .src_col = s->src.w,
            .dst = task->source + (size_t)(row - begin) * width * plan->channels,
            .dst_row = 1,
            .dst_col = (ptrdiff_t)plan->channels,
        });
    task->origin = task->source;
    task->top = begin;
}

static void find_source(struct task *task, const struct piece *piece, size_t rows)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    if (task->run->plan->gathers) {
        gather(task, piece, rows);
        return;
    }
    task->origin = (const float *)task->run->execution->buffers[SRC] + piece->n * s->src.n;
    task->top = 0;
}

/* Kernels take a bias of none for a special case. */
static const float no_bias[INDIRECT_F32_WIDTH];

/* Inlined for both that run pieces: a group of few channels takes not much longer than a call. */
static inline __attribute__((always_inline)) void
run_group(const struct task *task, struct indirect_f32_tile *tile, neo_dim group, float *dst)
{
    const struct convolution_indirect *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    const struct layout_shape *weights = &plan->weights;
    const float *bias = task->run->execution->buffers[BIAS];
    const float *matrix = task->run->weights + (size_t)group * weights->step;
    tile->offset = (size_t)(group * s->ic);
    for (size_t p = 0; p < plan->panel_count; p++) {
        bool known = p < INDIRECT_PANELS;
        struct layout_panel panel = known ? plan->panels[p] : layout_panel(weights->n, p);
        size_t channel = (size_t)(group * s->oc) + panel.first;
        tile->weights = matrix + (known ? plan->panel_values[p] : indirect_panel_values(plan, p));
        tile->width = panel.width;
        tile->n = panel.valid;
        tile->bias = bias ? bias + channel : no_bias;
        tile->dst = dst + channel;
        plan->kernel->run(tile);
    }
}

/* What a bias and a clamp leave over, or only the way from the scratchpad to dst. */
static void finish_piece(const struct task *task, const struct piece *piece,
                         const struct indirect_f32_tile *tile, float *values, float *dst)
{
    const struct convolution_indirect *plan = task->run->plan;
    const struct image_strides *strides = &plan->shape.dst;
    int last = task->run->execution->problem->tensors[DST].ndims - 1;
    struct line line = {.position = {piece->n}, .direction = 1, .count = plan->outputs};
    if (!plan->finishes) {
        plan->copy(&(struct copy_f32_plane){.rows = piece->count,
                                            .cols = plan->outputs,
                                            .src = values,
                                            .src_row = (ptrdiff_t)tile->row,
                                            .src_col = 1,
                                            .dst = dst,
                                            .dst_row = strides->w,
                                            .dst_col = strides->c});
        return;
    }
    for (int i = 2; i <= last; i++)
        line.position[i] = piece->at[i - last + WIDTH];
    for (size_t i = 0; i < piece->count; i++) {
        finish_line(task->run->execution, &line, values + i * tile->row, false,
                    dst + (neo_dim)i * strides->w, strides->c);
        if (++line.position[last] == plan->shape.out[WIDTH]) {
            line.position[last] = 0;
            line.position[last - 1]++; /* of 1D convolutions it is not read any more */
        }
    }
}

static inline __attribute__((always_inline)) void
run_piece(const struct task *task, struct listed_piece *listed, struct span groups)
{
    const struct convolution_indirect *plan = task->run->plan;
    for (size_t group = groups.begin; group < groups.end; group++)
        run_group(task, &listed->tile, (neo_dim)group, listed->values);
    if (plan->staged || plan->finishes)
        finish_piece(task, &listed->piece, &listed->tile, listed->values, listed->dst);
}

/* Some groups for all pieces that are listed, then the next ones. */
static void run_pieces(struct task *task)
{
    const struct convolution_indirect *plan = task->run->plan;
    size_t groups = (size_t)plan->shape.groups;
    for (struct span some = {0, 0}; some.begin < groups; some.begin = some.end) {
        some.end = min_size(some.begin + plan->groups_together, groups);
        for (size_t i = 0; i < task->piece_count; i++)
            run_piece(task, &task->pieces[i], some);
    }
    task->piece_count = 0;
}

static inline struct listed_piece list_piece(const struct task *task, const struct piece *piece,
                                             const float **pixels)
{
    const struct convolution_indirect *plan = task->run->plan;
    const struct image_strides *strides = &plan->shape.dst;
    float *dst = (float *)task->run->execution->buffers[DST] + piece->n * strides->n +
                 piece->at[DEPTH] * strides->d + piece->at[HEIGHT] * strides->h +
                 piece->at[WIDTH] * strides->w;
    indirect_list_pixels(task, piece, pixels);
    return (struct listed_piece){
        .piece = *piece,
        .values = plan->staged ? task->stage : dst,
        .dst = dst,
        .tile = {.taps = plan->reached.end - plan->reached.begin,
                 .channels = (size_t)plan->shape.ic,
                 .pixels = pixels + plan->reached.begin * INDIRECT_F32_PIXELS,
                 .row = plan->staged ? plan->outputs : (size_t)strides->w,
                 .count = piece->count,
                 .low = plan->low,
                 .high = plan->high},
    };
}

/* One that waits for no others has less to do. */
static void add_piece(struct task *task, const struct piece *piece)
{
    const struct convolution_indirect *plan = task->run->plan;
    if (plan->pieces == 1) {
        struct listed_piece alone = list_piece(task, piece, task->pixels);
        run_piece(task, &alone, (struct span){0, (size_t)plan->shape.groups});
        return;
    }
    const float **pixels = task->pixels + task->piece_count * plan->taps * INDIRECT_F32_PIXELS;
    task->pieces[task->piece_count++] = list_piece(task, piece, pixels);
    if (task->piece_count == plan->pieces)
        run_pieces(task);
}

/* Pixels of rows of dst, as many rows as a piece may cross, in pieces as even as they can be: but
 * full ones, if what they make is transposed. */
static void run_pixels(struct task *task, struct piece *piece, size_t rows)
{
    const struct convolution_indirect *plan = task->run->plan;
    neo_dim width = plan->shape.out[WIDTH];
    size_t left = rows * (size_t)width, pieces = plan->staged ? 0 : div_up(left, plan->piece);
    piece->at[WIDTH] = 0;
    for (; left; left -= piece->count, pieces--) {
        piece->count = plan->staged ? min_size(left, plan->piece) : div_up(left, pieces);
        add_piece(task, piece);
        piece->at[WIDTH] += (neo_dim)piece->count;
        for (; piece->at[WIDTH] >= width; piece->at[WIDTH] -= width)
            piece->at[HEIGHT]++;
    }
}

/* Rows of dst that follow each other in one plane. */
static void run_rows(struct task *task, struct piece *piece, size_t rows)
{
    size_t together = task->run->plan->crosses_rows ? rows : 1;
    neo_dim top = piece->at[HEIGHT];
    find_source(task, piece, rows);
    for (size_t row = 0; row < rows; row += together) {
        piece->at[HEIGHT] = top + (neo_dim)row;
        run_pixels(task, piece, together);
    }
}

static void run_span(void *argument, struct span mine, int slot)
{
    const struct run *run = argument;
    const struct convolution_shape *s = &run->plan->shape;
    size_t height = (size_t)s->out[HEIGHT], depth = (size_t)s->out[DEPTH];
    struct listed_piece pieces[MOST_PIECES];
    struct task task = task_of(run, slot, pieces);
    while (mine.begin < mine.end) {
        size_t plane = mine.begin / height, row = mine.begin % height;
        size_t rows = min_size(min_size(height - row, mine.end - mine.begin), run->plan->rows);
        struct piece piece = {.n = (neo_dim)(plane / depth),
                              .at = {(neo_dim)(plane % depth), (neo_dim)row, 0}};
        run_rows(&task, &piece, rows);
        mine.begin += rows;
    }
    run_pieces(&task);
}

void indirect_run(const void *plan, const struct execution *execution)
{
    const struct convolution_indirect *mine = plan;
    const struct convolution_shape *s = &mine->shape;
    size_t rows = (size_t)(s->batch * s->out[DEPTH] * s->out[HEIGHT]);
    if (rows == 0 || s->out[WIDTH] == 0 || mine->outputs == 0)
        return;
    struct run run = {mine, execution, convolution_packed_weights(execution, mine->cpu)};
    parallel_for_tiles(execution->parallel, rows, execution->threads, run_span, &run);
}
