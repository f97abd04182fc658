/* Winograd convolution: how many tiles a strip has, and how many panels a round, by what moves
 * between the caches. */
#include <math.h>

#include "src/convolution/convolution_winograd.h"

enum { MOST_PANELS = 16, LINE = 64, L1_WAYS = 4 };
static const double ROOM = 0.8; /* of the L2 cache, for what is to stay there */

/* Bytes of one tile of average size: its source, its inputs in the matrices, a panel's sums, and
 * lines that are begun by its outputs. */
struct tile_bytes {
    double source, inputs, sums, outputs;
};

static struct tile_bytes tile_bytes(const struct convolution_winograd *mine)
{
    const struct convolution_shape *s = &mine->shape;
    double values = (double)winograd_cut_points(&mine->rows) *
                    (double)winograd_cut_points(&mine->cols) * (double)s->batch;
    double tiles = fmax((double)mine->tiles, 1), points = values / tiles;
    double outputs = (double)s->batch * (double)s->out[HEIGHT] * (double)s->out[WIDTH] / tiles;
    return (struct tile_bytes){
        outputs * (double)s->ic * sizeof(float), points * (double)mine->padded * sizeof(float),
        points * (double)WINOGRAD_F32_NR * sizeof(float), outputs * (double)LINE};
}

/* How the tiles are divided: strips, and panels of sums that are made at a time. */
struct blocking {
    size_t strips, panels;
    double traffic; /* bytes from beyond the L2 cache, and a quarter of those from it */
};

static double weights_bytes(const struct convolution_winograd *mine)
{
    return (double)mine->down * (double)mine->across * (double)mine->point * sizeof(float);
}

/* Lines of dst that a round's channels are in, for each pixel; where panels do not end with a line,
 * the next round has it again. */
static double lines_of_round(const struct blocking *how)
{
    double lines = (double)how->panels * (double)WINOGRAD_F32_NR * sizeof(float) / (double)LINE;
    return lines == floor(lines) ? lines : lines + 0.75;
}

/* What a strip has in a round of panels beside its inputs and weights: all sums and outputs. */
static double round_bytes(const struct convolution_winograd *mine, const struct blocking *how)
{
    struct tile_bytes tile = tile_bytes(mine);
    double panels = (double)how->panels;
    double lines = 1 + ceil(panels * (double)WINOGRAD_F32_NR * sizeof(float) / (double)LINE);
    return (double)div_up(mine->tiles, how->strips) * (panels * tile.sums + lines * tile.outputs);
}

/* Do all weights stay in the L2 cache from strip to strip? */
static bool keeps_weights(const struct convolution_winograd *mine, const struct cpu *cpu,
                          const struct blocking *how)
{
    struct tile_bytes tile = tile_bytes(mine);
    double strip = (double)div_up(mine->tiles, how->strips) * (tile.source + tile.inputs);
    return weights_bytes(mine) + strip + round_bytes(mine, how) <= ROOM * (double)cpu->l2_bytes;
}

/* Which part of a strip's inputs and sums does not stay in the L2 cache from round to round? Each
 * round begins where the one before ended, so what follows a point is between its two uses: inputs
 * once, weights twice, and all that the round has beside. */
static double missing(const struct convolution_winograd *mine, const struct cpu *cpu,
                      const struct blocking *how)
{
    double inputs = (double)div_up(mine->tiles, how->strips) * tile_bytes(mine).inputs;
    double weights = weights_bytes(mine) * (double)how->panels / (double)mine->panels;
    double room = ROOM * (double)cpu->l2_bytes - round_bytes(mine, how);
    return 1 - fmin(fmax(room / (inputs + 2 * weights), 0), 1);
}

/* How often a value of the inputs' matrices goes out of the L1 cache before its line is full, as a
 * tile has a line at each point and many of these are in one place of the cache. */
static double driven_out(const struct convolution_winograd *mine, const struct cpu *cpu,
                         const struct blocking *how)
{
    size_t way = max_size(cpu->l1_bytes / L1_WAYS, LINE);
    size_t step = div_up(mine->tiles, how->strips) * mine->padded * sizeof(float);
    size_t apart = min_size(step & (~step + 1), way); /* places are multiples of it */
    double at_one = (double)(mine->down * mine->across * apart) / (double)way;
    return at_one < (double)L1_WAYS ? 0 : at_one * 0.6;
}

/* Weights that do not stay come for each strip; inputs and sums that do not, for each round, after
 * they went out. To the L1 cache weights, inputs and lines of dst come
 * each time. */
static double traffic(const struct convolution_winograd *mine, const struct cpu *cpu,
                      const struct blocking *how)
{
    struct tile_bytes tile = tile_bytes(mine);
    double tiles = (double)div_up(mine->tiles, how->strips), weights = weights_bytes(mine);
    double inputs = tiles * tile.inputs, sums = tiles * (double)mine->panels * tile.sums;
    double rounds = (double)div_up(mine->panels, how->panels);
    double near = weights + (rounds + driven_out(mine, cpu, how)) * inputs +
                  2 * rounds * lines_of_round(how) * tiles * tile.outputs;
    double far = weights + missing(mine, cpu, how) * ((2 + rounds) * inputs + 3 * sums);
    return (double)how->strips * (keeps_weights(mine, cpu, how) ? near / 4 : near / 4 + far);
}

/* Sums of all panels of a round are in the scratchpad: they take half of the L2 cache at most. */
static size_t most_panels(const struct convolution_winograd *mine, const struct cpu *cpu,
                          size_t strips)
{
    double sums = (double)div_up(mine->tiles, strips) * tile_bytes(mine).sums;
    size_t panels = (size_t)fmin((double)cpu->l2_bytes / 2 / sums, (double)MOST_PANELS);
    return min_size(max_size(panels, 1), mine->panels);
}

/* Are a point's rows blocks of almost as many as the kernels take? */
static bool fills_blocks(size_t rows)
{
    return rows >= div_up(rows, WINOGRAD_F32_MR) * (WINOGRAD_F32_MR - 1);
}

/* Where many sums are under way a block with a row less takes as long. */
static size_t whole_blocks(size_t rows)
{
    size_t whole = round_up(rows, WINOGRAD_F32_MR);
    return whole <= MOST_STRIP ? whole : rows;
}

void winograd_choose_blocking(struct convolution_winograd *mine, const struct cpu *cpu)
{
    struct blocking best = {1, 1, HUGE_VAL};
    for (size_t most = MOST_STRIP; most > 0 && mine->tiles && mine->panels; most--) {
        size_t strips = div_up(mine->tiles, most);
        if (strips > 1 && !fills_blocks(div_up(mine->tiles, strips)))
            continue;
        for (size_t panels = most_panels(mine, cpu, strips); panels > 0; panels--) {
            struct blocking other = {strips, panels, 0};
            other.traffic = traffic(mine, cpu, &other);
            best = other.traffic < best.traffic ? other : best;
        }
    }
    mine->strip = max_size(div_up(mine->tiles, best.strips), 1);
    if (best.strips > 1 && mine->kernel->sums)
        mine->strip = whole_blocks(mine->strip);
    mine->most_panels = best.panels;
    size_t points = mine->down * mine->across;
    mine->of_group = missing(mine, cpu, &best) > 0 ? div_up(points, MOST_GROUPS) : points;
    mine->groups = div_up(points, mine->of_group);
}
