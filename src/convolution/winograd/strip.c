/* Winograd convolution: which tiles a strip has. */
#include <string.h>

#include "src/convolution/winograd/winograd.h"

/* Tiles [begin, end) of a kind. */
static struct tile *list_tiles(const struct convolution_winograd *plan, size_t kind,
                               struct span tiles, struct tile *list)
{
    const struct convolution_shape *s = &plan->shape;
    size_t r = kind / SIZES, c = kind % SIZES;
    size_t rows = plan->rows.count[r], columns = plan->cols.count[c];
    size_t height = plan->rows.size[r], width = plan->cols.size[c];
    neo_dim top = winograd_cut_begin(&plan->rows, r), left = winograd_cut_begin(&plan->cols, c);
    size_t x = 0, y = 0, n = 0;
    if (tiles.begin) { /* divisions take a while */
        y = tiles.begin / columns, x = tiles.begin % columns;
        n = y / rows, y %= rows;
    }
    for (size_t i = 0; i < tiles.end - tiles.begin; i++) {
        struct tile *tile = list++;
        tile->n = (neo_dim)n;
        tile->y = top + (neo_dim)(y * height);
        tile->x = left + (neo_dim)(x * width);
        tile->rows = height + plan->rows.halo;
        tile->cols = width + plan->cols.halo;
        tile->height = min_size(height, (size_t)(s->out[HEIGHT] - tile->y));
        tile->width = min_size(width, (size_t)(s->out[WIDTH] - tile->x));
        tile->kind = kind;
        tile->index = i;
        if (++x < columns)
            continue;
        x = 0;
        if (++y == rows)
            y = 0, n++;
    }
    return list;
}

/* The plan's arrangement, the last other one, or a new one. */
static const struct arrangement *find_rows(const struct task *task, struct span tiles,
                                           const size_t *counts)
{
    const struct convolution_winograd *plan = task->run->plan;
    struct strip *strip = task->strip;
    struct arrangement *own = &strip->own;
    if (plan->first && memcmp(counts, plan->first->counts, sizeof own->counts) == 0)
        return plan->first;
    if (memcmp(counts, own->counts, sizeof own->counts) != 0) {
        winograd_arrange(plan, tiles, own);
        if (strip->shared == own)
            strip->shared = NULL;
    }
    return own;
}

void winograd_make_strip(const struct task *task, struct span tiles)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct kinds *kinds = &plan->kinds;
    struct strip *strip = task->strip;
    struct tile *next = strip->tiles;
    size_t counts[KINDS];
    winograd_count_kinds(kinds, tiles, counts);
    for (size_t kind = 0, begin = 0; kind < KINDS; begin = kinds->ends[kind++])
        if (counts[kind]) {
            size_t from = max_size(begin, tiles.begin) - begin;
            next = list_tiles(plan, kind, (struct span){from, from + counts[kind]}, next);
        }
    strip->count = tiles.end - tiles.begin;
    strip->rows = find_rows(task, tiles, counts);
}
