/* Steps of the blocked multiplication whose rows of A are at equal distances: their kernels need no
 * lists of them, and go from panels of 12 columns to those of 8 before the next tile comes, so that
 * all columns need a tile's rows at the same time. */
#include "src/core/checked.h"
#include "src/gemm/step.h"

enum { EIGHT = 8, MANY_TILES = 16 };

/* Blocks of k of enough whole rounds. */
static bool has_rounds(const struct gemm_f32 *plan)
{
    size_t k = plan->shape.k, last = k - (gemm_f32_k_blocks(plan) - 1) * plan->block_k;
    return k % 4 == 0 && plan->block_k % 4 == 0 && last / 4 >= GEMM_F32_REGULAR_ROUNDS;
}

/* Rows of one segment, with panels of 12 columns and none behind them but whole ones of 8. Of plain
 * weights the first tile packs them, by lists: others must be many. */
static bool suits(const struct gemm_f32 *plan)
{
    const struct gemm_f32_shape *shape = &plan->shape;
    return plan->listed && gemm_f32_has_regular(plan, plan->listed) && !plan->copies &&
           (shape->b_packed || plan->row_tiles >= MANY_TILES) && shape->a_is_regular &&
           !shape->a_has_zeros && shape->segment == shape->k && shape->k > 0 && has_rounds(plan) &&
           plan->full_panels > 0 && (shape->n - plan->full_panels * LAYOUT_PANEL) % EIGHT == 0;
}

void gemm_f32_plan_regular(struct gemm_f32 *plan)
{
    size_t n = plan->shape.n, full = plan->full_panels, group = plan->group_panels;
    if (!suits(plan))
        return;
    size_t panels = div_up(full, div_up(div_up(n, LAYOUT_PANEL), group));
    size_t last = n - (div_up(full, panels) - 1) * panels * LAYOUT_PANEL;
    if (last <= group * LAYOUT_PANEL + EIGHT)
        plan->regular_panels = panels;
}

static void run_tiles(struct gemm_f32_listed *call, const struct gemm_task *task, size_t height,
                      size_t tiles)
{
    if (tiles == 0)
        return;
    call->height = (uint32_t)height;
    call->tiles = tiles;
    task->tiles->listed->regular[height - 1](call);
    call->a += tiles * height * call->a_row;
    call->c += tiles * height * call->ldc;
}

/* Panels from p on, and what is behind them. */
static void set_panels(struct gemm_f32_listed *call, const struct gemm_task *task,
                       const struct gemm_step *step, size_t p)
{
    const struct gemm_f32 *plan = task->plan;
    size_t full = min_size(step->panels.end, plan->full_panels);
    struct layout_panel panel = gemm_f32_plan_panel(plan, p);
    bool is_last = step->k.end == plan->shape.k;
    call->panels = min_size(plan->regular_panels, full - p);
    call->b = gemm_step_panel(task, step, &panel);
    call->c += panel.first - step->column;
    call->bias = is_last && task->place.bias ? task->place.bias + panel.first : NULL;
    call->eights = p + call->panels < full ? 0 : step->panels.end - full;
    if (call->eights) {
        panel = gemm_f32_plan_panel(plan, full);
        call->b_eights = gemm_step_panel(task, step, &panel);
    }
}

/* Kernels that pack full panels of plain weights have lists: these are for the first tile.
 * Panels are packed when they are about to be used, as others would drive them out. */
static void pack_by_first_tile(const struct gemm_task *task, const struct gemm_step *step,
                               const struct gemm_f32_block *block, struct span panels)
{
    struct gemm_step first = *step;
    first.tiles.end = first.tiles.begin + 1;
    first.rows = gemm_f32_plan_tile(task->plan, first.tiles.begin).end - first.row;
    gemm_step_run_listed(task, &first, block, panels);
}

void gemm_step_run_regular(const struct gemm_task *task, const struct gemm_step *step,
                           const struct gemm_f32_block *block)
{
    const struct gemm_f32 *plan = task->plan;
    const struct gemm_f32_shape *shape = &plan->shape;
    size_t begin = step->tiles.begin + task->packs;
    size_t low = max_size(begin, min_size(plan->tall_tiles, step->tiles.end));
    size_t above = gemm_f32_plan_tile(plan, begin).begin - step->row;
    struct gemm_f32_listed first = {
        .segments = 1,
        .rounds = (step->k.end - step->k.begin) / 4,
        .b_step = gemm_step_panel_stride(task, step, LAYOUT_PANEL),
        .c = block->values + above * block->row_stride,
        .ldc = block->row_stride,
        .accumulate = step->k.begin > 0,
        .clamp = step->k.end == shape->k ? plan->clamp : 0,
        .low = shape->low,
        .high = shape->high,
        .width = LAYOUT_PANEL,
        .a = gemm_step_row(task, step) + above * shape->a_stride,
        .a_row = shape->a_stride,
        .eights_step = gemm_step_panel_stride(task, step, EIGHT),
    };
    size_t end = min_size(step->panels.end, plan->full_panels);
    for (size_t p = step->panels.begin; p < end; p += plan->regular_panels) {
        struct gemm_f32_listed call = first;
        set_panels(&call, task, step, p);
        if (task->packs)
            pack_by_first_tile(task, step, block, (struct span){p, p + call.panels + call.eights});
        run_tiles(&call, task, plan->tall, low - begin);
        run_tiles(&call, task, plan->tall - 1, step->tiles.end - low);
    }
}
