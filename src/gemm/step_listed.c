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

/* Rows of one segment at equal distances. Addresses of rows that do not exist are numbers only. */
static void list_regular(const struct gemm_task *task, const struct gemm_step *step)
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

static void list_rows(const struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_f32 *plan = task->plan;
    if (plan->shape.a_is_regular) {
        list_regular(task, step);
        return;
    }
    size_t tall = max_size(min_size(plan->tall_tiles, step->tiles.end), step->tiles.begin);
    task->call->list_a(task->call->context, task->caller,
                       &(struct gemm_f32_list){.batch = task->batch,
                                               .tile = step->tiles.begin,
                                               .row = step->row,
                                               .height = plan->tall,
                                               .tall = tall - step->tiles.begin,
                                               .low = step->tiles.end - tall,
                                               .first = step->k.begin,
                                               .segments = step->segments,
                                               .out = task->list});
}

static void copy_listed(const struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_f32 *plan = task->plan;
    size_t depth = step->depth;
    const float **list = task->list;
    float *copy = task->a;
    for (size_t t = step->tiles.begin; t < step->tiles.end; t++) {
        size_t rows = plan->tall - (t >= plan->tall_tiles);
        for (size_t s = 0; s < step->segments; s++, list += LIST, copy += rows * depth)
            copy_rows(list, rows, depth, copy);
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
    pass.width = (uint32_t)(narrow ? pass.panel.valid : pass.panel.width);
    pass.valid = narrow || whole ? 0 : (uint32_t)pass.panel.valid;
    pass.run[0] = gemm_f32_listed_run(kernels, plan->tall, pass.width);
    pass.run[1] = gemm_f32_listed_run(kernels, plan->tall - 1, pass.width);
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

/* A pass on its way down the tiles. */
struct strip {
    struct gemm_f32_listed call; /* of the kernels, at the next tiles */
    const struct gemm_pass *pass;
    size_t tile; /* the next one */
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

static void begin_strip(struct strip *strip, const struct gemm_task *task,
                        const struct gemm_step *step, const struct gemm_f32_block *block,
                        const struct gemm_pass *pass)
{
    const struct gemm_f32 *plan = task->plan;
    const struct gemm_f32_shape *shape = &plan->shape;
    const struct layout_panel *panel = &pass->panel;
    bool last = step->k.end == shape->k;
    strip->pass = pass;
    strip->tile = step->tiles.begin;
    strip->tall = (uint32_t)plan->tall;
    strip->call = (struct gemm_f32_listed){
        .rows = task->list,
        .segments = step->segments,
        .rounds = step->depth / 4,
        .tail = step->depth % 4,
        .b = gemm_step_panel(task, step, panel),
        .b_step = gemm_step_panel_stride(task, step, panel->width),
        .c = block->values + (panel->first - step->column),
        .ldc = block->row_stride,
        .panels = pass->panels,
        .bias = last && task->place.bias ? task->place.bias + panel->first : NULL,
        .accumulate = step->k.begin > 0,
        .clamp = last ? plan->clamp : 0,
        .low = shape->low,
        .high = shape->high,
        .width = pass->width,
    };
    if (task->packs && panel->first < plan->full_panels * LAYOUT_PANEL)
        pack_panels(task, step, strip);
}

/* Tiles up to `end`. */
static void run_strip(const struct gemm_f32 *plan, struct strip *strip, size_t end)
{
    void (*run)(struct strip *, uint32_t, size_t) = strip->pass->valid ? run_ragged : run_tiles;
    size_t boundary = max_size(min_size(plan->tall_tiles, end), strip->tile);
    if (boundary > strip->tile)
        run(strip, 0, boundary - strip->tile);
    if (end > boundary)
        run(strip, 1, end - boundary);
    strip->tile = end;
}

/* A step's only pass that the plan knows, or its passes one after the other: nothing but addresses
 * is not known yet. */
void gemm_run_short(const struct gemm_task *task)
{
    const struct gemm_f32 *plan = task->plan;
    const struct gemm_step *step = &plan->whole;
    const struct gemm_f32_place *place = &task->place;
    size_t k = plan->shape.k;
    list_rows(task, step);
    for (const struct gemm_pass *pass = plan->passes; pass < plan->passes + plan->pass_count;
         pass++) {
        size_t first = pass->panel.first;
        struct strip strip = {
            .pass = pass,
            .tall = (uint32_t)plan->tall,
            .call = {.rows = task->list,
                     .segments = step->segments,
                     .rounds = step->depth / 4,
                     .tail = step->depth % 4,
                     .b = place->b + first * k,
                     .b_step = pass->panel.width * k,
                     .c = place->c + first,
                     .ldc = place->c_row,
                     .panels = pass->panels,
                     .bias = place->bias ? place->bias + first : NULL,
                     .clamp = plan->clamp,
                     .low = plan->shape.low,
                     .high = plan->shape.high,
                     .width = pass->width},
        };
        run_strip(plan, &strip, plan->row_tiles);
    }
}

/* Some passes, a chunk of tiles after the other. */
static void run_passes(const struct gemm_task *task, const struct gemm_step *step,
                       const struct gemm_f32_block *block, const struct gemm_pass *passes,
                       size_t count)
{
    const struct gemm_f32 *plan = task->plan;
    struct strip strips[GEMM_F32_PASSES];
    size_t begin = step->tiles.begin, end = step->tiles.end, chunk = plan->chunk_tiles;
    for (size_t i = 0; i < count; i++) {
        begin_strip(&strips[i], task, step, block, &passes[i]);
        if (chunk >= end - begin)
            run_strip(plan, &strips[i], end);
    }
    for (size_t t = begin; chunk < end - begin && t < end; t += chunk)
        for (size_t i = 0; i < count; i++)
            run_strip(plan, &strips[i], min_size(t + chunk, end));
}

void gemm_step_run_listed(const struct gemm_task *task, const struct gemm_step *step,
                          const struct gemm_f32_block *block, struct span panels)
{
    const struct gemm_f32 *plan = task->plan;
    list_rows(task, step);
    if (plan->copies)
        copy_listed(task, step);
    bool all = panels.begin == 0 && panels.end == plan->panels;
    if (all && plan->pass_count && task->tiles == &plan->tiles) {
        run_passes(task, step, block, plan->passes, plan->pass_count);
        return;
    }
    struct gemm_pass passes[GEMM_F32_PASSES];
    for (size_t p = panels.begin; p < panels.end;) {
        size_t count = 0;
        for (; p < panels.end && count < GEMM_F32_PASSES; p += passes[count++].panels)
            passes[count] = plan_pass(plan, task->tiles->listed, panels, p);
        run_passes(task, step, block, passes, count);
    }
}
