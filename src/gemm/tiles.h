/* Tile kernels for one kind of core.
 *
 * Cores of one machine may want different kernels, and a thread may run on any of them: so it is
 * the thread that chooses, when it starts to work. Operands are packed in the same way for all
 * kernels, and all compute the same bits. */
#ifndef SRC_GEMM_TILES_H
#define SRC_GEMM_TILES_H

#include <stdbool.h>

#include "kernels/gemm/f32/gemm.h"
#include "kernels/gemm/f32/listed/listed.h"
#include "kernels/gemm/f32/planes/planes.h"
#include "src/threading/parallel.h"

struct gemm_tiles {
    gemm_f32_fn *run[GEMM_F32_NR / 4][GEMM_F32_MR]; /* by width / 4 - 1, height - 1 */
    gemm_f32_fn *pack;                              /* 8x12, packs B; or NULL */
    const struct gemm_f32_listed_kernels *listed;
    const struct gemm_f32_planes_kernels *planes;
    uint32_t features;
    int in_order; /* IN_ORDER_* of the core; 0: it reorders */
    int columns;  /* for C whose columns are contiguous, not its rows */
};

void gemm_tiles_init(struct gemm_tiles *tiles, const struct cpu *cpu, int columns);

/* planned, or own if the calling thread runs on another kind of core, for which it is filled. */
const struct gemm_tiles *gemm_tiles_here(const struct gemm_tiles *planned, struct gemm_tiles *own,
                                         const struct parallel *parallel);

#endif
