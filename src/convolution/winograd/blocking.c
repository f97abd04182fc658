/* Winograd convolution: how many tiles a strip has, how many panels a round, and what is multiplied
 * at a time: what moves the least between the caches. */
#include <math.h>

#include "src/convolution/winograd/winograd.h"

enum {
    LINE = 64,
    TURNS = 8, /* pieces of a strip, where the next round begins with the last one */
};

/* Where many sums are under way a block with a row less takes as long. */
static size_t whole_blocks(size_t rows)
{
    size_t whole = round_up(rows, WINOGRAD_F32_MR);
    return whole <= MOST_STRIP ? whole : rows;
}

/* A point's inputs or sums, and an odd number of lines, so that points are in all places of a
 * cache. */
size_t winograd_slot(const struct convolution_winograd *mine, size_t tiles)
{
    const size_t line = LINE / sizeof(float);
    size_t row = max_size(mine->padded, mine->panels * WINOGRAD_F32_NR);
    return (div_up(tiles * row, line) | 1) * line;
}

/* Are so many weights, of all points, fetched while those before are multiplied with a strip? */
static bool fetching_pays(const struct winograd_f32_kernel *kernel, const struct cpu *cpu,
                          double tiles, double weights)
{
    return kernel->fetch && tiles > (double)WINOGRAD_F32_MR &&
           gemm_fetching_pays(cpu, weights * sizeof(float), tiles * weights / 4);
}

/* Weights from memory count once more where strips have too few tiles to hide their reading. */
static double unhidden(const struct convolution_winograd *mine, const struct cpu *cpu)
{
    const double mr = WINOGRAD_F32_MR; /* clang wants a double */
    double values = (double)(mine->down * mine->across * mine->point);
    return fetching_pays(mine->kernel, cpu, mr + 1, values) ? values * sizeof(float) : 0;
}

/* Strips that are lower, and more of them, until no more of them can move less; if there are some,
 * with blocks of almost as many rows as the kernels take. */
static struct winograd_blocking choose_strips(const struct convolution_winograd *mine,
                                              const struct cpu *cpu)
{
    struct winograd_blocking best = {1, 1};
    double least_moved = HUGE_VAL, waiting = unhidden(mine, cpu);
    for (size_t most = min_size(MOST_STRIP, mine->tiles); most > 0 && mine->panels; most--) {
        size_t strips = div_up(mine->tiles, most), filled = div_up(most, WINOGRAD_F32_MR);
        bool fills = most >= filled * (WINOGRAD_F32_MR - 1);
        if (div_up(mine->tiles, strips) != most || (strips > 1 && !fills))
            continue;
        double least = winograd_least_traffic(mine, cpu, strips);
        if (least >= least_moved)
            break;
        if (least + winograd_least_from_afar(mine, cpu, strips) >= least_moved)
            continue;
        struct winograd_blocking other = {.strips = strips};
        double moved = winograd_choose_panels(mine, cpu, &other);
        moved += most > WINOGRAD_F32_MR ? 0 : waiting;
        if (moved < least_moved)
            least_moved = moved, best = other;
    }
    return best;
}

/* From memory, or from a cache. */
static double weights_rows(const struct convolution_winograd *mine, const struct cpu *cpu)
{
    const double near = 3;
    double row =
        (double)mine->padded * (double)WINOGRAD_F32_NR; /* of one panel's weights at a point */
    double all = (double)(mine->down * mine->across * mine->point) * sizeof(float);
    double reading = gemm_reading(cpu, row * sizeof(float), all);
    return row > 0 ? fmax(near, reading / (row / 4)) : near;
}

void winograd_choose_blocking(struct convolution_winograd *mine, const struct cpu *cpu)
{
    mine->tile = winograd_tile_bytes(mine);
    struct winograd_blocking how = choose_strips(mine, cpu);
    size_t points = mine->down * mine->across;
    mine->strip = max_size(div_up(mine->tiles, how.strips), 1);
    if (how.strips > 1 && mine->kernel->sums)
        mine->strip = whole_blocks(mine->strip);
    mine->most_panels = how.panels;
    mine->most_blocks = winograd_blocks_at_once(mine, cpu, &how);
    mine->fetches =
        fetching_pays(mine->kernel, cpu, (double)mine->strip, (double)(points * mine->point));
    mine->weights_rows = weights_rows(mine, cpu);
    mine->slot = winograd_replaces_inputs(mine, &how) ? winograd_slot(mine, mine->strip) : 0;
    if (mine->slot || mine->most_blocks < MOST_HEIGHTS)
        mine->of_piece = 1;
    else
        mine->of_piece = winograd_missing(mine, cpu, &how) > 0 ? div_up(points, TURNS) : points;
}
