/* The tiles of gemm/f32/direct/direct.h for an A whose columns are contiguous: A(i, p) = a[p * lda
 * + i]. Everything else is as there, of one group. */
#ifndef KERNELS_GEMM_F32_OUTER_OUTER_H
#define KERNELS_GEMM_F32_OUTER_OUTER_H

#include <stdbool.h>

#include "kernels/gemm/f32/direct/direct.h"

/* Fastest first; each (height, vectors) has one that needs nothing. */
extern const struct gemm_f32_direct_kernel gemm_f32_outer_kernels[];
extern const size_t gemm_f32_outer_kernel_count;

/* Where in the list the fastest tile is; gemm_f32_outer_kernel_count if there is none. */
size_t gemm_f32_outer_find(const struct cpu *cpu, size_t height, size_t vectors);

/* There is such a tile for cores that issue in order like this one. */
bool gemm_f32_outer_is_tuned(const struct core *core, size_t height, size_t vectors);

/* The largest height of such a tile, 0 if there is none. */
size_t gemm_f32_outer_height(size_t vectors);

#endif
