/* What kernels do that have functions for whole tiles only. */
#ifndef KERNELS_GEMM_TILES_H
#define KERNELS_GEMM_TILES_H

#include "kernels/asm/inline.h"
#include "kernels/gemm/types.h"

/* Functions for all whole tiles of a type, m = mr and n = nr. */
enum { GEMM_TILES = GEMM_VECTORS * GEMM_MR };
static inline size_t gemm_tile_number(size_t height, size_t vectors)
{
    return GEMM_MR * (vectors - 1) + height - 1;
}

/* In a tile's `ahead`: by instructions in an order for narrow cores. */
enum { GEMM_NARROW = 2 };

/* Does a tile have no end, or one in these types? Sets of bits. */
enum { GEMM_BYTES_OR_F32 = 1 << ELEMENT_S8 | 1 << ELEMENT_U8 | 1 << ELEMENT_F32 };
INLINE int gemm_ends_in(const struct gemm_tile *tile, unsigned types)
{
    return !tile->end || types >> tile->end->to & 1;
}

/* Tiles one by one, by run, where tiles below each other are what a kernel has no loop for; those
 * with columns that are not valid are computed elsewhere as whole ones. What ends is finished in
 * memory. */
void gemm_run_each(const struct gemm_tile *tile, const struct gemm_type *type, gemm_run_fn *run);
void gemm_run_parts(const struct gemm_tile *tile, const struct gemm_type *type, gemm_run_fn *whole);

/* ends_here: functions for whole tiles have the tile's end. */
INLINE void gemm_run_whole_or_part(const struct gemm_tile *tile, gemm_run_fn *const *tiles,
                                   const struct gemm_type *type, int ends_here)
{
    gemm_run_fn *whole = tiles[gemm_tile_number(tile->mr, tile->nr / type->vector)];
    if (tile->m == tile->mr && tile->n == tile->nr && ends_here)
        whole(tile);
    else
        gemm_run_parts(tile, type, whole);
}

/* Those that are not in tables of whole tiles. */
gemm_run_fn gemm_f32_tiles_neon, gemm_s8_wide_neon;

#endif
