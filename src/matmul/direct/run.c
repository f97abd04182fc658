/* Execution of direct.c's plans. */
#include <string.h>

#include "src/core/checked.h"
#include "src/matmul/direct/direct.h"
#include "src/primitive/finish.h"
#include "src/tensor/layout.h"
#include "src/threading/partition.h"

enum { WIDEST_COPIED = 16, WIDEST_RAGGED = 48 };

/* Where a matrix of the batch, or a strip of it, begins. */
struct place {
    const float *a, *b, *bias;
    float *c;
};

/* One matrix of the batch, and which of its rows and strips to compute. */
struct part {
    struct place at;
    struct span rows, strips;
    const struct tiling *tilings; /* of so many rows */
    float *room;                  /* for a strip of turned weights, or for copied rows */
};

/* The last rows of plain weights where a ragged strip's vectors end beyond a row. */
struct ragged {
    float tail[4 * WIDEST_COPIED], bias[WIDEST_RAGGED];
};

static void copy_columns(float *to, size_t width, const float *from, size_t columns)
{
    size_t j = 0;
    for (; j < columns; j++)
        to[j] = from[j];
    for (; j < width; j++)
        to[j] = 0;
}

static __attribute__((nonnull)) void make_ragged(struct gemm_f32_direct *strip,
                                                 struct ragged *ragged, struct place *at,
                                                 const struct matmul_direct *plan, size_t columns)
{
    if (at->bias) {
        copy_columns(ragged->bias, WIDEST_RAGGED, at->bias, columns);
        at->bias = ragged->bias;
    }
    if (plan->packed || plan->turned || plan->k == 0)
        return;
    gemm_f32_direct_set_depth(strip, plan->k, ragged->tail);
    strip->special |= GEMM_F32_SPECIAL_SUMS;
    for (size_t p = 0; p < strip->tail; p++)
        copy_columns(ragged->tail + p * WIDEST_COPIED, WIDEST_COPIED,
                     at->b + (4 * strip->rounds + p) * strip->ldb, columns);
    strip->tail_ldb = WIDEST_COPIED;
}

/* What the strips of a run have in common. */
static void set_run(struct gemm_f32_direct *strip, const struct matmul_direct *plan,
                    const struct strips *run, const struct tiling *tiling)
{
    direct_set_kind(strip, plan, run);
    strip->low_tiles = (uint8_t)tiling->same_call;
    gemm_f32_direct_set_ending(strip);
}

static inline void run_strip(struct gemm_f32_direct *strip, const struct tiling *tiling,
                             const struct place *at)
{
    strip->tiles = tiling->tall_tiles;
    tiling->tall(strip, at->a, at->b, at->c, at->bias);
    if (tiling->low_tiles == 0)
        return;
    strip->tiles = tiling->low_tiles;
    tiling->low(strip, at->a + tiling->low_a, at->b, at->c + tiling->low_row * strip->ldc,
                at->bias);
}

static __attribute__((noinline)) void run_ragged(struct gemm_f32_direct *strip,
                                                 const struct tiling *tiling, struct place at,
                                                 const struct matmul_direct *plan, size_t columns)
{
    struct ragged ragged;
    size_t special = strip->special;
    make_ragged(strip, &ragged, &at, plan, columns);
    gemm_f32_direct_set_ending(strip);
    run_strip(strip, tiling, &at);
    gemm_f32_direct_set_depth(strip, plan->k, NULL);
    strip->special = special;
    gemm_f32_direct_set_ending(strip);
}

/* Columns of a strip that lie in memory as rows, to a panel. */
static const float *turn(const struct matmul_direct *plan, const struct part *part, size_t column,
                         size_t width)
{
    pack_f32(&(struct pack_f32_panel){
        .width = width,
        .count = min_size(width, plan->n - column),
        .k = plan->k,
        .src = part->at.b + column * plan->b_column,
        .lane = (ptrdiff_t)plan->b_column,
        .step = (ptrdiff_t)plan->b_row,
        .out = part->room,
    });
    return part->room;
}

static void run_chunk(const struct matmul_direct *plan, const struct part *part)
{
    struct gemm_f32_direct strip = plan->strip;
    const float *b = part->at.b, *bias = part->at.bias;
    float *c = part->at.c + part->rows.begin * strip.ldc;
    struct place at = {.a = part->at.a + part->rows.begin * plan->a_row};
    size_t begin = part->strips.begin, end = part->strips.end, column = 0;
    for (size_t r = 0; end > 0; r++) {
        struct strips run = plan->columns.runs[r];
        size_t first = min_size(begin, run.count), last = min_size(end, run.count);
        size_t columns = 4u * run.vectors, bias_step = bias ? columns : 0;
        size_t back = direct_overlap(plan, &run), bias_back = bias ? back : 0;
        run.lanes += (uint8_t)back;
        set_run(&strip, plan, &run, &part->tilings[r]);
        for (size_t i = first; i < last; i++) {
            at.b = plan->turned ? turn(plan, part, column + i * columns, columns)
                                : b + i * run.b_step - back;
            at.c = c + i * columns - back, at.bias = bias + i * bias_step - bias_back;
            if (run.lanes < 4 && !direct_has_panels(&run))
                run_ragged(&strip, &part->tilings[r], at, plan, columns - 4 + run.lanes);
            else
                run_strip(&strip, &part->tilings[r], &at);
        }
        begin -= first, end -= last, column += run.count * columns;
        b += run.count * run.b_step, c += run.count * columns, bias += run.count * bias_step;
    }
}

static void tile_rows(struct tiling tilings[MAX_RUNS], const struct matmul_direct *plan,
                      size_t rows)
{
    for (size_t r = 0; r < plan->columns.run_count; r++)
        direct_tile_rows(&tilings[r], plan, r, rows);
}

/* Chunks are as equal as they can be of whole tiles; only the last one can be of another height. */
static void run_chunks(const struct matmul_direct *plan, const struct part *part, size_t chunk)
{
    struct tiling tilings[MAX_RUNS] = {{0}};
    struct part some = *part;
    size_t tiled = 0;
    some.tilings = tilings;
    for (some.rows.end = part->rows.begin; some.rows.end < part->rows.end;) {
        some.rows.begin = some.rows.end;
        some.rows.end = min_size(some.rows.begin + chunk, part->rows.end);
        if (some.rows.end - some.rows.begin != tiled)
            tile_rows(tilings, plan, tiled = some.rows.end - some.rows.begin);
        run_chunk(plan, &some);
    }
}

static void run_part(const struct matmul_direct *plan, const struct part *part)
{
    size_t rows = part->rows.end - part->rows.begin, count = div_up(rows, plan->chunk);
    if (count == 1)
        run_chunk(plan, part);
    else
        run_chunks(plan, part, round_up(div_up(rows, count), plan->columns.runs[0].height));
}

/* Goes to a part of k of a run's packed weights. Sums go on from those of the part before; limits
 * are for the last one. */
static void set_depth(struct gemm_f32_direct *strip, const struct matmul_direct *plan,
                      struct span depth)
{
    bool is_last = depth.end == plan->k;
    gemm_f32_direct_set_depth(strip, depth.end - depth.begin, NULL);
    strip->clamp = is_last ? plan->strip.clamp : 0;
    if (!is_last)
        strip->special = 0;
    if (depth.begin)
        strip->special |= GEMM_F32_SPECIAL_SUMS | GEMM_F32_SPECIAL_ADDS;
    gemm_f32_direct_set_ending(strip);
}

static void run_strips_of(struct gemm_f32_direct *strip, const struct strips *run,
                          const struct tiling *tiling, struct place at, struct span strips)
{
    size_t columns = 4u * run->vectors;
    at.b += strips.begin * run->b_step, at.c += strips.begin * columns;
    at.bias += at.bias ? strips.begin * columns : 0;
    for (size_t i = strips.begin; i < strips.end; i++) {
        run_strip(strip, tiling, &at);
        at.b += run->b_step, at.c += columns, at.bias += at.bias ? columns : 0;
    }
}

/* The rows of a part of k, side by side. */
static const float *copy_rows(const struct matmul_direct *plan, const struct part *part,
                              struct span depth)
{
    for (size_t i = part->rows.begin; i < part->rows.end; i++)
        memcpy(part->room + (i - part->rows.begin) * plan->a_row,
               part->at.a + i * plan->src_row + depth.begin,
               (depth.end - depth.begin) * sizeof(float));
    return part->room;
}

/* All strips with a part of k. Columns that cannot be divided are for the last part, with all of
 * it, and from src itself. */
static void run_depth(const struct matmul_direct *plan, const struct part *part, struct span depth)
{
    struct gemm_f32_direct strip = plan->strip;
    struct place at = part->at;
    size_t begin = part->strips.begin, end = part->strips.end;
    const float *src = at.a + part->rows.begin * plan->src_row;
    const float *rows = plan->passes.copies ? copy_rows(plan, part, depth) : src + depth.begin;
    at.c += part->rows.begin * strip.ldc;
    at.bias = depth.end == plan->k ? at.bias : NULL;
    for (size_t r = 0; end > 0; r++) {
        const struct strips *run = &plan->columns.runs[r];
        bool is_divided = direct_is_divisible(run);
        struct span strips = {min_size(begin, run->count), min_size(end, run->count)};
        struct span steps = is_divided ? depth : (struct span){0, plan->k};
        struct tiling tiling = part->tilings[r];
        struct place from = at;
        set_run(&strip, plan, run, &tiling);
        set_depth(&strip, plan, steps);
        strip.lda = is_divided ? plan->a_row : plan->src_row;
        tiling.low_a = tiling.low_row * strip.lda;
        from.a = is_divided ? rows : src;
        from.b += steps.begin * (direct_has_panels(run) ? LAYOUT_PANEL : 4u * run->group);
        if (is_divided || depth.end == plan->k)
            run_strips_of(&strip, run, &tiling, from, strips);
        begin -= strips.begin, end -= strips.end;
        at.b += run->count * run->b_step, at.c += run->count * 4u * run->vectors;
        at.bias += at.bias ? run->count * 4u * run->vectors : 0;
    }
}

/* Each part of k for every strip, so that rows of src stay in the cache from strip to strip. */
static void run_depths(const struct matmul_direct *plan, const struct part *part)
{
    size_t depth = plan->passes.depth;
    for (size_t begin = 0; begin < plan->k; begin += depth)
        run_depth(plan, part, (struct span){begin, min_size(begin + depth, plan->k)});
}

static void locate(const struct matmul_direct *plan, const struct execution *execution,
                   size_t batch, struct part *part)
{
    struct matmul_steps at = matmul_batch_at(&plan->batch, batch);
    part->at.a = (const float *)execution->buffers[SRC] + at.src;
    part->at.b = (const float *)execution->buffers[WEIGHTS] + at.weights;
    part->at.c = (float *)execution->buffers[DST] + at.dst;
    part->at.bias = plan->bias_fused ? execution->buffers[BIAS] : NULL;
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
        float *values = part->at.c + i * plan->strip.ldc + first;
        line.position[line.direction - 1] = (neo_dim)i;
        finish_line(execution, &line, values, !plan->bias_fused, values, 1);
    }
}

static inline void run_matrix(const struct matmul_direct *plan, const struct execution *execution,
                              size_t batch, struct part *part)
{
    locate(plan, execution, batch, part);
    if (direct_has_passes(plan))
        run_depths(plan, part);
    else
        run_part(plan, part);
    if (plan->finish)
        finish_part(plan, execution, batch, part);
}

struct direct_run {
    const struct matmul_direct *plan;
    const struct execution *execution;
    size_t tasks, row_parts;
};

/* What is small stays in `own`: without a scratchpad, a call has less to do. */
static float *task_room(const struct matmul_direct *plan, const struct execution *execution,
                        int slot, float own[ROOM_ON_STACK])
{
    size_t bytes = direct_room_bytes(plan);
    return bytes ? (float *)(void *)((char *)execution->scratch + (size_t)slot * bytes) : own;
}

/* What threads share of a matrix: strips, of which one that overlaps goes with the one before. */
static size_t units_of(const struct matmul_direct *plan)
{
    return plan->columns.strip_count - plan->overlaps;
}

/* Tasks are the units of all matrices in a row; where those are too few, rows are divided too. */
static void run_task(const struct direct_run *run, size_t i, int slot)
{
    const struct matmul_direct *plan = run->plan;
    size_t strips = units_of(plan), total = plan->count * strips;
    size_t unit_parts = run->tasks / run->row_parts;
    struct span units = partition_span(total, unit_parts, i / run->row_parts);
    float own[ROOM_ON_STACK];
    struct part part = {.rows = partition_span(plan->m, run->row_parts, i % run->row_parts),
                        .room = task_room(plan, run->execution, slot, own)};
    struct tiling tilings[MAX_RUNS];
    if (part.rows.begin == part.rows.end)
        return;
    tile_rows(tilings, plan, part.rows.end - part.rows.begin);
    part.tilings = tilings;
    for (size_t unit = units.begin; unit < units.end;) {
        size_t first = unit % strips, end = min_size(first + (units.end - unit), strips);
        part.strips = (struct span){first, end == strips ? plan->columns.strip_count : end};
        run_matrix(plan, run->execution, unit / strips, &part);
        unit += end - first;
    }
}

static void run_tasks(void *argument, struct span tasks, int slot)
{
    for (size_t i = tasks.begin; i < tasks.end; i++)
        run_task(argument, i, slot);
}

/* The calls of a plan's list, and the matrices that they are for; bias: or NULL. */
struct list {
    const struct call *begin, *end;
    const float *src, *weights, *bias;
    float *dst;
};

static inline struct list make_list(const struct matmul_direct *plan,
                                    void *const buffers[TENSOR_COUNT])
{
    return (struct list){plan->calls,   plan->calls + plan->call_count,
                         buffers[SRC],  buffers[WEIGHTS],
                         buffers[BIAS], buffers[DST]};
}

/* One matrix. Few values live from one call to the next: what a function saves is a part of a small
 * product's time. */
static inline void run_list(const struct list list)
{
    const struct call *call = list.begin;
    do
        call->run(&call->strip, list.src + call->a, list.weights + call->b, list.dst + call->c,
                  list.bias ? list.bias + call->column : NULL);
    while (++call < list.end);
}

static void run_calls(const void *plan, const struct execution *execution)
{
    run_list(make_list(plan, execution->buffers));
}

static void run_only(const void *argument, const struct execution *execution)
{
    const struct matmul_direct *plan = argument;
    void *const *buffers = execution->buffers;
    plan->only(&plan->calls->strip, buffers[SRC], buffers[WEIGHTS], buffers[DST], buffers[BIAS]);
}

/* One matrix after another: those of the innermost loop. */
static void run_turn(const struct matmul_direct *plan, struct list list,
                     const struct matmul_steps *at)
{
    const struct matmul_loop *loop = plan->batch.loops;
    list.src += at->src, list.weights += at->weights, list.dst += at->dst;
    for (size_t left = loop->count; left; left--) {
        run_list(list);
        list.src += loop->steps.src, list.weights += loop->steps.weights;
        list.dst += loop->steps.dst;
    }
}

static void run_batch(const void *argument, const struct execution *execution)
{
    const struct matmul_direct *plan = argument;
    struct matmul_walk walk = {.turns = {0}};
    do
        run_turn(plan, make_list(plan, execution->buffers), &walk.at);
    while (matmul_batch_turn(&plan->batch, &walk));
}

/* Whatever there is no list of calls for. */
static void run_strips(const void *argument, const struct execution *execution)
{
    const struct matmul_direct *plan = argument;
    if (execution->threads == 1) {
        float own[ROOM_ON_STACK];
        struct part part = {.rows = {0, plan->m},
                            .strips = {0, plan->columns.strip_count},
                            .tilings = plan->tilings,
                            .room = task_room(plan, execution, 0, own)};
        for (size_t b = 0; b < plan->count; b++)
            run_matrix(plan, execution, b, &part);
        return;
    }
    size_t units = plan->count * units_of(plan);
    size_t pieces = (size_t)parallel_pieces(execution->parallel, execution->threads);
    struct direct_run run = {plan, execution, min_size(units, pieces), 1};
    if (units < pieces)
        run.row_parts = min_size(pieces / units, div_up(plan->m, 4));
    run.tasks *= run.row_parts;
    parallel_for_tiles(execution->parallel, run.tasks, execution->threads, run_tasks, &run);
}

run_fn *direct_run_alone(const void *argument)
{
    const struct matmul_direct *plan = argument;
    if (plan->only)
        return run_only;
    if (plan->call_count)
        return plan->count == 1 ? run_calls : run_batch;
    return run_strips;
}

void direct_run(const void *plan, const struct execution *execution)
{
    run_fn *run = execution->threads == 1 ? direct_run_alone(plan) : run_strips;
    run(plan, execution);
}
