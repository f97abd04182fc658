/* Depthwise convolution: the plan. Which kernel, on planes as they are or on interleaved channels,
 * and its scratchpad. */
#include <math.h>

#include "src/convolution/depthwise/depthwise.h"

enum {
    PLANE_COLUMNS = 4,       /* of dst; narrower ones are transposed */
    PLANE_BYTES = 384 << 10, /* of scratchpad for such a call, at most */
    MOST_ZEROS = 1 << 18,    /* values; longer rows of padding are left to the kernel */
};

static void plan_window(struct convolution_depthwise *mine)
{
    const struct convolution_shape *s = &mine->shape;
    struct dwconv_f32_task *task = &mine->task;
    task->kd = (size_t)s->kernel[DEPTH];
    task->kh = (size_t)s->kernel[HEIGHT];
    task->kw = (size_t)s->kernel[WIDTH];
    task->stride_h = (size_t)s->stride[HEIGHT];
    task->stride_w = (size_t)s->stride[WIDTH];
    task->dilation_h = (size_t)s->dilation[HEIGHT];
    task->dilation_w = (size_t)s->dilation[WIDTH];
    mine->taps = task->kd * task->kh * task->kw;
}

/* Can 5x5 planes be done in place, by tiles of seven rows, none with padding above and below, that
 * overlap little? Planes of 7x7 are one tile, of 7x7 kernels, too. Else rows are copied
 * (kernels/depthwise/f32/planes/neon.c). */
static bool fills_tiles(size_t taps, size_t height, size_t width)
{
    enum { TILE = 7 };
    return height <= TILE ? height == TILE && width == TILE
                          : taps == 5 && round_up(height, TILE) * 8 <= height * 9;
}

static bool copies_planes(const struct convolution_depthwise *mine)
{
    size_t taps = mine->task.kh;
    return (taps == 5 || taps == 7) && mine->task.stride_h == 1 &&
           !fills_tiles(taps, depthwise_at_least_1(mine->shape.out[HEIGHT]), mine->task.out_cols);
}

/* Is it faster to transpose planes, do them with channels last, and transpose results back? Cores
 * that issue in order take longer for transposing. */
static bool is_faster_turned(const struct convolution_depthwise *mine)
{
    const struct convolution_shape *s = &mine->shape;
    const struct dwconv_f32_task *task = &mine->task;
    if (!(mine->cpu->features & CPU_NEON) || mine->cpu->core->in_order || task->kd > 1 ||
        mine->multiplier > 1 || mine->channels % DEPTHWISE_TILE_CHANNELS || s->src.c == 1 ||
        s->dst.c == 1)
        return false;
    for (int i = HEIGHT; i <= WIDTH; i++)
        if ((s->kernel[i] != 5 && s->kernel[i] != 7) || s->kernel[i] != s->kernel[WIDTH] ||
            s->stride[i] != 1 || s->dilation[i] != 1 || s->padding[i] != s->kernel[i] / 2 ||
            s->in[i] != s->out[i])
            return false;
    return depthwise_planes_stay(mine, DEPTHWISE_TILE_CHANNELS) && copies_planes(mine);
}

static bool has_padding(const struct convolution_shape *s, int dimension)
{
    neo_dim extent = (s->kernel[dimension] - 1) * s->dilation[dimension] + 1;
    neo_dim last = (s->out[dimension] - 1) * s->stride[dimension] + extent;
    return s->padding[dimension] > 0 || last - s->padding[dimension] > s->in[dimension];
}

/* Zeros for the rows of padding; without them kernels of more rows than one look for these. */
static size_t choose_zeros(const struct convolution_depthwise *mine)
{
    const struct convolution_shape *s = &mine->shape;
    if (mine->task.whole_images ||
        (mine->task.kh == 1 && !has_padding(s, HEIGHT) && !has_padding(s, DEPTH)))
        return 0;
    size_t count = (size_t)s->in[WIDTH] * mine->task.column;
    size_t zeros = count + mine->channel_block;
    return zeros < MOST_ZEROS && !mine->by_plane ? zeros : 0;
}

/* Does a kernel with tiles do all channels, and has no tile more than one row of padding? */
static bool leaves_out_padding(const struct convolution_depthwise *mine)
{
    const struct convolution_shape *s = &mine->shape;
    neo_dim below = (s->out[HEIGHT] - 1) * s->stride[HEIGHT] + s->kernel[HEIGHT] -
                    s->padding[HEIGHT] - s->in[HEIGHT];
    return mine->tile_columns && mine->channels % DEPTHWISE_TILE_CHANNELS == 0 &&
           s->in[HEIGHT] > 1 && s->dilation[HEIGHT] == 1 && s->padding[HEIGHT] <= 1 && below <= 1;
}

/* Plain weights are packed already if channels follow each other in the order of dst's, and then
 * taps do. */
static bool are_packed(const struct convolution_depthwise *mine)
{
    const struct convolution_shape *s = &mine->shape;
    neo_dim apart = (neo_dim)mine->channels;
    if ((mine->multiplier > 1 && s->weights_o != 1) ||
        (s->groups > 1 && s->weights_g != (neo_dim)mine->multiplier))
        return false;
    for (int i = SPACE - 1; i >= 0; i--) {
        if (s->kernel[i] > 1 && s->weights_space[i] != apart)
            return false;
        apart *= s->kernel[i];
    }
    return true;
}

static void plan_scratch(struct convolution_depthwise *mine, bool plain_weights)
{
    size_t row = mine->channel_block * sizeof(float);
    size_t stage = mine->rows * (size_t)mine->shape.out[WIDTH] * row;
    size_t pointers = mine->row_pointers * mine->task.kd;
    size_t source = pointers * (size_t)mine->shape.in[WIDTH] * row;
    size_t weights = mine->channels * mine->taps * sizeof(float);
    mine->packed_bytes = plain_weights && !are_packed(mine) ? convolution_part(weights) : 0;
    mine->zeros = choose_zeros(mine);
    mine->leaves_out_padding = leaves_out_padding(mine);
    mine->zero_bytes = convolution_part(mine->zeros * sizeof(float));
    mine->pointer_bytes = convolution_part(pointers * sizeof(float *));
    mine->source_bytes = mine->gathers ? convolution_part(source) : 0;
    mine->stage_bytes = mine->staged ? convolution_part(stage) : 0;
    mine->task_bytes = mine->zero_bytes + mine->pointer_bytes + mine->source_bytes +
                       mine->stage_bytes + convolution_part(mine->kernel_bytes);
}

/* Are columns that the last tile does twice none, or few of a long row? Then tiles have less to do
 * than lines come twice else. */
static bool suits_tiles(const struct dwconv_f32_task *task, size_t columns)
{
    enum { LONG_TILES = 4, MOST_TWICE = 16 };
    size_t twice = round_up(task->out_cols, columns) - task->out_cols;
    bool is_long = task->dilation_w == 1 && task->out_cols >= LONG_TILES * columns;
    return twice == 0 || (is_long && twice <= task->out_cols / MOST_TWICE);
}

/* Rows, and columns, of the tiles that the kernel for interleaved channels has; no columns: it does
 * whole rows. Rows that are finished afterwards stay in the cache until then. */
static void find_tiles(struct convolution_depthwise *mine)
{
    struct dwconv_f32_task task = mine->task;
    task.channels = mine->channels;
    if (mine->gathers)
        task.column = mine->channels;
    if (mine->staged)
        task.dst_column = mine->channels;
    const struct dwconv_f32_kernel *kernel =
        dwconv_f32_find(mine->cpu->features, core_kind(mine->cpu->core), &task);
    size_t columns = kernel->tile_columns;
    if (columns && suits_tiles(&task, columns) && !mine->gathers && !mine->staged)
        mine->tile_columns = columns;
    if (kernel->tile_rows)
        mine->tile_rows = kernel->tile_rows;
    mine->all_channels = kernel->all_channels_from &&
                         task.out_cols / task.dilation_w >= kernel->all_channels_from &&
                         !mine->gathers && !mine->scatters && !mine->finishes;
}

/* Is that the faster order of sums? Of 3x3 it is where to separate even from odd columns costs more
 * than the loads that it saves: but on cores that issue two instructions in order. What this
 * machine's main core likes is done on all of its cores. */
static bool adds_in_pairs(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    bool likes_pairs = mine->cpu->core->in_order != IN_ORDER_NARROW;
    return mine->by_plane && task->kh == task->kw && task->stride_h == 2 && task->stride_w == 2 &&
           task->dilation_h == 1 && task->dilation_w == 1 &&
           (task->kw == 5 || (task->kw == 3 && likes_pairs));
}

static size_t kernel_bytes(const struct dwconv_f32_kernel *kernel,
                           const struct dwconv_f32_task *task)
{
    return kernel->scratch_bytes ? kernel->scratch_bytes(task) : 0;
}

/* Of the kernels for any of this machine's cores, which may be of other kinds than the main one. */
static size_t most_kernel_bytes(const struct dwconv_f32_task *task, const struct cpu *cpu)
{
    size_t most = 0;
    for (int i = 0; i < CORE_KINDS; i++)
        most = max_size(most, kernel_bytes(dwconv_f32_find(cpu->features, i, task), task));
    return most;
}

/* Elements from column to column of an image whose channels are interleaved. Those of a single
 * column may be anything, but 1 would pass for a plane's. */
static size_t column_apart(const struct convolution_depthwise *mine, neo_dim columns, neo_dim apart)
{
    return columns == 1 ? max_size((size_t)apart, mine->channels) : (size_t)apart;
}

/* Where no kernel loads what is in planes once for several taps, and channels fill vectors, of
 * which no two come of the same one, to transpose them is little beside what kernels for these
 * gain; on cores that issue in order it is beside copies of rows, too. */
static bool is_better_interleaved(const struct convolution_depthwise *mine,
                                  const struct dwconv_f32_kernel *kernel)
{
    bool reloads = kernel->reloads && kernel->reloads(&mine->task);
    return (reloads || (mine->cpu->core->in_order && copies_planes(mine))) &&
           mine->multiplier == 1 && mine->channels >= DEPTHWISE_LINE;
}

/* The kernel for pieces of planes, or of interleaved channels; NULL: there is none for planes but
 * the reference, or one that is slower, or it wants too much memory. */
static const struct dwconv_f32_kernel *plan_way(struct convolution_depthwise *mine, bool by_plane,
                                                const struct cpu *cpu)
{
    const struct convolution_shape *s = &mine->shape;
    struct dwconv_f32_task *task = &mine->task;
    mine->by_plane = by_plane;
    mine->gathers = !by_plane && ((s->groups > 1 && s->src.c != 1) || mine->multiplier > 1);
    mine->scatters = !by_plane && mine->channels > 1 && s->dst.c != 1;
    mine->staged = mine->reads_dst || mine->scatters;
    mine->tile_columns = 0;
    mine->all_channels = false;
    mine->tile_rows = DEPTHWISE_SLIDING_ROWS;
    task->multiplier = by_plane ? mine->multiplier : 1;
    task->src_plane = by_plane ? (size_t)s->src.c : 1;
    task->dst_plane = by_plane ? (size_t)s->dst.c : 1;
    task->column = by_plane ? (size_t)s->src.w : column_apart(mine, s->in[WIDTH], s->src.w);
    task->dst_column = by_plane ? (size_t)s->dst.w : column_apart(mine, s->out[WIDTH], s->dst.w);
    task->in_pairs = adds_in_pairs(mine);
    if (!by_plane)
        find_tiles(mine);
    depthwise_plan_pieces(mine);
    task->channels = mine->channel_block;
    if (mine->gathers)
        task->column = mine->channel_block;
    if (mine->staged)
        task->dst_column = mine->channel_block;
    task->dst_row = mine->staged ? (size_t)s->out[WIDTH] * mine->channel_block : (size_t)s->dst.h;
    task->out_rows = mine->rows;
    const struct dwconv_f32_kernel *kernel =
        dwconv_f32_find(cpu->features, core_kind(cpu->core), task);
    mine->kernel_bytes = most_kernel_bytes(task, cpu);
    bool is_reference = kernel == &dwconv_f32_ref && (cpu->features & CPU_NEON);
    if (by_plane && (is_reference || is_better_interleaved(mine, kernel) ||
                     kernel_bytes(kernel, task) > PLANE_BYTES))
        return NULL;
    return kernel;
}

static void plan_kernel(struct convolution_depthwise *mine, const struct cpu *cpu)
{
    const struct convolution_shape *s = &mine->shape;
    bool are_planes = s->src.w == 1 && s->dst.w == 1 && s->out[WIDTH] >= PLANE_COLUMNS &&
                      s->in[WIDTH] / s->stride[WIDTH] >= PLANE_COLUMNS;
    const struct dwconv_f32_kernel *kernel = NULL;
    plan_window(mine);
    mine->turns = are_planes && !mine->finishes && is_faster_turned(mine);
    if (are_planes && !mine->finishes && !mine->turns)
        kernel = plan_way(mine, true, cpu);
    if (!kernel)
        kernel = plan_way(mine, false, cpu);
    for (int i = 0; i < CORE_KINDS; i++)
        mine->run[i] = dwconv_f32_find(cpu->features, i, &mine->task)->run;
    mine->kernel = kernel->name;
    mine->copy = copy_f32_find(cpu->features)->run;
}

void depthwise_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_depthwise *mine = plan;
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    mine->shape = *convolution_shape_of(problem);
    const struct convolution_shape *s = &mine->shape;
    mine->cpu = cpu;
    mine->multiplier = depthwise_at_least_1(s->oc);
    mine->channels = depthwise_at_least_1(s->groups) * mine->multiplier;
    mine->reads_dst = fusion.reads_dst;
    mine->finishes = !fusion.complete || fusion.reads_dst;
    if (depthwise_may_turn(s) && !mine->finishes) /* that asks where in the image a pixel is */
        convolution_turn_column(&mine->shape);
    mine->task = (struct dwconv_f32_task){
        .out_cols = (size_t)s->out[WIDTH],
        .first = -s->padding[WIDTH],
        .columns = (size_t)s->in[WIDTH],
        .weights_tap = mine->channels,
        .low = mine->finishes ? -INFINITY : fusion.low,
        .high = mine->finishes ? INFINITY : fusion.high,
    };
    plan_kernel(mine, cpu);
    plan_scratch(mine, problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED);
}
