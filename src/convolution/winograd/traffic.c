/* Winograd convolution: what moves between the caches, by estimates of which arrays stay in them.
 * They replace what has not been used for longest, so what counts is all that comes between two
 * uses.
 *
 * Weights of all points come for each strip. A strip's matrices are written, read for each round of
 * panels, and the sums read to be transformed: lines of them that do not stay in the L2 cache come
 * and go each time. So there are three good ways: weights stay and strips are small; a strip's
 * inputs stay, and weights come once for each strip; or weights are so large that nothing stays,
 * and all of a strip comes once: then strips are as large as they can be. */
#include <math.h>

#include "arch/costs.h"
#include "src/convolution/winograd/winograd.h"

enum { LINE = 64 };

static const struct winograd_costs *costs_of(const struct cpu *cpu)
{
    return &core_costs(cpu->core)->winograd;
}

/* What could come from beyond the L2 cache while a strip's tiles and a point's rows are listed. */
static const double LISTS = 384;

struct tile_bytes winograd_tile_bytes(const struct convolution_winograd *mine)
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

static double weights_bytes(const struct convolution_winograd *mine)
{
    return (double)mine->down * (double)mine->across * (double)mine->point * sizeof(float);
}

/* Lines of dst that a round's channels are in, for each pixel; where panels do not end with a line,
 * the next round has it again. */
static double lines_of_round(const struct cpu *cpu, const struct winograd_blocking *how)
{
    double lines = (double)how->panels * (double)WINOGRAD_F32_NR * sizeof(float) / (double)LINE;
    return lines == floor(lines) ? lines : lines + costs_of(cpu)->half_line;
}

/* A point is multiplied apart from others then, which takes some time, too. Its sums are as far
 * from those of the next one as inputs are, and all these distances have 32 bits: in bytes, with
 * what fills lines. */
bool winograd_replaces_inputs(const struct convolution_winograd *mine,
                              const struct winograd_blocking *how)
{
    enum { ENOUGH = 1 << 17, MOST_ROW = 1 << 17 };
    _Static_assert((MOST_ROW + 1) * sizeof(float) <= UINT32_MAX / (MOST_POINTS * MOST_STRIP),
                   "32 bits");
    size_t products = (size_t)(mine->shape.ic * mine->shape.oc) * div_up(mine->tiles, how->strips);
    return how->panels == mine->panels && products >= ENOUGH && mine->padded <= MOST_ROW;
}

/* A strip's in bytes. */
static double inputs_of(const struct convolution_winograd *mine,
                        const struct winograd_blocking *how)
{
    return (double)div_up(mine->tiles, how->strips) * mine->tile.inputs;
}

static double sums_of(const struct convolution_winograd *mine, const struct winograd_blocking *how)
{
    return (double)div_up(mine->tiles, how->strips) * mine->tile.sums * (double)mine->panels;
}

/* Those of a round that are beside inputs and weights. */
static double sums_beside(const struct convolution_winograd *mine,
                          const struct winograd_blocking *how)
{
    double sums = sums_of(mine, how) * (double)how->panels / (double)mine->panels;
    return winograd_replaces_inputs(mine, how) ? fmax(sums - inputs_of(mine, how), 0) : sums;
}

double winograd_kept(const struct convolution_winograd *mine, const struct winograd_blocking *how)
{
    return inputs_of(mine, how) + sums_beside(mine, how);
}

/* Lines of dst that a round of a strip has a part of, in bytes, and the share of the places of a
 * cache that they are in: pixels are a number of lines apart, and a round has few of these. */
struct outputs {
    double bytes, share;
};

static struct outputs outputs_of(const struct convolution_winograd *mine,
                                 const struct winograd_blocking *how)
{
    double tiles = (double)div_up(mine->tiles, how->strips);
    double round = (double)how->panels * (double)WINOGRAD_F32_NR * sizeof(float);
    double lines = ceil(round / (double)LINE) + (how->panels < mine->panels);
    size_t pixel = (size_t)mine->shape.oc * sizeof(float);
    double apart = (double)power_of_two_in(pixel) / (double)LINE;
    return (struct outputs){lines * tiles * mine->tile.outputs, fmin(lines / fmax(apart, 1), 1)};
}

/* Do all weights stay in the L2 cache from strip to strip? */
static bool keeps_weights(const struct convolution_winograd *mine, const struct cpu *cpu,
                          const struct winograd_blocking *how)
{
    double source = (double)div_up(mine->tiles, how->strips) * mine->tile.source;
    double strip = source + inputs_of(mine, how) + sums_beside(mine, how);
    return weights_bytes(mine) + strip + outputs_of(mine, how).bytes <=
           costs_of(cpu)->stays * (double)cpu->l2_bytes;
}

/* Which part of what lies between two uses has no room? */
static double part_without(double room, double between)
{
    return 1 - fmin(fmax(room / between, 0), 1);
}

/* Each round begins where the one before ended, so what follows a point is between its two uses:
 * inputs once, weights twice, and all that the round has beside. In the only round, inputs and the
 * weights of points before it are between a point's transform and its products. */
double winograd_missing(const struct convolution_winograd *mine, const struct cpu *cpu,
                        const struct winograd_blocking *how)
{
    double inputs = inputs_of(mine, how), weights = weights_bytes(mine);
    double room = costs_of(cpu)->room * (double)cpu->l2_bytes;
    if (winograd_replaces_inputs(mine, how))
        return part_without(room - fmax(inputs, sums_of(mine, how)), weights);
    double round = weights * (double)how->panels / (double)mine->panels;
    double between = inputs + 2 * round;
    struct outputs outputs = outputs_of(mine, how);
    room -= sums_beside(mine, how);
    return outputs.share * part_without(room - outputs.bytes / outputs.share, between) +
           (1 - outputs.share) * part_without(room, between);
}

/* Bytes of dst that come again, and go out again, as a round ends within a line and what is between
 * it and the next round has hardly any room. */
static double outputs_again(const struct convolution_winograd *mine, const struct cpu *cpu,
                            const struct winograd_blocking *how)
{
    const double begins = costs_of(cpu)->begins, all = 1;
    if (how->panels * WINOGRAD_F32_NR * sizeof(float) % LINE == 0)
        return 0;
    double tiles = (double)div_up(mine->tiles, how->strips);
    double rounds = (double)div_up(mine->panels, how->panels);
    double weights = weights_bytes(mine) * (double)how->panels / (double)mine->panels;
    struct outputs outputs = outputs_of(mine, how);
    double between =
        inputs_of(mine, how) + weights + sums_beside(mine, how) + outputs.bytes / outputs.share;
    double part = (between / (double)cpu->l2_bytes - begins) / (all - begins);
    return fmin(fmax(part, 0), 1) * (rounds - 1) * 2 * tiles * mine->tile.outputs;
}

/* What the L2 cache still has of the weights when the next strip begins with the last ones: it has
 * read its source since, that of a tile with the pixels around it. */
static double returning(const struct convolution_winograd *mine, const struct cpu *cpu,
                        const struct winograd_blocking *how)
{
    const double around = costs_of(cpu)->source;
    double source = (double)div_up(mine->tiles, how->strips) * mine->tile.source;
    struct outputs outputs = outputs_of(mine, how);
    double between = around * source + inputs_of(mine, how) + sums_beside(mine, how);
    double room = costs_of(cpu)->returns * (double)cpu->l2_bytes - between;
    if (winograd_replaces_inputs(mine, how) || how->strips == 1)
        return 0;
    double returning = outputs.share * fmax(room - outputs.bytes / outputs.share, 0) +
                       (1 - outputs.share) * fmax(room, 0);
    return fmin(returning, weights_bytes(mine));
}

/* How often a value of the inputs' matrices goes out of the L1 cache before its line is full, as a
 * tile has a line at each point and many of these are in one place of the cache, unless points have
 * slots. */
static double driven_out(const struct convolution_winograd *mine, const struct cpu *cpu,
                         const struct winograd_blocking *how)
{
    size_t way = max_size(cpu->l1_bytes / CPU_L1_WAYS, LINE);
    size_t step = div_up(mine->tiles, how->strips) * mine->padded * sizeof(float);
    size_t apart = min_size(power_of_two_in(step), way); /* places are multiples of it */
    double at_one = (double)(mine->down * mine->across * apart) / (double)way;
    if (at_one < (double)CPU_L1_WAYS || winograd_replaces_inputs(mine, how))
        return 0;
    return at_one * costs_of(cpu)->colliding;
}

/* How many blocks of a point's rows stay in the L1 cache beside a panel of weights. */
static size_t blocks_that_stay(const struct convolution_winograd *mine, const struct cpu *cpu)
{
    double row = (double)mine->padded * sizeof(float), panel = row * (double)WINOGRAD_F32_NR;
    double blocks =
        (costs_of(cpu)->l1_room * (double)cpu->l1_bytes - panel) / (row * (double)WINOGRAD_F32_MR);
    return max_size((size_t)fmax(blocks, 0), LEAST_BLOCKS);
}

/* How a strip's products read inputs and weights from beyond the L1 cache: some blocks at a time,
 * and weights for each of these, if a point's stay in the L2 cache; or all blocks, and inputs for
 * each panel. */
struct reading {
    double bytes;
    size_t blocks;
};

static struct reading reading(const struct convolution_winograd *mine, const struct cpu *cpu,
                              const struct winograd_blocking *how)
{
    size_t tiles = div_up(mine->tiles, how->strips), stay = blocks_that_stay(mine, cpu);
    size_t blocks = div_up(tiles, WINOGRAD_F32_MR);
    double inputs = inputs_of(mine, how), weights = weights_bytes(mine);
    double rounds = (double)div_up(mine->panels, how->panels);
    double some = rounds * inputs + (double)div_up(blocks, stay) * weights;
    double all = (blocks > stay ? (double)mine->panels : rounds) * inputs + weights;
    double point = weights / (double)(mine->down * mine->across);
    bool returns = point <= costs_of(cpu)->room / 2 * (double)cpu->l2_bytes;
    return !returns || all <= some ? (struct reading){all, MOST_HEIGHTS}
                                   : (struct reading){some, stay};
}

size_t winograd_blocks_at_once(const struct convolution_winograd *mine, const struct cpu *cpu,
                               const struct winograd_blocking *how)
{
    return reading(mine, cpu, how).blocks;
}

/* From beyond the L2 cache: weights for each strip, and what is missing of inputs and sums, which
 * was brought and went out before it comes again, for each round; sums of the only round are where
 * inputs were. */
static double far_traffic(const struct convolution_winograd *mine, const struct cpu *cpu,
                          const struct winograd_blocking *how)
{
    if (keeps_weights(mine, cpu, how))
        return 0;
    double inputs = inputs_of(mine, how), sums = sums_of(mine, how);
    double rounds = (double)div_up(mine->panels, how->panels);
    double brought = winograd_replaces_inputs(mine, how) ? fmax(sums - inputs, 0) : sums;
    double matrices = (2 + rounds) * inputs + brought + 2 * sums;
    return weights_bytes(mine) - returning(mine, cpu, how) + outputs_again(mine, cpu, how) +
           winograd_missing(mine, cpu, how) * matrices;
}

/* To the L1 cache weights, inputs and lines of dst come each time. */
static double near_traffic(const struct convolution_winograd *mine, const struct cpu *cpu,
                           const struct winograd_blocking *how)
{
    double tiles = (double)div_up(mine->tiles, how->strips);
    double rounds = (double)div_up(mine->panels, how->panels);
    return reading(mine, cpu, how).bytes + driven_out(mine, cpu, how) * inputs_of(mine, how) +
           2 * rounds * lines_of_round(cpu, how) * tiles * mine->tile.outputs;
}

/* Source and dst of all strips, dst twice as it goes out. They stay from call to call where they
 * have room beside all else. */
static double images_traffic(const struct convolution_winograd *mine, const struct cpu *cpu,
                             const struct winograd_blocking *how)
{
    const double room =
        costs_of(cpu)->images; /* of the L2 cache, so that hardly a line leaves it */
    struct tile_bytes tile = mine->tile;
    double tiles = (double)mine->tiles, source = tiles * tile.source;
    double dst = tiles * tile.outputs * (double)mine->shape.oc * sizeof(float) / (double)LINE;
    double all = source + dst + weights_bytes(mine) + inputs_of(mine, how) + sums_beside(mine, how);
    return all <= room * (double)cpu->l2_bytes ? 0 : source + 2 * dst;
}

double winograd_traffic(const struct convolution_winograd *mine, const struct cpu *cpu,
                        const struct winograd_blocking *how)
{
    double strip = LISTS * (double)(mine->down * mine->across) + far_traffic(mine, cpu, how) +
                   near_traffic(mine, cpu, how) / costs_of(cpu)->nearer;
    return images_traffic(mine, cpu, how) + (double)how->strips * strip;
}

double winograd_least_traffic(const struct convolution_winograd *mine, const struct cpu *cpu,
                              size_t strips)
{
    double tiles = (double)mine->tiles;
    double lines = (double)mine->panels * (double)WINOGRAD_F32_NR * sizeof(float) / (double)LINE;
    double near = tiles * mine->tile.inputs + (double)strips * weights_bytes(mine) +
                  2 * lines * tiles * mine->tile.outputs;
    return (double)strips * LISTS * (double)(mine->down * mine->across) +
           near / costs_of(cpu)->nearer;
}
