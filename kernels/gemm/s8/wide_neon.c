/* Tiles of s8 made of squares, for CPUs without instructions for dot products. */
#include <arm_neon.h>

#include "kernels/gemm/tiles.h"

enum { SIDE = 4, GROUP = 16, WORTH_A_LOOK = 8 };
extern gemm_run_fn gemm_s8_any_1_neon, gemm_s8_any_2_neon, gemm_s8_any_3_neon, gemm_s8_any_4_neon;
extern gemm_run_fn gemm_s8_narrow_1_neon, gemm_s8_narrow_2_neon;
extern gemm_run_fn gemm_s8_narrow_3_neon, gemm_s8_narrow_4_neon;

/* By height. */
static gemm_run_fn *const any[] = {gemm_s8_any_1_neon, gemm_s8_any_2_neon, gemm_s8_any_3_neon,
                                   gemm_s8_any_4_neon};
static gemm_run_fn *const narrow[] = {gemm_s8_narrow_1_neon, gemm_s8_narrow_2_neon,
                                      gemm_s8_narrow_3_neon, gemm_s8_narrow_4_neon};

static void run_columns(const struct gemm_tile *tile, size_t row, size_t rows,
                        gemm_run_fn *const *squares)
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
static void run_squares(const struct gemm_tile *tile, gemm_run_fn *const *squares)
{
    size_t upper = tile->mr > SIDE ? (tile->mr + 1) / 2 : tile->mr;
    run_columns(tile, 0, upper, squares);
    if (upper < tile->mr)
        run_columns(tile, upper, tile->mr - upper, squares);
}

static void run_any(const struct gemm_tile *tile)
{
    run_squares(tile, any);
}

static void run_narrow(const struct gemm_tile *tile)
{
    run_squares(tile, narrow);
}

/* Weights seldom have -128. To look costs what few rows do not win back. */
static int is_narrow(const struct gemm_tile *tile)
{
    const int8_t *b = tile->b, *end = b + tile->groups * tile->nr * GROUP;
    if (tile->mr * (tile->tiles ? tile->tiles : 1) < WORTH_A_LOOK)
        return 0;
    int8x16_t low = vdupq_n_s8(0), high = low; /* nr is a multiple of 4 */
    for (; b < end; b += 4 * GROUP) {
        low = vminq_s8(vminq_s8(low, vld1q_s8(b)), vld1q_s8(b + GROUP));
        high = vminq_s8(vminq_s8(high, vld1q_s8(b + 2 * GROUP)), vld1q_s8(b + 3 * GROUP));
    }
    return vminvq_s8(vminq_s8(low, high)) > INT8_MIN;
}

void gemm_s8_wide_neon(const struct gemm_tile *tile)
{
    const struct gemm_type *type = &gemm_types[GEMM_S8_WIDE];
    gemm_run_fn *whole = is_narrow(tile) ? run_narrow : run_any;
    if (tile->m == tile->mr && tile->n == tile->nr)
        gemm_run_each(tile, type, whole);
    else
        gemm_run_parts(tile, type, whole);
}
