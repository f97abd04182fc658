/* Steps of the blocked multiplication with rows of A read in place: a matrix that is one step of
 * planned passes, whose results are final. Nothing but addresses is not known yet, and of small
 * matrices there may be many. A has no zeros. */
#include <string.h>

#include "src/gemm/step.h"

static void list_rows(const struct gemm_task *task)
{
    const struct gemm_plan *plan = task->plan;
    if (plan->shape.a_is_regular)
        gemm_step_list_regular(task, &plan->whole);
    else
        task->call->list_a(task->call->context, task->caller,
                           &(struct gemm_list){.batch = task->batch,
                                               .height = plan->tall,
                                               .tall = plan->tall_tiles,
                                               .low = plan->row_tiles - plan->tall_tiles,
                                               .segments = plan->whole.segments,
                                               .out = task->list});
}

static void run_tiles(struct gemm_f32_listed *call, gemm_f32_listed_fn *run, size_t tiles,
                      size_t height)
{
    if (tiles == 0)
        return;
    call->tiles = tiles;
    call->height = (uint32_t)height;
    run(call);
    call->rows += tiles * call->segments * GEMM_F32_LIST;
    call->c += tiles * height * call->ldc;
}

static void run_all_tiles(const struct gemm_plan *plan, const struct gemm_pass *pass,
                          struct gemm_f32_listed *call)
{
    run_tiles(call, pass->run[0], plan->tall_tiles, plan->tall);
    run_tiles(call, pass->run[1], plan->row_tiles - plan->tall_tiles, plan->tall - 1);
}

/* A panel of which not all columns exist. */
static void run_ragged(const struct gemm_plan *plan, const struct gemm_pass *pass,
                       const struct gemm_f32_listed *call)
{
    float bias[LAYOUT_PANEL] = {0};
    struct gemm_f32_listed ragged = *call;
    if (call->bias)
        ragged.bias = memcpy(bias, call->bias, pass->valid * sizeof *bias);
    ragged.missing = pass->width - pass->valid;
    run_all_tiles(plan, pass, &ragged);
}

void gemm_run_short(const struct gemm_task *task)
{
    const struct gemm_plan *plan = task->plan;
    const struct gemm_place *place = &task->place;
    struct span part = gemm_step_part(task, &plan->whole);
    size_t depth = part.end - part.begin, k = plan->shape.k;
    struct gemm_f32_listed call = {.segments = plan->whole.segments,
                                   .rounds = depth / 4,
                                   .tail = depth % 4,
                                   .ldc = place->c_row,
                                   .clamp = plan->clamp,
                                   .low = plan->shape.low,
                                   .high = plan->shape.high,
                                   .columns = gemm_step_tail(task),
                                   .column_step = k};
    list_rows(task);
    for (const struct gemm_pass *pass = plan->passes; pass < plan->passes + plan->pass_count;
         pass++) {
        size_t first = pass->panel.first, width = pass->panel.width;
        call.rows = task->list;
        call.b = place->b + first * k + part.begin * width;
        call.b_step = width * k;
        call.b_skip = (plan->whole.depth - depth) * width;
        call.c = place->c + first;
        call.panels = pass->panels;
        call.bias = place->bias ? place->bias + first : NULL;
        call.width = pass->width;
        if (pass->valid)
            run_ragged(plan, pass, &call);
        else
            run_all_tiles(plan, pass, &call);
    }
}
