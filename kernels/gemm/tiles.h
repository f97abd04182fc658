/* What kernels do that have functions for whole tiles only. */
#ifndef KERNELS_GEMM_TILES_H
#define KERNELS_GEMM_TILES_H

#include "kernels/asm/inline.h"
#include "kernels/gemm/types.h"

/* Functions for all whole tiles of a type, m = mr and n = nr. */
enum { GEMM_TILES = 3 * GEMM_MR };
static inline size_t gemm_tile_number(size_t height, size_t vectors)
{
    return GEMM_MR * (vectors - 1) + height - 1;
}

/* Computes a whole tile elsewhere, where a part of it is to be valid. */
void gemm_run_part(const struct gemm_tile *tile, size_t sum_bytes, gemm_run_fn *whole);

INLINE void gemm_run_whole_or_part(const struct gemm_tile *tile, gemm_run_fn *const *tiles,
                                   size_t vector, size_t sum_bytes)
{
    gemm_run_fn *whole = tiles[gemm_tile_number(tile->mr, tile->nr / vector)];
    if (tile->m == tile->mr && tile->n == tile->nr)
        whole(tile);
    else
        gemm_run_part(tile, sum_bytes, whole);
}

/* Those that are not in tables of whole tiles. */
gemm_run_fn gemm_f32_tiles_neon, gemm_s8_wide_neon;

#endif
