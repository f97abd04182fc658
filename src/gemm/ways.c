/* Which way the steps of a plan go, and the panels of B that all ways share. */
#include "src/gemm/ways.h"

#include <string.h>

static bool has_type(const struct gemm_plan *plan, const struct gemm_tiles *tiles)
{
    (void)tiles;
    return plan->shape.type;
}

static bool reads_planes(const struct gemm_plan *plan, const struct gemm_tiles *tiles)
{
    (void)tiles;
    return plan->planes;
}

static bool has_regular(const struct gemm_plan *plan, const struct gemm_tiles *tiles)
{
    return plan->regular_panels && gemm_has_regular(tiles->listed, plan->tall);
}

/* On another kind of core than the plan is for, whose tiles are lower, packed rows are faster. But
 * sums of a tail's columns are those of its kernels, and packed rows would not lack parts. */
static bool reads_rows(const struct gemm_plan *plan, const struct gemm_tiles *tiles)
{
    return plan->listed &&
           (plan->has_tail || plan->shape.a_has_parts || plan->tall <= tiles->listed->height);
}

static bool serves_all(const struct gemm_plan *plan, const struct gemm_tiles *tiles)
{
    (void)plan, (void)tiles;
    return true;
}

static const struct gemm_way ways[] = {
    {"typed", has_type, NULL, gemm_way_run_typed},
    {"planes", reads_planes, NULL, gemm_way_run_planes},
    {"regular", has_regular, NULL, gemm_way_run_regular},
    {"listed", reads_rows, gemm_way_listed_packs, gemm_way_run_listed},
    {"packed", serves_all, gemm_way_packed_packs, gemm_way_run_packed},
};

const struct gemm_way *gemm_way_of(const struct gemm_plan *plan, const struct gemm_tiles *tiles)
{
    const struct gemm_way *way = ways;
    while (!way->suits(plan, tiles))
        way++;
    return way;
}

/* A tile that leaves zeros out would not come by all of B. */
static bool packs_as_it_goes(const struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_shape *shape = &task->plan->shape;
    return shape->b_row && !shape->a_has_zeros && task->way->packs && task->way->packs(task, step);
}

void gemm_step_pack_b(struct gemm_task *task, const struct gemm_step *step)
{
    task->packs = false;
    if (task->packed_panel == step->panels.begin && task->packed_k == step->k.begin)
        return;
    size_t depth = step->k.end - step->k.begin, p = step->panels.begin;
    if (task->b_sums && step->k.begin == 0)
        memset(task->b_sums, 0, step->columns * sizeof *task->b_sums);
    task->packs = packs_as_it_goes(task, step);
    if (task->packs)
        p = min_size(max_size(p, task->plan->full_panels), step->panels.end);
    for (; p < step->panels.end; p++) {
        struct layout_panel panel = gemm_plan_panel(task->plan, p);
        struct gemm_panel wanted = {
            .batch = task->batch,
            .lane = panel.first,
            .lanes = panel.valid,
            .width = panel.width,
            .first = step->k.begin,
            .depth = depth,
            .out = gemm_step_own_panel(task, step, &panel),
            .sums = task->b_sums ? task->b_sums + (panel.first - step->column) : NULL,
        };
        task->call->pack_b(task->call->context, &wanted);
    }
    task->packed_panel = step->panels.begin;
    task->packed_k = step->k.begin;
}
