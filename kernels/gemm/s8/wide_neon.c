/* Tiles of s8 made of squares, for CPUs without instructions for dot products. */
#include "kernels/gemm/tiles.h"

enum { SIDE = 4, GROUP = 16 };
extern gemm_run_fn gemm_s8_wide_1_neon, gemm_s8_wide_2_neon;
extern gemm_run_fn gemm_s8_wide_3_neon, gemm_s8_wide_4_neon;
static gemm_run_fn *const squares[] = {gemm_s8_wide_1_neon, gemm_s8_wide_2_neon,
                                       gemm_s8_wide_3_neon, gemm_s8_wide_4_neon};

static void run_columns(const struct gemm_tile *tile, size_t row, size_t rows)
{
    struct gemm_tile square = *tile;
    square.a = (const int8_t *)tile->a + row * GROUP;
    for (size_t j = 0; j < tile->nr; j += SIDE) {
        square.b = (const int8_t *)tile->b + j * GROUP;
        square.sums = (int32_t *)tile->sums + row * tile->row + j;
        square.start = tile->start ? (const int32_t *)tile->start + j : NULL;
        squares[rows - 1](&square);
    }
}

/* Two squares below each other are as high as each other, or almost. */
static void run_whole(const struct gemm_tile *tile)
{
    size_t upper = tile->mr > SIDE ? (tile->mr + 1) / 2 : tile->mr;
    run_columns(tile, 0, upper);
    if (upper < tile->mr)
        run_columns(tile, upper, tile->mr - upper);
}

void gemm_s8_wide_neon(const struct gemm_tile *tile)
{
    const struct gemm_type *type = &gemm_types[GEMM_S8_WIDE];
    if (tile->m == tile->mr && tile->n == tile->nr)
        gemm_run_each(tile, type, run_whole);
    else
        gemm_run_parts(tile, type, run_whole);
}
