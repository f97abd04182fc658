/* 3x3 convolutions of stride 1 by Winograd's minimal filtering; 1x3 and 3x1, and those of three
 * taps in one dimension, are the same with tiles of one row or column. Five and seven taps are the
 * same with tiles of as many points, and fewer outputs: 4 or 2, and 2.
 *
 * The image is cut into tiles, in each dimension some of the largest size m = 2, 4 or 6 and at most
 * two smaller ones, so that little is computed that is not wanted: 14 = 6 + 6 + 2, 7 = 4 + 3. A
 * tile of m_h x m_w outputs takes (m_h + 2) (m_w + 2) products for each pair of channels. For every
 * point there is a matrix multiplication whose rows are tiles; points of small tiles are among
 * those of large ones, so tiles of all sizes are rows of the same matrices.
 *
 * A strip of tiles at a time: its inputs are transformed straight into the panels of the matrix
 * multiplication, in the L2 cache; then for some panels of output channels at a time, in rounds,
 * the products of all points are summed and transformed back. Where weights are so large that no
 * strip whose inputs stay in the L2 cache makes up for them, a strip is large and has one round,
 * and all products of a point follow each other; sums lie where inputs were. */
#include <math.h>

#include "arch/costs.h"
#include "src/convolution/winograd/winograd.h"
#include "src/primitive/cost.h"
#include "src/primitive/post_ops.h"

enum { MIN_CHANNELS = 4 };

/* ---- refuse ---- */

/* Dimensions of more than one tap; 0: the kernel is another one. */
static int dimensions(const struct problem *problem)
{
    return layout_winograd_dimensions(&problem->tensors[WEIGHTS], convolution_is_grouped(problem));
}

/* The error of a result is at most c 2^-24 sum over i of taps max|src[i]| max|weights[i]|, over the
 * input channels i and the inputs and weights that the result's tile reads; see
 * neoprene/convolution.h. */
static double error_factor(size_t points, int dimensions)
{
    double factor = points == 4   ? NEO_WINOGRAD_ERROR_2
                    : points == 6 ? NEO_WINOGRAD_ERROR_4
                                  : NEO_WINOGRAD_ERROR_6;
    return dimensions == 1 ? 2 * sqrt(factor) : factor;
}

/* A sum of n products in f32, one after the other, has a factor of n. */
static bool is_accurate(const struct problem *problem, size_t points)
{
    double taps = (double)layout_winograd_taps(&problem->tensors[WEIGHTS]);
    taps *= dimensions(problem) == 1 ? 1 : taps;
    return problem->convolution_algorithm == NEO_CONVOLUTION_WINOGRAD ||
           problem->attributes.fpmath == NEO_FPMATH_ANY ||
           error_factor(points, dimensions(problem)) <=
               taps * (double)problem->tensors[SRC].dims[1];
}

static bool is_dense(const struct problem *problem)
{
    for (int i = 0; i < problem->tensors[DST].ndims - 2; i++)
        if (problem->window.strides[i] != 1 || problem->window.dilations[i] != 0)
            return false;
    return true;
}

static const char *winograd_refuse_all(const struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    if (problem->convolution_algorithm == NEO_CONVOLUTION_DIRECT)
        return "a direct algorithm was asked for";
    if (convolution_is_grouped(problem) && weights->dims[0] != 1)
        return "there are groups";
    if (!is_dense(problem) || !dimensions(problem))
        return "it is not a kernel of 3 × 3, 3 × 1, 1 × 3 or 3, or so with 5 or 7, "
               "with a stride of 1 and no dilation";
    if (problem->tensors[SRC].dims[1] < MIN_CHANNELS)
        return "there are fewer than four input channels";
    if (weights->format_kind == NEO_FORMAT_STRIDED)
        return "the weights are not transformed beforehand";
    return NULL;
}

static const char *winograd_refuse(const struct algorithm *self, const struct problem *problem,
                                   const struct cpu *cpu)
{
    (void)cpu;
    enum layout_id layout = self->weights_layout;
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    const char *why = layout_winograd_refuse(layout, weights, convolution_is_grouped(problem));
    if (why)
        return why;
    why = convolution_refuse_tensors(problem, layout);
    if (why)
        return why;
    if (!is_accurate(problem, layout_winograd_points(layout)))
        return "its rounding errors are larger than those of so short sums can be";
    return NULL;
}

static void winograd_choose(const struct algorithm *self, struct problem *problem,
                            const struct cpu *cpu)
{
    (void)cpu;
    if (problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_ANY)
        layout_set(&problem->tensors[WEIGHTS], self->weights_layout,
                   convolution_is_grouped(problem));
}

static struct cut cut_along(const struct convolution_shape *s, int dimension, size_t points)
{
    size_t taps = (size_t)s->kernel[dimension];
    return winograd_cut((size_t)s->out[dimension], taps, winograd_outputs(points, taps));
}

/* Tiles, and what they have at all points together; channels are whole vectors. */
struct work {
    double tiles, values, ic, oc;
};

static struct work work_of(const struct convolution_shape *s, size_t points)
{
    struct cut rows = cut_along(s, HEIGHT, points), cols = cut_along(s, WIDTH, points);
    double batch = (double)s->batch;
    return (struct work){
        .tiles = batch * (double)winograd_cut_tiles(&rows) * (double)winograd_cut_tiles(&cols),
        .values = batch * (double)winograd_cut_points(&rows) * (double)winograd_cut_points(&cols),
        .ic = (double)round_up((size_t)s->ic, WINOGRAD_F32_GROUP),
        .oc = (double)round_up((size_t)s->oc, 4),
    };
}

/* One or two tiles are too few sums for the multipliers. */
static double products_cycles(const struct work *work, const struct core *core)
{
    double multipliers = fmax(core->fmla_per_cycle, 1), tiles = fmax(work->tiles, 1);
    const struct winograd_costs *costs = &core_costs(core)->winograd;
    double waiting = costs->waiting + costs->multipliers * multipliers * multipliers;
    return work->values * work->ic * work->oc / (4 * multipliers) *
           (costs->sums + waiting / (tiles * tiles));
}

/* How long a core takes for transforms, beside Neoverse N1 and its slowness. */
static double transforms_factor(const struct core *core)
{
    return core->fmla_per_cycle >= 4 ? core_costs(core)->winograd.wide : 1;
}

/* Some fifteen instructions for four values at a point, two thirds of that in one dimension; more
 * where channels are gathered, and far more where tiles are columns, as their pixels are apart,
 * too, and values come and go one by one. In one dimension there are few values in a tile, so what
 * is done once for its channels counts, too. */
static double transforms_cycles(const struct work *work, const struct convolution_shape *s,
                                int dimensions, const struct core *core)
{
    const double alone = 4; /* a value beside others of a column; clang wants a double */
    const struct winograd_costs *costs = &core_costs(core)->winograd;
    double value = costs->input * work->ic + costs->output * work->oc;
    double passes = dimensions == 1 ? (double)2 / 3 : 1;
    if (s->dst.c > 1)
        value += costs->planes_out * work->oc;
    if (s->kernel[WIDTH] == 1)
        value += alone * ((s->src.c > 1 ? work->ic : 0) + (s->dst.c > 1 ? work->oc : 0));
    if (s->oc % 4) /* results are copied, for which others that issue in order wait no longer */
        value += costs->copied_out * work->oc;
    if (s->ic % WINOGRAD_F32_GROUP) /* patches are copied */
        passes *= costs->copied_in;
    else if (s->src.c > 1)
        value += costs->planes_in * work->ic;
    double tile = dimensions == 1 ? 375 + costs->line_channel * (work->ic + work->oc) : 150;
    return tile * work->tiles + transforms_factor(core) * passes * work->values * value;
}

static struct work work_for(const struct algorithm *self, const struct problem *problem)
{
    return work_of(convolution_shape_of(problem), layout_winograd_points(self->weights_layout));
}

static double winograd_estimate(const struct algorithm *self, const struct problem *problem,
                                const struct cpu *cpu)
{
    const struct convolution_shape *s = convolution_shape_of(problem);
    struct work work = work_for(self, problem);
    double outputs = (double)s->batch * (double)s->out[HEIGHT] * (double)s->out[WIDTH] * work.oc;
    double transforms = transforms_cycles(&work, s, dimensions(problem), cpu->core);
    return cpu->core->slowness * (2800 + transforms) + products_cycles(&work, cpu->core) +
           outputs * post_ops_cycles(problem);
}

/* ---- plan ---- */

/* What says how the tiles are divided, and how they are. */
static void plan_division(struct convolution_winograd *mine, const struct problem *problem,
                          enum layout_id layout, const struct cpu *cpu)
{
    mine->shape = *convolution_shape_of(problem);
    const struct convolution_shape *s = &mine->shape;
    mine->taps = layout_winograd_taps(&problem->tensors[WEIGHTS]);
    mine->points = layout_winograd_points(layout);
    mine->padded = round_up((size_t)s->ic, WINOGRAD_F32_GROUP);
    mine->rows = cut_along(s, HEIGHT, mine->points);
    mine->cols = cut_along(s, WIDTH, mine->points);
    mine->down = s->kernel[HEIGHT] == 1 ? 1 : mine->points;
    mine->across = s->kernel[WIDTH] == 1 ? 1 : mine->points;
    winograd_count_tiles(mine);
    mine->panels = layout_panel_count((size_t)s->oc);
    mine->full_panels = layout_full_panels((size_t)s->oc);
    mine->point = layout_winograd_step((size_t)s->ic, (size_t)s->oc);
    mine->kernel = winograd_f32_find(cpu);
    winograd_choose_blocking(mine, cpu);
}

/* Of the first strip's products, at which lines of weights are fetched: a point's only block of
 * rows asks for two of three. */
static double fetching_part(const struct convolution_winograd *mine, const struct core *core)
{
    const double of_one_block = core_costs(core)->winograd.one_block;
    size_t counts[KINDS];
    double all = 0, fetching = 0;
    winograd_count_kinds(&mine->kinds, (struct span){0, mine->strip}, counts);
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct span down = mine->rows.points[kind / SIZES];
        struct span across = mine->cols.points[kind % SIZES];
        size_t rows = winograd_rows_at(mine, kind, counts);
        double values = (double)((down.end - down.begin) * (across.end - across.begin) * rows);
        all += values;
        fetching += rows > WINOGRAD_F32_MR ? values : of_one_block * values;
    }
    return all > 0 ? fetching / all : 0;
}

/* While the first strip is multiplied its weights are fetched, and later ones find them in a cache;
 * and so do blocks of a point's rows that are not multiplied with the first ones. Inputs and sums
 * of a strip are kept in between. */
static void winograd_memory(const struct algorithm *self, const struct problem *problem,
                            const struct cpu *cpu, struct cost *cost)
{
    struct convolution_winograd mine = {0};
    struct work work = work_for(self, problem);
    plan_division(&mine, problem, self->weights_layout, cpu);
    double part = fmin((double)mine.strip / fmax(work.tiles, 1), 1);
    double blocks = (double)div_up(mine.strip, WINOGRAD_F32_MR);
    if (mine.fetches)
        cost->meanwhile = part * fmin((double)mine.most_blocks / blocks, 1) *
                          fetching_part(&mine, cpu->core) * products_cycles(&work, cpu->core);
    /* Transforms have little to do while images come: all of them are waited for. */
    struct image_bytes images = cost_images(problem, cpu);
    cost->others = images.read + images.written;
    if (mine.tiles) { /* there are images */
        struct winograd_blocking how = {div_up(mine.tiles, mine.strip), mine.most_panels};
        cost->others += winograd_kept(&mine, cpu, &how);
    }
}

static void plan_winograd(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_winograd *mine = plan;
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    plan_division(mine, problem, (enum layout_id)problem->tensors[WEIGHTS].packed.id, cpu);
    const struct convolution_shape *s = &mine->shape;
    mine->copy = copy_f32_find(cpu->features)->run;
    mine->gathers = s->src.c != 1;
    mine->finishes = !fusion.complete || fusion.reads_dst;
    bool neighbours = s->dst.c == 1 || s->oc == 1 || (s->dst.w == 1 && !mine->finishes);
    mine->staged = fusion.reads_dst || !neighbours;
    mine->low = mine->finishes ? -INFINITY : fusion.low;
    mine->high = mine->finishes ? INFINITY : fusion.high;
    winograd_plan_matrices(mine);
    winograd_plan_scratch(mine);
}

static size_t winograd_table_bytes(const void *plan)
{
    return ((const struct convolution_winograd *)plan)->tiles ? sizeof(struct arrangement) : 0;
}

static void fill_table(void *plan, void *table)
{
    struct convolution_winograd *mine = plan;
    winograd_arrange(mine, (struct span){0, min_size(mine->strip, mine->tiles)}, table);
    mine->first = table;
}

static const char *winograd_kernel(const void *plan)
{
    return ((const struct convolution_winograd *)plan)->kernel->name;
}

/* ---- one algorithm for each largest tile ---- */

/* What they all have. */
#define WINOGRAD                                                                                  \
    .refuse_all = winograd_refuse_all, .refuse = winograd_refuse, .choose = winograd_choose,      \
    .estimate = winograd_estimate, .memory = winograd_memory, .plan = plan_winograd,              \
    .plan_bytes = sizeof(struct convolution_winograd), .table_bytes = winograd_table_bytes,       \
    .fill_table = fill_table, .scratch_bytes = winograd_scratch_bytes, .kernel = winograd_kernel, \
    .run = winograd_run

const struct algorithm convolution_winograd_2 = {
    .name = "winograd_2",
    .weights_layout = LAYOUT_WINOGRAD_2_F32,
    WINOGRAD,
};

const struct algorithm convolution_winograd_4 = {
    .name = "winograd_4",
    .weights_layout = LAYOUT_WINOGRAD_4_F32,
    WINOGRAD,
};

const struct algorithm convolution_winograd_6 = {
    .name = "winograd_6",
    .weights_layout = LAYOUT_WINOGRAD_6_F32,
    WINOGRAD,
};

#undef WINOGRAD

const struct algorithm *convolution_winograd(uint32_t layout)
{
    static const struct algorithm *const all[] = {&convolution_winograd_2, &convolution_winograd_4,
                                                  &convolution_winograd_6};
    for (size_t i = 0; i < count_of(all); i++)
        if (layout == all[i]->weights_layout)
            return all[i];
    return NULL;
}
