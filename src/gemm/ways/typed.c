/* Steps of the blocked multiplication of a type: both operands in panels, sums in rows, or
 * results instead of them. */
#include <string.h>

#include "src/gemm/ways.h"
#include "src/gemm/ways/ends.h"

/* What all panels of a step have in common. */
struct panels {
    size_t groups, lane_bytes; /* of the step's k */
    const char *a, *b;
    size_t b_column;           /* with which B's panels begin */
    size_t b_bytes, b_skipped; /* a column of it, and what of it comes before the step's k */
    bool adds;
};

/* Blocks of k are whole groups. */
static struct panels panels_of(const struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_shape *shape = &task->plan->shape;
    size_t depth = step->k.end - step->k.begin;
    struct panels panels = {
        .groups = gemm_groups(shape->type, depth),
        .lane_bytes = gemm_panel_bytes(shape->type, 1, depth),
        .a = (const char *)task->a,
        .adds = step->k.begin > 0,
    };
    if (shape->b_packed) {
        panels.b = (const char *)task->place.b;
        panels.b_bytes = gemm_panel_bytes(shape->type, 1, shape->k);
        panels.b_skipped = gemm_panel_bytes(shape->type, 1, step->k.begin);
    } else {
        panels.b = (const char *)task->b;
        panels.b_column = step->column;
        panels.b_bytes = panels.lane_bytes;
    }
    return panels;
}

/* Where a panel of B has the step's k. */
static const char *first_of_panel(const struct panels *panels, const struct layout_panel *panel)
{
    return panels->b + (panel->first - panels->b_column) * panels->b_bytes +
           panel->width * panels->b_skipped;
}

/* Tiles of one height that follow each other: one call is for all of them, or for a part, as each
 * part fetches other lines of what comes next. */
struct heap {
    struct span rows; /* of the first one, in the step */
    uint32_t tiles;
    size_t part;
};
enum { LINE = 64, PARTS = 3, HEAPS = PARTS + 3 /* whole tiles, and one or two lower ones */ };

static size_t find_heaps(size_t rows, size_t parts, struct heap *heaps)
{
    size_t count = 0, tiles = div_up(rows, GEMM_MR),
           whole = parts == 1 && tiles > 2 ? tiles - 2 : 0;
    if (whole)
        heaps[count++] = (struct heap){{0, GEMM_MR}, (uint32_t)whole, 0};
    for (size_t t = whole; t < tiles; t++) {
        struct span tile = gemm_row_tile(rows, t);
        struct heap *last = count ? &heaps[count - 1] : NULL;
        size_t part = t * parts / tiles;
        if (last && last->part == part &&
            tile.end - tile.begin == last->rows.end - last->rows.begin)
            last->tiles++;
        else
            heaps[count++] = (struct heap){tile, 1, part};
    }
    return count;
}

/* How far behind panel p of this step the next one is, which may be the next step's; 0: nothing is
 * fetched. */
static size_t next_panel(const struct gemm_task *task, const struct gemm_step *step, size_t p)
{
    struct layout_panel panel = gemm_plan_panel(task->plan, p), next;
    const void *to = task->after;
    if (!task->plan->fetches)
        return 0;
    if (p + 1 < step->panels.end) {
        next = gemm_plan_panel(task->plan, p + 1);
        to = gemm_step_panel(task, step, &next);
    }
    return to ? (uintptr_t)to - (uintptr_t)gemm_step_panel(task, step, &panel) : 0;
}

/* The panels of a heap. */
static void pack_heap(const struct gemm_task *task, const struct gemm_step *step,
                      const struct heap *heap)
{
    const struct gemm_call *call = task->call;
    const struct gemm_type *type = task->plan->shape.type;
    size_t depth = step->k.end - step->k.begin, width = heap->rows.end - heap->rows.begin;
    struct gemm_panel panel = {
        .batch = task->batch,
        .lane = step->row + heap->rows.begin,
        .lanes = width,
        .width = width,
        .first = step->k.begin,
        .depth = depth,
        .out = (char *)task->a + gemm_panel_bytes(type, heap->rows.begin, depth),
        .sums = task->a_sums ? task->a_sums + heap->rows.begin : NULL,
    };
    if (call->pack_panels_a) {
        call->pack_panels_a(call->context, task->caller, &panel, heap->tiles);
        return;
    }
    for (uint32_t t = 0; t < heap->tiles; t++) {
        call->pack_a(call->context, task->caller, &panel);
        panel.lane += width;
        panel.out = (char *)panel.out + gemm_panel_bytes(type, width, depth);
        panel.sums = panel.sums ? panel.sums + width : NULL;
    }
}

static void pack_a(const struct gemm_task *task, const struct gemm_step *step,
                   const struct heap *heaps, size_t count)
{
    if (task->a_sums && step->k.begin == 0)
        memset(task->a_sums, 0, step->rows * sizeof *task->a_sums);
    for (size_t i = 0; i < count; i++)
        pack_heap(task, step, &heaps[i]);
}

static void run_panel(const struct gemm_task *task, const struct gemm_step *step,
                      const struct panels *panels, struct gemm_ends *ends, size_t p,
                      const struct heap *heaps, size_t count)
{
    const struct gemm_plan *plan = task->plan;
    const struct gemm_block *block = ends->block;
    struct layout_panel panel = gemm_plan_panel(plan, p);
    size_t column = panel.first - step->column, next = next_panel(task, step, p);
    struct gemm_tile tile = {
        .groups = panels->groups,
        .b = first_of_panel(panels, &panel),
        .row = block->row_stride,
        .nr = (uint32_t)panel.width,
        .n = (uint32_t)panel.valid,
        .add = panels->adds,
    };
    for (size_t i = 0; i < count; i++) {
        struct span rows = heaps[i].rows;
        tile.m = tile.mr = (uint32_t)(rows.end - rows.begin);
        tile.tiles = heaps[i].tiles;
        tile.ahead = next ? next + heaps[i].part * LINE : 0;
        tile.a = panels->a + rows.begin * panels->lane_bytes;
        tile.sums = block->values + column + rows.begin * block->row_stride;
        gemm_ends_set(ends, rows.begin, column, panel.width, &tile);
        plan->run_typed(&tile);
    }
}

/* One row: panels of the same width, which follow each other, take one call. */
static void run_row(const struct gemm_task *task, const struct gemm_step *step,
                    const struct panels *panels, const struct gemm_block *block)
{
    struct layout_panel panel;
    for (size_t p = step->panels.begin, count; p < step->panels.end; p += count) {
        panel = gemm_plan_panel(task->plan, p);
        bool is_full = p < task->plan->full_panels;
        count = is_full ? min_size(task->plan->full_panels, step->panels.end) - p : 1;
        task->plan->run_typed(&(struct gemm_tile){
            .groups = panels->groups,
            .a = panels->a,
            .b = first_of_panel(panels, &panel),
            .sums = block->values + (panel.first - step->column),
            .row = panel.width,
            .mr = 1,
            .nr = (uint32_t)panel.width,
            .m = 1,
            .n = (uint32_t)panel.valid,
            .add = panels->adds,
            .tiles = (uint32_t)count,
            .beside = panel.width * panels->b_bytes,
        });
    }
}

void gemm_way_run_typed(const struct gemm_task *task, const struct gemm_step *step,
                        const struct gemm_block *block)
{
    struct heap heaps[HEAPS];
    struct gemm_ends ends;
    struct panels panels = panels_of(task, step);
    size_t count = find_heaps(step->rows, task->plan->fetches ? PARTS : 1, heaps);
    pack_a(task, step, heaps, count);
    if (step->rows == 1 && !task->call->results) {
        run_row(task, step, &panels, block);
        return;
    }
    gemm_ends_init(&ends, task, step, block);
    for (size_t p = step->panels.begin; p < step->panels.end; p++)
        run_panel(task, step, &panels, &ends, p, heaps, count);
}
