/* Steps of the blocked multiplication: packed operands. */
#include "src/core/checked.h"
#include "src/gemm/step.h"

void gemm_step_pack_a(const struct gemm_task *task, const struct gemm_step *step)
{
    size_t depth = step->k.end - step->k.begin;
    for (size_t t = 0; t < div_up(step->rows, GEMM_F32_MR); t++) {
        struct span rows = gemm_f32_row_tile(step->rows, t);
        task->call->pack_a(task->call->context, task->caller, task->batch, step->row + rows.begin,
                           rows.end - rows.begin, step->k.begin, depth,
                           task->a + rows.begin * depth);
    }
}

static bool has_packing_kernels(const struct gemm_task *task)
{
    return task->plan->shape.b_row && gemm_step_lists(task) && task->tiles->listed->pack[0];
}

void gemm_step_pack_b(struct gemm_task *task, const struct gemm_step *step)
{
    task->packs = false;
    if (task->packed_panel == step->panels.begin && task->packed_k == step->k.begin)
        return;
    size_t n = task->plan->shape.n, depth = step->k.end - step->k.begin, p = step->panels.begin;
    task->packs = has_packing_kernels(task);
    if (task->packs)
        p = min_size(max_size(p, task->plan->full_panels), step->panels.end);
    for (; p < step->panels.end; p++) {
        struct layout_panel panel = layout_panel(n, p);
        task->call->pack_b(task->call->context, task->batch, panel.first, panel.valid, panel.width,
                           step->k.begin, depth, gemm_step_own_panel(task, step, &panel));
    }
    task->packed_panel = step->panels.begin;
    task->packed_k = step->k.begin;
}
