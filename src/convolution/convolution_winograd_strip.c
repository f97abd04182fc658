/* Winograd convolution: which tiles a strip has, and their rows in the matrices of their points. */
#include <string.h>

#include "src/convolution/convolution_winograd.h"

/* Tiles of one size in both dimensions follow each other. */
static struct tile tile_at(const struct convolution_winograd *plan, size_t index)
{
    const struct cut *rows = &plan->rows, *cols = &plan->cols;
    const struct convolution_shape *s = &plan->shape;
    size_t r = 0, c = 0, across = 0, image = 0;
    for (size_t kind = 0; kind < SIZES * SIZES; kind++) {
        r = kind / SIZES, c = kind % SIZES;
        across = cols->count[c];
        image = rows->count[r] * across;
        if (index < image * (size_t)s->batch)
            break;
        index -= image * (size_t)s->batch;
    }
    struct tile tile = {
        .n = (neo_dim)(index / image),
        .y = winograd_cut_begin(rows, r, index % image / across),
        .x = winograd_cut_begin(cols, c, index % across),
        .rows = rows->size[r] + rows->halo,
        .cols = cols->size[c] + cols->halo,
    };
    tile.height = min_size(rows->size[r], (size_t)(s->out[HEIGHT] - tile.y));
    tile.width = min_size(cols->size[c], (size_t)(s->out[WIDTH] - tile.x));
    return tile;
}

/* Counts the rows at each point: tiles of one size follow each other. */
static void count_rows(const struct strip *strip, size_t across, uint8_t *rows)
{
    memset(rows, 0, MOST_POINTS);
    for (size_t t = 0, end; t < strip->count; t = end) {
        const struct tile *tile = &strip->tiles[t];
        for (end = t + 1; end < strip->count; end++)
            if (strip->tiles[end].rows != tile->rows || strip->tiles[end].cols != tile->cols)
                break;
        for (size_t u = 0; u < tile->rows; u++)
            for (size_t v = 0; v < tile->cols; v++)
                rows[u * across + v] = (uint8_t)(rows[u * across + v] + end - t);
    }
}

/* Blocks of a point differ by one row at most. */
static uint8_t *list_heights(size_t rows, uint8_t *heights)
{
    size_t blocks = div_up(rows, WINOGRAD_F32_MR);
    for (size_t i = 0; i < blocks; i++)
        *heights++ = (uint8_t)((rows + i) / blocks);
    *heights++ = WINOGRAD_F32_PANEL;
    return heights;
}

enum { SUM_BYTES = WINOGRAD_F32_NR * sizeof(float) }; /* of a row */

/* Takes the next row of each of the tile's points. next: that row, in bytes. */
static void place_sums(const struct tile *tile, size_t across, uint32_t *next, uint32_t *sums)
{
    for (size_t v = 0; v < tile->cols; v++)
        for (size_t u = 0; u < tile->rows; u++) {
            *sums++ = next[u * across + v];
            next[u * across + v] += SUM_BYTES;
        }
}

void winograd_make_strip(const struct task *task, struct span tiles)
{
    const struct convolution_winograd *plan = task->run->plan;
    struct strip *strip = task->strip;
    struct points *next_group = strip->groups;
    size_t points = plan->down * plan->across, of_group = plan->of_group, end = 0;
    uint8_t rows[MOST_POINTS], *heights = strip->heights;
    uint32_t next[MOST_POINTS] = {0};
    strip->count = tiles.end - tiles.begin;
    for (size_t t = 0; t < strip->count; t++)
        strip->tiles[t] = tile_at(plan, tiles.begin + t);
    count_rows(strip, plan->across, rows);
    strip->rows = 0;
    for (size_t p = 0; p < points; strip->rows += rows[p++]) {
        if (p == end) {
            *next_group++ = (struct points){p, strip->rows, heights};
            end = min_size(p + of_group, points);
        }
        uint8_t *begin = heights;
        heights = list_heights(rows[p], heights);
        if (p + 1 == end)
            *heights++ = WINOGRAD_F32_END;
        next[p] = (uint32_t)strip->rows * SUM_BYTES;
        strip->places[p] = (struct place){task->inputs + strip->rows * plan->padded, begin, *begin};
    }
    for (size_t t = 0; t < strip->count; t++)
        place_sums(&strip->tiles[t], plan->across, next, strip->sums[t]);
}
