/* Steps of the blocked multiplication with rows of A read in place. */
#include <string.h>

#include "src/core/checked.h"
#include "src/gemm/ways.h"

enum { HEIGHT = GEMM_F32_LISTED_HEIGHT, LIST = GEMM_F32_LIST };

/* ---- which panels pass together ---- */

/* How many panels of one width follow each other from p on: full ones as far as they stay in the L1
 * cache together with a tile's rows of A, or the two of 8 columns that few columns end in. */
static size_t group_of(const struct gemm_plan *plan, struct span panels, size_t p)
{
    size_t end = min_size(plan->full_panels, panels.end), n = plan->shape.n;
    if (p < end)
        return min_size(end - p, plan->group_panels);
    return p + 1 < panels.end && layout_panel(n, p).width == layout_panel(n, p + 1).valid ? 2 : 1;
}

/* Panels from p on, as many as belong together. */
static struct gemm_pass plan_pass(const struct gemm_plan *plan,
                                  const struct gemm_f32_listed_kernels *kernels, struct span panels,
                                  size_t p)
{
    struct gemm_pass pass = {.panels = group_of(plan, panels, p)};
    pass.panel = gemm_plan_panel(plan, p);
    bool narrow = pass.panel.valid == 1, whole = pass.panel.valid == pass.panel.width;
    bool tail = plan->has_tail && !whole;
    pass.width = (uint32_t)(narrow || tail ? pass.panel.valid : pass.panel.width);
    pass.valid = (narrow && !tail) || whole ? 0 : (uint32_t)pass.panel.valid;
    for (size_t low = 0; low < 2; low++)
        pass.run[low] =
            tail ? gemm_f32_listed_columns_find(kernels->needs, plan->tall - low, pass.width)
                 : gemm_f32_listed_run(kernels, plan->tall - low, pass.width);
    return pass;
}

void gemm_plan_passes(struct gemm_plan *plan)
{
    struct span all = {0, plan->panels};
    size_t count = 0, p = 0;
    for (; p < all.end && count < GEMM_PASSES; p += plan->passes[count++].panels)
        plan->passes[count] = plan_pass(plan, plan->tiles.listed, all, p);
    plan->pass_count = p < all.end ? 0 : count;
}

/* ---- strips ---- */

/* What a pass fetches while it multiplies: as many panels as it has, of those that come after the
 * step's first pass, so that each is fetched once. The last ones are the next step's, elsewhere. */
struct fetching {
    size_t part;         /* of each of these panels, bytes that a tile fetches; 0: there are none */
    size_t tiles, those; /* of the step, and how many of these fetch, */
    size_t due;          /* which it is time for at `tiles` */
    size_t here;         /* panels of this step, which are the first ones, and how far these */
    size_t ahead, after; /* bytes from the pass's panels to them, and to those of the next step */
    bool has_after;      /* are there any? */
};

/* A pass on its way down the tiles of a step. */
struct strip {
    struct gemm_f32_listed call; /* of the kernels, at the next tiles */
    const struct gemm_task *task;
    const struct gemm_pass *pass;
    const struct gemm_run *run; /* that the next tile belongs to */
    const float *b;             /* of the step */
    const float *tail;          /* of all k, which is one step; or NULL */
    size_t tile;                /* the next one */
    struct fetching fetching;   /* of what comes later */
    uint32_t tall;
};

/* To the tiles below. */
static void advance(struct strip *strip, uint32_t low, size_t tiles)
{
    struct gemm_f32_listed *call = &strip->call;
    call->rows += tiles * call->segments * LIST;
    call->c += tiles * (strip->tall - low) * call->ldc;
}

static void run_by(struct strip *strip, gemm_f32_listed_fn *run, uint32_t low, size_t tiles)
{
    struct gemm_f32_listed *call = &strip->call;
    call->tiles = tiles;
    call->height = strip->tall - low;
    run(call);
    advance(strip, low, tiles);
}

static void run_tiles(struct strip *strip, uint32_t low, size_t tiles)
{
    run_by(strip, strip->pass->run[low], low, tiles);
}

/* The pass with some of its panels alone. */
static struct strip panels_of(const struct strip *strip, size_t skipped, size_t panels)
{
    struct strip some = *strip;
    struct gemm_f32_listed *call = &some.call;
    call->b += skipped * call->b_step;
    call->c += skipped * call->width;
    if (call->bias)
        call->bias += skipped * call->width;
    call->panels = panels;
    return some;
}

/* Panels for which others of this step are fetched, and those after them. */
static void run_fetching_tile(struct strip *strip, uint32_t low)
{
    const struct fetching *fetching = &strip->fetching;
    gemm_f32_listed_fn *fetch = strip->task->tiles->listed->fetch[strip->tall - low - 1];
    size_t here = fetching->here, all = strip->call.panels;
    if (here) {
        struct strip first = panels_of(strip, 0, here);
        first.call.ahead = fetching->ahead;
        run_by(&first, fetch, low, 1);
    }
    if (here < all) {
        struct strip others = panels_of(strip, here, all - here);
        others.call.ahead = fetching->after;
        run_by(&others, fetching->has_after ? fetch : strip->pass->run[low], low, 1);
    }
    advance(strip, low, 1);
}

/* Some tiles fetch a part each, as far apart as they can be. Where that is six of them a line comes
 * in every other round: memory is hardly faster. */
static void run_fetching(struct strip *strip, uint32_t low, size_t tiles)
{
    struct fetching *fetching = &strip->fetching;
    size_t others = 0;
    for (; tiles > 0; tiles--) {
        fetching->due += fetching->those;
        if (fetching->due < fetching->tiles) {
            others++;
            continue;
        }
        fetching->due -= fetching->tiles;
        if (others)
            run_tiles(strip, low, others);
        others = 0;
        run_fetching_tile(strip, low);
        fetching->ahead += fetching->part;
        fetching->after += fetching->part;
    }
    if (others)
        run_tiles(strip, low, others);
}

/* The first tile of full panels of plain weights, which it packs for the tiles below. */
static void pack_panels(const struct gemm_task *task, const struct gemm_step *step,
                        struct strip *strip)
{
    const struct gemm_plan *plan = task->plan;
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

/* A panel of which not all columns exist, where sums go on or the last vector has none before it to
 * be stored with: tile by tile on a copy of C. */
static void run_on_copies(struct strip *strip, uint32_t low, size_t tiles)
{
    float copy[HEIGHT * LAYOUT_PANEL] = {0};
    struct strip one = *strip;
    struct gemm_f32_listed *call = &strip->call;
    size_t rows = strip->tall - low, valid = strip->pass->valid;
    one.call.ldc = LAYOUT_PANEL;
    for (size_t t = 0; t < tiles; t++) {
        if (call->accumulate)
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
    if (call->accumulate || call->width == 4) {
        run_on_copies(strip, low, tiles);
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

/* At the first tile of other runs. */
static void continue_strip(struct strip *strip, const struct gemm_run *runs)
{
    strip->run = runs;
    begin_run(strip);
}

/* That a panel of B has, wherever it is. */
static size_t panel_rows(const struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_shape *shape = &task->plan->shape;
    return shape->b_packed ? shape->k : step->k.end - step->k.begin;
}

/* The step's first pass was fetched before it, and each fetches as many panels as it has, so what a
 * pass fetches is as far behind it as the first pass is wide. */
static void find_fetched(struct strip *strip, const struct gemm_step *step)
{
    const struct gemm_plan *plan = strip->task->plan;
    const struct gemm_f32_listed *call = &strip->call;
    struct fetching *fetching = &strip->fetching;
    size_t lead = group_of(plan, step->panels, step->panels.begin);
    size_t next = strip->pass->panel.first / LAYOUT_PANEL + lead;
    size_t end = min_size(step->panels.end, plan->full_panels);
    size_t panel = call->b_step * sizeof(float);
    fetching->here = next < end ? min_size(end - next, call->panels) : 0;
    fetching->ahead = lead * panel;
    fetching->has_after = strip->task->after;
    fetching->after = (uintptr_t)strip->task->after + (next + fetching->here - end) * panel -
                      (uintptr_t)(strip->b + fetching->here * call->b_step);
}

/* Rows of the plan's lowest tiles. */
static size_t lowest(const struct gemm_plan *plan)
{
    return max_size(plan->tall - (plan->tall_tiles < plan->row_tiles), 1);
}

/* Of the longest block of k, if the next step's may be longer. */
static void begin_fetching(struct strip *strip, const struct gemm_step *step)
{
    enum { FETCHING = 6, LINES = 2 /* that kernels ask for in a round */ };
    const struct gemm_task *task = strip->task;
    const struct gemm_plan *plan = task->plan;
    struct fetching *fetching = &strip->fetching;
    size_t rounds = strip->call.rounds * step->segments;
    size_t end = strip->pass->panel.first / LAYOUT_PANEL + strip->pass->panels;
    size_t k = task->after ? min_size(plan->block_k, plan->shape.k) : step->k.end - step->k.begin;
    *fetching = (struct fetching){.tiles = step->tiles.end - step->tiles.begin};
    if (!plan->fetches || end > plan->full_panels || !rounds ||
        !task->tiles->listed->fetch[lowest(plan) - 1])
        return;
    find_fetched(strip, step);
    if (!fetching->here && !fetching->has_after)
        return;
    fetching->those = min_size(fetching->tiles, FETCHING);
    fetching->part = div_up(k * LAYOUT_PANEL * sizeof(float), fetching->those);
    strip->call.ahead_step = div_up(fetching->part, LINES * rounds);
}

static void begin_strip(struct strip *strip, const struct gemm_task *task,
                        const struct gemm_step *step, const struct gemm_block *block,
                        const struct gemm_run *runs, const struct gemm_pass *pass)
{
    const struct gemm_plan *plan = task->plan;
    const struct layout_panel *panel = &pass->panel;
    struct span part = gemm_step_part(task, step);
    size_t depth = part.end - part.begin;
    const float *b = gemm_step_panel(task, step, panel);
    strip->task = task;
    strip->pass = pass;
    strip->run = runs;
    strip->b = b + part.begin * panel->width;
    strip->tail = gemm_step_tail(task);
    strip->tile = step->tiles.begin;
    strip->tall = (uint32_t)plan->tall;
    strip->call = (struct gemm_f32_listed){
        .rounds = depth / 4,
        .tail = depth % 4,
        .b_skip = (step->depth - depth) * panel->width,
        .b_step = panel->width * panel_rows(task, step),
        .c = block->values + (panel->first - step->column),
        .ldc = block->row_stride,
        .panels = pass->panels,
        .low = plan->shape.low,
        .high = plan->shape.high,
        .width = pass->width,
        .column_step = plan->shape.k,
    };
    begin_run(strip);
    begin_fetching(strip, step);
    if (task->packs && panel->first < plan->full_panels * LAYOUT_PANEL)
        pack_panels(task, step, strip);
}

/* Tiles of one run up to `end`. */
static void run_some(struct strip *strip, size_t end)
{
    void (*run)(struct strip *, uint32_t, size_t) = strip->pass->valid     ? run_ragged
                                                    : strip->fetching.part ? run_fetching
                                                                           : run_tiles;
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
    const struct gemm_plan *plan = strip->task->plan;
    size_t row = gemm_plan_tile(plan, strip->tile).begin;
    strip->call.c += (gemm_plan_tile(plan, end - 1).end - row) * strip->call.ldc;
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

/* Some tiles of a step, a chunk of them after the other. */
static void run_strips(const struct gemm_task *task, struct strip *strips, size_t count,
                       struct span tiles)
{
    size_t chunk = min_size(task->plan->chunk_tiles, tiles.end - tiles.begin);
    for (size_t t = tiles.begin; t < tiles.end; t += chunk)
        for (size_t i = 0; i < count; i++)
            run_strip(&strips[i], min_size(t + chunk, tiles.end));
}

/* Planned passes of all panels, some tiles after the other, which have the same lists. */
static void run_laps(const struct gemm_task *task, const struct gemm_step *step,
                     const struct gemm_block *block)
{
    const struct gemm_plan *plan = task->plan;
    size_t tiles = step->tiles.end - step->tiles.begin, count = plan->pass_count;
    size_t most = plan->lap_tiles, each = tiles > most ? div_up(tiles, div_up(tiles, most)) : tiles;
    struct strip strips[GEMM_PASSES];
    struct gemm_step lap = *step;
    struct gemm_run all;
    for (size_t t = step->tiles.begin; t < step->tiles.end; t += each) {
        lap.tiles = (struct span){t, min_size(t + each, step->tiles.end)};
        const struct gemm_run *runs = gemm_step_list(task, &lap, &all);
        for (size_t i = 0; i < count; i++)
            if (t == step->tiles.begin)
                begin_strip(&strips[i], task, step, block, runs, &plan->passes[i]);
            else
                continue_strip(&strips[i], runs);
        run_strips(task, strips, count, lap.tiles);
    }
}

void gemm_step_run_listed(const struct gemm_task *task, const struct gemm_step *step,
                          const struct gemm_block *block, struct span panels)
{
    const struct gemm_plan *plan = task->plan;
    bool is_all = panels.begin == 0 && panels.end == plan->panels;
    if (is_all && plan->pass_count && task->tiles == &plan->tiles) {
        run_laps(task, step, block);
        return;
    }
    struct gemm_run all;
    const struct gemm_run *runs = gemm_step_list(task, step, &all);
    struct gemm_pass passes[GEMM_PASSES];
    struct strip strips[GEMM_PASSES];
    for (size_t p = panels.begin; p < panels.end;) {
        size_t count = 0;
        for (; p < panels.end && count < GEMM_PASSES; p += passes[count++].panels) {
            passes[count] = plan_pass(plan, task->tiles->listed, panels, p);
            begin_strip(&strips[count], task, step, block, runs, &passes[count]);
        }
        run_strips(task, strips, count, step->tiles);
    }
}

void gemm_way_run_listed(const struct gemm_task *task, const struct gemm_step *step,
                         const struct gemm_block *block)
{
    gemm_step_run_listed(task, step, block, step->panels);
}

/* Those for rows of one segment pack B, too. */
bool gemm_way_listed_packs(const struct gemm_task *task, const struct gemm_step *step)
{
    return task->tiles->listed->pack[lowest(task->plan) - 1] && step->segments == 1;
}
