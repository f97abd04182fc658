/* Winograd convolution: one dimension cut into tiles. */
#include "src/convolution/convolution_winograd.h"

/* Points of three taps: the fewest tiles, as the points of all tiles are size + 2 times their
 * number; remainders that have no tile of their own size share it with the tile before (5 = 3 + 2,
 * 7 = 4 + 3), or are padded. */
static struct cut cut_of_three(size_t size, size_t most)
{
    struct cut cut = {.halo = WINOGRAD_TAPS - 1, .size = {most}};
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

struct cut winograd_cut(size_t size, size_t taps, size_t most)
{
    return taps == 1 ? (struct cut){.size = {1}, .count = {size}} : cut_of_three(size, most);
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

neo_dim winograd_cut_begin(const struct cut *cut, size_t size, size_t index)
{
    size_t begin = index * cut->size[size];
    for (size_t i = 0; i < size; i++)
        begin += cut->count[i] * cut->size[i];
    return (neo_dim)begin;
}
