/* Steps of the blocked multiplication with rows of A read in place: where these are. */
#include <string.h>

#include "src/core/checked.h"
#include "src/gemm/step.h"

enum { HEIGHT = GEMM_F32_LISTED_HEIGHT, LIST = GEMM_F32_LIST };

/* ---- rows of A ---- */

const float *gemm_step_row(const struct gemm_task *task, const struct gemm_step *step)
{
    const float *address[GEMM_F32_LIST] = {NULL};
    struct gemm_list one = {.batch = task->batch,
                            .row = step->row,
                            .height = 1,
                            .tall = 1,
                            .first = step->k.begin,
                            .segments = 1,
                            .out = address};
    task->call->list_a(task->call->context, task->caller, &one);
    return address[0];
}

/* Rows that would fall on the same few places of the L1 cache are copied next to each other.
 * Returns the end of the copies. */
static float *copy_rows(const float **list, size_t rows, size_t depth, float *to)
{
    for (size_t i = 0; i < rows; i++, to += depth) {
        memcpy(to, list[i], depth * sizeof *to);
        list[i] = to;
    }
    return to;
}

/* Addresses of rows that do not exist are numbers only. */
void gemm_step_list_regular(const struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_plan *plan = task->plan;
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

static void list_run(const struct gemm_task *task, const struct gemm_step *step,
                     const struct gemm_run *run)
{
    const struct gemm_plan *plan = task->plan;
    size_t tall = max_size(min_size(plan->tall_tiles, run->tiles.end), run->tiles.begin);
    task->call->list_a(task->call->context, task->caller,
                       &(struct gemm_list){.batch = task->batch,
                                           .tile = run->tiles.begin,
                                           .row = gemm_plan_tile(plan, run->tiles.begin).begin,
                                           .height = plan->tall,
                                           .tall = tall - run->tiles.begin,
                                           .low = run->tiles.end - tall,
                                           .first = step->k.begin + run->skipped,
                                           .segments = run->segments,
                                           .out = run->rows});
}

static float *copy_run(const struct gemm_task *task, const struct gemm_step *step,
                       const struct gemm_run *run, float *copy)
{
    const struct gemm_plan *plan = task->plan;
    const float **list = run->rows;
    struct span part = gemm_step_part(task, step);
    size_t depth = part.end - part.begin;
    for (size_t t = run->tiles.begin; t < run->tiles.end; t++) {
        size_t rows = plan->tall - (t >= plan->tall_tiles);
        for (size_t s = 0; s < run->segments; s++, list += LIST)
            copy = copy_rows(list, rows, depth, copy);
    }
    return copy;
}

/* ---- runs of tiles ---- */

/* Sets what the run has of the step's k. */
static void set_part(struct gemm_run *run, const struct gemm_step *step, struct span reach)
{
    size_t begin = max_size(step->k.begin, reach.begin), end = min_size(step->k.end, reach.end);
    run->skipped = begin < end ? begin - step->k.begin : 0;
    run->segments = begin < end ? (end - begin) / step->depth : 0;
    run->begins = begin == reach.begin;
    run->ends = end == reach.end;
}

/* All tiles, with all of the step's k. */
static struct gemm_run whole_run(const struct gemm_task *task, const struct gemm_step *step)
{
    return (struct gemm_run){.tiles = step->tiles,
                             .segments = step->segments,
                             .begins = step->k.begin == 0,
                             .ends = step->k.end == task->plan->shape.k,
                             .rows = task->list};
}

static struct gemm_reach reach_of(const struct gemm_task *task, size_t tile)
{
    struct span rows = gemm_plan_tile(task->plan, tile);
    return task->call->reach(task->call->context, task->batch, tile, rows.begin,
                             rows.end - rows.begin);
}

/* How many tiles lie within the first rows of A. */
static size_t tiles_within(const struct gemm_plan *plan, size_t rows)
{
    size_t tall = plan->tall_tiles * plan->tall;
    rows = min_size(rows, plan->shape.m);
    return rows <= tall ? rows / plan->tall : plan->tall_tiles + (rows - tall) / (plan->tall - 1);
}

/* The step's tiles, divided where A has zeros. Returns how many runs there are. */
static size_t find_runs(const struct gemm_task *task, const struct gemm_step *step)
{
    struct gemm_run *run = task->runs;
    const float **rows = task->list;
    struct gemm_reach next = reach_of(task, step->tiles.begin), reach;
    for (size_t t = step->tiles.begin; t < step->tiles.end; run++) {
        run->tiles.begin = t;
        reach = next;
        while ((t = tiles_within(task->plan, next.end)) < step->tiles.end) {
            next = reach_of(task, t);
            if (next.k.begin != reach.k.begin || next.k.end != reach.k.end)
                break;
        }
        t = run->tiles.end = min_size(t, step->tiles.end);
        run->rows = rows;
        set_part(run, step, reach.k);
        rows += (t - run->tiles.begin) * run->segments * LIST;
    }
    return (size_t)(run - task->runs);
}

static void list_rows(const struct gemm_task *task, const struct gemm_step *step,
                      const struct gemm_run *runs, size_t count)
{
    const struct gemm_plan *plan = task->plan;
    bool copies = plan->copies && step->columns >= plan->copied_columns;
    float *copy = task->a;
    if (plan->shape.a_is_regular)
        gemm_step_list_regular(task, step);
    for (size_t i = 0; i < count; i++) {
        const struct gemm_run *run = &runs[i];
        if (!plan->shape.a_is_regular && run->segments)
            list_run(task, step, run);
        if (copies)
            copy = copy_run(task, step, run, copy);
    }
}

const struct gemm_run *gemm_step_list(const struct gemm_task *task, const struct gemm_step *step,
                                      struct gemm_run *all)
{
    if (task->plan->shape.a_has_zeros) {
        list_rows(task, step, task->runs, find_runs(task, step));
        return task->runs;
    }
    *all = whole_run(task, step);
    list_rows(task, step, all, 1);
    return all;
}
