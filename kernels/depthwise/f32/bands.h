/* Depthwise 3x3 by tiles: the rows of a task as bands of tiles that leave out padding. */
#ifndef KERNELS_DEPTHWISE_F32_BANDS_H
#define KERNELS_DEPTHWISE_F32_BANDS_H

#include <math.h>
#include <stddef.h>

#include "kernels/depthwise/f32/depthwise.h"

/* What of a tile's rows of source is padding and left out: its first one, or its last one. */
enum { TILE_INNER, TILE_ABOVE, TILE_BELOW, TILES_ROWS_LEFT_OUT };

enum { TILES_HEIGHTS = 2, MOST_BANDS = 3 /* the first rows, the last ones, those between */ };

/* Tiles of the same height, `down` of them from row y of dst on. */
struct band {
    size_t y, height, down;
    int left_out; /* TILE_* */
};

struct bands {
    const float *const *rows; /* of source */
    size_t count;
    struct band band[MOST_BANDS];
};

static inline int bands_clamp(const struct dwconv_f32_task *task)
{
    return task->low > -INFINITY || task->high < INFINITY;
}

static inline void bands_add(struct bands *bands, size_t height, size_t down, int left_out)
{
    struct band *band = &bands->band[bands->count];
    if (!down || !height)
        return;
    band->y = bands->count ? band[-1].y + band[-1].height * band[-1].down : 0;
    band->height = height;
    band->down = down;
    band->left_out = left_out;
    bands->count++;
}

/* Tiles of `height` rows, or fewer where these are the first or the last. 0: padding is more than
 * one row at either end, or all of a tile's rows but one. */
static inline int bands_list(struct bands *bands, const struct dwconv_f32_task *task,
                             const float *const *rows, size_t height)
{
    size_t end = (task->out_rows - 1) * task->stride_h + 2;
    size_t above = !rows[0], below = !rows[end];
    bands->rows = rows;
    bands->count = 0;
    for (size_t i = 1; i < end; i++)
        if (!rows[i])
            return 0;
    if (above + below > task->out_rows)
        return 0;
    size_t left = task->out_rows, first = left - below < height ? left - below : height;
    if (above)
        bands_add(bands, first, 1, TILE_ABOVE), left -= first;
    size_t last = below ? (left - 1) % height + 1 : left % height;
    bands_add(bands, height, (left - last) / height, TILE_INNER);
    bands_add(bands, last, 1, below ? TILE_BELOW : TILE_INNER);
    return 1;
}

#endif
