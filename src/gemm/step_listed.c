/* Steps of the blocked multiplication with rows of A read in place. */
#include <math.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/gemm/step.h"

enum { HEIGHT = GEMM_F32_LISTED_HEIGHT, LIST = GEMM_F32_LIST };

/* ---- rows of A ---- */

/* Rows that would fall on the same few places of the L1 cache are copied next to each other. */
static void copy_rows(const float **list, size_t rows, size_t depth, float *to)
{
    for (size_t i = 0; i < rows; i++, to += depth) {
        memcpy(to, list[i], depth * sizeof *to);
        list[i] = to;
    }
}

/* Addresses of rows that do not exist are numbers only. */
void gemm_step_list_regular(const struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_f32 *plan = task->plan;
    const float **list = task->list;
    uintptr_t stride = plan->shape.a_stride * sizeof(float);
    uintptr_t row = (uintptr_t)gemm_step_row(task, step);
    for (size_t t = step->tiles.begin; t < step->tiles.end; t++, list += LIST) {
#pragma GCC unroll 7
        for (size_t i = 0; i < HEIGHT; i++)
            list[i] = (const float *)(row + i * stride);
        row += (plan->tall - (t >= plan->tall_tiles)) * stride;
    }
}

static void list_run(const struct gemm_task *task, const struct gemm_step *step,
                     const struct gemm_run *run)
{
    const struct gemm_f32 *plan = task->plan;
    size_t tall = max_size(min_size(plan->tall_tiles, run->tiles.end), run->tiles.begin);
    task->call->list_a(
        task->call->context, task->caller,
        &(struct gemm_f32_list){.batch = task->batch,
                                .tile = run->tiles.begin,
                                .row = gemm_f32_plan_tile(plan, run->tiles.begin).begin,
                                .height = plan->tall,
                                .tall = tall - run->tiles.begin,
                                .low = run->tiles.end - tall,
                                .first = step->k.begin + run->skipped,
                                .segments = run->segments,
                                .out = run->rows});
}

static void copy_run(const struct gemm_task *task, const struct gemm_step *step,
                     const struct gemm_run *run, float *copy)
{
    const struct gemm_f32 *plan = task->plan;
    const float **list = run->rows;
    struct span part = gemm_step_part(task, step);
    size_t depth = part.end - part.begin;
    for (size_t t = run->tiles.begin; t < run->tiles.end; t++) {
        size_t rows = plan->tall - (t >= plan->tall_tiles);
        for (size_t s = 0; s < run->segments; s++, list += LIST, copy += rows * depth)
            copy_rows(list, rows, depth, copy);
    }
}

/* ---- runs of tiles ---- */

/* Sets what the run has of the step's k. */
static void set_part(struct gemm_run *run, const struct gemm_step *step, struct span reach)
{
    size_t begin = max_size(step->k.begin, reach.begin), end = min_size(step->k.end, reach.end);
    run->skipped = begin < end ? begin - step->k.begin : 0;
    run->segments = begin < end ? (end - begin) / step->depth : 0;
    run->begins = begin == reach.begin;
    run->ends = end == reach.end;
}

/* All tiles, with all of the step's k. */
static struct gemm_run whole_run(const struct gemm_task *task, const struct gemm_step *step)
{
    return (struct gemm_run){.tiles = step->tiles,
                             .segments = step->segments,
                             .begins = step->k.begin == 0,
                             .ends = step->k.end == task->plan->shape.k,
                             .rows = task->list};
}

static struct span reach_of(const struct gemm_task *task, size_t tile)
{
    struct span rows = gemm_f32_plan_tile(task->plan, tile);
    return task->call->reach(task->call->context, task->batch, tile, rows.begin,
                             rows.end - rows.begin);
}

/* The step's tiles, divided where A has zeros. Returns how many runs there are. */
static size_t find_runs(const struct gemm_task *task, const struct gemm_step *step)
{
    struct gemm_run *run = task->runs;
    const float **rows = task->list;
    struct span next = reach_of(task, step->tiles.begin), reach;
    for (size_t t = step->tiles.begin; t < step->tiles.end; run++) {
        run->tiles.begin = t;
        reach = next;
        while (++t < step->tiles.end) {
            next = reach_of(task, t);
            if (next.begin != reach.begin || next.end != reach.end)
                break;
        }
        run->tiles.end = t;
        run->rows = rows;
        set_part(run, step, reach);
        rows += (t - run->tiles.begin) * run->segments * LIST;
    }
    return (size_t)(run - task->runs);
}

static void list_rows(const struct gemm_task *task, const struct gemm_step *step,
                      const struct gemm_run *runs, size_t count)
{
    const struct gemm_f32 *plan = task->plan;
    float *copy = task->a;
    if (plan->shape.a_is_regular)
        gemm_step_list_regular(task, step);
    for (size_t i = 0; i < count; i++) {
        const struct gemm_run *run = &runs[i];
        if (!plan->shape.a_is_regular && run->segments)
            list_run(task, step, run);
        if (plan->copies)
            copy_run(task, step, run, copy);
        copy += (run->tiles.end - run->tiles.begin) * plan->tall * run->segments * step->depth;
    }
}

/* ---- which panels pass together ---- */

/* How many panels of one width follow each other from p on: full ones as far as they stay in the L1
 * cache together with a tile's rows of A, or the two of 8 columns that few columns end in. */
static size_t group_of(const struct gemm_f32 *plan, struct span panels, size_t p)
{
    size_t end = min_size(plan->full_panels, panels.end), n = plan->shape.n;
    if (p < end)
        return min_size(end - p, plan->group_panels);
    return p + 1 < panels.end && layout_panel(n, p).width == layout_panel(n, p + 1).valid ? 2 : 1;
}

/* Panels from p on, as many as belong together. */
static struct gemm_pass plan_pass(const struct gemm_f32 *plan,
                                  const struct gemm_f32_listed_kernels *kernels, struct span panels,
                                  size_t p)
{
    struct gemm_pass pass = {.panel = gemm_f32_plan_panel(plan, p),
                             .panels = group_of(plan, panels, p)};
    bool narrow = pass.panel.valid < 4, whole = pass.panel.valid == pass.panel.width;
    bool tail = plan->has_tail && !whole;
    pass.width = (uint32_t)(narrow || tail ? pass.panel.valid : pass.panel.width);
    pass.valid = (narrow && !tail) || whole ? 0 : (uint32_t)pass.panel.valid;
    for (size_t low = 0; low < 2; low++)
        pass.run[low] =
            tail ? gemm_f32_listed_columns_find(kernels->needs, plan->tall - low, pass.width)
                 : gemm_f32_listed_run(kernels, plan->tall - low, pass.width);
    return pass;
}

void gemm_f32_plan_passes(struct gemm_f32 *plan)
{
    struct span all = {0, plan->panels};
    size_t count = 0, p = 0;
    for (; p < all.end && count < GEMM_F32_PASSES; p += plan->passes[count++].panels)
        plan->passes[count] = plan_pass(plan, plan->tiles.listed, all, p);
    plan->pass_count = p < all.end ? 0 : count;
}

/* ---- strips ---- */

/* A pass on its way down the tiles of a step. */
struct strip {
    struct gemm_f32_listed call; /* of the kernels, at the next tiles */
    const struct gemm_task *task;
    const struct gemm_pass *pass;
    const struct gemm_run *run; /* that the next tile belongs to */
    const float *b;             /* of the step */
    const float *tail;          /* of all k, which is one step; or NULL */
    size_t tile;                /* the next one */
    uint32_t tall;
};

static void run_tiles(struct strip *strip, uint32_t low, size_t tiles)
{
    struct gemm_f32_listed *call = &strip->call;
    call->tiles = tiles;
    call->height = strip->tall - low;
    strip->pass->run[low](call);
    call->rows += tiles * call->segments * LIST;
    call->c += tiles * call->height * call->ldc;
}

/* The first tile of full panels of plain weights, which it packs for the tiles below. */
static void pack_panels(const struct gemm_task *task, const struct gemm_step *step,
                        struct strip *strip)
{
    const struct gemm_f32 *plan = task->plan;
    const struct layout_panel *panel = &strip->pass->panel;
    struct gemm_f32_listed call = strip->call;
    size_t height = plan->tall - (strip->tile >= plan->tall_tiles), b_row = plan->shape.b_row;
    call.tiles = 1;
    call.height = (uint32_t)height;
    call.from = task->place.b + step->k.begin * b_row + panel->first;
    call.from_row = b_row;
    call.to = gemm_step_own_panel(task, step, panel);
    task->tiles->listed->pack[height - 1](&call);
    strip->call.rows += call.segments * LIST;
    strip->call.c += height * call.ldc;
    strip->tile++;
}

static void copy_block(float *to, size_t to_row, const float *from, size_t from_row, size_t rows,
                       size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            to[i * to_row + j] = from[i * from_row + j];
}

/* A panel of which not all columns exist, and whose sums go on: tile by tile on a copy of C. */
static void continue_ragged(struct strip *strip, uint32_t low, size_t tiles)
{
    float copy[HEIGHT * LAYOUT_PANEL] = {0};
    struct strip one = *strip;
    struct gemm_f32_listed *call = &strip->call;
    size_t rows = strip->tall - low, valid = strip->pass->valid;
    one.call.ldc = LAYOUT_PANEL;
    for (size_t t = 0; t < tiles; t++) {
        copy_block(copy, LAYOUT_PANEL, call->c, call->ldc, rows, valid);
        one.call.c = copy;
        run_tiles(&one, low, 1);
        copy_block(call->c, call->ldc, copy, LAYOUT_PANEL, rows, valid);
        call->c += rows * call->ldc;
    }
    call->rows = one.call.rows;
}

/* A panel of which not all columns exist. */
static void run_ragged(struct strip *strip, uint32_t low, size_t tiles)
{
    float bias[LAYOUT_PANEL] = {0};
    struct gemm_f32_listed *call = &strip->call;
    const float *given = call->bias;
    if (given)
        call->bias = memcpy(bias, given, strip->pass->valid * sizeof *bias);
    if (call->accumulate) {
        continue_ragged(strip, low, tiles);
    } else {
        call->missing = call->width - strip->pass->valid;
        run_tiles(strip, low, tiles);
    }
    call->bias = given;
}

/* At the first tile of a run. */
static void begin_run(struct strip *strip)
{
    const struct gemm_run *run = strip->run;
    const float *bias = run->ends ? strip->task->place.bias : NULL;
    struct gemm_f32_listed *call = &strip->call;
    call->rows = run->rows;
    call->segments = run->segments;
    call->b = strip->b + run->skipped * strip->pass->panel.width;
    call->columns = strip->tail ? strip->tail + run->skipped : NULL;
    call->bias = bias ? bias + strip->pass->panel.first : NULL;
    call->accumulate = !run->begins;
    call->clamp = run->ends ? strip->task->plan->clamp : 0;
    call->missing = 0;
}

static void begin_strip(struct strip *strip, const struct gemm_task *task,
                        const struct gemm_step *step, const struct gemm_f32_block *block,
                        const struct gemm_run *runs, const struct gemm_pass *pass)
{
    const struct gemm_f32 *plan = task->plan;
    const struct layout_panel *panel = &pass->panel;
    struct span part = gemm_step_part(task, step);
    size_t depth = part.end - part.begin;
    strip->task = task;
    strip->pass = pass;
    strip->run = runs;
    strip->b = gemm_step_panel(task, step, panel) + part.begin * panel->width;
    strip->tail = gemm_step_tail(task);
    strip->tile = step->tiles.begin;
    strip->tall = (uint32_t)plan->tall;
    strip->call = (struct gemm_f32_listed){
        .rounds = depth / 4,
        .tail = depth % 4,
        .b_skip = (step->depth - depth) * panel->width,
        .b_step = gemm_step_panel_stride(task, step, panel->width),
        .c = block->values + (panel->first - step->column),
        .ldc = block->row_stride,
        .panels = pass->panels,
        .low = plan->shape.low,
        .high = plan->shape.high,
        .width = pass->width,
        .column_step = plan->shape.k,
    };
    begin_run(strip);
    if (task->packs && panel->first < plan->full_panels * LAYOUT_PANEL)
        pack_panels(task, step, strip);
}

/* Tiles of one run up to `end`. */
static void run_some(struct strip *strip, size_t end)
{
    void (*run)(struct strip *, uint32_t, size_t) = strip->pass->valid ? run_ragged : run_tiles;
    size_t boundary = max_size(min_size(strip->task->plan->tall_tiles, end), strip->tile);
    if (boundary > strip->tile)
        run(strip, 0, boundary - strip->tile);
    if (end > boundary)
        run(strip, 1, end - boundary);
    strip->tile = end;
}

/* The same where nothing is to be added. */
static void skip_some(struct strip *strip, size_t end)
{
    const struct gemm_f32 *plan = strip->task->plan;
    size_t row = gemm_f32_plan_tile(plan, strip->tile).begin;
    strip->call.c += (gemm_f32_plan_tile(plan, end - 1).end - row) * strip->call.ldc;
    strip->tile = end;
}

/* Tiles up to `end`, of any runs. */
static void run_strip(struct strip *strip, size_t end)
{
    while (strip->tile < end) {
        if (strip->tile == strip->run->tiles.end) {
            strip->run++;
            begin_run(strip);
        }
        size_t last = min_size(end, strip->run->tiles.end);
        if (strip->run->segments)
            run_some(strip, last);
        else
            skip_some(strip, last);
    }
}

/* Some passes, a chunk of tiles after the other. */
static void run_passes(const struct gemm_task *task, const struct gemm_step *step,
                       const struct gemm_f32_block *block, const struct gemm_run *runs,
                       const struct gemm_pass *passes, size_t count)
{
    struct strip strips[GEMM_F32_PASSES];
    size_t begin = step->tiles.begin, end = step->tiles.end, chunk = task->plan->chunk_tiles;
    for (size_t i = 0; i < count; i++) {
        begin_strip(&strips[i], task, step, block, runs, &passes[i]);
        if (chunk >= end - begin)
            run_strip(&strips[i], end);
    }
    for (size_t t = begin; chunk < end - begin && t < end; t += chunk)
        for (size_t i = 0; i < count; i++)
            run_strip(&strips[i], min_size(t + chunk, end));
}

void gemm_step_run_listed(const struct gemm_task *task, const struct gemm_step *step,
                          const struct gemm_f32_block *block, struct span panels)
{
    const struct gemm_f32 *plan = task->plan;
    struct gemm_run all = whole_run(task, step);
    const struct gemm_run *runs = plan->shape.a_has_zeros ? task->runs : &all;
    list_rows(task, step, runs, plan->shape.a_has_zeros ? find_runs(task, step) : 1);
    bool is_all = panels.begin == 0 && panels.end == plan->panels;
    if (is_all && plan->pass_count && task->tiles == &plan->tiles) {
        run_passes(task, step, block, runs, plan->passes, plan->pass_count);
        return;
    }
    struct gemm_pass passes[GEMM_F32_PASSES];
    for (size_t p = panels.begin; p < panels.end;) {
        size_t count = 0;
        for (; p < panels.end && count < GEMM_F32_PASSES; p += passes[count++].panels)
            passes[count] = plan_pass(plan, task->tiles->listed, panels, p);
        run_passes(task, step, block, runs, passes, count);
    }
}
