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

/* The values of k that one segment has in this step. */
static size_t depth_of(const struct gemm_f32 *plan, const struct gemm_step *step)
{
    return min_size(step->k.end - step->k.begin, plan->shape.segment);
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

static void list_rows(const struct gemm_task *task, const struct gemm_step *step, size_t segments)
{
    const struct gemm_f32 *plan = task->plan;
    if (plan->shape.a_is_regular) {
        list_regular(task, step);
        return;
    }
    size_t tall = max_size(min_size(plan->tall_tiles, step->tiles.end), step->tiles.begin);
    task->call->list_a(task->call->context, task->caller,
                       &(struct gemm_f32_list){.batch = task->batch,
                                               .row = step->row,
                                               .height = plan->tall,
                                               .tall = tall - step->tiles.begin,
                                               .low = step->tiles.end - tall,
                                               .first = step->k.begin,
                                               .segments = segments,
                                               .out = task->list});
}

static void copy_listed(const struct gemm_task *task, const struct gemm_step *step, size_t segments,
                        size_t depth)
{
    const struct gemm_f32 *plan = task->plan;
    const float **list = task->list;
    float *copy = task->a;
    for (size_t t = step->tiles.begin; t < step->tiles.end; t++) {
        size_t rows = plan->tall - (t >= plan->tall_tiles);
        for (size_t s = 0; s < segments; s++, list += LIST, copy += rows * depth)
            copy_rows(list, rows, depth, copy);
    }
}

/* ---- strips ---- */

/* Panels of one width as their kernels want them, at the next tiles. */
struct pass {
    struct gemm_f32_listed strip;
    gemm_f32_listed_fn *run[2]; /* for tall tiles, and for those that are one row lower */
    size_t tile;                /* the next one */
    uint32_t tall;
    uint32_t valid; /* not 0: not all columns exist */
};

static void run_tiles(struct pass *pass, uint32_t low, size_t tiles)
{
    struct gemm_f32_listed *strip = &pass->strip;
    strip->tiles = tiles;
    strip->height = pass->tall - low;
    pass->run[low](strip);
    strip->rows += tiles * strip->segments * LIST;
    strip->c += tiles * strip->height * strip->ldc;
}

/* The first tile of full panels of plain weights, which it packs for the tiles below. */
static void pack_panels(const struct gemm_task *task, const struct gemm_step *step,
                        struct pass *pass, const struct layout_panel *panel)
{
    const struct gemm_f32 *plan = task->plan;
    struct gemm_f32_listed strip = pass->strip;
    size_t height = plan->tall - (pass->tile >= plan->tall_tiles), b_row = plan->shape.b_row;
    strip.tiles = 1;
    strip.height = (uint32_t)height;
    strip.from = task->place.b + step->k.begin * b_row + panel->first;
    strip.from_row = b_row;
    strip.to = gemm_step_own_panel(task, step, panel);
    task->tiles->listed->pack[height - 1](&strip);
    pass->strip.rows += strip.segments * LIST;
    pass->strip.c += height * strip.ldc;
    pass->tile++;
}

static void copy_block(float *to, size_t to_row, const float *from, size_t from_row, size_t rows,
                       size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            to[i * to_row + j] = from[i * from_row + j];
}

/* A panel of which not all columns exist, and whose sums go on: tile by tile on a copy of C. */
static void continue_ragged(struct pass *pass, uint32_t low, size_t tiles)
{
    float copy[HEIGHT * LAYOUT_PANEL] = {0};
    struct pass one = *pass;
    struct gemm_f32_listed *strip = &pass->strip;
    size_t rows = pass->tall - low;
    one.strip.ldc = LAYOUT_PANEL;
    for (size_t t = 0; t < tiles; t++) {
        copy_block(copy, LAYOUT_PANEL, strip->c, strip->ldc, rows, pass->valid);
        one.strip.c = copy;
        run_tiles(&one, low, 1);
        copy_block(strip->c, strip->ldc, copy, LAYOUT_PANEL, rows, pass->valid);
        strip->c += rows * strip->ldc;
    }
    strip->rows = one.strip.rows;
}

/* A panel of which not all columns exist. */
static void run_ragged(struct pass *pass, uint32_t low, size_t tiles)
{
    float bias[LAYOUT_PANEL] = {0};
    struct gemm_f32_listed *strip = &pass->strip;
    const float *given = strip->bias;
    if (given)
        strip->bias = memcpy(bias, given, pass->valid * sizeof *bias);
    if (strip->accumulate) {
        continue_ragged(pass, low, tiles);
    } else {
        strip->missing = strip->width - pass->valid;
        run_tiles(pass, low, tiles);
    }
    strip->bias = given;
}

/* How many panels of one width follow each other from p on: full ones as far as they stay in the L1
 * cache together with a tile's rows of A, or the two of 8 columns that few columns end in. */
static size_t group_of(const struct gemm_f32 *plan, struct span panels, size_t p)
{
    size_t end = min_size(plan->full_panels, panels.end), n = plan->shape.n;
    if (p < end)
        return min_size(end - p, plan->group_panels);
    return p + 1 < panels.end && layout_panel(n, p).width == layout_panel(n, p + 1).valid ? 2 : 1;
}

static struct layout_panel panel_of(const struct gemm_f32 *plan, size_t p)
{
    if (p < plan->full_panels)
        return (struct layout_panel){p * LAYOUT_PANEL, LAYOUT_PANEL, LAYOUT_PANEL};
    return layout_panel(plan->shape.n, p);
}

static uint32_t clamp_of(const struct gemm_f32_shape *shape)
{
    uint32_t low = shape->low > -INFINITY ? GEMM_F32_LOW : 0;
    return low | (shape->high < INFINITY ? GEMM_F32_HIGH : 0);
}

/* What all passes of a step have in common. */
static struct gemm_f32_listed make_strip(const struct gemm_task *task, const struct gemm_step *step,
                                         const struct gemm_f32_block *block)
{
    const struct gemm_f32_shape *shape = &task->plan->shape;
    size_t depth = depth_of(task->plan, step);
    bool clamps = step->k.end == shape->k && shape->output == GEMM_DIRECT;
    return (struct gemm_f32_listed){
        .rows = task->list,
        .segments = depth ? (step->k.end - step->k.begin) / depth : 1,
        .rounds = depth / 4,
        .tail = depth % 4,
        .c = block->values,
        .ldc = block->row_stride,
        .accumulate = step->k.begin > 0,
        .clamp = clamps ? clamp_of(shape) : 0,
        .low = shape->low,
        .high = shape->high,
    };
}

/* Panels from p on, as many as belong together: returns the one behind them. */
static size_t make_pass(struct pass *pass, const struct gemm_task *task,
                        const struct gemm_step *step, struct span panels, size_t p)
{
    const struct gemm_f32 *plan = task->plan;
    const struct gemm_f32_listed_kernels *kernels = task->tiles->listed;
    struct gemm_f32_listed *strip = &pass->strip;
    struct layout_panel panel = panel_of(plan, p);
    bool narrow = panel.valid < 4, last = step->k.end == plan->shape.k;
    strip->width = (uint32_t)(narrow ? panel.valid : panel.width);
    strip->panels = group_of(plan, panels, p);
    strip->b = gemm_step_panel(task, step, &panel);
    strip->b_step = gemm_step_panel_stride(task, step, panel.width);
    strip->c += panel.first - step->column;
    strip->bias = last && task->place.bias ? task->place.bias + panel.first : NULL;
    pass->tall = (uint32_t)plan->tall;
    pass->valid = narrow || panel.valid == panel.width ? 0 : (uint32_t)panel.valid;
    pass->run[0] = gemm_f32_listed_run(kernels, plan->tall, strip->width);
    pass->run[1] = gemm_f32_listed_run(kernels, plan->tall - 1, strip->width);
    pass->tile = step->tiles.begin;
    if (task->packs && p < plan->full_panels)
        pack_panels(task, step, pass, &panel);
    return p + strip->panels;
}

/* Tiles up to `end`. */
static void run_pass(const struct gemm_f32 *plan, struct pass *pass, size_t end)
{
    void (*run)(struct pass *, uint32_t, size_t) = pass->valid ? run_ragged : run_tiles;
    size_t boundary = max_size(min_size(plan->tall_tiles, end), pass->tile);
    if (boundary > pass->tile)
        run(pass, 0, boundary - pass->tile);
    if (end > boundary)
        run(pass, 1, end - boundary);
    pass->tile = end;
}

void gemm_step_run_listed(const struct gemm_task *task, const struct gemm_step *step,
                          const struct gemm_f32_block *block, struct span panels)
{
    enum { MOST_PASSES = 4 };
    const struct gemm_f32 *plan = task->plan;
    struct gemm_f32_listed strip = make_strip(task, step, block);
    list_rows(task, step, strip.segments);
    if (plan->copies)
        copy_listed(task, step, strip.segments, depth_of(plan, step));
    struct pass passes[MOST_PASSES];
    size_t begin = step->tiles.begin, end = step->tiles.end;
    size_t together = plan->chunk_tiles < end - begin ? MOST_PASSES : 1;
    for (size_t p = panels.begin, count; p < panels.end;) {
        for (count = 0; p < panels.end && count < together; count++) {
            passes[count].strip = strip;
            p = make_pass(&passes[count], task, step, panels, p);
        }
        for (size_t t = begin; t < end; t += plan->chunk_tiles)
            for (size_t i = 0; i < count; i++)
                run_pass(plan, &passes[i], min_size(t + plan->chunk_tiles, end));
    }
}
