/* Depthwise convolution: what a kernel with tiles does before it goes on, so that few lines of the
 * L1 cache come twice. */
#include "src/convolution/convolution_depthwise.h"

enum {
    CHANNELS = 16, /* of a cache line */
    L1_WAYS = 4,
    MOST_PLACES = 256,
    TILE_ROWS = 2,
    TILE_COLUMNS = 7,  /* of most tiles */
    WEIGHTS_PART = 16, /* of the L1 cache is for weights */
};

/* Do pixels begin with a line? */
static bool has_whole_lines(const struct convolution_depthwise *mine)
{
    return mine->channels % CHANNELS == 0;
}

/* Pixels of source and dst that two rows of so many columns of dst need. */
static size_t pixels_of_tile(const struct convolution_depthwise *mine, size_t columns)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t rows = (TILE_ROWS - 1) * task->stride_h + task->kh;
    return rows * ((columns - 1) * task->stride_w + task->kw) + TILE_ROWS * columns;
}

/* ---- tiles ---- */

/* What kernels/dwconv_f32_tiles.h has: so many columns of dst in one or two rows; and Neoverse N1's
 * cycles for a line of channels of one of its pixels. */
struct tile {
    uint16_t stride, rows, columns;
    double cycles;
};
static const struct tile tiles[] = {
    {1, 2, 7, 19.6}, {1, 2, 4, 19.7}, {1, 1, 7, 20.5}, {2, 2, 14, 20.6},
    {2, 2, 7, 21.2}, {2, 2, 4, 22.5}, {2, 1, 7, 23.6},
};

/* The places that one line of channels of all pixels has in the L1 cache; the pixels whose lines
 * are there, the last used first. Pixel 0 stands for none. */
struct places {
    size_t count;
    size_t pixels[MOST_PLACES][L1_WAYS];
};

/* Uses the line of a pixel; returns whether it had to come. */
static size_t use_line(struct places *places, size_t pixel)
{
    size_t *there = places->pixels[pixel % places->count], way = 0;
    while (way < L1_WAYS - 1 && there[way] != pixel)
        way++;
    size_t comes = there[way] != pixel;
    for (; way > 0; way--)
        there[way] = there[way - 1];
    there[0] = pixel;
    return comes;
}

/* Lines that come for a tile, of which `src` and `dst` are the first pixels, and that leave again.
 * A tile does one half of a line of channels after the other. */
static size_t lines_of_tile(const struct convolution_depthwise *mine, struct places *places,
                            size_t src, size_t dst, size_t rows, size_t columns)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t in = (size_t)mine->shape.in[WIDTH], out = (size_t)mine->shape.out[WIDTH], lines = 0;
    size_t src_rows = (rows - 1) * task->stride_h + task->kh;
    for (int half = 0; half < 2; half++)
        for (size_t x = 0; x < (columns - 1) * task->stride_w + task->kw; x++) {
            for (size_t y = 0; y < src_rows; y++)
                lines += use_line(places, src + y * in + x);
            size_t done = x + 1 - task->kw;
            for (size_t y = 0; x + 1 >= task->kw && done % task->stride_w == 0 && y < rows; y++)
                lines += 2 * use_line(places, dst + y * out + done / task->stride_w);
        }
    return lines;
}

/* With lines between the L1 and the L2 cache, some rows down; dst may begin anywhere, so each
 * tile's is at another place. */
static double cycles_of(const struct convolution_depthwise *mine, const struct tile *tile)
{
    enum { ROWS_DOWN = 8 };
    const double LINE_CYCLES = 4;
    const struct dwconv_f32_task *task = &mine->task;
    size_t in = (size_t)mine->shape.in[WIDTH], out = (size_t)mine->shape.out[WIDTH], lines = 0;
    size_t stay = depthwise_pixels_that_stay(mine, mine->cpu->l1_bytes, L1_WAYS);
    struct places places = {.count = max_size(min_size(stay / L1_WAYS, MOST_PLACES), 1)};
    size_t strip = max_size(tile->columns, TILE_COLUMNS), first_dst = places.count * in * in + 1;
    for (size_t y = 0; y < ROWS_DOWN; y += tile->rows) {
        size_t src = 1 + y * task->stride_h * in;
        size_t dst = first_dst + y * (out + places.count / ROWS_DOWN);
        for (size_t x = 0, columns = tile->columns; x < strip; x += columns, columns = strip - x)
            lines += lines_of_tile(mine, &places, src + x * task->stride_w, dst + x, tile->rows,
                                   columns);
    }
    return tile->cycles + LINE_CYCLES * (double)lines / (double)(ROWS_DOWN * strip);
}

/* NULL: the kernel's own choice. */
static const struct tile *choose_tile(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    const struct tile *best = NULL;
    double least = 0;
    for (size_t i = 0; has_whole_lines(mine) && i < count_of(tiles); i++) {
        if (tiles[i].stride != task->stride_w || task->stride_h != task->stride_w)
            continue;
        double cycles = cycles_of(mine, &tiles[i]);
        if (!best || cycles < least)
            best = &tiles[i], least = cycles;
    }
    return best;
}

/* ---- channels ---- */

/* Whole lines, if pixels begin with one: as many as have places of their own, and few enough that
 * weights take few of these, fewer where tiles are narrow for want of places. Else all channels, if
 * they stay. */
static size_t choose_channels(const struct convolution_depthwise *mine)
{
    bool is_narrow = mine->task.tile_columns && mine->task.tile_columns < TILE_COLUMNS;
    size_t l1 = mine->cpu->l1_bytes, most = l1 / depthwise_pixels_that_stay(mine, l1, L1_WAYS);
    size_t part = is_narrow ? 2 * WEIGHTS_PART : WEIGHTS_PART;
    most = min_size(most, l1 / part / mine->taps) / sizeof(float);
    if (!has_whole_lines(mine))
        most = min_size(mine->channels,
                        l1 / 4 * 3 / sizeof(float) / pixels_of_tile(mine, TILE_COLUMNS));
    return max_size(round_up(most, CHANNELS), depthwise_channels_that_stay(mine));
}

/* Lines of two rows that have the same place of L1: does the lower row's have channels before the
 * upper one's? From the last channel on, that line is then used later than the upper row's, and
 * stays when those of further rows come, which need the lower one. */
static bool goes_from_last(const struct convolution_depthwise *mine)
{
    size_t way = mine->cpu->l1_bytes / L1_WAYS / sizeof(float);
    size_t row = (size_t)mine->shape.in[WIDTH] * mine->channels % way;
    return !has_whole_lines(mine) && (way - row) % mine->channels > mine->channels / 2;
}

/* ---- columns ---- */

/* Columns of dst that are done in all rows before the next ones: as many as leave the lines of two
 * rows in the L1 cache, until further rows and the other channels of these lines have come. Where
 * pixels do not begin with a line, less of it is of use; but two tiles of stride 2 are faster as a
 * wide one, and single rows keep what the next ones need. */
static size_t choose_strip(const struct convolution_depthwise *mine)
{
    size_t l1 = mine->cpu->l1_bytes, count = 1;
    size_t all = (size_t)mine->shape.out[WIDTH] / TILE_COLUMNS;
    size_t pixel = min_size(mine->task.tile_channels, mine->channels) * sizeof(float);
    size_t room = min_size(depthwise_pixels_that_stay(mine, l1, L1_WAYS), l1 / pixel);
    room = has_whole_lines(mine) ? room * 3 / 4 : room / 2;
    if (!has_whole_lines(mine) && mine->task.tile_rows == 1)
        return all * TILE_COLUMNS;
    while (count < all && pixels_of_tile(mine, (count + 1) * TILE_COLUMNS) <= room)
        count++;
    if (!has_whole_lines(mine) && mine->task.stride_w == 2)
        count = max_size(count, 2);
    return div_up(all, div_up(all, count)) * TILE_COLUMNS;
}

/* Do the rows of source that a tile of two rows needs begin near the same place of L1? They fill
 * all ways there, and none is left for dst; only rows of pixels that do not begin with a line are
 * done as a whole. */
static bool rows_share_places(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t way = mine->cpu->l1_bytes / L1_WAYS / sizeof(float);
    size_t row = (size_t)mine->shape.in[WIDTH] * mine->channels % way;
    size_t apart = min_size(row, way - row);
    size_t tile = ((TILE_COLUMNS - 1) * task->stride_w + task->kw) * mine->channels;
    return !has_whole_lines(mine) && apart * L1_WAYS < tile;
}

void depthwise_plan_tiles(struct convolution_depthwise *mine)
{
    struct dwconv_f32_task *task = &mine->task;
    const struct tile *tile = choose_tile(mine);
    task->tile_columns = tile ? tile->columns : 0;
    task->tile_rows = tile ? tile->rows : rows_share_places(mine) ? 1 : TILE_ROWS;
    task->tile_channels = choose_channels(mine);
    task->strip = choose_strip(mine);
    task->from_last = goes_from_last(mine);
}
