/* Convolution of a few pixels of all groups at a time, with patches by pointer.
 *
 * For few channels in a group, packing patches for a matrix multiplication costs as much as the
 * multiplication. Here the addresses of the taps of eight pixels are listed once and serve every
 * group. Channels must be neighbours: where they are not (nchw), the rows of source of some rows of
 * dst are transposed first. */
#include <math.h>

#include "arch/costs.h"
#include "src/convolution/direct/indirect.h"
#include "src/primitive/post_ops.h"

enum {
    PIXELS = INDIRECT_F32_PIXELS,
    GATHERED_ROWS = 8,         /* of dst, whose rows of source are transposed together */
    MOST_GATHERED = 512 << 10, /* bytes; more makes fewer rows */
};

/* ---- refuse, choose, estimate ---- */

static const char *indirect_refuse(const struct algorithm *self, const struct problem *problem,
                                   const struct cpu *cpu)
{
    const neo_memory_desc *src = &problem->tensors[SRC];
    (void)self, (void)cpu;
    const char *why = convolution_refuse_tensors(problem, LAYOUT_CONVOLUTION_F32);
    if (why)
        return why;
    if (src->ndims == 5 && src->dims[1] > 1 && src->strides[1] != 1)
        return "channels of three-dimensional images do not follow each other";
    return convolution_refuse_direct(problem);
}

/* A kernel, and what it is for. */
struct choice {
    const struct convolution_shape *shape;
    const struct indirect_f32_kernel *kernel;
    size_t vectors; /* of the first panel of output channels */
};

static struct choice choose(const struct convolution_shape *s, const struct cpu *cpu)
{
    size_t width = layout_panel(max_size((size_t)s->oc, 1), 0).width;
    return (struct choice){
        s, indirect_f32_find(cpu->features, cpu->core->in_order, (size_t)s->ic, width), width / 4};
}

/* Are three vectors summed for half of the pixels at a time? */
static bool is_in_halves(const struct choice *chosen)
{
    return !chosen->kernel->in_order && chosen->vectors > 2;
}

/* The pixels that the kernel is best for. */
static size_t piece_of(const struct choice *chosen)
{
    return chosen->kernel->pixels[chosen->vectors - 1];
}

/* Pixels of dst are as far from each other at the end of a row as within it: pieces may go across
 * rows. That leaves fewer of them incomplete, but takes longer to list; kernels for cores that
 * issue in order are as fast with less than a full piece. */
static bool crosses_rows(const struct choice *chosen)
{
    const struct convolution_shape *s = chosen->shape;
    bool is_dst_even = s->out[HEIGHT] == 1 || s->dst.h == s->out[WIDTH] * s->dst.w;
    return is_dst_even && (!chosen->kernel->in_order || s->out[WIDTH] < (neo_dim)piece_of(chosen));
}

/* Cycles of one tap's multiply-adds for so many outputs. One to three channels are loaded by
 * themselves. */
static double tap_cycles(const struct cpu *cpu, bool tuned, double outputs, double channels)
{
    double whole = floor(channels / 4) * 4, rest = channels - whole;
    const struct pixels_costs *costs = &core_costs(cpu->core)->pixels;
    double sums = costs->listed_sums * whole;
    if (rest > 0 && cpu->core->in_order == IN_ORDER_NARROW) /* these wait for each other */
        sums += 1 + rest * rest / 2;
    else if (rest > 0)
        sums += rest + costs->listed_rest;
    if (tuned)
        sums = whole + 2 * rest;
    return outputs * sums / (4 * fmax(cpu->core->fmla_per_cycle, 1));
}

/* Weights that the L1 cache does not keep come again, at most for each piece: their cycles. */
static double reading_cycles(const struct convolution_shape *s, const struct cpu *cpu, double taps)
{
    const double line = 64; /* clang wants a double */
    double cycles = core_costs(cpu->core)->pixels.line * cpu->core->slowness;
    double bytes = taps * (double)(s->groups * s->ic * s->oc) * sizeof(float);
    return bytes > (double)cpu->l1_bytes ? bytes / line * cycles : 0;
}

/* Kernels for nothing but fours of channels load among multiply-adds and keep all sums. */
static bool takes_fours(const struct indirect_f32_kernel *kernel)
{
    return kernel->multiple > 1;
}

/* How much longer steps take than their multiply-adds: few sums wait for each other; and cores that
 * issue 64 bits of a load beside one have few beside which a vector of weights can come, if there
 * are few pixels. */
static double waits(const struct choice *chosen, const struct core *core, double pixels)
{
    const double most = PIXELS; /* clang wants a double */
    double vectors = (double)chosen->vectors, others = pixels / 2 + 3 * vectors + 6;
    double together = is_in_halves(chosen) && pixels > most / 2 ? pixels / 2 : pixels;
    double sums = together * vectors;
    double alone = sums / fmax(core->fmla_per_cycle, 1);
    if (takes_fours(chosen->kernel))
        others = pixels * 5 / 8 + 3 * vectors + 1;
    return fmax(1,
                chosen->kernel->in_order ? (sums + others) / 2 / sums : core->fmla_latency / alone);
}

/* Of a tile and a panel: stores, and loads that wait for addresses, which no core does much faster.
 * Groups have addresses of their own, which the narrow kernels wait for. */
static double around_cycles(const struct choice *chosen, const struct cpu *cpu, double taps)
{
    const struct indirect_f32_kernel *kernel = chosen->kernel;
    const struct pixels_costs *costs = &core_costs(cpu->core)->pixels;
    double halves = is_in_halves(chosen) ? costs->halves : 1;
    if (!kernel->in_order)
        return fmax(cpu->core->slowness, costs->least_slowness) * halves * (50 + 4 * taps);
    if (takes_fours(kernel))
        return 120;
    bool waits = kernel->in_order == IN_ORDER_NARROW && chosen->shape->groups > 1;
    return waits ? 300 + 25 * taps : 100 + 18 * taps;
}

/* Of a tile whose last vector is not whole: its sums, of whole vectors, are copied from between.
 * That takes 120 to 190 cycles of Neoverse N1; the products by lists that it is compared with are
 * estimated too high for few channels, too. */
static double ragged_cycles(const struct convolution_shape *s, const struct core *core)
{
    return s->oc % 4 == 0 ? 0 : core->in_order ? 320 : 220 * core->slowness;
}

/* Of a tile, where channels are not neighbours: transposing its part of src, and its outputs. */
static double gather_cycles(const struct convolution_shape *s, const struct cpu *cpu)
{
    const double pixels = PIXELS; /* clang wants a double */
    const struct pixels_costs *costs = &core_costs(cpu->core)->pixels;
    double output = s->oc % 4 == 0 ? costs->output : costs->ragged_output;
    double read =
        (double)s->stride[WIDTH] * fmin((double)s->stride[HEIGHT], (double)s->kernel[HEIGHT]);
    double input = costs->input * fmax(1, read / costs->rows); /* of whole rows */
    bool are_neighbours = s->src.c == 1 || s->src.c == 0;
    return are_neighbours
               ? 0
               : cpu->core->slowness * pixels * (input * (double)s->ic + output * (double)s->oc);
}

/* From the first to the last one that some pixel has in src; or one of zeros. */
static struct span reached_taps(const struct convolution_shape *s)
{
    struct span taps[SPACE];
    for (int d = 0; d < SPACE; d++)
        taps[d] = convolution_reached_taps(s, d);
    return convolution_first_to_last(s, taps, SPACE);
}

static double indirect_estimate(const struct algorithm *self, const struct problem *problem,
                                const struct cpu *cpu)
{
    (void)self;
    struct convolution_shape s = *convolution_shape_of(problem);
    double planes = (double)s.batch * (double)s.out[DEPTH], taps = 1;
    double rows = (double)s.out[HEIGHT], width = (double)s.out[WIDTH];
    const struct choice chosen = choose(&s, cpu);
    double piece = (double)piece_of(&chosen);
    bool crosses = crosses_rows(&chosen);
    double tiles = crosses ? ceil(rows * width / piece) : rows * ceil(width / piece);
    bool tuned = chosen.kernel->in_order;
    tiles *= planes;
    for (int i = 0; i < SPACE; i++)
        taps *= (double)s.kernel[i];
    double groups = tiles * (double)s.groups;
    double pixels = planes * rows * width;
    double outputs = ceil((double)s.oc / 4) * 4 * pixels * (double)s.groups;
    double of_a_tile = fmax(pixels, 1) / fmax(tiles, 1); /* dst may be empty */
    struct span span = reached_taps(&s);
    double reached = (double)(span.end - span.begin);
    double sums = reached * tap_cycles(cpu, tuned, outputs, (double)s.ic) *
                  waits(&chosen, cpu->core, of_a_tile);
    double panels = ceil((double)s.oc / (double)INDIRECT_F32_WIDTH);
    double listing = tiles * (cpu->core->slowness * (80 + (tuned ? 45 : 18) * taps) +
                              reading_cycles(&s, cpu, reached));
    double around =
        groups * (panels * around_cycles(&chosen, cpu, reached) + ragged_cycles(&s, cpu->core));
    bool plain = problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED;
    double packing = plain ? taps * (double)(s.groups * s.ic * s.oc) : 0;
    return 600 * cpu->core->slowness + sums + listing + around + packing +
           groups * gather_cycles(&s, cpu) + outputs * post_ops_cycles(problem);
}

/* ---- plan ---- */

/* Those of them that there can be. */
static size_t source_rows(const struct convolution_shape *s, size_t rows)
{
    return min_size(indirect_reached_rows(s, rows), (size_t)s->in[HEIGHT]);
}

static void plan_rows(struct convolution_indirect *mine, const struct choice *chosen)
{
    const struct convolution_shape *s = &mine->shape;
    size_t row_bytes = (size_t)s->in[WIDTH] * mine->channels * sizeof(float);
    mine->crosses_rows = crosses_rows(chosen);
    mine->rows = mine->gathers ? GATHERED_ROWS : mine->crosses_rows ? (size_t)s->out[HEIGHT] : 1;
    while (mine->gathers && mine->rows > 1 &&
           source_rows(s, mine->rows) * row_bytes > MOST_GATHERED)
        mine->rows--;
    mine->source_rows = source_rows(s, mine->rows);
}

/* Weights that do not stay in the L1 cache from piece to piece are used for several pieces, a part
 * that is small beside the rows of source at a time. What is done for whole pieces, or with a copy
 * of a few rows, does not wait for others. */
static void plan_pieces(struct convolution_indirect *mine, const struct cpu *cpu)
{
    enum { OF_WEIGHTS = 4, OF_ADDRESSES = 4 }; /* one of so many parts of the L1 cache */
    size_t group = max_size(mine->weights.step * sizeof(float), 1), l1 = cpu->l1_bytes;
    size_t addresses = mine->taps * PIXELS * sizeof(float *);
    size_t pieces = min_size(l1 / OF_ADDRESSES / max_size(addresses, 1), MOST_PIECES);
    bool stay = mine->weights.matrices * group <= l1 / 2;
    mine->pieces = 1;
    mine->groups_together = mine->weights.matrices;
    if (stay || pieces < 2 || mine->staged || mine->finishes || mine->gathers)
        return;
    mine->pieces = pieces;
    mine->groups_together = max_size(l1 / OF_WEIGHTS / group, 1);
}

static void plan_scratch(struct convolution_indirect *mine, bool plain_weights)
{
    size_t width = (size_t)mine->shape.in[WIDTH], row = mine->channels * sizeof(float);
    size_t weights = mine->weights.matrices * mine->weights.step;
    size_t source = mine->gathers ? mine->source_rows * width * row : 0;
    mine->packed_bytes = plain_weights ? convolution_part(weights * sizeof(float)) : 0;
    mine->pixel_bytes = convolution_part(mine->pieces * mine->taps * PIXELS * sizeof(float *));
    mine->zero_bytes = convolution_part(row);
    mine->stage_bytes = mine->staged ? convolution_part(PIXELS * mine->outputs * sizeof(float)) : 0;
    mine->task_bytes =
        mine->pixel_bytes + mine->zero_bytes + mine->stage_bytes + convolution_part(source);
}

static void indirect_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_indirect *mine = plan;
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    neo_memory_desc packed = problem->tensors[WEIGHTS];
    mine->shape = *convolution_shape_of(problem);
    const struct convolution_shape *s = &mine->shape;
    layout_set(&packed, LAYOUT_CONVOLUTION_F32, convolution_is_grouped(problem));
    mine->weights = layout_shape(&packed);
    mine->reached = reached_taps(s);
    mine->panel_count = layout_panel_count(mine->weights.n);
    for (size_t i = 0; i < min_size(mine->panel_count, INDIRECT_PANELS); i++) {
        mine->panels[i] = layout_panel(mine->weights.n, i);
        mine->panel_values[i] = indirect_panel_values(mine, i);
    }
    mine->taps = (size_t)(s->kernel[DEPTH] * s->kernel[HEIGHT] * s->kernel[WIDTH]);
    mine->channels = (size_t)(s->groups * s->ic);
    mine->outputs = (size_t)(s->groups * s->oc);
    mine->cpu = cpu;
    const struct choice chosen = choose(s, cpu);
    mine->kernel = chosen.kernel;
    mine->piece = piece_of(&chosen);
    mine->copy = copy_f32_find(cpu->features)->run;
    mine->gathers = s->src.c != 1 && mine->channels > 1;
    mine->staged = fusion.reads_dst || (s->dst.c != 1 && mine->outputs > 1);
    mine->finishes = !fusion.complete || fusion.reads_dst;
    mine->low = mine->finishes ? -INFINITY : fusion.low;
    mine->high = mine->finishes ? INFINITY : fusion.high;
    plan_rows(mine, &chosen);
    plan_pieces(mine, cpu);
    plan_scratch(mine, problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED);
}

static size_t indirect_scratch_bytes(const void *plan, int threads)
{
    const struct convolution_indirect *mine = plan;
    return mine->packed_bytes + mine->task_bytes * (size_t)threads;
}

static const char *indirect_kernel(const void *plan)
{
    return ((const struct convolution_indirect *)plan)->kernel->name;
}

const struct algorithm convolution_indirect = {
    .name = "indirect",
    .refuse = indirect_refuse,
    .choose = convolution_choose_packed,
    .estimate = indirect_estimate,
    .plan = indirect_plan,
    .plan_bytes = sizeof(struct convolution_indirect),
    .scratch_bytes = indirect_scratch_bytes,
    .kernel = indirect_kernel,
    .run = indirect_run,
};
