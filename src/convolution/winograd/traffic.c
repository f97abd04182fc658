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

enum {
    LINE = 64,
    MOST_BYTES = 8 << 20, /* of a strip's inputs and sums */
};

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

/* Lines of dst that a round of a strip has a part of, in bytes, and the share of the places of a
 * cache that they are in: pixels are a number of lines apart, and a round has few of these. */
struct outputs {
    double bytes, share;
};

static struct outputs outputs_of(const struct convolution_winograd *mine,
                                 const struct winograd_blocking *how, double tiles)
{
    double round = (double)how->panels * (double)WINOGRAD_F32_NR * sizeof(float);
    double lines = ceil(round / (double)LINE) + (how->panels < mine->panels);
    size_t pixel = (size_t)mine->shape.oc * sizeof(float);
    double apart = (double)power_of_two_in(pixel) / (double)LINE;
    return (struct outputs){lines * tiles * mine->tile.outputs, fmin(lines / fmax(apart, 1), 1)};
}

/* A way to divide the tiles, and what estimates are made of: a strip's tiles and rounds, and its
 * bytes. */
struct way {
    const struct convolution_winograd *mine;
    const struct winograd_costs *costs;
    size_t strips, panels;
    bool replaces; /* sums take the place of inputs */
    double l1, l2; /* bytes of the caches */
    double tiles, rounds;
    double weights, source, inputs, sums;
    double beside; /* sums of a round that are beside inputs and weights */
    struct outputs outputs;
};

static double sums_beside(const struct way *w)
{
    double sums = w->sums * (double)w->panels / (double)w->mine->panels;
    return w->replaces ? fmax(sums - w->inputs, 0) : sums;
}

static struct way way_of(const struct convolution_winograd *mine, const struct cpu *cpu,
                         const struct winograd_blocking *how)
{
    double tiles = (double)div_up(mine->tiles, how->strips);
    struct way w = {
        .mine = mine,
        .costs = costs_of(cpu),
        .strips = how->strips,
        .panels = how->panels,
        .replaces = winograd_replaces_inputs(mine, how),
        .l1 = (double)cpu->l1_bytes,
        .l2 = (double)cpu->l2_bytes,
        .tiles = tiles,
        .rounds = (double)div_up(mine->panels, how->panels),
        .weights = weights_bytes(mine),
        .source = tiles * mine->tile.source,
        .inputs = tiles * mine->tile.inputs,
        .sums = tiles * mine->tile.sums * (double)mine->panels,
        .outputs = outputs_of(mine, how, tiles),
    };
    w.beside = sums_beside(&w);
    return w;
}

double winograd_kept(const struct convolution_winograd *mine, const struct cpu *cpu,
                     const struct winograd_blocking *how)
{
    struct way w = way_of(mine, cpu, how);
    return w.inputs + w.beside;
}

/* Do all weights stay in the L2 cache from strip to strip? */
static bool keeps_weights(const struct way *w)
{
    double strip = w->source + w->inputs + w->beside;
    return w->weights + strip + w->outputs.bytes <= w->costs->stays * w->l2;
}

/* Which part of what lies between two uses has no room? */
static double part_without(double room, double between)
{
    return 1 - fmin(fmax(room / between, 0), 1);
}

/* Each round begins where the one before ended, so what follows a point is between its two uses:
 * inputs once, weights twice, and all that the round has beside. In the only round, inputs and the
 * weights of points before it are between a point's transform and its products. */
static double missing(const struct way *w)
{
    double room = w->costs->room * w->l2;
    if (w->replaces)
        return part_without(room - fmax(w->inputs, w->sums), w->weights);
    double round = w->weights * (double)w->panels / (double)w->mine->panels;
    double between = w->inputs + 2 * round, share = w->outputs.share;
    room -= w->beside;
    return share * part_without(room - w->outputs.bytes / share, between) +
           (1 - share) * part_without(room, between);
}

double winograd_missing(const struct convolution_winograd *mine, const struct cpu *cpu,
                        const struct winograd_blocking *how)
{
    struct way w = way_of(mine, cpu, how);
    return missing(&w);
}

/* Bytes of dst that come again, and go out again, as a round ends within a line and what is between
 * it and the next round has hardly any room. */
static double outputs_again(const struct way *w)
{
    const double begins = w->costs->begins, all = 1;
    if (w->panels * WINOGRAD_F32_NR * sizeof(float) % LINE == 0)
        return 0;
    double weights = w->weights * (double)w->panels / (double)w->mine->panels;
    double between = w->inputs + weights + w->beside + w->outputs.bytes / w->outputs.share;
    double part = (between / w->l2 - begins) / (all - begins);
    return fmin(fmax(part, 0), 1) * (w->rounds - 1) * 2 * w->tiles * w->mine->tile.outputs;
}

/* What the L2 cache still has of the weights when the next strip begins with the last ones: it has
 * read its source since, that of a tile with the pixels around it. */
static double returning(const struct way *w)
{
    double between = w->costs->source * w->source + w->inputs + w->beside;
    double room = w->costs->returns * w->l2 - between, share = w->outputs.share;
    if (w->replaces || w->strips == 1)
        return 0;
    double returning =
        share * fmax(room - w->outputs.bytes / share, 0) + (1 - share) * fmax(room, 0);
    return fmin(returning, w->weights);
}

/* How often a value of the inputs' matrices goes out of the L1 cache before its line is full, as a
 * tile has a line at each point and many of these are in one place of the cache, unless points have
 * slots. */
static double driven_out(const struct way *w)
{
    const struct convolution_winograd *mine = w->mine;
    size_t way = max_size((size_t)w->l1 / CPU_L1_WAYS, LINE);
    size_t step = (size_t)w->tiles * mine->padded * sizeof(float);
    size_t apart = min_size(power_of_two_in(step), way); /* places are multiples of it */
    double at_one = (double)(mine->down * mine->across * apart) / (double)way;
    if (at_one < (double)CPU_L1_WAYS || w->replaces)
        return 0;
    return at_one * w->costs->colliding;
}

/* How many blocks of a point's rows stay in the L1 cache beside a panel of weights. */
static size_t blocks_that_stay(const struct way *w)
{
    double row = (double)w->mine->padded * sizeof(float), panel = row * (double)WINOGRAD_F32_NR;
    double blocks = (w->costs->l1_room * w->l1 - panel) / (row * (double)WINOGRAD_F32_MR);
    return max_size((size_t)fmax(blocks, 0), LEAST_BLOCKS);
}

/* How a strip's products read inputs and weights from beyond the L1 cache: some blocks at a time,
 * and weights for each of these, if a point's stay in the L2 cache; or all blocks, and inputs for
 * each panel. */
struct reading {
    double bytes;
    size_t blocks;
};

static struct reading reading(const struct way *w)
{
    size_t stay = blocks_that_stay(w), blocks = div_up((size_t)w->tiles, WINOGRAD_F32_MR);
    double some = w->rounds * w->inputs + (double)div_up(blocks, stay) * w->weights;
    double turns = blocks > stay ? (double)w->mine->panels : w->rounds;
    double all = turns * w->inputs + w->weights;
    double point = w->weights / (double)(w->mine->down * w->mine->across);
    bool returns = point <= w->costs->room / 2 * w->l2;
    return !returns || all <= some ? (struct reading){all, MOST_HEIGHTS}
                                   : (struct reading){some, stay};
}

size_t winograd_blocks_at_once(const struct convolution_winograd *mine, const struct cpu *cpu,
                               const struct winograd_blocking *how)
{
    struct way w = way_of(mine, cpu, how);
    return reading(&w).blocks;
}

/* From beyond the L2 cache: weights for each strip, and what is missing of inputs and sums, which
 * was brought and went out before it comes again, for each round; sums of the only round are where
 * inputs were. */
static double far_traffic(const struct way *w)
{
    if (keeps_weights(w))
        return 0;
    double brought = w->replaces ? fmax(w->sums - w->inputs, 0) : w->sums;
    double matrices = (2 + w->rounds) * w->inputs + brought + 2 * w->sums;
    return w->weights - returning(w) + outputs_again(w) + missing(w) * matrices;
}

/* Lines of dst that a round's channels are in, for each pixel; where panels do not end with a line,
 * the next round has it again. */
static double lines_of_round(const struct way *w)
{
    double lines = (double)w->panels * (double)WINOGRAD_F32_NR * sizeof(float) / (double)LINE;
    return lines == floor(lines) ? lines : lines + w->costs->half_line;
}

/* To the L1 cache weights, inputs and lines of dst come each time. */
static double near_traffic(const struct way *w)
{
    return reading(w).bytes + driven_out(w) * w->inputs +
           2 * w->rounds * lines_of_round(w) * w->tiles * w->mine->tile.outputs;
}

/* Source of all strips, and so many times dst. */
static double images_bytes(const struct convolution_winograd *mine, double times)
{
    double tiles = (double)mine->tiles, source = tiles * mine->tile.source;
    double dst = tiles * mine->tile.outputs * (double)mine->shape.oc * sizeof(float) / (double)LINE;
    return source + times * dst;
}

/* Dst counts twice as it goes out. They stay from call to call where they have room beside all
 * else. */
static double images_traffic(const struct way *w)
{
    const double room = w->costs->images; /* of the L2 cache, so that hardly a line leaves it */
    double all = images_bytes(w->mine, 1) + w->weights + w->inputs + w->beside;
    return all <= room * w->l2 ? 0 : images_bytes(w->mine, 2);
}

/* What a strip keeps is used for other layers, too: half of the L2 cache may still have it from
 * them, and the rest comes from memory once. */
static double beyond_l2(const struct way *w)
{
    return fmax(w->inputs + w->beside - w->l2 / 2, 0);
}

/* Sums of all panels of a round are in the scratchpad beside all inputs, or in their place; one
 * panel's have room always. */
static bool has_room(const struct way *w)
{
    size_t sums = w->panels * WINOGRAD_F32_NR, padded = w->mine->padded;
    size_t row = w->replaces ? max_size(padded, sums) : padded + sums;
    size_t rows = (size_t)w->tiles * w->mine->down * w->mine->across;
    return w->panels <= 1 || rows <= MOST_BYTES / (row * sizeof(float));
}

double winograd_traffic(const struct convolution_winograd *mine, const struct cpu *cpu,
                        const struct winograd_blocking *how)
{
    struct way w = way_of(mine, cpu, how);
    if (!has_room(&w))
        return HUGE_VAL;
    double strip = LISTS * (double)(mine->down * mine->across) + far_traffic(&w) +
                   near_traffic(&w) / w.costs->nearer;
    return images_traffic(&w) + (double)w.strips * strip + beyond_l2(&w);
}

double winograd_choose_panels(const struct convolution_winograd *mine, const struct cpu *cpu,
                              struct winograd_blocking *how)
{
    double least = HUGE_VAL;
    size_t last = 0;
    for (size_t rounds = 1; rounds <= mine->panels; rounds++) {
        struct winograd_blocking other = {how->strips, div_up(mine->panels, rounds)};
        double traffic = other.panels == last ? HUGE_VAL : winograd_traffic(mine, cpu, &other);
        last = other.panels;
        if (traffic < least)
            least = traffic, how->panels = other.panels;
    }
    return least;
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

/* Weights, if they do not even stay beside a strip's source and inputs, and those images that do
 * not: sums and lines of dst take more room. */
double winograd_least_from_afar(const struct convolution_winograd *mine, const struct cpu *cpu,
                                size_t strips)
{
    const struct winograd_costs *costs = costs_of(cpu);
    double l2 = (double)cpu->l2_bytes, tiles = (double)div_up(mine->tiles, strips);
    double source = tiles * mine->tile.source, inputs = tiles * mine->tile.inputs;
    double weights = weights_bytes(mine), all = images_bytes(mine, 1) + weights + inputs;
    double room = costs->returns * l2 - costs->source * source - inputs;
    double gone = strips > 1 ? fmax(weights - fmax(room, 0), 0) : weights;
    double far = weights + source + inputs <= costs->stays * l2 ? 0 : (double)strips * gone;
    return far + (all <= costs->images * l2 ? 0 : images_bytes(mine, 2));
}
