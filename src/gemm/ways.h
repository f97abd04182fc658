/* The ways to compute a step: how values of A reach the kernels. */
#ifndef SRC_GEMM_WAYS_H
#define SRC_GEMM_WAYS_H

#include "src/gemm/step.h"

typedef void gemm_way_fn(const struct gemm_task *task, const struct gemm_step *step,
                         const struct gemm_block *block);

struct gemm_way {
    const char *name;

    /* Does it serve the plan's steps with these tiles, if no way before it does? */
    bool (*suits)(const struct gemm_plan *plan, const struct gemm_tiles *tiles);

    /* Do its kernels pack the full panels of a plain B as they go? NULL: none do. */
    bool (*packs)(const struct gemm_task *task, const struct gemm_step *step);

    /* Adds the step's products to the block of C. */
    gemm_way_fn *run;
};

/* Panels of a type; columns of A in place; rows in place at equal distances, or listed; rows
 * packed. */
gemm_way_fn gemm_way_run_typed, gemm_way_run_planes, gemm_way_run_regular, gemm_way_run_listed,
    gemm_way_run_packed;
bool gemm_way_listed_packs(const struct gemm_task *task, const struct gemm_step *step);
bool gemm_way_packed_packs(const struct gemm_task *task, const struct gemm_step *step);

/* Are there kernels of regular rows for tiles of so many, or one less? */
static inline bool gemm_has_regular(const struct gemm_f32_listed_kernels *kernels, size_t tall)
{
    return tall >= 2 && kernels->regular[tall - 1] && kernels->regular[tall - 2];
}

/* The first one that serves the plan's steps with these tiles, the plan's or those of another kind
 * of core. */
const struct gemm_way *gemm_way_of(const struct gemm_plan *plan, const struct gemm_tiles *tiles);

/* Packs the step's panels of a plain B, unless they are there from the step before; the full ones
 * only if the task's way does not. */
void gemm_step_pack_b(struct gemm_task *task, const struct gemm_step *step);

#endif
