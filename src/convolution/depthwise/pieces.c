/* Depthwise convolution: the pieces that calls of a kernel are made of, blocks of channels and of
 * rows that stay in the caches. */
#include "kernels/depthwise/f32/lanes/image.h"
#include "src/convolution/depthwise/depthwise.h"

enum {
    PLANE_ROWS = 28,    /* four tiles of those for planes */
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
    PLANE_BLOCKS = 8,       /* of channels, for threads to share */
    BLOCK_BYTES = 32 << 10, /* of source in such a call, unless planes are larger */
};

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
        most = depthwise_planes_stay(mine, TURNED_CHANNELS) ? TURNED_CHANNELS
                                                            : DEPTHWISE_TILE_CHANNELS;
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
        mine->channels % DEPTHWISE_TILE_CHANNELS)
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

void depthwise_plan_pieces(struct convolution_depthwise *mine)
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
