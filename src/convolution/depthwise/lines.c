/* Depthwise convolution: lines of channels that go between the L1 and the L2 cache, where pixels
 * begin with a line: found by going some tiles down with the places that one line has there. */
#include "src/convolution/depthwise/depthwise.h"

enum {
    MOST_WAYS = 8,
    WAY_BYTES = 16 << 10, /* of caches with more ways than the least */
    MOST_PLACES = 128,
    PART_COLUMNS = 4, /* of source, in tiles by lines */
    ROWS_DOWN = 8,
    APART = 3, /* places from one line of copied weights to the next: odd, so that all have some */
};

static const size_t FIRST_WEIGHTS = SIZE_MAX / 2 + 1; /* a number beyond all pixels */

size_t depthwise_l1_ways(const struct cpu *cpu)
{
    return max_size(min_size(cpu->l1_bytes / WAY_BYTES, MOST_WAYS), CPU_L1_WAYS);
}

size_t depthwise_pixels_in_l1(const struct convolution_depthwise *mine)
{
    return depthwise_pixels_that_stay(mine, mine->cpu->l1_bytes, depthwise_l1_ways(mine->cpu));
}

/* The places that one line of channels of all pixels has in the L1 cache; the pixels whose lines
 * are there, the last used first. Pixel 0 stands for none. */
struct places {
    size_t count, ways;
    size_t pixels[MOST_PLACES][MOST_WAYS];
};

/* Uses the line of a pixel; returns whether it had to come. */
static size_t use_line(struct places *places, size_t pixel)
{
    size_t *there = places->pixels[pixel % places->count], way = 0;
    while (way < places->ways - 1 && there[way] != pixel)
        way++;
    size_t comes = there[way] != pixel;
    for (; way > 0; way--)
        there[way] = there[way - 1];
    there[0] = pixel;
    return comes;
}

/* A tile: its first column and row of dst, and how many columns it has. */
struct area {
    size_t x, y, columns;
};

/* Lines that come for columns k to `end` of a tile's source, and that leave again. Pixels of dst
 * begin at `dst`; 0: elsewhere. */
static size_t lines_of_columns(const struct convolution_depthwise *mine, struct places *places,
                               const struct area *area, size_t dst, size_t k, size_t end)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t in = (size_t)mine->shape.in[WIDTH], out = (size_t)mine->shape.out[WIDTH], lines = 0;
    size_t src_rows = (task->tile_rows - 1) * task->stride_h + task->kh;
    ptrdiff_t at = task->first + (ptrdiff_t)(area->x * task->stride_w + k);
    for (; k < end; k++, at++) {
        bool exists = at >= 0 && at < (ptrdiff_t)in;
        for (size_t i = 0; exists && i < src_rows; i++)
            lines += use_line(places, 1 + (area->y * task->stride_h + i) * in + (size_t)at);
        size_t done = k + 1 - task->kw, x = area->x + done / task->stride_w;
        for (size_t i = 0;
             dst && k + 1 >= task->kw && done % task->stride_w == 0 && i < task->tile_rows; i++)
            lines += 2 * use_line(places, dst + i * out + x);
    }
    return lines;
}

/* Lines of weights that come: taps are as far apart as pixels. */
static size_t lines_of_weights(const struct convolution_depthwise *mine, struct places *places)
{
    size_t lines = 0;
    for (size_t tap = 0; tap < mine->taps; tap++)
        lines += use_line(places, FIRST_WEIGHTS + tap);
    return lines;
}

/* Those of copies are anywhere in the cache: these places have a few of them, for the time of other
 * channels. */
static size_t lines_of_copies(const struct convolution_depthwise *mine, struct places *places)
{
    size_t bytes = mine->taps * mine->task.tile_channels * sizeof(float), lines = 0;
    size_t apart = mine->cpu->l1_bytes / (places->count * places->ways);
    for (size_t i = 0; i < div_up(bytes, apart); i++)
        lines += use_line(places, FIRST_WEIGHTS + i * APART);
    return lines;
}

/* For half of a tile. Taps that are fewer than places have most of these to themselves, or to
 * others, by where weights begin; kernels by lines copy a few channels' weights, which take next to
 * no room. */
static size_t lines_of_taps(const struct convolution_depthwise *mine, struct places *places,
                            int half)
{
    if (mine->task.by_lines || mine->taps < places->count)
        return 0;
    if (!mine->task.copies_weights)
        return lines_of_weights(mine, places);
    return half ? 0 : lines_of_copies(mine, places);
}

/* A tile does one half of a line of channels after the other: all of its columns, or parts. */
static size_t lines_of_tile(const struct convolution_depthwise *mine, struct places *places,
                            const struct area *area, size_t dst)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t columns = (area->columns - 1) * task->stride_w + task->kw, lines = 0;
    size_t part = task->by_lines ? PART_COLUMNS : columns;
    for (size_t k = 0; k < columns; k += part)
        for (int half = 0; half < 2; half++) {
            lines += lines_of_taps(mine, places, half);
            lines += lines_of_columns(mine, places, area, dst, k, min_size(k + part, columns));
        }
    return lines;
}

/* Some rows down, after the weights. dst may begin anywhere, so each tile's is at another place. */
static size_t lines_of_rows(const struct convolution_depthwise *mine, bool has_dst)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t in = (size_t)mine->shape.in[WIDTH], out = (size_t)mine->shape.out[WIDTH], lines = 0;
    size_t ways = depthwise_l1_ways(mine->cpu), count = depthwise_pixels_in_l1(mine) / ways;
    struct places places = {.count = max_size(min_size(count, MOST_PLACES), 1), .ways = ways};
    size_t strip = min_size(task->strip, out), width = task->by_lines ? strip : task->tile_columns;
    lines_of_taps(mine, &places, 0);
    for (size_t y = 0; y < ROWS_DOWN; y += task->tile_rows) {
        size_t dst =
            has_dst ? places.count * in * in + 1 + y * (out + places.count / ROWS_DOWN) : 0;
        for (size_t x = 0; x < strip; x += width)
            lines +=
                lines_of_tile(mine, &places, &(struct area){x, y, min_size(width, strip - x)}, dst);
    }
    return lines;
}

/* dst has the same places in the L1 cache if arrays begin with a page, and few, or others. */
double depthwise_lines_of_pixel(const struct convolution_depthwise *mine)
{
    double pixels = (double)(ROWS_DOWN * min_size(mine->task.strip, mine->task.out_cols));
    return ((double)lines_of_rows(mine, true) + (double)lines_of_rows(mine, false)) / 2 / pixels +
           1;
}
