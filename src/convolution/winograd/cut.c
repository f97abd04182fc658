/* Winograd convolution: one dimension cut into tiles, and tiles of two dimensions by kind. */
#include "src/convolution/winograd/winograd.h"

/* Three taps: the fewest tiles, as the points of all tiles are size + 2 times their number;
 * remainders that have no tile of their own size share it with the tile before (5 = 3 + 2, 7 = 4 +
 * 3), or are padded. */
static struct cut cut_of_three(size_t size, size_t most)
{
    struct cut cut = {.size = {most}};
    size_t whole = size / most, rest = size % most;
    if (whole && rest == 1) {
        whole--;
        cut.size[1] = most == 2 ? 2 : most / 2 + 1;
        cut.size[2] = most == 2 ? 2 : most / 2;
        cut.count[1] = cut.count[2] = 1;
    } else if (rest == 5) {
        whole++;
    } else if (rest) {
        cut.size[1] = max_size(rest, 2);
        cut.count[1] = 1;
    }
    cut.count[0] = whole;
    return cut;
}

/* Five taps, whose tiles have 4 or 2 outputs, or seven, with 2. */
static struct cut cut_of_more(size_t size, size_t most)
{
    struct cut cut = {.size = {most}, .count = {size / most}};
    size_t rest = size % most;
    if (rest > 2 || (rest && most == 2)) {
        cut.count[0]++;
    } else if (rest) {
        cut.size[1] = 2;
        cut.count[1] = 1;
    }
    return cut;
}

/* Sizes that there are tiles of are in descending order. */
static void share_points(struct cut *cut)
{
    size_t begin = 0;
    for (size_t i = SIZES; i-- > 0;) {
        size_t end = cut->count[i] ? cut->size[i] + cut->halo : begin;
        cut->points[i] = (struct span){begin, end};
        begin = end;
    }
}

struct cut winograd_cut(size_t size, size_t taps, size_t most)
{
    struct cut cut = {.size = {1}, .count = {size}};
    if (taps > 1)
        cut = taps == 3 ? cut_of_three(size, most) : cut_of_more(size, most);
    cut.halo = taps - 1;
    share_points(&cut);
    return cut;
}

size_t winograd_cut_tiles(const struct cut *cut)
{
    return cut->count[0] + cut->count[1] + cut->count[2];
}

size_t winograd_cut_points(const struct cut *cut)
{
    size_t points = 0;
    for (size_t i = 0; i < SIZES; i++)
        points += cut->count[i] * (cut->size[i] + cut->halo);
    return points;
}

neo_dim winograd_cut_begin(const struct cut *cut, size_t size)
{
    size_t begin = 0;
    for (size_t i = 0; i < size; i++)
        begin += cut->count[i] * cut->size[i];
    return (neo_dim)begin;
}

/* ---- tiles by kind ---- */

void winograd_count_tiles(struct convolution_winograd *mine)
{
    const struct cut *rows = &mine->rows, *cols = &mine->cols;
    size_t end = 0;
    for (size_t kind = 0; kind < KINDS; kind++) {
        size_t r = kind / SIZES, c = kind % SIZES;
        size_t count = rows->count[r] * cols->count[c] * (size_t)mine->shape.batch;
        mine->kinds.ends[kind] = end += count;
        mine->kinds.points[kind] =
            count ? (rows->size[r] + rows->halo) * (cols->size[c] + cols->halo) : 0;
    }
    mine->tiles = end;
}

void winograd_count_kinds(const struct kinds *kinds, struct span tiles, size_t *counts)
{
    for (size_t kind = 0, begin = 0; kind < KINDS; begin = kinds->ends[kind++]) {
        size_t from = max_size(begin, tiles.begin), to = min_size(kinds->ends[kind], tiles.end);
        counts[kind] = to > from ? to - from : 0;
    }
}

size_t winograd_rows_at(const struct convolution_winograd *plan, size_t kind, const size_t *counts)
{
    const struct cut *rows = &plan->rows, *cols = &plan->cols;
    size_t sum = 0;
    for (size_t other = 0; other < KINDS; other++)
        if (rows->size[other / SIZES] >= rows->size[kind / SIZES] &&
            cols->size[other % SIZES] >= cols->size[kind % SIZES])
            sum += counts[other];
    return sum;
}
