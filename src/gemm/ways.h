/* The ways to compute a step: how values of A reach the kernels. */
#ifndef SRC_GEMM_WAYS_H
#define SRC_GEMM_WAYS_H

#include "src/gemm/step.h"

struct gemm_way {
    const char *name;

    /* Do its kernels pack the full panels of a plain B as they go? NULL: none do. */
    bool (*packs)(const struct gemm_task *task, const struct gemm_step *step);

    /* Adds the step's products to the block of C. */
    void (*run)(const struct gemm_task *task, const struct gemm_step *step,
                const struct gemm_block *block);
};

/* Panels of a type; columns of A in place; rows in place at equal distances, or listed; rows
 * packed, which serves all the others. */
extern const struct gemm_way gemm_way_typed, gemm_way_planes, gemm_way_regular, gemm_way_listed,
    gemm_way_packed;

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
