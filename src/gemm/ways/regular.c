/* Steps of the blocked multiplication whose rows of A are at equal distances: their kernels need no
 * lists of them, and go from panels of 12 columns to those of 8 before the next tile comes, so that
 * all columns need a tile's rows at the same time. */
#include "src/core/checked.h"
#include "src/gemm/ways.h"

enum { EIGHT = 8 };

/* Blocks of k of enough whole rounds. */
static bool has_rounds(const struct gemm_plan *plan)
{
    size_t k = plan->shape.k, last = k - (gemm_k_blocks(plan) - 1) * plan->block_k;
    return k % 4 == 0 && plan->block_k % 4 == 0 && last / 4 >= GEMM_F32_REGULAR_ROUNDS;
}

/* Rows of one segment, with panels of 12 columns and none behind them but whole ones of 8. */
static bool has_regular_rows(const struct gemm_plan *plan)
{
    const struct gemm_shape *shape = &plan->shape;
    return plan->listed && gemm_has_regular(plan->listed, plan->tall) && !plan->copies &&
           !plan->fetches && shape->b_packed && shape->a_is_regular && !shape->a_has_zeros &&
           !shape->a_has_parts && shape->segment == shape->k && shape->k > 0 && has_rounds(plan) &&
           plan->full_panels > 0 && (shape->n - plan->full_panels * LAYOUT_PANEL) % EIGHT == 0;
}

void gemm_plan_regular(struct gemm_plan *plan)
{
    size_t n = plan->shape.n, full = plan->full_panels, group = plan->group_panels;
    if (!has_regular_rows(plan))
        return;
    size_t panels = div_up(full, gemm_panel_groups(n, group));
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

/* The step's tiles, for panels from p on. */
static void run_pass(const struct gemm_task *task, const struct gemm_step *step,
                     struct gemm_f32_listed call, size_t p)
{
    const struct gemm_plan *plan = task->plan;
    const float *b = task->place.b, *bias = task->place.bias;
    size_t first = p * LAYOUT_PANEL, behind = first + call.panels * LAYOUT_PANEL;
    size_t k = plan->shape.k, begin = step->k.begin;
    size_t low = max_size(step->tiles.begin, min_size(plan->tall_tiles, step->tiles.end));
    call.b = b + first * k + begin * LAYOUT_PANEL;
    call.b_eights = b + behind * k + begin * EIGHT;
    call.c += first - step->column;
    call.bias = bias && step->k.end == k ? bias + first : NULL;
    run_tiles(&call, task, plan->tall, low - step->tiles.begin);
    run_tiles(&call, task, plan->tall - 1, step->tiles.end - low);
}

static void run_full_panels(const struct gemm_task *task, const struct gemm_step *step,
                            const struct gemm_block *block)
{
    const struct gemm_plan *plan = task->plan;
    const struct gemm_shape *shape = &plan->shape;
    size_t end = min_size(step->panels.end, plan->full_panels), k = shape->k;
    struct gemm_f32_listed call = {
        .segments = 1,
        .rounds = (step->k.end - step->k.begin) / 4,
        .b_step = LAYOUT_PANEL * k,
        .c = block->values,
        .ldc = block->row_stride,
        .accumulate = step->k.begin > 0,
        .clamp = step->k.end == k ? plan->clamp : 0,
        .low = shape->low,
        .high = shape->high,
        .width = LAYOUT_PANEL,
        .a = gemm_step_row(task, step),
        .a_row = shape->a_stride,
        .eights_step = EIGHT * k,
    };
    for (size_t p = step->panels.begin; p < end; p += call.panels) {
        call.panels = min_size(plan->regular_panels, end - p);
        call.eights = p + call.panels < end ? 0 : step->panels.end - end;
        run_pass(task, step, call, p);
    }
}

/* A task may have none but the panels behind the full ones. */
void gemm_way_run_regular(const struct gemm_task *task, const struct gemm_step *step,
                          const struct gemm_block *block)
{
    if (step->panels.begin < task->plan->full_panels)
        run_full_panels(task, step, block);
    else
        gemm_step_run_listed(task, step, block, step->panels);
}
