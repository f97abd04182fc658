/* The f32 kernels as those of one of all types. */
#include "kernels/gemm/f32/gemm.h"
#include "kernels/gemm/tiles.h"

#include <math.h>

/* The table has the largest tiles first. */
static gemm_f32_fn *kernel_of(const struct gemm_tile *tile)
{
    return gemm_f32_rows_neon[GEMM_TILES - 1 - gemm_tile_number(tile->mr, tile->nr / 4)].run;
}

static void run_one(const struct gemm_tile *tile)
{
    struct gemm_f32_tile f32 = {.k = tile->groups,
                                .a = tile->a,
                                .b = tile->b,
                                .c = tile->sums,
                                .row = tile->row,
                                .col = 1,
                                .m = tile->m,
                                .n = tile->n,
                                .accumulate = tile->add || tile->start,
                                .low = -INFINITY,
                                .high = INFINITY};
    for (size_t i = 0; i < tile->m && tile->start && !tile->add; i++)
        memcpy(f32.c + i * tile->row, tile->start, tile->n * sizeof(float));
    kernel_of(tile)(&f32);
}

void gemm_f32_tiles_neon(const struct gemm_tile *tile)
{
    gemm_run_each(tile, &gemm_types[GEMM_F32], run_one);
}
