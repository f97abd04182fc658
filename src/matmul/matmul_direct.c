/* Matrix multiplication in place: nothing is packed, no scratchpad is needed. Rows of src are read
 * where they lie, and weights from packed panels or from rows. For what is small, and for few rows.
 *
 * The columns of dst are divided into strips, one kernel call each: kernels walk down the rows by
 * themselves. */
#include <math.h>
#include <string.h>

#include "kernels/gemm_f32_direct.h"
#include "src/core/checked.h"
#include "src/matmul/batch.h"
#include "src/memory/descriptor.h"
#include "src/primitive/finish.h"
#include "src/threading/partition.h"
#include "src/weights/layout.h"

enum { MAX_RUNS = 8, MAX_HEIGHT = 8, WIDEST_RAGGED = 16, PLAIN_GROUP = 16, MAX_CALLS = 8 };

/* Strips next to each other of the same kind. */
struct strips {
    uint32_t count;
    uint8_t vectors, group, lanes, height; /* height: the largest */
    size_t b_step;                         /* from one strip's weights to the next */
};

/* All strips of a matrix. */
struct columns {
    struct strips runs[MAX_RUNS];
    size_t run_count, strip_count;
};

/* How the rows of a strip are divided: tiles of equal heights as far as possible, and below them
 * tiles that are one row lower. */
struct tiling {
    gemm_f32_direct_fn *tall, *low;
    size_t tall_tiles, low_tiles; /* tall_tiles >= 1 */
    size_t low_row;
};

/* One call of a kernel: offsets in elements from where a matrix begins. */
struct call {
    gemm_f32_direct_fn *run;
    size_t a, b, c, column;
    size_t tiles, ldb, lanes;
};

struct matmul_direct {
    size_t batch, m, n, k;
    size_t matrix_elements; /* of packed weights */
    struct columns columns;
    struct matmul_steps steps;
    bool constant_steps;
    bool packed, bias_fused, finish; /* finish: lines still need bias or post-operations */
    struct gemm_f32_direct strip;    /* what all strips have in common; packed weights: not ldb */
    struct call calls[MAX_CALLS];    /* all of a small matrix, */
    size_t call_count;               /* or 0 */
    const char *kernel;
    struct tiling tilings[MAX_RUNS]; /* of m rows */
    gemm_f32_direct_fn *kernels[MAX_RUNS][MAX_HEIGHT];
};

/* ---- refusal ---- */

static bool is_rows(const neo_memory_desc *desc)
{
    int last = desc->ndims - 1;
    return desc->format_kind == NEO_FORMAT_ANY || desc->dims[last] == 1 || desc->strides[last] == 1;
}

/* The vector at the end of a row reads up to three elements of the next row, which must be there:
 * only the very last row is copied. */
static bool has_narrow_rows(const neo_memory_desc *weights)
{
    int last = weights->ndims - 1;
    return weights->dims[last] % 4 && weights->dims[last - 1] > 1 && weights->strides[last - 1] < 3;
}

static const char *direct_refuse(const struct problem *problem, const struct cpu *cpu)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    (void)cpu;
    if (problem_is_runtime(problem))
        return "a size is known only at run time";
    if (weights->format_kind == NEO_FORMAT_PACKED && weights->packed.id != LAYOUT_MATMUL_F32)
        return "the weights are packed for another operation";
    if (weights->format_kind == NEO_FORMAT_STRIDED && !is_rows(weights))
        return "rows of weights are not contiguous";
    if (!is_rows(&problem->tensors[SRC]))
        return "rows of src are not contiguous";
    if (!is_rows(&problem->tensors[DST]))
        return "rows of dst are not contiguous";
    if (weights->format_kind == NEO_FORMAT_STRIDED && has_narrow_rows(weights))
        return "rows of weights are too close together to be read as vectors";
    return post_ops_fusion(problem).reads_dst ? "a post-operation reads dst" : NULL;
}

static void direct_choose(struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    for (int t = 0; t < TENSOR_COUNT; t++) {
        neo_memory_desc *desc = &problem->tensors[t];
        if (!desc->ndims || desc->format_kind != NEO_FORMAT_ANY)
            continue;
        if (t == WEIGHTS)
            layout_set(desc, LAYOUT_MATMUL_F32, false);
        else
            desc_set_plain(desc);
    }
}

/* ---- strips ---- */

static void add_strips(struct columns *columns, size_t count, size_t vectors, size_t group,
                       size_t lanes, size_t b_step)
{
    if (count == 0)
        return;
    columns->runs[columns->run_count++] = (struct strips){
        .count = (uint32_t)count,
        .vectors = (uint8_t)vectors,
        .group = (uint8_t)group,
        .lanes = (uint8_t)lanes,
        .height = (uint8_t)gemm_f32_direct_height(vectors, group),
        .b_step = b_step,
    };
    columns->strip_count += count;
}

/* Panels of 12 columns side by side, as many as make the widest tile, then those that are left. */
static void packed_columns(struct columns *columns, size_t n, size_t k, size_t widest)
{
    size_t panels = layout_panel_count(n), full = panels > 2 ? panels - 2 : 0, whole;
    while (full < panels && layout_panel(n, full).valid == LAYOUT_PANEL)
        full++;
    whole = full;
    for (size_t side = widest; side >= 1; side /= 2) {
        add_strips(columns, full / side, 3 * side, 3, 4, side * LAYOUT_PANEL * k);
        full %= side;
    }
    for (size_t p = whole; p < panels; p++) {
        struct layout_panel panel = layout_panel(n, p);
        add_strips(columns, 1, panel.width / 4, panel.width / 4, panel.valid - (panel.width - 4),
                   panel.width * k);
    }
}

/* Vectors of 4 columns: strips of `widest`, then of four, then the rest; a single vector takes one
 * from the strip before. The last one may be ragged. */
static void plain_columns(struct columns *columns, size_t n, size_t widest)
{
    size_t vectors = div_up(n, 4), lanes = (n - 1) % 4 + 1, whole = n / 4;
    if (widest > 4) {
        size_t count = whole / widest;
        add_strips(columns, count, widest, 4, 4, 4 * widest);
        vectors -= count * widest;
        widest = 4;
    }
    size_t count = vectors / widest, rest = vectors % widest;
    bool borrow = rest == 1 && count > 0 && widest >= 3;
    if (borrow)
        count--, rest += widest - 2;
    bool last_is_whole = rest == 0 && count > 0 && lanes < 4;
    add_strips(columns, count - last_is_whole, widest, widest, 4, 4 * widest);
    if (last_is_whole)
        add_strips(columns, 1, widest, widest, lanes, 4 * widest);
    add_strips(columns, rest > 0, rest, rest, lanes, 4 * rest);
    if (borrow)
        columns->runs[columns->run_count - 1].lanes = 4;
    if (borrow)
        add_strips(columns, 1, 2, 2, lanes, 8);
}

/* ---- estimate ---- */

/* Cycles of a tile for one step of k: multiply-adds, the chain of a sum, loads; and the
 * instructions around them, which matter less. */
static double tile_cycles(const struct core *core, double height, double vectors, double group)
{
    double macs = height * vectors, loads = height / 4 + vectors;
    double cycles = fmax(macs / fmax(core->fmla_per_cycle, 1), core->fmla_latency);
    /* Without reordering, vector loads take both slots of two cycles. */
    cycles =
        core->in_order ? cycles + 2 * loads : fmax(cycles, loads / fmax(core->loads_per_cycle, 1));
    return cycles + 0.06 * (height / 4 + vectors / group + 0.5);
}

/* For m rows of one strip: as few tiles as there can be, as even as they can be. */
static double strip_cycles(const struct core *core, const struct strips *run, double m, double k)
{
    double tiles = ceil(m / run->height), height = m / tiles;
    return tiles * (k * tile_cycles(core, height, run->vectors, run->group) + 10 +
                    0.6 * height * run->vectors);
}

static double columns_cycles(const struct core *core, const struct columns *columns, double m,
                             double k)
{
    double cycles = 0;
    for (size_t r = 0; r < columns->run_count; r++)
        cycles += columns->runs[r].count * (8 + strip_cycles(core, &columns->runs[r], m, k));
    return cycles;
}

/* The strips that cost least. Sizes are at least 1. */
static double choose_columns(struct columns *best, const struct core *core, size_t m, size_t n,
                             size_t k, bool packed)
{
    static const size_t plain_widths[] = {4, 3, 2, 8, 12}, packed_widths[] = {1, 2, 4};
    size_t count = packed ? count_of(packed_widths) : count_of(plain_widths);
    double least = HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        struct columns columns = {.run_count = 0};
        if (packed)
            packed_columns(&columns, n, k, packed_widths[i]);
        else
            plain_columns(&columns, n, plain_widths[i]);
        double cycles = columns_cycles(core, &columns, (double)m, (double)k);
        if (cycles < least) {
            least = cycles;
            *best = columns;
        }
    }
    return least;
}

/* Does a strip of weights stay in the L1 cache until the next tile needs it? It must not be too
 * large; nor may its rows be so far apart that they fall on few places: of four ways, lines whose
 * distance is a multiple of a power of two have as many sets as that goes into a way. */
static bool strip_stays(const struct cpu *cpu, bool packed, double k, size_t row_bytes)
{
    double strip = (packed ? 12 : 16) * 4 * k, l1 = (double)cpu->l1_bytes;
    double apart = (double)(row_bytes & -row_bytes);
    return strip <= l1 * 5 / 8 && (packed || k <= l1 / fmax(apart, 64));
}

/* Lines that come from the L2 cache because it does not. */
static double weights_lines(const struct problem *problem, const struct cpu *cpu,
                            const struct matmul_shape *shape)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    bool packed = weights->format_kind != NEO_FORMAT_STRIDED;
    size_t row_bytes = packed ? 0 : (size_t)weights->strides[weights->ndims - 2] * sizeof(float);
    double k = (double)shape->k, tiles = ceil((double)shape->m / 6);
    if (tiles <= 1 || strip_stays(cpu, packed, k, row_bytes))
        return 0;
    return (tiles - 1) * (double)shape->n * k / 16;
}

static double direct_estimate(const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_shape shape = matmul_shape(problem);
    struct columns columns;
    bool packed = problem->tensors[WEIGHTS].format_kind != NEO_FORMAT_STRIDED;
    if (shape.m == 0 || shape.n == 0 || shape.batch == 0)
        return 100;
    double cycles = choose_columns(&columns, cpu->core, (size_t)shape.m, (size_t)shape.n,
                                   (size_t)shape.k, packed);
    double src_bytes = (double)shape.m * (double)shape.k * (double)sizeof(float);
    if (src_bytes > (double)cpu->l2_bytes / 2) /* each strip reads src again */
        cycles += (double)columns.strip_count * src_bytes / 16;
    double each = 20 + cycles + 4 * weights_lines(problem, cpu, &shape);
    if (!post_ops_fusion(problem).complete)
        each += (double)shape.m * (20 + (double)shape.n * post_ops_cycles(problem));
    return 100 + (double)shape.batch * each;
}

/* ---- plan ---- */

static size_t row_stride(const neo_memory_desc *desc)
{
    return desc->dims[desc->ndims - 2] == 1 ? 0 : (size_t)desc->strides[desc->ndims - 2];
}

/* One value per column, next to each other. */
static bool is_by_column(const neo_memory_desc *bias)
{
    int last = bias->ndims - 1;
    for (int i = 0; i < last; i++)
        if (bias->dims[i] != 1)
            return false;
    return bias->ndims && bias->dims[last] != 1 && bias->strides[last] == 1;
}

static void tile_rows(struct tiling *out, const struct matmul_direct *plan, size_t r, size_t rows)
{
    gemm_f32_direct_fn *const *by_height = plan->kernels[r];
    size_t tiles = div_up(rows, plan->columns.runs[r].height), tall = div_up(rows, tiles);
    size_t low_tiles = tiles * tall - rows, tall_tiles = tiles - low_tiles;
    *out = (struct tiling){
        .tall = by_height[tall - 1],
        .low = low_tiles ? by_height[tall - 2] : NULL,
        .tall_tiles = tall_tiles,
        .low_tiles = low_tiles,
        .low_row = tall_tiles * tall,
    };
}

static void find_kernels(struct matmul_direct *mine, const struct cpu *cpu)
{
    for (size_t r = 0; r < mine->columns.run_count; r++) {
        const struct strips *run = &mine->columns.runs[r];
        for (size_t h = 1; h <= run->height; h++)
            mine->kernels[r][h - 1] =
                gemm_f32_direct_find(cpu->features, h, run->vectors, run->group)->run;
        tile_rows(&mine->tilings[r], mine, r, mine->m);
    }
    const struct strips *first = &mine->columns.runs[0];
    size_t tiles = div_up(mine->m, first->height);
    mine->kernel =
        gemm_f32_direct_find(cpu->features, div_up(mine->m, tiles), first->vectors, first->group)
            ->name;
}

static void add_call(struct matmul_direct *mine, gemm_f32_direct_fn *run, const struct strips *kind,
                     size_t tiles, const size_t at[3])
{
    mine->calls[mine->call_count++] = (struct call){
        .run = run,
        .a = at[0] * mine->strip.lda,
        .b = at[2],
        .c = at[0] * mine->strip.ldc + at[1],
        .column = at[1],
        .tiles = tiles,
        .ldb = mine->packed ? 4u * kind->group : mine->strip.ldb,
        .lanes = kind->lanes,
    };
}

/* Small matrices take few calls, which are known beforehand; but not those of ragged strips that
 * need something copied. */
static void list_calls(struct matmul_direct *mine)
{
    size_t at[3] = {0}; /* row, column, element of weights */
    if (!mine->constant_steps || mine->columns.strip_count > MAX_CALLS)
        return;
    for (size_t r = 0; r < mine->columns.run_count; r++) {
        const struct strips *run = &mine->columns.runs[r];
        const struct tiling *tiling = &mine->tilings[r];
        size_t calls = run->count * (tiling->low_tiles ? 2 : 1);
        if (mine->call_count + calls > MAX_CALLS ||
            (run->lanes < 4 && (!mine->packed || mine->bias_fused))) {
            mine->call_count = 0;
            return;
        }
        for (size_t i = 0; i < run->count; i++) {
            at[0] = 0;
            add_call(mine, tiling->tall, run, tiling->tall_tiles, at);
            at[0] = tiling->low_row;
            if (tiling->low_tiles)
                add_call(mine, tiling->low, run, tiling->low_tiles, at);
            at[1] += 4u * run->vectors, at[2] += run->b_step;
        }
    }
}

static void direct_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_direct *mine = plan;
    struct matmul_shape shape = matmul_shape(problem);
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    mine->batch = (size_t)shape.batch, mine->m = (size_t)shape.m;
    mine->n = (size_t)shape.n, mine->k = (size_t)shape.k;
    mine->kernel = "none";
    if (mine->batch == 0 || mine->m == 0 || mine->n == 0)
        return;
    mine->packed = weights->format_kind == NEO_FORMAT_PACKED;
    mine->matrix_elements = mine->packed ? mine->k * layout_shape(weights).columns : 0;
    mine->constant_steps = matmul_batch_steps(problem, mine->matrix_elements, &mine->steps);
    mine->bias_fused = is_by_column(&problem->tensors[BIAS]);
    bool bias_left = problem->tensors[BIAS].ndims && !mine->bias_fused;
    mine->finish = bias_left || !fusion.complete;
    mine->strip = (struct gemm_f32_direct){
        .lda = row_stride(&problem->tensors[SRC]),
        .ldb = mine->packed ? 0 : row_stride(weights),
        .ldc = row_stride(&problem->tensors[DST]),
        .gap = mine->packed ? LAYOUT_PANEL * mine->k : PLAIN_GROUP,
        .rounds = mine->k / 4,
        .tail = mine->k % 4,
        .clamp = !mine->finish && (fusion.low > -INFINITY || fusion.high < INFINITY),
        .low = fusion.low,
        .high = fusion.high,
    };
    choose_columns(&mine->columns, cpu->core, mine->m, mine->n, mine->k, mine->packed);
    find_kernels(mine, cpu);
    list_calls(mine);
}

static size_t direct_scratch_bytes(const void *plan, int threads)
{
    (void)plan, (void)threads;
    return 0;
}

static const char *direct_kernel(const void *plan)
{
    return ((const struct matmul_direct *)plan)->kernel;
}

/* ---- run ---- */

/* Where one matrix of the batch is, and which of its rows and strips to compute. */
struct part {
    const float *a, *b, *bias;
    float *c;
    struct span rows, strips;
    const struct tiling *tilings; /* of so many rows */
};

/* The last rows of plain weights where a ragged strip's vectors end beyond a row. */
struct ragged {
    float tail[4 * WIDEST_RAGGED], bias[WIDEST_RAGGED];
};

static void copy_columns(float *to, const float *from, size_t columns)
{
    size_t j = 0;
    for (; j < columns; j++)
        to[j] = from[j];
    for (; j < WIDEST_RAGGED; j++)
        to[j] = 0;
}

static void make_ragged(struct gemm_f32_direct *strip, struct ragged *ragged,
                        const struct matmul_direct *plan, size_t columns)
{
    if (strip->bias) {
        copy_columns(ragged->bias, strip->bias, columns);
        strip->bias = ragged->bias;
    }
    if (plan->packed || plan->k == 0)
        return;
    strip->rounds = (plan->k - 1) / 4;
    strip->tail = plan->k - 4 * strip->rounds;
    for (size_t p = 0; p < strip->tail; p++)
        copy_columns(ragged->tail + p * WIDEST_RAGGED,
                     strip->b + (4 * strip->rounds + p) * strip->ldb, columns);
    strip->b_tail = ragged->tail;
    strip->tail_ldb = WIDEST_RAGGED;
}

static inline void run_strip(struct gemm_f32_direct *strip, const struct tiling *tiling)
{
    strip->tiles = tiling->tall_tiles;
    tiling->tall(strip);
    if (tiling->low_tiles == 0)
        return;
    strip->a += tiling->low_row * strip->lda;
    strip->c += tiling->low_row * strip->ldc;
    strip->tiles = tiling->low_tiles;
    tiling->low(strip);
}

static __attribute__((noinline)) void run_ragged(struct gemm_f32_direct *strip,
                                                 const struct tiling *tiling,
                                                 const struct matmul_direct *plan, size_t columns)
{
    struct ragged ragged;
    make_ragged(strip, &ragged, plan, columns);
    run_strip(strip, tiling);
    strip->b_tail = NULL, strip->rounds = plan->k / 4, strip->tail = plan->k % 4;
}

static void run_part(const struct matmul_direct *plan, const struct part *part)
{
    struct gemm_f32_direct strip = plan->strip;
    const float *a = part->a + part->rows.begin * strip.lda, *b = part->b, *bias = part->bias;
    float *c = part->c + part->rows.begin * strip.ldc;
    size_t begin = part->strips.begin, end = part->strips.end;
    for (size_t r = 0; end > 0; r++) {
        const struct strips *run = &plan->columns.runs[r];
        size_t first = min_size(begin, run->count), last = min_size(end, run->count);
        size_t columns = 4u * run->vectors, bias_step = bias ? columns : 0;
        strip.lanes = run->lanes;
        if (plan->packed)
            strip.ldb = 4u * run->group;
        for (size_t i = first; i < last; i++) {
            strip.a = a, strip.b = b + i * run->b_step, strip.c = c + i * columns;
            strip.bias = bias + i * bias_step;
            if (run->lanes < 4)
                run_ragged(&strip, &part->tilings[r], plan, columns - 4 + run->lanes);
            else
                run_strip(&strip, &part->tilings[r]);
        }
        begin -= first, end -= last;
        b += run->count * run->b_step, c += run->count * columns, bias += run->count * bias_step;
    }
}

static void locate(const struct matmul_direct *plan, const struct execution *execution,
                   size_t batch, struct part *part)
{
    const neo_memory_desc *tensors = execution->problem->tensors;
    neo_dim a, b, c;
    if (plan->constant_steps) {
        neo_dim index = (neo_dim)batch;
        a = index * plan->steps.src, b = index * plan->steps.weights, c = index * plan->steps.dst;
    } else {
        neo_dim position[NEO_MAX_NDIMS];
        matmul_position(execution->problem, batch, position);
        a = matmul_batch_offset(&tensors[SRC], position);
        c = matmul_batch_offset(&tensors[DST], position);
        b = plan->packed ? (neo_dim)(matmul_weights_index(&tensors[WEIGHTS], position) *
                                     plan->matrix_elements)
                         : matmul_batch_offset(&tensors[WEIGHTS], position);
    }
    part->a = (const float *)execution->buffers[SRC] + a;
    part->b = (const float *)execution->buffers[WEIGHTS] + b;
    part->c = (float *)execution->buffers[DST] + c;
    part->bias = plan->bias_fused ? execution->buffers[BIAS] : NULL;
}

/* Bias and post-operations that no kernel has, on rows that are in dst as sums. */
static void finish_part(const struct matmul_direct *plan, const struct execution *execution,
                        size_t batch, const struct part *part)
{
    struct line line = {.direction = execution->problem->tensors[DST].ndims - 1};
    size_t first = 0, end = 0, before = 0;
    for (size_t r = 0; r < plan->columns.run_count; r++)
        for (size_t i = 0; i < plan->columns.runs[r].count; i++, before++) {
            size_t columns = 4u * plan->columns.runs[r].vectors;
            first += before < part->strips.begin ? columns : 0;
            end += before < part->strips.end ? columns : 0;
        }
    line.count = min_size(end, plan->n) - first;
    matmul_position(execution->problem, batch, line.position);
    line.position[line.direction] = (neo_dim)first;
    for (size_t i = part->rows.begin; i < part->rows.end; i++) {
        float *values = part->c + i * plan->strip.ldc + first;
        line.position[line.direction - 1] = (neo_dim)i;
        finish_line(execution, &line, values, !plan->bias_fused, values, 1);
    }
}

static inline void run_matrix(const struct matmul_direct *plan, const struct execution *execution,
                              size_t batch, struct part *part)
{
    locate(plan, execution, batch, part);
    run_part(plan, part);
    if (plan->finish)
        finish_part(plan, execution, batch, part);
}

struct direct_run {
    const struct matmul_direct *plan;
    const struct execution *execution;
    size_t row_parts;
};

/* Tasks are the strips of all matrices in a row; where those are too few, rows are divided too. */
static void run_task(void *argument, int index, int count)
{
    const struct direct_run *run = argument;
    const struct matmul_direct *plan = run->plan;
    size_t strips = plan->columns.strip_count, total = plan->batch * strips;
    size_t unit_parts = (size_t)count / run->row_parts, i = (size_t)index;
    struct span units = partition_span(total, unit_parts, i / run->row_parts);
    struct part part = {.rows = partition_span(plan->m, run->row_parts, i % run->row_parts)};
    struct tiling tilings[MAX_RUNS];
    if (part.rows.begin == part.rows.end)
        return;
    for (size_t r = 0; r < plan->columns.run_count; r++)
        tile_rows(&tilings[r], plan, r, part.rows.end - part.rows.begin);
    part.tilings = tilings;
    for (size_t unit = units.begin; unit < units.end;) {
        size_t first = unit % strips, end = min_size(first + (units.end - unit), strips);
        part.strips = (struct span){first, end};
        run_matrix(plan, run->execution, unit / strips, &part);
        unit += end - first;
    }
}

/* One matrix after another by the plan's list of calls. */
static void run_calls(const struct matmul_direct *plan, const struct execution *execution)
{
    struct gemm_f32_direct strip = plan->strip;
    const float *a = execution->buffers[SRC], *b = execution->buffers[WEIGHTS];
    const float *bias = plan->bias_fused ? execution->buffers[BIAS] : NULL;
    float *c = execution->buffers[DST];
    const struct call *end = plan->calls + plan->call_count;
    for (size_t left = plan->batch; left; left--) {
        for (const struct call *call = plan->calls; call < end; call++) {
            strip.a = a + call->a, strip.b = b + call->b, strip.c = c + call->c;
            strip.bias = bias ? bias + call->column : NULL;
            strip.tiles = call->tiles, strip.ldb = call->ldb, strip.lanes = call->lanes;
            call->run(&strip);
        }
        a += plan->steps.src, b += plan->steps.weights, c += plan->steps.dst;
    }
}

static void direct_run(const void *argument, const struct execution *execution)
{
    const struct matmul_direct *plan = argument;
    size_t threads = (size_t)execution->threads;
    if (threads == 1 && plan->call_count && !plan->finish) {
        run_calls(plan, execution);
        return;
    }
    if (threads == 1) {
        struct part part = {.rows = {0, plan->m},
                            .strips = {0, plan->columns.strip_count},
                            .tilings = plan->tilings};
        for (size_t b = 0; b < plan->batch; b++)
            run_matrix(plan, execution, b, &part);
        return;
    }
    size_t units = plan->batch * plan->columns.strip_count;
    struct direct_run run = {plan, execution, 1};
    if (units < threads)
        run.row_parts = min_size(threads / units, div_up(plan->m, 4));
    size_t tasks = min_size(units, threads) * run.row_parts;
    parallel_for(execution->parallel, (int)tasks, run_task, &run);
}

const struct algorithm matmul_direct_f32 = {
    .name = "direct",
    .refuse = direct_refuse,
    .choose = direct_choose,
    .estimate = direct_estimate,
    .plan = direct_plan,
    .plan_bytes = sizeof(struct matmul_direct),
    .scratch_bytes = direct_scratch_bytes,
    .kernel = direct_kernel,
    .run = direct_run,
};
_Static_assert(sizeof(struct matmul_direct) <= PLAN_MAX_BYTES, "the plan fits its place");
