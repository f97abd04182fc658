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
        .rows = rows->size[r] + 2,
        .cols = cols->size[c] + 2,
    };
    tile.height = min_size(rows->size[r], (size_t)(s->out[HEIGHT] - tile.y));
    tile.width = min_size(cols->size[c], (size_t)(s->out[WIDTH] - tile.x));
    return tile;
}

void winograd_make_strip(const struct task *task, struct span tiles)
{
    const struct convolution_winograd *plan = task->run->plan;
    struct strip *strip = task->strip;
    size_t points = plan->points;
    strip->count = tiles.end - tiles.begin;
    memset(strip->rows, 0, sizeof strip->rows);
    for (size_t t = 0; t < strip->count; t++) {
        struct tile *tile = &strip->tiles[t];
        uint8_t *row = strip->row[t];
        *tile = tile_at(plan, tiles.begin + t);
        for (size_t u = 0; u < tile->rows; u++)
            for (size_t v = 0; v < tile->cols; v++)
                *row++ = (uint8_t)strip->rows[u * points + v]++;
    }
    for (size_t p = 0, first = 0; p < points * points; first += strip->rows[p++])
        strip->first[p] = first;
    for (size_t t = 0; t < strip->count; t++) {
        const struct tile *tile = &strip->tiles[t];
        const uint8_t *row = strip->row[t];
        uint32_t *sums = strip->sums[t];
        for (size_t u = 0; u < tile->rows; u++)
            for (size_t v = 0; v < tile->cols; v++)
                *sums++ = (uint32_t)((strip->first[u * points + v] + *row++) * GEMM_F32_NR);
    }
}
