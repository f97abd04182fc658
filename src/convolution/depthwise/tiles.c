/* Depthwise convolution: what a kernel with tiles does before it goes on, so that few lines of the
 * L1 cache come twice. */
#include "src/convolution/depthwise/depthwise.h"

enum {
    TILE_ROWS = 2,
    TILE_COLUMNS = 7,
    MANY_PIXELS = 100, /* of dst */
    WEIGHTS_PART = 16, /* of the L1 cache is for weights */
};

/* Do pixels begin with a line? */
static bool has_whole_lines(const struct convolution_depthwise *mine)
{
    return mine->channels % DEPTHWISE_LINE == 0;
}

/* Pixels of source and dst that two rows of so many columns of dst need. */
static size_t pixels_of_tile(const struct convolution_depthwise *mine, size_t columns)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t rows = (TILE_ROWS - 1) * task->stride_h + task->kh;
    return rows * ((columns - 1) * task->stride_w + task->kw) + TILE_ROWS * columns;
}

/* ---- channels ---- */

/* Whole lines, if pixels begin with one: as many as have places of their own, and few enough that
 * weights take few of these. Else all channels, if they stay. */
static size_t choose_channels(const struct convolution_depthwise *mine)
{
    size_t l1 = mine->cpu->l1_bytes, most = l1 / depthwise_pixels_in_l1(mine);
    most = min_size(most, l1 / WEIGHTS_PART / mine->taps) / sizeof(float);
    if (!has_whole_lines(mine))
        most = min_size(mine->channels,
                        l1 / 4 * 3 / sizeof(float) / pixels_of_tile(mine, TILE_COLUMNS));
    return max_size(round_up(most, DEPTHWISE_LINE), depthwise_channels_that_stay(mine));
}

/* ---- columns ---- */

/* Columns of dst that are done in all rows before the next ones: as many as leave the lines of two
 * rows in the L1 cache, until further rows and the other channels of these lines have come. Where
 * pixels do not begin with a line, less of it is of use. */
static size_t choose_strip(const struct convolution_depthwise *mine)
{
    size_t l1 = mine->cpu->l1_bytes, count = 1;
    size_t all = div_up((size_t)mine->shape.out[WIDTH], TILE_COLUMNS);
    size_t pixel = min_size(mine->task.tile_channels, mine->channels) * sizeof(float);
    size_t room = min_size(depthwise_pixels_in_l1(mine), l1 / pixel);
    room = has_whole_lines(mine) ? room * 3 / 4 : room / 2;
    while (count < all && pixels_of_tile(mine, (count + 1) * TILE_COLUMNS) <= room)
        count++;
    return div_up(all, div_up(all, count)) * TILE_COLUMNS;
}

/* Do taps, which are as far apart as pixels, drive each other out of the places that these have?
 * Then weights are copied, which is little beside the work on so many pixels. */
static bool taps_collide(const struct convolution_depthwise *mine)
{
    neo_dim pixels = mine->shape.out[HEIGHT] * mine->shape.out[WIDTH];
    return has_whole_lines(mine) && pixels >= MANY_PIXELS &&
           mine->taps * depthwise_l1_ways(mine->cpu) > depthwise_pixels_in_l1(mine);
}

void depthwise_plan_tiles(struct convolution_depthwise *mine)
{
    struct dwconv_f32_task *task = &mine->task;
    task->tile_channels = choose_channels(mine);
    task->copies_weights = taps_collide(mine);
    task->strip = choose_strip(mine);
}
