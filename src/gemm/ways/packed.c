/* Steps of the blocked multiplication with rows of A packed. */
#include <math.h>

#include "src/core/checked.h"
#include "src/gemm/ways.h"

static void pack_a(const struct gemm_task *task, const struct gemm_step *step)
{
    size_t depth = step->k.end - step->k.begin;
    for (size_t t = 0; t < div_up(step->rows, GEMM_F32_MR); t++) {
        struct span rows = gemm_row_tile(step->rows, t);
        struct gemm_panel panel = {
            .batch = task->batch,
            .lane = step->row + rows.begin,
            .lanes = rows.end - rows.begin,
            .width = rows.end - rows.begin,
            .first = step->k.begin,
            .depth = depth,
            .out = task->a + rows.begin * depth,
        };
        task->call->pack_a(task->call->context, task->caller, &panel);
    }
}

/* Those of whole tiles pack B, too. */
bool gemm_way_packed_packs(const struct gemm_task *task, const struct gemm_step *step)
{
    struct span first = gemm_row_tile(step->rows, 0);
    return task->tiles->pack && first.end == GEMM_F32_MR;
}

/* What a tile packs that is the first one of a full panel. */
static void set_packing(struct gemm_f32_tile *tile, const struct gemm_task *task,
                        const struct gemm_step *step, const struct layout_panel *panel)
{
    tile->from_row = task->plan->shape.b_row;
    tile->from = task->place.b + step->k.begin * tile->from_row + panel->first;
    tile->to = gemm_step_own_panel(task, step, panel);
}

/* All tiles of one panel. */
static void run_panel(const struct gemm_task *task, const struct gemm_step *step,
                      const struct gemm_block *block, size_t p)
{
    const struct gemm_plan *plan = task->plan;
    const struct gemm_shape *shape = &plan->shape;
    struct layout_panel panel = gemm_plan_panel(plan, p);
    size_t depth = step->k.end - step->k.begin;
    bool last = step->k.end == shape->k;
    struct gemm_f32_tile tile = {
        .k = depth,
        .b = gemm_step_panel(task, step, &panel),
        .row = block->row_stride,
        .col = block->column_stride,
        .n = panel.valid,
        .bias = last && task->place.bias ? task->place.bias + panel.first : NULL,
        .accumulate = step->k.begin > 0,
        .low = last && shape->output == GEMM_DIRECT ? shape->low : -INFINITY,
        .high = last && shape->output == GEMM_DIRECT ? shape->high : INFINITY,
    };
    gemm_f32_fn *const *by_height = task->tiles->run[panel.width / 4 - 1];
    float *c = block->values + (panel.first - step->column) * block->column_stride;
    bool packs = task->packs && p < plan->full_panels;
    if (packs)
        set_packing(&tile, task, step, &panel);
    for (size_t t = 0; t < div_up(step->rows, GEMM_F32_MR); t++) {
        struct span rows = gemm_row_tile(step->rows, t);
        tile.a = task->a + rows.begin * depth;
        tile.c = c + rows.begin * block->row_stride;
        (packs && t == 0 ? task->tiles->pack : by_height[rows.end - rows.begin - 1])(&tile);
    }
}

/* If the plan lists them, other threads may sum a single column in the order that
 * is its own there, and so does this one. */
void gemm_way_run_packed(const struct gemm_task *task, const struct gemm_step *step,
                         const struct gemm_block *block)
{
    size_t end = step->panels.end;
    bool narrow = task->plan->listed && gemm_plan_panel(task->plan, end - 1).valid == 1;
    pack_a(task, step);
    for (size_t p = step->panels.begin; p < end - narrow; p++)
        run_panel(task, step, block, p);
    if (narrow)
        gemm_step_run_listed(task, step, block, (struct span){end - 1, end});
}
