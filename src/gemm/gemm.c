/* The blocked f32 matrix multiplication: tasks, steps, tiles. */
#include "src/gemm/gemm.h"

#include "src/core/checked.h"
#include "src/gemm/share.h"
#include "src/gemm/ways.h"

/* ---- one task ---- */

/* Where the sums of a step go. */
static struct gemm_block block_of_c(const struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_place *place = &task->place;
    const struct gemm_shape *shape = &task->plan->shape;
    struct gemm_block block = {
        .batch = task->batch,
        .row = step->row,
        .rows = step->rows,
        .column = step->column,
        .columns = step->columns,
    };
    if (shape->output == GEMM_STAGED) {
        block.values = task->stage;
        block.row_stride = shape->columns ? 1 : step->columns;
        block.column_stride = shape->columns ? step->rows : 1;
    } else {
        block.values = place->c + step->row * place->c_row + step->column * place->c_column;
        block.row_stride = place->c_row;
        block.column_stride = place->c_column;
    }
    block.a_sums = task->a_sums;
    block.b_sums = task->b_sums || !shape->b_summed ? task->b_sums : place->b_sums + step->column;
    return block;
}

static void run_step(struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_shape *shape = &task->plan->shape;
    if (!shape->b_packed)
        gemm_step_pack_b(task, step);
    struct gemm_block block = block_of_c(task, step);
    task->way->run(task, step, &block);
    if (step->k.end == shape->k && shape->output != GEMM_DIRECT && !task->call->results)
        task->call->finish(task->call->context, &block);
}

static size_t block_count(struct span whole, size_t block)
{
    return div_up(whole.end - whole.begin, block);
}

static void prepare_rows(const struct gemm_task *task, size_t begin, size_t end)
{
    if (task->call->prepare_a)
        task->call->prepare_a(task->call->context, task->caller, task->batch, begin, end - begin);
}

/* Number index of the steps of some tiles and panels of one matrix. */
static struct gemm_step step_of(const struct gemm_plan *plan, struct span tiles, struct span panels,
                                size_t index)
{
    size_t row_blocks = block_count(tiles, plan->block_tiles), k_blocks = gemm_k_blocks(plan);
    size_t steps = row_blocks * k_blocks, s = index % steps;
    struct gemm_step_number number = {.panels = index / steps};
    number.tiles = plan->k_inside ? s / k_blocks : s % row_blocks;
    number.k = plan->k_inside ? s % k_blocks : s / row_blocks;
    return gemm_step_at(plan, tiles, panels, &number);
}

/* Where a step's packed panels of B begin. */
static const void *first_of(const struct gemm_task *task, const struct gemm_step *step)
{
    struct layout_panel panel = gemm_plan_panel(task->plan, step->panels.begin);
    return gemm_step_panel(task, step, &panel);
}

/* Some tiles and panels of one matrix. Sums that stay in the scratchpad must be finished before the
 * next block of rows begins; a block of B that is packed here is used for all rows. */
static void run_steps(struct gemm_task *task, struct span tiles, struct span panels)
{
    const struct gemm_plan *plan = task->plan;
    const struct gemm_shape *shape = &plan->shape;
    size_t steps = block_count(tiles, plan->block_tiles) * gemm_k_blocks(plan);
    prepare_rows(task, gemm_plan_tile(plan, tiles.begin).begin,
                 gemm_plan_tile(plan, tiles.end - 1).end);
    size_t all = steps * block_count(panels, plan->block_panels);
    struct gemm_step step = step_of(plan, tiles, panels, 0), next;
    for (size_t s = 0; s < all; s++, step = next) {
        next = step_of(plan, tiles, panels, min_size(s + 1, all - 1));
        task->after = s + 1 < all && shape->b_packed ? first_of(task, &next) : NULL;
        run_step(task, &step);
    }
    task->after = NULL;
}

static void begin_matrix(struct gemm_task *task)
{
    task->packed_panel = SIZE_MAX;
    task->call->locate(task->call->context, task->batch, &task->place);
}

static void run_whole(struct gemm_task *task)
{
    const struct gemm_plan *plan = task->plan;
    begin_matrix(task);
    prepare_rows(task, 0, plan->shape.m);
    if (plan->is_short && task->tiles == &plan->tiles)
        gemm_run_short(task);
    else
        run_step(task, &plan->whole);
}

static bool is_all(struct span span, size_t count)
{
    return span.begin == 0 && span.end == count;
}

/* The tiles and panels of one matrix that fall to a task. */
static void run_matrix(struct gemm_task *task, struct span tiles, struct span panels)
{
    const struct gemm_plan *plan = task->plan;
    if (plan->is_one_step && is_all(tiles, plan->row_tiles) && is_all(panels, plan->panels)) {
        run_whole(task);
    } else {
        begin_matrix(task);
        run_steps(task, tiles, panels);
    }
}

/* ---- all tasks ---- */

struct run {
    const struct gemm_plan *plan;
    const struct gemm_call *call;
    struct gemm_share share;
    unsigned char *scratch;
    const struct parallel *parallel;
};

static void run_rect(struct gemm_task *task, struct partition_rect rect)
{
    size_t row_tiles = task->plan->row_tiles;
    for (size_t row = rect.rows.begin; row < rect.rows.end;) {
        size_t first = row % row_tiles;
        size_t end = min_size(first + (rect.rows.end - row), row_tiles);
        task->batch = row / row_tiles;
        run_matrix(task, (struct span){first, end}, rect.columns);
        row += end - first;
    }
}

static void run_share(struct gemm_task *task, const struct gemm_share *share, int i)
{
    struct partition_rect rects[PARTITION_RUN_RECTS];
    size_t count = gemm_share_rects(share, i, rects);
    for (size_t r = 0; r < count; r++)
        run_rect(task, rects[r]);
}

static struct gemm_task make_task(const struct run *run, int slot, struct gemm_tiles *own)
{
    const struct gemm_plan *plan = run->plan;
    const struct gemm_scratch *parts = &plan->scratch;
    unsigned char *scratch = run->scratch + (size_t)slot * parts->bytes;
    const struct gemm_tiles *tiles = gemm_tiles_here(&plan->tiles, own, run->parallel);
    return (struct gemm_task){
        .plan = plan,
        .tiles = tiles,
        .way = tiles == own ? gemm_way_of(plan, own) : plan->way,
        .call = run->call,
        .a = (float *)(void *)scratch,
        .list = (const float **)(void *)(scratch + parts->list),
        .runs = (struct gemm_run *)(void *)(scratch + parts->runs),
        .b = (float *)(void *)(scratch + parts->b),
        .stage = (float *)(void *)(scratch + parts->stage),
        .a_sums = plan->shape.a_summed ? (int32_t *)(void *)(scratch + parts->a_sums) : NULL,
        .b_sums = plan->shape.b_summed && !plan->shape.b_packed
                      ? (int32_t *)(void *)(scratch + parts->b_sums)
                      : NULL,
        .caller = scratch + parts->caller,
    };
}

static void run_tasks(void *argument, struct span tasks, int slot)
{
    const struct run *run = argument;
    struct gemm_tiles own;
    struct gemm_task task = make_task(run, slot, &own);
    for (size_t i = tasks.begin; i < tasks.end; i++)
        run_share(&task, &run->share, (int)i);
}

/* One task needs neither a search for its share nor divisions by it. */
static void run_alone(const struct run *run)
{
    const struct gemm_plan *plan = run->plan;
    struct gemm_tiles own;
    struct gemm_task task = make_task(run, 0, &own);
    for (; task.batch < plan->shape.batch; task.batch++)
        run_matrix(&task, (struct span){0, plan->row_tiles}, (struct span){0, plan->panels});
}

void gemm_run(const struct gemm_plan *plan, const struct gemm_call *call,
              const struct parallel *parallel, int threads, void *scratch)
{
    const struct gemm_shape *shape = &plan->shape;
    size_t rows = shape->batch * plan->row_tiles;
    if (rows == 0 || plan->panels == 0)
        return;
    struct run run = {.plan = plan, .call = call, .scratch = scratch, .parallel = parallel};
    if (threads == 1 || rows * plan->panels == 1) {
        run_alone(&run);
        return;
    }
    run.share = gemm_share_tiles(plan, parallel_pieces(parallel, threads));
    parallel_for_tiles(parallel, (size_t)run.share.tasks, threads, run_tasks, &run);
}
