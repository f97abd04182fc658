/* Depthwise convolution: every channel is convolved with a kernel of its own.
 *
 * A call of the tile kernel does some rows of one image: all channels at once where they follow
 * each other, one channel where columns do. Taps along the depth become further kernel rows, as a
 * kernel reads each row of source through a pointer of its own. */
#include <math.h>

#include "kernels/dwconv_f32.h"
#include "src/convolution/convolution.h"
#include "src/core/checked.h"
#include "src/memory/descriptor.h"
#include "src/primitive/finish.h"
#include "src/threading/partition.h"
#include "src/weights/layout.h"
#include "src/weights/pack.h"

enum {
    MOST_ROWS = 32,        /* of dst in a call */
    MIN_COLUMNS = 16,      /* a call of fewer columns does too much work at their edges */
    STAGE_FLOATS = 1 << 13 /* sums that wait for post-operations */
};

struct convolution_depthwise {
    struct convolution_shape shape;
    struct dwconv_f32_task task; /* what all calls have in common */
    dwconv_f32_fn *run;
    const char *kernel;
    const struct cpu *cpu;
    bool planes;   /* a call does one channel */
    bool staged;   /* sums stay in the scratchpad until finished */
    bool finishes; /* there is more to do than a bias and a clamp */
    size_t taps;
    size_t row_pointers;                      /* of a call */
    size_t rows, columns;                     /* of dst, in a call */
    size_t packed_bytes, pointers, taps_copy; /* parts of the scratchpad */
    size_t task_bytes;
};

/* ---- refuse, choose, estimate ---- */

static bool is_vector_of(const neo_memory_desc *desc, int dim)
{
    return desc->format_kind == NEO_FORMAT_ANY || desc->strides[dim] == 1;
}

/* Both images have neighbours along dimension 1 (channels), or along the last one (columns). */
static bool are_vectors_of(const struct problem *problem, bool columns)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    int dim = columns ? src->ndims - 1 : 1;
    return is_vector_of(src, dim) && is_vector_of(dst, dim);
}

static const char *depthwise_refuse(const struct problem *problem, const struct cpu *cpu)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS], *bias = &problem->tensors[BIAS];
    (void)cpu;
    if (!convolution_is_depthwise(problem))
        return "a group has more than one channel";
    if (weights->format_kind == NEO_FORMAT_PACKED && weights->packed.id != LAYOUT_DEPTHWISE_F32)
        return "the weights are packed for another algorithm";
    if (bias->ndims && bias->dims[0] != 1 && bias->format_kind == NEO_FORMAT_STRIDED &&
        bias->strides[0] != 1)
        return "the values of bias do not follow each other";
    if (!are_vectors_of(problem, false) && !are_vectors_of(problem, true))
        return "neither channels nor columns follow each other in both src and dst";
    return convolution_refuse_direct(problem);
}

static void depthwise_choose(struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    convolution_choose_images(problem);
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_ANY)
        layout_set(&problem->tensors[WEIGHTS], LAYOUT_DEPTHWISE_F32, true);
}

static double depthwise_estimate(const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_shape s;
    convolution_shape_init(&s, problem);
    double outputs = (double)s.batch * (double)s.groups, taps = 1;
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
    mine->rows = deep ? 1 : min_size(at_least_1(s->out[HEIGHT]), MOST_ROWS);
}

/* Columns such that the source of four rows stays in the L1 cache while vector after vector of its
 * channels is read. */
static size_t choose_columns(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t all = at_least_1(mine->shape.out[WIDTH]);
    if (mine->planes)
        return all;
    size_t rows = 3 * task->stride_h + (task->kh - 1) * task->dilation_h + 1;
    size_t bytes = rows * task->stride_w * task->channels * sizeof(float);
    size_t most = max_size(mine->cpu->l1_bytes / 2 / bytes, MIN_COLUMNS);
    return div_up(all, div_up(all, most));
}

static void plan_pieces(struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    mine->columns = choose_columns(mine);
    if (mine->staged) {
        mine->rows = min_size(mine->rows, 4);
        size_t room = STAGE_FLOATS / task->channels / mine->rows;
        mine->columns = min_size(mine->columns, max_size(room, 4));
    }
    mine->row_pointers = (mine->rows - 1) * task->stride_h + (task->kh - 1) * task->dilation_h + 1;
}

static size_t unit(size_t bytes)
{
    return round_up(bytes, SCRATCH_ALIGNMENT);
}

static void plan_scratch(struct convolution_depthwise *mine, bool plain_weights)
{
    size_t stage = mine->rows * mine->columns * mine->task.channels;
    mine->packed_bytes = plain_weights && !mine->planes
                             ? unit((size_t)mine->shape.groups * mine->taps * sizeof(float))
                             : 0;
    mine->pointers = unit(mine->row_pointers * sizeof(float *));
    mine->taps_copy = mine->planes ? unit(mine->taps * sizeof(float)) : 0;
    mine->task_bytes =
        mine->pointers + mine->taps_copy + (mine->staged ? unit(stage * sizeof(float)) : 0);
}

static void depthwise_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_depthwise *mine = plan;
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    convolution_shape_init(&mine->shape, problem);
    const struct convolution_shape *s = &mine->shape;
    mine->cpu = cpu;
    mine->planes =
        s->src.c != 1 || s->dst.c != 1 || (s->groups == 1 && s->src.w == 1 && s->dst.w == 1);
    mine->staged = fusion.reads_dst;
    mine->finishes = !fusion.complete || fusion.reads_dst;
    mine->task = (struct dwconv_f32_task){
        .channels = mine->planes ? 1 : (size_t)s->groups,
        .columns = (size_t)s->in[WIDTH],
        .column = (size_t)s->src.w,
        .low = mine->finishes ? -INFINITY : fusion.low,
        .high = mine->finishes ? INFINITY : fusion.high,
    };
    plan_kernel_rows(mine);
    plan_pieces(mine);
    mine->task.dst_column = mine->staged ? mine->task.channels : (size_t)s->dst.w;
    mine->task.dst_row = mine->staged ? mine->columns * mine->task.channels : (size_t)s->dst.h;
    const struct dwconv_f32_kernel *kernel = dwconv_f32_find(cpu->features, &mine->task);
    mine->run = kernel->run;
    mine->kernel = kernel->name;
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
    const float *weights; /* [tap][group], or plain ones for planes */
};

/* A piece of dst: rows and columns of one plane (batch, channel if planes, depth). */
struct piece {
    neo_dim n, channel, depth;
    size_t row, rows, column, columns;
};

/* One task's parts of the scratchpad. */
struct scratch {
    const float **rows;
    float *taps, *stage;
};

static struct scratch scratch_of(const struct run *run, int index)
{
    const struct convolution_depthwise *plan = run->plan;
    unsigned char *from = (unsigned char *)run->execution->scratch + plan->packed_bytes +
                          (size_t)index * plan->task_bytes;
    return (struct scratch){
        .rows = (const float **)(void *)from,
        .taps = (float *)(void *)(from + plan->pointers),
        .stage = (float *)(void *)(from + plan->pointers + plan->taps_copy),
    };
}

static bool is_inside(neo_dim at, neo_dim size)
{
    return at >= 0 && at < size;
}

/* Lists the rows of source, or NULL where one lies in the padding. */
static void list_rows(const struct run *run, const struct piece *piece, const float **rows)
{
    const struct convolution_depthwise *plan = run->plan;
    const struct convolution_shape *s = &plan->shape;
    const float *src = (const float *)run->execution->buffers[SRC] + piece->n * s->src.n +
                       piece->channel * s->src.c;
    neo_dim d = piece->depth * s->stride[DEPTH] - s->padding[DEPTH];
    neo_dim h = (neo_dim)piece->row * s->stride[HEIGHT] - s->padding[HEIGHT];
    bool deep = s->kernel[DEPTH] > 1;
    for (size_t i = 0; i < plan->row_pointers; i++) {
        neo_dim kd = deep ? (neo_dim)i / s->kernel[HEIGHT] * s->dilation[DEPTH] : 0;
        neo_dim kh = deep ? (neo_dim)i % s->kernel[HEIGHT] * s->dilation[HEIGHT] : (neo_dim)i;
        bool inside = is_inside(d + kd, s->in[DEPTH]) && is_inside(h + kh, s->in[HEIGHT]);
        rows[i] = inside ? src + (d + kd) * s->src.d + (h + kh) * s->src.h : NULL;
    }
}

/* The taps of one channel, one after the other. */
static void gather_taps(const struct run *run, neo_dim channel, float *taps)
{
    const struct convolution_shape *s = &run->plan->shape;
    bool packed = run->execution->problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED;
    for (size_t i = 0; i < run->plan->taps; i++)
        taps[i] = packed ? run->weights[(neo_dim)i * s->groups + channel]
                         : run->weights[channel * s->weights_g + convolution_weights_tap(s, i)];
}

static float *dst_of(const struct run *run, const struct piece *piece)
{
    const struct image_strides *dst = &run->plan->shape.dst;
    return (float *)run->execution->buffers[DST] + piece->n * dst->n + piece->channel * dst->c +
           piece->depth * dst->d + (neo_dim)piece->row * dst->h + (neo_dim)piece->column * dst->w;
}

/* Post-operations: a line is the channels of a pixel, or the columns of a row. */
static void finish_row(const struct run *run, const struct piece *piece, size_t row, float *values,
                       float *dst)
{
    const struct convolution_depthwise *plan = run->plan;
    const struct convolution_shape *s = &plan->shape;
    int last = run->execution->problem->tensors[DST].ndims - 1;
    struct line line = {.position = {piece->n, piece->channel}};
    line.direction = plan->planes ? last : 1;
    line.count = plan->planes ? piece->columns : plan->task.channels;
    if (last >= 4)
        line.position[last - 2] = piece->depth;
    if (last >= 3)
        line.position[last - 1] = (neo_dim)(piece->row + row);
    for (size_t x = 0; x < piece->columns; x += plan->planes ? piece->columns : 1) {
        line.position[last] = (neo_dim)(piece->column + x);
        finish_line(run->execution, &line, values + x * plan->task.dst_column, false,
                    dst + (neo_dim)x * s->dst.w, plan->planes ? s->dst.w : s->dst.c);
    }
}

static void run_piece(const struct run *run, const struct piece *piece,
                      const struct scratch *scratch)
{
    const struct convolution_depthwise *plan = run->plan;
    const struct convolution_shape *s = &plan->shape;
    const float *bias = run->execution->buffers[BIAS];
    struct dwconv_f32_task task = plan->task;
    float *dst = dst_of(run, piece);
    task.out_rows = piece->rows;
    task.out_cols = piece->columns;
    task.rows = scratch->rows;
    task.first = (neo_dim)piece->column * s->stride[WIDTH] - s->padding[WIDTH];
    task.weights = plan->planes ? scratch->taps : run->weights;
    task.bias = bias ? bias + piece->channel : NULL;
    task.dst = plan->staged ? scratch->stage : dst;
    plan->run(&task);
    for (size_t row = 0; plan->finishes && row < piece->rows; row++)
        finish_row(run, piece, row, task.dst + row * task.dst_row, dst + (neo_dim)row * s->dst.h);
}

/* Rows of one plane. */
static void run_plane(const struct run *run, struct piece *piece, struct span rows,
                      const struct scratch *scratch)
{
    size_t all = (size_t)run->plan->shape.out[WIDTH];
    if (run->plan->planes)
        gather_taps(run, piece->channel, scratch->taps);
    for (size_t row = rows.begin; row < rows.end; row += piece->rows) {
        piece->row = row;
        piece->rows = min_size(run->plan->rows, rows.end - row);
        list_rows(run, piece, scratch->rows);
        for (size_t column = 0; column < all; column += piece->columns) {
            piece->column = column;
            piece->columns = min_size(run->plan->columns, all - column);
            run_piece(run, piece, scratch);
        }
    }
}

static size_t plane_count(const struct convolution_depthwise *plan)
{
    const struct convolution_shape *s = &plan->shape;
    return (size_t)(s->batch * (plan->planes ? s->groups : 1) * s->out[DEPTH]);
}

static void run_task(void *argument, int index, int count)
{
    const struct run *run = argument;
    const struct convolution_shape *s = &run->plan->shape;
    size_t height = (size_t)s->out[HEIGHT], depth = (size_t)s->out[DEPTH];
    size_t channels = run->plan->planes ? (size_t)s->groups : 1;
    struct scratch scratch = scratch_of(run, index);
    struct span mine =
        partition_span(plane_count(run->plan) * height, (size_t)count, (size_t)index);
    while (mine.begin < mine.end) {
        size_t plane = mine.begin / height, row = mine.begin % height;
        size_t rows = min_size(height - row, mine.end - mine.begin);
        struct piece piece = {
            .n = (neo_dim)(plane / depth / channels),
            .channel = (neo_dim)(plane / depth % channels),
            .depth = (neo_dim)(plane % depth),
        };
        run_plane(run, &piece, (struct span){row, row + rows}, &scratch);
        mine.begin += rows;
    }
}

/* The weights as the kernel wants them: plain ones are packed into the scratchpad, unless the taps
 * of each channel are gathered anyway. */
static const float *weights_of(const struct convolution_depthwise *plan,
                               const struct execution *execution)
{
    const neo_memory_desc *given = &execution->problem->tensors[WEIGHTS];
    if (!plan->packed_bytes)
        return execution->buffers[WEIGHTS];
    neo_memory_desc packed = *given;
    layout_set(&packed, LAYOUT_DEPTHWISE_F32, true);
    struct weights_transfer transfer = {.plain = given,
                                        .packed = &packed,
                                        .plain_data = execution->buffers[WEIGHTS],
                                        .packed_data = execution->scratch,
                                        .cpu = plan->cpu};
    weights_pack(&transfer, execution->parallel, 1);
    return execution->scratch;
}

static void depthwise_run(const void *plan, const struct execution *execution)
{
    const struct convolution_depthwise *mine = plan;
    size_t rows = plane_count(mine) * (size_t)mine->shape.out[HEIGHT];
    if (rows == 0 || mine->shape.out[WIDTH] == 0)
        return;
    struct run run = {mine, execution, weights_of(mine, execution)};
    int tasks = (int)min_size((size_t)execution->threads, rows);
    parallel_for(execution->parallel, tasks, run_task, &run);
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
