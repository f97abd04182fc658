/* Convolution of a few pixels of all groups at a time, with patches by pointer.
 *
 * For few channels in a group, packing patches for a matrix multiplication costs as much as the
 * multiplication. Here the addresses of the taps of eight pixels are listed once and serve every
 * group. Channels must be neighbours: where they are not (nchw), the rows of source of some rows of
 * dst are transposed first. */
#include <math.h>
#include <string.h>

#include "src/convolution/convolution_indirect.h"
#include "src/memory/descriptor.h"
#include "src/primitive/finish.h"
#include "src/threading/partition.h"

enum {
    PIXELS = INDIRECT_F32_PIXELS,
    GATHERED_ROWS = 8,         /* of dst, whose rows of source are transposed together */
    MOST_GATHERED = 512 << 10, /* bytes; more makes fewer rows */
};

/* ---- refuse, choose, estimate ---- */

static const char *indirect_refuse(const struct problem *problem, const struct cpu *cpu)
{
    struct problem chosen = *problem;
    const neo_memory_desc *src = &chosen.tensors[SRC];
    (void)cpu;
    convolution_choose_images(&chosen);
    const char *why = convolution_refuse_tensors(problem, LAYOUT_CONVOLUTION_F32);
    if (why)
        return why;
    if (src->ndims == 5 && src->dims[1] > 1 && src->strides[1] != 1)
        return "channels of three-dimensional images do not follow each other";
    return convolution_refuse_direct(problem);
}

/* The pixels that the kernel is best for. */
static size_t piece_of(const struct convolution_shape *s, const struct indirect_f32_kernel *kernel)
{
    size_t width = layout_panel(max_size((size_t)s->oc, 1), 0).width;
    return kernel->pixels[width / 4 - 1];
}

/* Pixels of dst are as far from each other at the end of a row as within it: pieces may go across
 * rows. That leaves fewer of them incomplete, but takes longer to list; kernels for cores that
 * issue in order are as fast with less than a full piece. */
static bool crosses_rows(const struct convolution_shape *s,
                         const struct indirect_f32_kernel *kernel)
{
    bool is_dst_even = s->out[HEIGHT] == 1 || s->dst.h == s->out[WIDTH] * s->dst.w;
    return is_dst_even && (!kernel->in_order || s->out[WIDTH] < (neo_dim)piece_of(s, kernel));
}

/* Cycles of one tap's multiply-adds for so many outputs. One to three channels are loaded by
 * themselves. */
static double tap_cycles(const struct cpu *cpu, bool tuned, double outputs, double channels)
{
    double whole = floor(channels / 4) * 4, rest = channels - whole;
    double sums = cpu->core->in_order ? 1.5 * whole + (rest > 0 ? 4 + rest : 0)
                                      : 1.1 * whole + (rest > 0 ? 1 + 1.5 * rest : 0);
    if (tuned)
        sums = whole + (cpu->core->in_order == IN_ORDER_WIDE ? 3.5 : 2) * rest;
    return outputs * sums / (4.0 * fmax(cpu->core->fmla_per_cycle, 1));
}

/* Every piece reads all weights again: cycles for those that the L1 cache does not keep. */
static double reading_cycles(const struct convolution_shape *s, const struct cpu *cpu, double taps)
{
    const double line = 64, cycles = 1; /* clang wants a double */
    double bytes = taps * (double)(s->groups * s->ic * s->oc) * sizeof(float);
    return bytes > (double)cpu->l1_bytes ? bytes / line * cycles : 0;
}

/* How much longer steps take than their multiply-adds: cores that issue 64 bits of a load beside
 * one have few beside which a vector of weights can come, if there are few pixels; and few sums
 * wait for each other. */
static double waits(const struct convolution_shape *s, const struct indirect_f32_kernel *kernel,
                    const struct core *core, double pixels)
{
    const double lanes = 4, most = INDIRECT_F32_WIDTH;
    double vectors = ceil(fmin((double)s->oc, most) / lanes);
    double sums = pixels * vectors, others = pixels / 2 + 3 * vectors + 6;
    double alone = sums / fmax(core->fmla_per_cycle, 1);
    if (kernel->in_order == IN_ORDER_WIDE)
        return alone < core->fmla_latency ? (core->fmla_latency + 0.4) / alone : 1;
    return kernel->in_order ? fmax(1, (sums + others) / 2 / sums) : 1;
}

/* Of a tile and a panel. Groups have addresses of their own, which the narrow kernels wait for. */
static double around_cycles(const struct convolution_shape *s, const struct cpu *cpu,
                            const struct indirect_f32_kernel *kernel, double taps)
{
    if (!kernel->in_order)
        return cpu->core->slowness * (50 + 4 * taps);
    bool waits = kernel->in_order == IN_ORDER_NARROW && s->groups > 1;
    return waits ? 300 + 25 * taps : 100 + 18 * taps;
}

static double indirect_estimate(const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_shape s;
    convolution_shape_init(&s, problem);
    double planes = (double)s.batch * (double)s.out[DEPTH], taps = 1;
    double rows = (double)s.out[HEIGHT], width = (double)s.out[WIDTH];
    const struct indirect_f32_kernel *kernel =
        indirect_f32_find(cpu->features, cpu->core->in_order);
    double piece = (double)piece_of(&s, kernel);
    bool crosses = crosses_rows(&s, kernel);
    double tiles = crosses ? ceil(rows * width / piece) : rows * ceil(width / piece);
    bool tuned = kernel->in_order;
    tiles *= planes;
    for (int i = 0; i < SPACE; i++)
        taps *= (double)s.kernel[i];
    double groups = tiles * (double)s.groups;
    double pixels = tuned ? planes * rows * width : tiles * piece;
    double outputs = ceil((double)s.oc / 4) * 4 * pixels * (double)s.groups;
    double sums = taps * tap_cycles(cpu, tuned, outputs, (double)s.ic) *
                  waits(&s, kernel, cpu->core, fmax(planes * rows * width / fmax(tiles, 1), 1));
    double panels = ceil((double)s.oc / (double)INDIRECT_F32_WIDTH);
    double listing = tiles * (cpu->core->slowness * (100 + (tuned ? 45 : 25) * taps) +
                              reading_cycles(&s, cpu, taps));
    double around = groups * panels * around_cycles(&s, cpu, kernel, taps);
    bool plain = problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_STRIDED;
    double packing = plain ? taps * (double)(s.groups * s.ic * s.oc) : 0;
    double gather =
        s.src.c == 1 || s.src.c == 0 ? 0 : groups * (double)PIXELS * (double)(s.ic + s.oc);
    gather *= cpu->core->slowness;
    return 1000 + sums + listing + around + packing + gather + outputs * post_ops_cycles(problem);
}

/* ---- plan ---- */

static size_t unit(size_t bytes)
{
    return round_up(bytes, SCRATCH_ALIGNMENT);
}

/* Rows of src with its padding that rows of dst reach. */
static size_t reached_rows(const struct convolution_shape *s, size_t rows)
{
    return (rows - 1) * (size_t)s->stride[HEIGHT] +
           (size_t)((s->kernel[HEIGHT] - 1) * s->dilation[HEIGHT]) + 1;
}

/* Those of them that there can be. */
static size_t source_rows(const struct convolution_shape *s, size_t rows)
{
    return min_size(reached_rows(s, rows), (size_t)s->in[HEIGHT]);
}

static void plan_rows(struct convolution_indirect *mine)
{
    const struct convolution_shape *s = &mine->shape;
    size_t row_bytes = (size_t)s->in[WIDTH] * mine->channels * sizeof(float);
    mine->crosses_rows = crosses_rows(s, mine->kernel);
    mine->rows = mine->gathers ? GATHERED_ROWS : mine->crosses_rows ? (size_t)s->out[HEIGHT] : 1;
    while (mine->gathers && mine->rows > 1 &&
           source_rows(s, mine->rows) * row_bytes > MOST_GATHERED)
        mine->rows--;
    mine->source_rows = source_rows(s, mine->rows);
}

static void plan_scratch(struct convolution_indirect *mine, bool plain_weights)
{
    size_t width = (size_t)mine->shape.in[WIDTH], row = mine->channels * sizeof(float);
    size_t weights = mine->weights.matrices * mine->weights.k * mine->weights.columns;
    size_t source = mine->gathers ? mine->source_rows * width * row : 0;
    mine->packed_bytes = plain_weights ? unit(weights * sizeof(float)) : 0;
    mine->pixel_bytes = unit(mine->taps * PIXELS * sizeof(float *));
    mine->zero_bytes = unit(row);
    mine->stage_bytes = mine->staged ? unit(PIXELS * mine->outputs * sizeof(float)) : 0;
    mine->task_bytes = mine->pixel_bytes + mine->zero_bytes + mine->stage_bytes + unit(source);
}

static void indirect_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct convolution_indirect *mine = plan;
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    neo_memory_desc packed = problem->tensors[WEIGHTS];
    convolution_shape_init(&mine->shape, problem);
    const struct convolution_shape *s = &mine->shape;
    layout_set(&packed, LAYOUT_CONVOLUTION_F32, convolution_is_grouped(problem));
    mine->weights = layout_shape(&packed);
    mine->panel_count = layout_panel_count(mine->weights.n);
    for (size_t i = 0; i < min_size(mine->panel_count, INDIRECT_PANELS); i++) {
        mine->panels[i] = layout_panel(mine->weights.n, i);
        mine->panel_values[i] = layout_panel_offset(mine->weights.n, i) * mine->weights.k;
    }
    mine->taps = (size_t)(s->kernel[DEPTH] * s->kernel[HEIGHT] * s->kernel[WIDTH]);
    mine->channels = (size_t)(s->groups * s->ic);
    mine->outputs = (size_t)(s->groups * s->oc);
    mine->cpu = cpu;
    mine->kernel = indirect_f32_find(cpu->features, cpu->core->in_order);
    mine->piece = piece_of(s, mine->kernel);
    mine->copy = copy_f32_find(cpu->features)->run;
    mine->gathers = s->src.c != 1 && mine->channels > 1;
    mine->staged = fusion.reads_dst || (s->dst.c != 1 && mine->outputs > 1);
    mine->finishes = !fusion.complete || fusion.reads_dst;
    mine->low = mine->finishes ? -INFINITY : fusion.low;
    mine->high = mine->finishes ? INFINITY : fusion.high;
    plan_rows(mine);
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

/* ---- run ---- */

static struct task task_of(const struct run *run, int index)
{
    const struct convolution_indirect *plan = run->plan;
    const struct convolution_shape *s = &plan->shape;
    neo_dim column = plan->gathers ? (neo_dim)plan->channels : s->src.w;
    neo_dim row = plan->gathers ? s->in[WIDTH] * column : s->src.h;
    unsigned char *pixels = (unsigned char *)run->execution->scratch + plan->packed_bytes +
                            (size_t)index * plan->task_bytes;
    unsigned char *zeros = pixels + plan->pixel_bytes, *stage = zeros + plan->zero_bytes;
    memset(zeros, 0, plan->zero_bytes);
    return (struct task){
        .run = run,
        .pixels = (const float **)(void *)pixels,
        .zeros = (float *)(void *)zeros,
        .stage = (float *)(void *)stage,
        .source = (float *)(void *)(stage + plan->stage_bytes),
        .row_stride = row,
        .column_stride = column,
        .grid = tap_grid(s, (size_t)s->kernel[HEIGHT], row, column),
    };
}

/* Rows of source, transposed. Only images without depth come here. */
static void gather(struct task *task, const struct piece *piece, size_t rows)
{
    const struct convolution_indirect *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    size_t width = (size_t)s->in[WIDTH];
    neo_dim top = piece->at[HEIGHT] * s->stride[HEIGHT] - s->padding[HEIGHT];
    neo_dim begin = top < 0 ? 0 : top, end = top + (neo_dim)reached_rows(s, rows);
    end = end < s->in[HEIGHT] ? end : s->in[HEIGHT];
    bool together = s->src.h == s->in[WIDTH] * s->src.w;
    neo_dim step = together && end > begin ? end - begin : 1;
    for (neo_dim row = begin; row < end; row += step)
        plan->copy(&(struct copy_f32_plane){
            .rows = plan->channels,
            .cols = (size_t)step * width,
            .src = (const float *)task->run->execution->buffers[SRC] + piece->n * s->src.n +
                   row * s->src.h,
            .src_row = s->src.c,
            .src_col = s->src.w,
            .dst = task->source + (size_t)(row - begin) * width * plan->channels,
            .dst_row = 1,
            .dst_col = (ptrdiff_t)plan->channels,
        });
    task->origin = task->source;
    task->top = begin;
}

static void find_source(struct task *task, const struct piece *piece, size_t rows)
{
    const struct convolution_shape *s = &task->run->plan->shape;
    if (task->run->plan->gathers) {
        gather(task, piece, rows);
        return;
    }
    task->origin = (const float *)task->run->execution->buffers[SRC] + piece->n * s->src.n;
    task->top = 0;
}

/* Kernels take a bias of none for a special case. */
static const float no_bias[INDIRECT_F32_WIDTH];

static void run_group(const struct task *task, struct indirect_f32_tile *tile, neo_dim group,
                      float *dst)
{
    const struct convolution_indirect *plan = task->run->plan;
    const struct convolution_shape *s = &plan->shape;
    const struct layout_shape *weights = &plan->weights;
    const float *bias = task->run->execution->buffers[BIAS];
    const float *matrix = task->run->weights + (size_t)group * weights->k * weights->columns;
    tile->offset = (size_t)(group * s->ic);
    for (size_t p = 0; p < plan->panel_count; p++) {
        bool known = p < INDIRECT_PANELS;
        struct layout_panel panel = known ? plan->panels[p] : layout_panel(weights->n, p);
        size_t channel = (size_t)(group * s->oc) + panel.first;
        tile->weights = matrix + (known ? plan->panel_values[p]
                                        : layout_panel_offset(weights->n, p) * weights->k);
        tile->width = panel.width;
        tile->n = panel.valid;
        tile->bias = bias ? bias + channel : no_bias;
        tile->dst = dst + channel;
        plan->kernel->run(tile);
    }
}

/* What a bias and a clamp leave over, or only the way from the scratchpad to dst. */
static void finish_piece(const struct task *task, const struct piece *piece,
                         const struct indirect_f32_tile *tile, float *values, float *dst)
{
    const struct convolution_indirect *plan = task->run->plan;
    const struct image_strides *strides = &plan->shape.dst;
    int last = task->run->execution->problem->tensors[DST].ndims - 1;
    struct line line = {.position = {piece->n}, .direction = 1, .count = plan->outputs};
    if (!plan->finishes) {
        plan->copy(&(struct copy_f32_plane){.rows = piece->count,
                                            .cols = plan->outputs,
                                            .src = values,
                                            .src_row = (ptrdiff_t)tile->row,
                                            .src_col = 1,
                                            .dst = dst,
                                            .dst_row = strides->w,
                                            .dst_col = strides->c});
        return;
    }
    for (int i = 2; i <= last; i++)
        line.position[i] = piece->at[i - last + WIDTH];
    for (size_t i = 0; i < piece->count; i++) {
        finish_line(task->run->execution, &line, values + i * tile->row, false,
                    dst + (neo_dim)i * strides->w, strides->c);
        if (++line.position[last] == plan->shape.out[WIDTH]) {
            line.position[last] = 0;
            line.position[last - 1]++; /* of 1D convolutions it is not read any more */
        }
    }
}

static void run_piece(const struct task *task, const struct piece *piece)
{
    const struct convolution_indirect *plan = task->run->plan;
    const struct image_strides *strides = &plan->shape.dst;
    float *dst = (float *)task->run->execution->buffers[DST] + piece->n * strides->n +
                 piece->at[DEPTH] * strides->d + piece->at[HEIGHT] * strides->h +
                 piece->at[WIDTH] * strides->w;
    float *values = plan->staged ? task->stage : dst;
    struct indirect_f32_tile tile = {
        .taps = plan->taps,
        .channels = (size_t)plan->shape.ic,
        .pixels = task->pixels,
        .row = plan->staged ? plan->outputs : (size_t)strides->w,
        .count = piece->count,
        .low = plan->low,
        .high = plan->high,
    };
    indirect_list_pixels(task, piece);
    for (neo_dim group = 0; group < plan->shape.groups; group++)
        run_group(task, &tile, group, values);
    if (plan->staged || plan->finishes)
        finish_piece(task, piece, &tile, values, dst);
}

/* Pixels of rows of dst, as many rows as a piece may cross. */
static void run_pixels(const struct task *task, struct piece *piece, size_t rows)
{
    neo_dim width = task->run->plan->shape.out[WIDTH];
    size_t most = task->run->plan->piece;
    piece->at[WIDTH] = 0;
    for (size_t left = rows * (size_t)width; left; left -= piece->count) {
        piece->count = min_size(left, most);
        run_piece(task, piece);
        piece->at[WIDTH] += (neo_dim)piece->count;
        for (; piece->at[WIDTH] >= width; piece->at[WIDTH] -= width)
            piece->at[HEIGHT]++;
    }
}

/* Rows of dst that follow each other in one plane. */
static void run_rows(struct task *task, struct piece *piece, size_t rows)
{
    size_t together = task->run->plan->crosses_rows ? rows : 1;
    neo_dim top = piece->at[HEIGHT];
    find_source(task, piece, rows);
    for (size_t row = 0; row < rows; row += together) {
        piece->at[HEIGHT] = top + (neo_dim)row;
        run_pixels(task, piece, together);
    }
}

static void run_span(void *argument, struct span mine, int slot)
{
    const struct run *run = argument;
    const struct convolution_shape *s = &run->plan->shape;
    size_t height = (size_t)s->out[HEIGHT], depth = (size_t)s->out[DEPTH];
    struct task task = task_of(run, slot);
    while (mine.begin < mine.end) {
        size_t plane = mine.begin / height, row = mine.begin % height;
        size_t rows = min_size(min_size(height - row, mine.end - mine.begin), run->plan->rows);
        struct piece piece = {.n = (neo_dim)(plane / depth),
                              .at = {(neo_dim)(plane % depth), (neo_dim)row, 0}};
        run_rows(&task, &piece, rows);
        mine.begin += rows;
    }
}

static void indirect_run(const void *plan, const struct execution *execution)
{
    const struct convolution_indirect *mine = plan;
    const struct convolution_shape *s = &mine->shape;
    size_t rows = (size_t)(s->batch * s->out[DEPTH] * s->out[HEIGHT]);
    if (rows == 0 || s->out[WIDTH] == 0 || mine->outputs == 0)
        return;
    struct run run = {mine, execution, convolution_packed_weights(execution, mine->cpu)};
    parallel_for_tiles(execution->parallel, rows, execution->threads, run_span, &run);
}

const struct algorithm convolution_indirect_f32 = {
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
