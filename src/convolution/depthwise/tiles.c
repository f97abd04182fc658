/* Depthwise convolution: what a kernel with tiles does before it goes on, so that few lines of the
 * L1 cache come twice. */
#include <math.h>

#include "arch/costs.h"
#include "src/convolution/depthwise/depthwise.h"

enum {
    TILE_ROWS = 2,
    TILE_COLUMNS = 7,  /* of most tiles */
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
 * weights take few of these, fewer where tiles are narrow for want of places. Else all channels, if
 * they stay. */
static size_t choose_channels(const struct convolution_depthwise *mine)
{
    bool is_narrow = mine->task.tile_columns && mine->task.tile_columns < TILE_COLUMNS;
    size_t l1 = mine->cpu->l1_bytes, most = l1 / depthwise_pixels_in_l1(mine);
    size_t part = is_narrow ? 2 * WEIGHTS_PART : WEIGHTS_PART;
    most = min_size(most, l1 / part / mine->taps) / sizeof(float);
    if (!has_whole_lines(mine))
        most = min_size(mine->channels,
                        l1 / 4 * 3 / sizeof(float) / pixels_of_tile(mine, TILE_COLUMNS));
    return max_size(round_up(most, DEPTHWISE_LINE), depthwise_channels_that_stay(mine));
}

/* Lines of two rows that have the same place of L1: does the lower row's have channels before the
 * upper one's? From the last channel on, that line is then used later than the upper row's, and
 * stays when those of further rows come, which need the lower one. */
static bool goes_from_last(const struct convolution_depthwise *mine)
{
    size_t way = mine->cpu->l1_bytes / depthwise_l1_ways(mine->cpu) / sizeof(float);
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
    size_t all = div_up((size_t)mine->shape.out[WIDTH], TILE_COLUMNS);
    size_t pixel = min_size(mine->task.tile_channels, mine->channels) * sizeof(float);
    size_t room = min_size(depthwise_pixels_in_l1(mine), l1 / pixel);
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
 * done as a whole, if these have few channels. With stride 2 single rows cost more than such lines.
 */
static bool rows_share_places(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t way = mine->cpu->l1_bytes / depthwise_l1_ways(mine->cpu) / sizeof(float);
    size_t row = (size_t)mine->shape.in[WIDTH] * mine->channels % way;
    size_t apart = min_size(row, way - row);
    size_t tile = (TILE_COLUMNS - 1 + task->kw) * mine->channels;
    return !has_whole_lines(mine) && task->stride_w == 1 && task->tile_channels >= mine->channels &&
           apart * depthwise_l1_ways(mine->cpu) < tile;
}

/* ---- tiles ---- */

/* What kernels/depthwise/f32/tiles.h and depthwise/f32/lines.h have, the fastest of a stride first:
 * so many rows and columns of dst. By the model of docs/measuring.md, of Neoverse N1 and V2: cycles
 * for a line of channels of one of its pixels, of its row of a strip, and of all pixels, which is
 * what a copy of its weights takes. Apple M1's are as many as V2's, or fewer by a tenth. Cores that
 * issue in order have no tiles. */
struct tile {
    uint16_t stride, rows, columns;
    bool by_lines, copies_weights;
    struct tile_cycles {
        double each, row, all;
    } narrow, wide; /* cores with up to two multipliers; with more */
};
static const struct tile tiles[] = {
    {1, 2, 7, false, false, {19.6, 0, 0}, {9.9, 0, 0}},
    {1, 2, 4, false, false, {19.7, 0, 0}, {9.9, 0, 0}},
    {1, 1, 7, false, false, {20.5, 0, 0}, {10, 0, 0}},
    {1, 1, 7, false, true, {20.5, 0, 54}, {10, 0, 17}},
    {2, 2, 14, false, false, {20.6, 0, 0}, {10.2, 0, 0}},
    {2, 2, 7, false, false, {21.2, 0, 0}, {11, 0, 0}},
    {2, 2, 14, true, false, {20.4, 13, 0}, {10.9, 8, 0}},
};

/* What a line between the L1 and the L2 cache costs beside sums, if these do not wait for it. */
static double line_cycles(const struct core *core)
{
    return core->fmla_per_cycle > 2 ? core_costs(core)->other.line : 1;
}

static void set_tile(struct convolution_depthwise *mine, const struct tile *tile, size_t strip)
{
    struct dwconv_f32_task *task = &mine->task;
    task->tile_rows = tile->rows;
    task->tile_columns = tile->columns;
    task->by_lines = tile->by_lines;
    task->copies_weights = tile->copies_weights;
    task->tile_channels = choose_channels(mine);
    task->strip = tile->by_lines ? strip : choose_strip(mine);
}

/* For a line of channels of a pixel of dst, in the task's tiles. A strip may be too narrow for
 * them. */
static double cycles_of(const struct convolution_depthwise *mine, const struct tile *tile)
{
    if (!tile->by_lines && tile->columns > mine->task.strip)
        return HUGE_VAL;
    const struct core *core = mine->cpu->core;
    const struct tile_cycles *cycles = core->fmla_per_cycle > 2 ? &tile->wide : &tile->narrow;
    double pixels = (double)mine->shape.out[HEIGHT] * (double)mine->shape.out[WIDTH];
    return cycles->each + cycles->row / (double)mine->task.strip + cycles->all / pixels +
           line_cycles(core) * depthwise_lines_of_pixel(mine);
}

/* Of those for whole lines of channels. */
static void choose_tile(struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    struct dwconv_f32_task best = *task;
    double least = HUGE_VAL;
    for (size_t i = 0; i < count_of(tiles); i++) {
        size_t strip = (size_t)mine->shape.out[WIDTH];
        if (tiles[i].stride != task->stride_w || task->stride_h != task->stride_w)
            continue;
        for (; strip >= TILE_COLUMNS; strip = tiles[i].by_lines ? strip / 2 : 0) {
            set_tile(mine, &tiles[i], strip);
            double cycles = cycles_of(mine, &tiles[i]);
            if (cycles < least)
                best = *task, least = cycles;
        }
    }
    mine->task = best;
}

void depthwise_plan_tiles(struct convolution_depthwise *mine)
{
    struct dwconv_f32_task *task = &mine->task;
    task->tile_columns = 0; /* the kernel's own choice */
    task->by_lines = task->copies_weights = false;
    task->tile_channels = choose_channels(mine);
    task->tile_rows = rows_share_places(mine) ? 1 : TILE_ROWS;
    task->strip = choose_strip(mine);
    task->from_last = goes_from_last(mine);
    if (has_whole_lines(mine))
        choose_tile(mine);
}
