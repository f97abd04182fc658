/* The f32 kernels as those of one of all types. */
#include "kernels/gemm/f32/gemm.h"
#include "kernels/gemm/tiles.h"

#include <math.h>

/* By gemm_tile_number(). */
static gemm_f32_fn *const tiles[GEMM_TILES] = {
#define KERNEL(mr, nr) gemm_f32_##mr##x##nr##_neon,
#include "kernels/gemm/f32/tiles_list.h"
    KERNEL(8, 12)
#undef KERNEL
};

static void run_one(const struct gemm_tile *tile)
{
    struct gemm_f32_tile f32 = {.k = tile->groups,
                                .a = tile->a,
                                .b = tile->b,
                                .c = tile->sums,
                                .row = tile->row,
                                .col = 1,
                                .n = tile->n,
                                .accumulate = tile->add || tile->start,
                                .low = -INFINITY,
                                .high = INFINITY};
    for (size_t i = 0; i < tile->m && tile->start && !tile->add; i++)
        memcpy(f32.c + i * tile->row, tile->start, tile->n * sizeof(float));
    tiles[gemm_tile_number(tile->mr, tile->nr / 4)](&f32);
}

void gemm_f32_tiles_neon(const struct gemm_tile *tile)
{
    (tile->m < tile->mr ? gemm_run_parts : gemm_run_each)(tile, &gemm_types[GEMM_F32], run_one);
}
