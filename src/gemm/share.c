/* How threads share the tiles of a blocked multiplication.
 *
 * Where weights stay in the caches rectangles of tiles are best, which pack few rows twice. Where
 * they come from memory each row of rectangles brings all of them once more; then threads have
 * panels of their own, and where panels are too few to be shared evenly, runs of tiles that go on
 * from panel to panel. */
#include <math.h>

#include "src/core/checked.h"
#include "src/gemm/share.h"

/* In multiply-accumulates of vectors. A tile of eight rows does k × 24. Packing k × 8 values of a
 * row of tiles takes as long as half of them, k × 12 of a panel as two thirds. Rows in place are
 * only listed. */
static struct partition_costs costs_of(const struct gemm_plan *plan)
{
    double k = (double)max_size(plan->shape.k, 1);
    struct partition_costs costs = {.tile = 24 * k, .row = 12 * k};
    if (!plan->shape.b_packed)
        costs.column = 16 * k;
    if (plan->panel_reading > 0) {
        costs.column = plan->panel_reading;
        costs.tile = 3 * (double)plan->tile_rows * k;
        costs.row = plan->listed && !plan->copies ? k : costs.tile / 2;
    }
    return costs;
}

static double cost_of(const struct partition_rect *rect, const struct partition_costs *costs)
{
    double rows = (double)(rect->rows.end - rect->rows.begin);
    double columns = (double)(rect->columns.end - rect->columns.begin);
    return rows * columns * costs->tile + rows * costs->row + columns * costs->column;
}

/* Of the longest task. */
static double longest(const struct gemm_share *share, const struct partition_costs *costs)
{
    double most = 0;
    for (int i = 0; i < share->tasks; i++) {
        struct partition_rect rects[PARTITION_RUN_RECTS];
        size_t count = gemm_share_rects(share, i, rects);
        double cost = 0;
        for (size_t r = 0; r < count; r++)
            cost += cost_of(&rects[r], costs);
        most = fmax(most, cost);
    }
    return most;
}

struct gemm_share gemm_share_tiles(const struct gemm_plan *plan, int most_tasks)
{
    struct partition_costs costs = costs_of(plan);
    size_t rows = plan->shape.batch * plan->row_tiles, columns = plan->panels;
    struct gemm_share share = {.rows = rows, .columns = columns};
    share.grid = partition_grid(rows, columns, most_tasks, &costs);
    share.tasks = share.grid.tasks;
    if (plan->shape.batch > 1 || plan->panel_reading <= 0)
        return share;
    struct gemm_share runs = share;
    runs.by_runs = true;
    runs.tasks = (int)min_size((size_t)most_tasks, rows * columns);
    return longest(&runs, &costs) < share.grid.cost ? runs : share;
}

size_t gemm_share_rects(const struct gemm_share *share, int i,
                        struct partition_rect rects[PARTITION_RUN_RECTS])
{
    if (share->by_runs)
        return partition_run(share->rows, share->columns, share->tasks, i, rects);
    rects[0] = partition_rect(&share->grid, i);
    return 1;
}
