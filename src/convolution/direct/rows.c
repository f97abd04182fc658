/* Convolution of few input channels: the first layer of networks that see images.
 *
 * With three channels, gathering patches costs more than their sums. Here each row of source that a
 * row of dst needs is spread once into planes, one for each channel, with zeros where the padding
 * is; a ring of them serves the rows of dst that follow. The kernel walks along these rows, so
 * there are neither patches nor conditions, and the order of the images' dimensions only matters
 * where a row is spread and where a tile is stored. */
#include <math.h>

#include "arch/costs.h"
#include "src/convolution/direct/rows.h"
#include "src/primitive/post_ops.h"

enum {
    PIXELS = ROWCONV_F32_PIXELS,
    MOST_CHANNELS = 64,
    MOST_RING_BYTES = 512 << 10,
};

/* ---- refuse, choose, estimate ---- */

static size_t ring_rows(const struct convolution_shape *s)
{
    return (size_t)((s->kernel[HEIGHT] - 1) * s->dilation[HEIGHT] + 1);
}

/* All that tiles of the row read, and up to four values more. */
static size_t row_floats(const struct convolution_shape *s)
{
    size_t pixels = round_up(max_size((size_t)s->out[WIDTH], 1), PIXELS);
    size_t read = (pixels - 1) * (size_t)s->stride[WIDTH] + (size_t)s->kernel[WIDTH];
    size_t given = (size_t)(s->padding[WIDTH] + s->in[WIDTH]);
    return round_up(max_size(read, given) + 4, 4);
}

static bool is_row_served(const struct convolution_shape *s)
{
    neo_dim taps = s->kernel[WIDTH], stride = s->stride[WIDTH];
    return s->dilation[WIDTH] == 1 &&
           ((taps == 3 && (stride == 1 || stride == 2)) || (taps == 7 && stride == 2));
}

/* One more row: of zeros. */
static bool is_ring_small(const struct convolution_shape *s)
{
    size_t bytes;
    return checked_mul(&bytes, ring_rows(s) * (size_t)s->ic + 1, row_floats(s) * sizeof(float)) &&
           bytes <= MOST_RING_BYTES;
}

/* The kernel reads a panel for each tile, and the sums of a tile are not divided along k. */
static bool is_panel_small(const struct convolution_shape *s, const struct cpu *cpu)
{
    enum { LEAST_L1 = 16 << 10 };
    size_t taps = (size_t)(s->kernel[HEIGHT] * s->kernel[WIDTH]), room = cpu->l1_bytes * 5 / 8;
    return taps * (size_t)s->ic * LAYOUT_PANEL * sizeof(float) <= max_size(room, LEAST_L1);
}

static const char *rows_refuse(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self;
    struct convolution_shape s = *convolution_shape_of(problem);
    const char *why = convolution_refuse_tensors(problem, LAYOUT_CONVOLUTION_F32);
    if (why)
        return why;
    if (s.groups != 1 || s.ic < 1 || s.ic > MOST_CHANNELS)
        return "there are groups, or no or many input channels";
    if (problem->tensors[DST].ndims == 5)
        return "the images are three-dimensional";
    if (!is_row_served(&s))
        return "the kernel is not dense, 3 wide with a stride of 1 or 2, or 7 with one of 2";
    if (!is_ring_small(&s))
        return "the rows of source that a row of dst needs are too large";
    if (!is_panel_small(&s, cpu))
        return "a panel of weights is too large for the L1 cache";
    return convolution_refuse_direct(problem);
}

/* A tile is whole: where dst has no room for that, sums are staged. */
static bool lacks_room(const struct convolution_shape *s)
{
    return s->out[WIDTH] < PIXELS || s->oc % 4 != 0;
}

/* How long sums take beside multiply-adds alone. On cores that issue in order those of kernels made
 * for them, where some loads take the place of some; others wait. A panel of one vector has as many
 * loads as one of two. */
static double sums_factor(const struct convolution_shape *s, const struct cpu *cpu)
{
    size_t width = min_size(round_up((size_t)s->oc, 4), ROWCONV_F32_WIDTH);
    const struct pixels_costs *costs = &core_costs(cpu->core)->pixels;
    if (width <= 4)
        return costs->one_vector;
    bool tuned =
        rowconv_f32_find(cpu, (size_t)s->stride[WIDTH], (size_t)s->kernel[WIDTH], width)->in_order;
    return tuned ? costs->tuned_sums : costs->sums;
}

/* Beside the sums: tiles, calls of the kernel, rows of dst, and spreading rows of source. */
static double around_cycles(const struct convolution_shape *s, const struct cpu *cpu)
{
    const struct pixels_costs *costs = &core_costs(cpu->core)->pixels;
    const double pixels = PIXELS, width = ROWCONV_F32_WIDTH; /* clang wants doubles */
    double rows = (double)s->batch * (double)s->out[HEIGHT];
    double in_row = ceil((double)s->out[WIDTH] / pixels), panels = ceil((double)s->oc / width);
    double kernel_rows = (double)s->ic * (double)s->kernel[HEIGHT];
    double values = (double)s->batch * (double)(s->in[HEIGHT] * s->in[WIDTH] * s->ic);
    if (!cpu->core->in_order)
        return cpu->core->slowness *
               (rows * panels * (in_row * (35 + costs->kernel_row * kernel_rows) + 130) +
                values / 2);
    double calls = s->out[WIDTH] % PIXELS ? 2 : 1; /* the last tile is one of its own */
    return rows * (panels * (in_row * 40 + calls * 170) + kernel_rows * 25) +
           costs->spread * values;
}

static double rows_estimate(const struct algorithm *self, const struct problem *problem,
                            const struct cpu *cpu)
{
    (void)self;
    struct convolution_shape s = *convolution_shape_of(problem);
    const double pixels = PIXELS; /* clang wants a double */
    double outputs =
        (double)s.batch * (double)s.out[HEIGHT] * ceil((double)s.out[WIDTH] / pixels) * pixels;
    double k = (double)s.ic * (double)s.kernel[HEIGHT] * (double)s.kernel[WIDTH];
    double vectors = ceil((double)s.oc / 4);
    double sums = outputs * vectors * k / fmax(cpu->core->fmla_per_cycle, 1);
    sums *= sums_factor(&s, cpu);
    double copied = lacks_room(&s) ? core_costs(cpu->core)->pixels.copied * cpu->core->slowness *
                                         outputs * (double)s.oc
                                   : 0;
    bool plain = problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED;
    double packing = plain ? k * (double)s.oc : 0;
    return (cpu->core->in_order ? 1000 : 750) + sums + around_cycles(&s, cpu) + copied + packing +
           outputs * (double)s.oc * post_ops_cycles(problem);
}

/* ---- plan ---- */

static void plan_output(struct convolution_rows *mine, struct post_ops_fusion fusion)
{
    const struct convolution_shape *s = &mine->shape;
    size_t columns = mine->weights.columns, pixels = mine->tiles * PIXELS;
    mine->planes = s->dst.c != 1 && s->dst.w == 1;
    bool direct = mine->planes || s->dst.c == 1;
    mine->staged = fusion.reads_dst || !direct || lacks_room(s);
    mine->finishes = !fusion.complete || fusion.reads_dst;
    mine->low = mine->finishes ? -INFINITY : fusion.low;
    mine->high = mine->finishes ? INFINITY : fusion.high;
    mine->pixel = mine->planes ? 1 : mine->staged ? columns : (size_t)s->dst.w;
    mine->channel = !mine->planes ? 1 : mine->staged ? pixels : (size_t)s->dst.c;
}

/* The kernel reads a bias of whole panels. */
static bool copies_bias(const struct convolution_rows *mine, const struct problem *problem)
{
    return problem->tensors[BIAS].ndims && mine->weights.columns != mine->weights.n;
}

/* Lines of a row of dst that two panels write, three of four, go and come between them. */
static size_t lines_again(const struct convolution_rows *mine, size_t panels)
{
    return 2 * (size_t)mine->shape.out[WIDTH] * (panels - 1) * 3 / 4;
}

/* Tiles whose lines of dst, with what they read, stay in the L1 cache until all panels have come:
 * all of the row, if more calls cost more cycles than there are lines that come again. */
static size_t choose_part(const struct convolution_rows *mine, const struct cpu *cpu)
{
    const struct convolution_shape *s = &mine->shape;
    size_t panels = layout_panel_count(mine->weights.n), room = cpu->l1_bytes * 7 / 8;
    size_t kernel_rows = (size_t)s->kernel[HEIGHT] * (size_t)s->ic;
    size_t values = PIXELS * (mine->weights.columns + (size_t)s->stride[WIDTH] * kernel_rows);
    size_t tile = values * sizeof(float), weights = mine->weights.step * sizeof(float);
    if (mine->planes || mine->tiles == 0 || weights + tile > room)
        return mine->tiles;
    size_t parts = div_up(mine->tiles, (room - weights) / tile);
    size_t cycles = (parts - 1) * panels * (cpu->core->in_order ? 250 : 80);
    return cycles < lines_again(mine, panels) ? div_up(mine->tiles, parts) : mine->tiles;
}

static void plan_scratch(struct convolution_rows *mine, const struct problem *problem)
{
    const struct convolution_shape *s = &mine->shape;
    const struct layout_shape *weights = &mine->weights;
    size_t row = mine->row_floats * sizeof(float), channels = (size_t)s->ic;
    size_t column = weights->columns * sizeof(float);
    bool plain_weights = problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED;
    mine->packed_bytes = plain_weights ? convolution_part(weights->step * sizeof(float)) : 0;
    mine->bias_bytes = copies_bias(mine, problem) ? convolution_part(column) : 0;
    mine->held_bytes = convolution_part(mine->ring * sizeof(neo_dim));
    mine->table_bytes = convolution_part(channels * (size_t)s->kernel[HEIGHT] * sizeof(float *));
    mine->ring_bytes = convolution_part((mine->ring * channels + 1) * row);
    mine->stage_bytes = mine->staged ? convolution_part(mine->tiles * PIXELS * column) : 0;
    mine->task_bytes = mine->held_bytes + mine->table_bytes + mine->ring_bytes + mine->stage_bytes;
}

static void plan_kernels(struct convolution_rows *mine, const struct cpu *cpu)
{
    const struct convolution_shape *s = &mine->shape;
    for (size_t i = 0; i < ROWS_PANEL_WIDTHS; i++) {
        const struct rowconv_f32_kernel *kernel =
            rowconv_f32_find(cpu, (size_t)s->stride[WIDTH], (size_t)s->kernel[WIDTH], (i + 1) * 4);
        mine->run[i] = kernel->run;
        mine->kernel = kernel->name;
    }
    mine->copy = copy_f32_find(cpu->features)->run;
    mine->cpu = cpu;
}

static void rows_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_rows *mine = plan;
    neo_memory_desc packed = problem->tensors[WEIGHTS];
    mine->shape = *convolution_shape_of(problem);
    layout_set(&packed, LAYOUT_CONVOLUTION_F32, convolution_is_grouped(problem));
    mine->weights = layout_shape(&packed);
    mine->tiles = div_up((size_t)mine->shape.out[WIDTH], PIXELS);
    mine->ring = ring_rows(&mine->shape);
    mine->row_floats = row_floats(&mine->shape);
    plan_kernels(mine, cpu);
    plan_output(mine, post_ops_fusion(problem));
    mine->part = choose_part(mine, cpu);
    plan_scratch(mine, problem);
}

static size_t rows_scratch_bytes(const void *plan, int threads)
{
    const struct convolution_rows *mine = plan;
    return mine->packed_bytes + mine->bias_bytes + mine->task_bytes * (size_t)threads;
}

static const char *rows_kernel(const void *plan)
{
    return ((const struct convolution_rows *)plan)->kernel;
}

const struct algorithm convolution_rows = {
    .name = "rows",
    .refuse = rows_refuse,
    .choose = convolution_choose_packed,
    .estimate = rows_estimate,
    .plan = rows_plan,
    .plan_bytes = sizeof(struct convolution_rows),
    .scratch_bytes = rows_scratch_bytes,
    .kernel = rows_kernel,
    .run = rows_run,
};
