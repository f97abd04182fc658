/* What the ways of running a step of the blocked multiplication share (ways.h): with rows of A
 * packed, and with rows or columns of A read in place. */
#ifndef SRC_GEMM_STEP_H
#define SRC_GEMM_STEP_H

#include "src/core/checked.h"
#include "src/gemm/gemm.h"
#include "src/tensor/layout.h"

/* One thread's share of a run, and its parts of the scratchpad. */
struct gemm_task {
    const struct gemm_plan *plan;
    const struct gemm_tiles *tiles;
    const struct gemm_way *way;
    const struct gemm_call *call;
    float *a, *b, *stage;
    int32_t *a_sums, *b_sums; /* NULL: not wanted, or not made here */
    const float **list;
    struct gemm_run *runs; /* of a step's tiles, if A has zeros */
    void *caller;
    size_t batch;
    struct gemm_place place;
    size_t packed_panel, packed_k; /* which block b holds; SIZE_MAX: none */
    const void *after;             /* of packed weights what the next step begins with, or NULL */
    bool packs; /* but not yet its full panels, which the step's first tile packs */
};

/* A panel of B, from the step's first row on, where this task packs it. */
static inline void *gemm_step_own_panel(const struct gemm_task *task, const struct gemm_step *step,
                                        const struct layout_panel *panel)
{
    const struct gemm_type *type = task->plan->shape.type;
    size_t before = panel->first - step->column, depth = step->k.end - step->k.begin;
    return type ? (float *)(void *)((char *)task->b + gemm_panel_bytes(type, before, depth))
                : task->b + before * depth;
}

/* The same wherever it is. Blocks of k are whole groups. */
static inline const void *gemm_step_panel(const struct gemm_task *task,
                                          const struct gemm_step *step,
                                          const struct layout_panel *panel)
{
    const struct gemm_shape *shape = &task->plan->shape;
    const struct gemm_type *type = shape->type;
    if (!shape->b_packed)
        return gemm_step_own_panel(task, step, panel);
    if (!type)
        return task->place.b + panel->first * shape->k + step->k.begin * panel->width;
    return (const char *)task->place.b + gemm_panel_bytes(type, panel->first, shape->k) +
           gemm_panel_bytes(type, panel->width, step->k.begin);
}

/* The address of A's first value in a step, where that is enough to know the others'. */
const float *gemm_step_row(const struct gemm_task *task, const struct gemm_step *step);

/* Panel p, by the plan. */
static inline struct layout_panel gemm_plan_panel(const struct gemm_plan *plan, size_t p)
{
    size_t n = plan->shape.n, width = plan->panel_columns, unit = width / LAYOUT_PANEL;
    if (p < plan->full_panels)
        return (struct layout_panel){p * width, width, width};
    return layout_widen((plan->wide_panels ? layout_wide_panel : layout_panel)(div_up(n, unit), p),
                        n, unit);
}

/* A size is known at run time only. */
static inline bool gemm_is_unknown(const struct gemm_shape *shape)
{
    return shape->m == SIZE_MAX || shape->n == SIZE_MAX || shape->k == SIZE_MAX ||
           shape->a_stride == SIZE_MAX;
}

/* Blocks as equal as possible, of at most max each. */
static inline size_t gemm_even_block(size_t count, size_t max)
{
    return count == SIZE_MAX ? max : div_up(max_size(count, 1), div_up(max_size(count, 1), max));
}

/* How many blocks of k there are. */
size_t gemm_k_blocks(const struct gemm_plan *plan);

/* Blocks of k of at most so many values, a part of a segment or some segments. */
void gemm_set_block_k(struct gemm_plan *plan, size_t most);

/* How often so many panels of 12 columns come for n columns. The last time, one of 8 may come too.
 */
static inline size_t gemm_panel_groups(size_t n, size_t panels)
{
    enum { EIGHT = 8 };
    return n > EIGHT ? div_up(n - EIGHT, panels * LAYOUT_PANEL) : 1;
}

/* Is it known where rows of A and packed panels fall in the L1 cache, and is C loaded and stored at
 * little cost? */
bool gemm_knows_l1(const struct gemm_plan *plan, const struct cpu *cpu);

/* Groups of panels for the plan's blocks of k, if that is known, as for the next one. */
void gemm_choose_group(struct gemm_plan *plan, const struct cpu *cpu);

/* Sets smaller blocks of k than those of at most so many values, and groups of panels, if fewer
 * lines come to the L1 cache then. */
void gemm_choose_l1(struct gemm_plan *plan, const struct cpu *cpu, size_t most_k);

/* Of such a plan's blocks: values from the L2 cache for each product, copies included. */
double gemm_l1_cost(const struct gemm_plan *plan, const struct cpu *cpu);

/* Sets the order of loops and the blocks of rows and columns, which are the largest possible ones
 * before. For packed weights and rows in place. Returns its cost in values that come from behind
 * the L2 cache; 0: none do. */
double gemm_choose_order(struct gemm_plan *plan, const struct cpu *cpu);

/* Which of the blocks a step is. */
struct gemm_step_number {
    size_t tiles, panels, k;
};

struct gemm_step gemm_step_at(const struct gemm_plan *plan, struct span tiles, struct span panels,
                              const struct gemm_step_number *number);

/* Sets plan->whole, if a matrix is one step. Sizes are known. */
void gemm_plan_whole(struct gemm_plan *plan);

/* Fills plan->passes, if few enough serve all panels. */
void gemm_plan_passes(struct gemm_plan *plan);

/* What is multiplied of a segment. */
static inline struct span gemm_step_part(const struct gemm_task *task, const struct gemm_step *step)
{
    return task->plan->shape.a_has_parts ? task->place.part : (struct span){0, step->depth};
}

/* The columns of packed weights that come once more. */
static inline const float *gemm_step_tail(const struct gemm_task *task)
{
    const struct gemm_shape *shape = &task->plan->shape;
    return task->plan->has_tail ? task->place.b + layout_tail_offset(shape->n) * shape->k : NULL;
}

/* Lists the rows of a step. Returns its runs, of which there is one, *all, if A has no zeros. */
const struct gemm_run *gemm_step_list(const struct gemm_task *task, const struct gemm_step *step,
                                      struct gemm_run *all);

/* Lists rows of one segment at equal distances. */
void gemm_step_list_regular(const struct gemm_task *task, const struct gemm_step *step);

/* Adds the products of some panels of a step to the block of C, with rows of A listed. */
void gemm_step_run_listed(const struct gemm_task *task, const struct gemm_step *step,
                          const struct gemm_block *block, struct span panels);

/* Sets plan->fetches, as for gemm_fetches(). */
void gemm_plan_fetching(struct gemm_plan *plan, const struct cpu *cpu);

/* Sets plan->regular_panels, if such kernels suit the plan. */
void gemm_plan_regular(struct gemm_plan *plan);

/* A matrix, if the plan is short and the task's tiles are the plan's. */
void gemm_run_short(const struct gemm_task *task);

#endif
