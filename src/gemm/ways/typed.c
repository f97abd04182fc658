/* Steps of the blocked multiplication of a type: both operands in panels, sums in rows. */
#include <string.h>

#include "src/gemm/ways.h"

static void pack_a(const struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_type *type = task->plan->shape.type;
    size_t depth = step->k.end - step->k.begin;
    if (task->a_sums && step->k.begin == 0)
        memset(task->a_sums, 0, step->rows * sizeof *task->a_sums);
    for (size_t t = 0; t < div_up(step->rows, GEMM_MR); t++) {
        struct span rows = gemm_row_tile(step->rows, t);
        struct gemm_panel panel = {
            .batch = task->batch,
            .lane = step->row + rows.begin,
            .lanes = rows.end - rows.begin,
            .width = rows.end - rows.begin,
            .first = step->k.begin,
            .depth = depth,
            .out = (char *)task->a + gemm_panel_bytes(type, rows.begin, depth),
            .sums = task->a_sums ? task->a_sums + rows.begin : NULL,
        };
        task->call->pack_a(task->call->context, task->caller, &panel);
    }
}

/* A panel of B from the step's first row on: blocks of k are whole groups. */
static const void *panel_of_b(const struct gemm_task *task, const struct gemm_step *step,
                              const struct layout_panel *panel)
{
    const struct gemm_shape *shape = &task->plan->shape;
    if (!shape->b_packed)
        return gemm_step_own_panel(task, step, panel);
    return (const char *)task->place.b + gemm_panel_bytes(shape->type, panel->first, shape->k) +
           gemm_panel_bytes(shape->type, panel->width, step->k.begin);
}

/* From tile t on, as many as follow each other and have its height: one call is for all of them. */
static uint32_t tiles_as_high(size_t rows, size_t t)
{
    struct span first = gemm_row_tile(rows, t);
    uint32_t count = 1;
    for (; t + count < div_up(rows, GEMM_MR); count++) {
        struct span next = gemm_row_tile(rows, t + count);
        if (next.end - next.begin != first.end - first.begin)
            break;
    }
    return count;
}

static void run_panel(const struct gemm_task *task, const struct gemm_step *step,
                      const struct gemm_block *block, size_t p)
{
    const struct gemm_plan *plan = task->plan;
    const struct gemm_type *type = plan->shape.type;
    size_t depth = step->k.end - step->k.begin;
    struct layout_panel panel = gemm_plan_panel(plan, p);
    struct gemm_tile tile = {
        .groups = gemm_groups(type, depth),
        .b = panel_of_b(task, step, &panel),
        .row = block->row_stride,
        .nr = (uint32_t)panel.width,
        .n = (uint32_t)panel.valid,
        .add = step->k.begin > 0,
    };
    for (size_t t = 0; t < div_up(step->rows, GEMM_MR); t += tile.tiles) {
        struct span rows = gemm_row_tile(step->rows, t);
        tile.m = tile.mr = (uint32_t)(rows.end - rows.begin);
        tile.tiles = tiles_as_high(step->rows, t);
        tile.a = (const char *)task->a + gemm_panel_bytes(type, rows.begin, depth);
        tile.sums = block->values + (panel.first - step->column) + rows.begin * block->row_stride;
        plan->run_typed(&tile);
    }
}

static void run(const struct gemm_task *task, const struct gemm_step *step,
                const struct gemm_block *block)
{
    pack_a(task, step);
    for (size_t p = step->panels.begin; p < step->panels.end; p++)
        run_panel(task, step, block, p);
}

static bool suits(const struct gemm_plan *plan, const struct gemm_tiles *tiles)
{
    (void)tiles;
    return plan->shape.type != NULL;
}

const struct gemm_way gemm_way_typed = {"typed", suits, NULL, run};
