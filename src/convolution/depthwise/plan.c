/* Depthwise convolution: the plan. Which kernel, on planes as they are or on interleaved channels,
 * and the pieces that its calls are made of. */
#include <math.h>

#include "kernels/depthwise/f32/lanes/image.h"
#include "src/convolution/depthwise/depthwise.h"

enum {
    PLANE_ROWS = 28, /* four tiles of those for planes */
    TILE_CHANNELS = 8,
    PART_CHANNELS = 64, /* of one of many threads */
    IMAGE_PARTS = 16,   /* of a dilated image, that a copy of weights is little beside */
    LEAST_LAST = 4,     /* of the last block, if there are as many */
    L2_WAYS = 8,
    STRIP_COLUMNS = 7,       /* of dst, with stride 2, where rows of source have twice as many */
    STRIP_ROWS = 28,         /* of dst in a call, where a kernel does its columns by tiles */
    SHARED_CHANNELS = 32,    /* of rows for which a kernel divides all channels by itself */
    SHARED_ROWS = 56,        /* of blocks of channels, at least, for threads */
    LEAST_SLIDES = 2,        /* in a call */
    TRANSPOSED_CHANNELS = 4, /* interleaved by one instruction */
    TRANSPOSED_PART = 2,     /* of the L1 cache, for transposed source of several lines */
    TRANSPOSED_L2_PART = 4,  /* of the L2 cache, for that of one line */
    TURNED_CHANNELS = 16,    /* of whole planes that are transposed, at most */
    GATHER_BYTES = 24 << 10, /* of repeated source, with a row more than there is */
    LEAST_PLANES = 16,       /* in a call that does planes as they are */
    MOST_PLANES = 64,
    PLANE_BLOCKS = 8,        /* of channels, for threads to share */
    BLOCK_BYTES = 32 << 10,  /* of source in such a call, unless planes are larger */
    PLANE_COLUMNS = 4,       /* of dst; narrower ones are transposed */
    PLANE_BYTES = 256 << 10, /* of scratchpad for such a call, at most */
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

bool depthwise_repeats_pixels(const struct convolution_depthwise *mine)
{
    const struct image_strides *src = &mine->shape.src;
    return mine->gathers && mine->multiplier > 1 && src->c == 1 && src->w == mine->shape.groups;
}

/* A call's preparation is little for some planes, unless these are small. All calls have about as
 * many. */
static size_t choose_planes(const struct convolution_depthwise *mine)
{
    size_t pixels =
        depthwise_at_least_1(mine->shape.in[HEIGHT]) * depthwise_at_least_1(mine->shape.in[WIDTH]);
    size_t most = min_size(BLOCK_BYTES / sizeof(float) / pixels, mine->channels / PLANE_BLOCKS);
    most = max_size(min_size(most, MOST_PLANES), LEAST_PLANES);
    return div_up(mine->channels, div_up(mine->channels, most));
}

/* Do copies of so many whole planes, before and behind, stay in the L1 cache beside what they are
 * made of? */
static bool planes_stay(const struct convolution_depthwise *mine, size_t count)
{
    const struct convolution_shape *s = &mine->shape;
    size_t pixels = depthwise_at_least_1(s->in[HEIGHT]) * depthwise_at_least_1(s->in[WIDTH]);
    return pixels * count * sizeof(float) <= mine->cpu->l1_bytes / 4;
}

/* Can 5x5 planes be done in place, by tiles of seven rows, none with padding above and below, that
 * overlap little? Planes of 7x7 are one tile. Else rows are copied
 * (kernels/depthwise/f32/planes/neon.c). */
static bool fills_tiles(size_t height, size_t width)
{
    enum { TILE = 7 };
    return height <= TILE ? height == TILE && width == TILE
                          : round_up(height, TILE) * 8 <= height * 9;
}

/* Transposing is faster than these copies, unless planes are low or wide, or rows are whole
 * vectors. */
static bool suits_planes(const struct convolution_depthwise *mine)
{
    enum { NARROW = 12, WIDE = 22, LOW = 7 };
    size_t height = depthwise_at_least_1(mine->shape.out[HEIGHT]), width = mine->task.out_cols;
    bool is_whole = width % 4 == 0;
    if (mine->task.kh == 5 && fills_tiles(height, width))
        return true;
    return width > WIDE || (is_whole && width > NARROW) || (height < LOW && width > height);
}

/* Is it faster to transpose planes, do them with channels last, and transpose results back? Cores
 * that issue in order take longer for transposing. */
static bool is_faster_turned(const struct convolution_depthwise *mine)
{
    const struct convolution_shape *s = &mine->shape;
    const struct dwconv_f32_task *task = &mine->task;
    if (!(mine->cpu->features & CPU_NEON) || mine->cpu->core->in_order || task->kd > 1 ||
        mine->multiplier > 1 || mine->channels % TILE_CHANNELS || s->src.c == 1 || s->dst.c == 1)
        return false;
    for (int i = HEIGHT; i <= WIDTH; i++)
        if ((s->kernel[i] != 5 && s->kernel[i] != 7) || s->kernel[i] != s->kernel[WIDTH] ||
            s->stride[i] != 1 || s->dilation[i] != 1 || s->padding[i] != s->kernel[i] / 2 ||
            s->in[i] != s->out[i])
            return false;
    return planes_stay(mine, TILE_CHANNELS) && !suits_planes(mine);
}

/* Whole vectors of channels, also in the last block. */
static size_t settle_channels(const struct convolution_depthwise *mine, size_t most)
{
    while (most >= DEPTHWISE_LINE && most < mine->channels && mine->channels % most &&
           mine->channels % most < LEAST_LAST)
        most += LEAST_LAST; /* so that the last channels have a vector, too */
    return min_size(mine->channels, max_size(most / mine->multiplier, 1) * mine->multiplier);
}

/* Bytes of transposed source and results for a channel: rows for so many of dst. */
static size_t transposed_bytes(const struct convolution_depthwise *mine, size_t rows)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t source = (rows - 1) * task->stride_h + (task->kh - 1) * task->dilation_h + 1;
    return (source * task->kd * depthwise_at_least_1(mine->shape.in[WIDTH]) +
            rows * depthwise_at_least_1(mine->shape.out[WIDTH])) *
           sizeof(float);
}

/* Lines of channels that stay in the L1 cache with the rows of whole images, or at least of as many
 * rows again as each row of dst needs; or else one line, if that stays in the L2 cache. */
static size_t transposed_channels(const struct convolution_depthwise *mine)
{
    size_t height = depthwise_at_least_1(mine->shape.out[HEIGHT]);
    size_t extent = (mine->task.kh - 1) * mine->task.dilation_h + 1;
    size_t bytes = transposed_bytes(mine, min_size(height, extent));
    size_t lines = mine->cpu->l1_bytes / TRANSPOSED_PART / bytes / DEPTHWISE_LINE;
    if (lines)
        return lines * DEPTHWISE_LINE;
    return bytes <= mine->cpu->l2_bytes / TRANSPOSED_L2_PART / DEPTHWISE_LINE ? DEPTHWISE_LINE
                                                                              : TRANSPOSED_CHANNELS;
}

static size_t choose_channels(const struct convolution_depthwise *mine)
{
    size_t most = depthwise_channels_that_stay(mine);
    if (mine->by_plane)
        most = choose_planes(mine);
    else if (mine->tile_columns || mine->all_channels || depthwise_repeats_pixels(mine))
        most = mine->channels;
    else if (mine->turns)
        most = planes_stay(mine, TURNED_CHANNELS) ? TURNED_CHANNELS : TILE_CHANNELS;
    else if (mine->gathers || mine->scatters)
        most = transposed_channels(mine);
    else if (mine->task.kd > 1 && most < mine->channels)
        most = DEPTHWISE_LINE; /* so that rows that are copied, or parts of them, are long */
    return settle_channels(mine, most);
}

/* The same for threads: where a kernel would do all channels, there have to be rows of blocks to
 * share. */
static size_t choose_shared_channels(const struct convolution_depthwise *mine)
{
    size_t height = depthwise_at_least_1(mine->shape.out[HEIGHT]), most = mine->task.tile_channels;
    size_t least = mine->all_channels ? SHARED_CHANNELS : depthwise_channels_that_stay(mine);
    if (depthwise_is_done_in_parts(mine))
        return settle_channels(mine, min_size(mine->channel_block, PART_CHANNELS));
    if (mine->gathers && !mine->turns && !depthwise_repeats_pixels(mine))
        return settle_channels(mine, min_size(mine->channel_block, SHARED_CHANNELS));
    if (!mine->tile_columns && !mine->all_channels)
        return mine->channel_block;
    most = mine->all_channels ? mine->channels : most;
    while (most > DEPTHWISE_LINE && div_up(mine->channels, most) * height < SHARED_ROWS)
        most /= 2;
    return settle_channels(mine, max_size(round_up(most, DEPTHWISE_LINE), least));
}

/* Images, or the parts of dilated ones, for kernels/depthwise/f32/lanes/image.h. Cores that issue
 * three in order wait for the sums of many pixels longer than for tiles; what this machine's main
 * core likes is done on all of its cores. */
static bool has_small_images(const struct convolution_depthwise *mine)
{
    const struct convolution_shape *s = &mine->shape;
    if (mine->by_plane || mine->gathers || mine->staged || mine->task.kd > 1 ||
        mine->channels % TILE_CHANNELS)
        return false;
    for (int i = HEIGHT; i <= WIDTH; i++) {
        neo_dim part = (s->out[i] + s->dilation[i] - 1) / s->dilation[i];
        if (s->kernel[i] != 3 || s->stride[i] != 1 || s->padding[i] != s->dilation[i] ||
            s->in[i] != s->out[i] || part > IMAGE_MOST)
            return false;
    }
    return true;
}

/* With copies of the weights, kernels have more channels of larger ones of them in registers: that
 * is for many parts with the same weights. Cores that issue two in order take longer for what is
 * loaded more often. */
static bool copies_image_weights(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t height = div_up(depthwise_at_least_1(mine->shape.out[HEIGHT]), task->dilation_h);
    size_t width = div_up(depthwise_at_least_1(mine->shape.out[WIDTH]), task->dilation_w);
    return task->whole_images && height * width > IMAGE_FEW_PIXELS &&
           task->dilation_h * task->dilation_w >= IMAGE_PARTS &&
           mine->cpu->core->in_order != IN_ORDER_NARROW;
}

/* At most so many in each call that all have about as many; whole tiles, if these are high. */
static size_t evened_rows(const struct convolution_depthwise *mine, size_t all, size_t limit)
{
    size_t tile = mine->tile_rows;
    if (tile == DEPTHWISE_SLIDING_ROWS)
        return round_up(div_up(all, div_up(all, limit)), DEPTHWISE_SLIDING_ROWS / 2);
    return max_size(limit / tile, 1) * tile;
}

/* A kernel does half of a line's channels for all rows before the other half: so many rows that
 * their lines are still in the L1 cache then, if it has room for some, or else in the L2 cache. */
static size_t rows_that_stay(const struct convolution_depthwise *mine)
{
    const struct convolution_shape *s = &mine->shape;
    size_t most = min_size((size_t)s->out[HEIGHT], DEPTHWISE_MOST_ROWS);
    size_t in = depthwise_at_least_1(s->in[WIDTH]), l1 = mine->cpu->l1_bytes;
    size_t pixels =
        mine->task.stride_h * in + depthwise_at_least_1(s->out[WIDTH]); /* for a row of dst */
    size_t near = l1 / (pixels * mine->channel_block * sizeof(float));
    size_t lines = depthwise_pixels_that_stay(mine, mine->cpu->l2_bytes, L2_WAYS);
    size_t rows = lines / in / mine->task.stride_h;
    if (near < most && near * 3 / 4 >= LEAST_SLIDES * DEPTHWISE_SLIDING_ROWS)
        return evened_rows(mine, most, near);
    if (rows >= most)
        return DEPTHWISE_MOST_ROWS;
    size_t least = mine->tile_rows == DEPTHWISE_SLIDING_ROWS ? LEAST_SLIDES : 1;
    return max_size(rows * 3 / 4 / mine->tile_rows, least) * mine->tile_rows;
}

/* The same of parts of dilated images, in rows of all parts. Rows of padding, and what the other
 * parts displace of rows that are needed twice, leave nothing to gain where most of a part stays.
 * Cores that issue in order take longer for more calls than for these lines. */
static size_t rows_of_parts(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t all = div_up(depthwise_at_least_1(mine->shape.out[HEIGHT]), task->dilation_h);
    size_t columns = div_up(depthwise_at_least_1(mine->shape.in[WIDTH]), task->dilation_w);
    size_t pixels = depthwise_pixels_that_stay(mine, mine->cpu->l2_bytes, L2_WAYS) /
                    power_of_two_in(task->dilation_w);
    size_t most = pixels * 3 / 4 / columns, both = 2 * all + task->kh - 1;
    if (mine->cpu->core->in_order || both <= 2 * most)
        return DEPTHWISE_MOST_ROWS * task->dilation_h;
    size_t rows = most >= task->kh ? (most - (task->kh - 1)) / 2 : 0;
    rows = max_size(rows / DEPTHWISE_SLIDING_ROWS, 1) * DEPTHWISE_SLIDING_ROWS;
    return min_size(rows, DEPTHWISE_MOST_ROWS) * task->dilation_h;
}

/* As many in each strip, so that it is as low as it can be: what it has in common with the strip
 * beside it is rather in the L2 cache then. */
static size_t even_strip_rows(size_t rows)
{
    return round_up(div_up(rows, div_up(rows, STRIP_ROWS)), DEPTHWISE_SLIDING_ROWS / 2);
}

/* Rows of dst of which the transposed source and results have room in the caches. */
static size_t transposed_rows(const struct convolution_depthwise *mine)
{
    size_t one = transposed_bytes(mine, 1), each = transposed_bytes(mine, 2) - one;
    size_t bytes =
        max_size(mine->cpu->l1_bytes / TRANSPOSED_PART, mine->cpu->l2_bytes / TRANSPOSED_L2_PART);
    size_t room = bytes / mine->channel_block;
    size_t rows = room > one ? (room - one) / each + 1 : 1;
    return max_size(rows / mine->tile_rows, 1) * mine->tile_rows;
}

/* As many rows as the copied or transposed source has room for. */
static size_t choose_rows(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    if (mine->tile_columns)
        return even_strip_rows(depthwise_at_least_1(mine->shape.out[HEIGHT]));
    if (depthwise_is_done_in_parts(mine))
        return rows_of_parts(mine);
    if (task->kd > 1 && !mine->gathers && !mine->by_plane) /* a kernel that copies rows once */
        return DEPTHWISE_MOST_ROWS;
    if (!mine->gathers && !mine->by_plane)
        return depthwise_repeats_pixels(mine) ? DEPTHWISE_MOST_ROWS : rows_that_stay(mine);
    if (mine->gathers && !depthwise_repeats_pixels(mine))
        return transposed_rows(mine);
    size_t together = mine->by_plane ? 1 : mine->channel_block;
    size_t row_bytes =
        depthwise_at_least_1(mine->shape.in[WIDTH]) * together * task->kd * sizeof(float);
    size_t bytes = mine->by_plane ? mine->cpu->l1_bytes : GATHER_BYTES;
    size_t room = bytes / row_bytes, extent = (task->kh - 1) * task->dilation_h + 1;
    size_t rows = room > extent ? (room - extent) / task->stride_h + 1 : 1;
    size_t together_rows = mine->by_plane && rows >= PLANE_ROWS ? PLANE_ROWS : mine->tile_rows;
    return max_size(rows / together_rows, 1) * together_rows;
}

static void plan_pieces(struct convolution_depthwise *mine)
{
    struct dwconv_f32_task *task = &mine->task;
    task->tile_channels = 0;
    task->strip = !mine->tile_columns && task->stride_w == 2 ? STRIP_COLUMNS : 0;
    if (mine->tile_columns)
        depthwise_plan_tiles(mine);
    mine->channel_block = choose_channels(mine);
    mine->shared_block = choose_shared_channels(mine);
    task->whole_images = has_small_images(mine);
    if (copies_image_weights(mine))
        task->copies_weights = true;
    if (task->whole_images)
        mine->shared_block = min_size(mine->shared_block, PART_CHANNELS);
    size_t rows = task->whole_images ? SIZE_MAX : choose_rows(mine);
    if (mine->turns)
        rows = PLANE_ROWS;
    else if (mine->staged && !mine->gathers)
        rows = min_size(rows, 2 * DEPTHWISE_SLIDING_ROWS);
    mine->rows = min_size(rows, depthwise_at_least_1(mine->shape.out[HEIGHT]));
    mine->row_pointers = (mine->rows - 1) * task->stride_h + (task->kh - 1) * task->dilation_h + 1;
    task->rows_plane = mine->row_pointers;
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
    return mine->tile_columns && mine->channels % TILE_CHANNELS == 0 && s->in[HEIGHT] > 1 &&
           s->dilation[HEIGHT] == 1 && s->padding[HEIGHT] <= 1 && below <= 1;
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
    enum { LONG_TILES = 4, MOST_TWICE = 20 };
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
 * than the loads that it saves: but on cores that issue two instructions in order, unless rows are
 * as short as planes of 7x7, which pairs do without a list of bands. What this machine's main core
 * likes is done on all of its cores. */
enum { SHORT_ROWS = 7 };

static bool adds_in_pairs(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    bool likes_pairs = mine->cpu->core->in_order != IN_ORDER_NARROW || task->out_cols == SHORT_ROWS;
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

/* The kernel for pieces of planes, or of interleaved channels; NULL: there is none for planes but
 * the reference, or it wants too much memory. */
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
    task->in_pairs = adds_in_pairs(mine);
    if (!by_plane)
        find_tiles(mine);
    plan_pieces(mine);
    task->channels = mine->channel_block;
    task->column = by_plane ? (size_t)s->src.w : column_apart(mine, s->in[WIDTH], s->src.w);
    task->dst_column = by_plane ? (size_t)s->dst.w : column_apart(mine, s->out[WIDTH], s->dst.w);
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
    if (by_plane && (is_reference || kernel_bytes(kernel, task) > PLANE_BYTES))
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
