/* Row kernels: the lines of a tile are rows of C, A gives the lanes and B the vectors. */
#include "kernels/gemm/f32/neon.h"
#include "kernels/gemm/f32/offsets.h"

INLINE void run_rows(const struct gemm_f32_tile *tile, size_t mr, size_t nr, size_t U,
                     gemm_f32_fn *self)
{
    const struct gemm_f32_lines lines = {tile->a, tile->b, tile->row, tile->m};
    if (tile->n == nr)
        run_lines(tile, &lines, mr, nr / 4, U, 0);
    else
        gemm_f32_run_staged(tile, nr, self);
}

#define KERNEL(mr, nr, U)                                                     \
    static void gemm_f32_##mr##x##nr##_neon(const struct gemm_f32_tile *tile) \
    {                                                                         \
        run_rows(tile, mr, nr, U, gemm_f32_##mr##x##nr##_neon);               \
    }
#include "kernels/gemm/f32/tiles_list.h"
#undef KERNEL

/* Whole tiles of 8x12 are assembly (8x12_neon.S), and so are some for cores that issue in order
 * (in_order_neon.S). */
gemm_f32_fn gemm_f32_8x12_whole_neon, gemm_f32_8x12_narrow_whole_neon,
    gemm_f32_8x8_narrow_whole_neon;

static __attribute__((noinline)) void run_8x12(const struct gemm_f32_tile *tile, gemm_f32_fn *self)
{
    run_rows(tile, 8, 12, 1, self);
}

static void gemm_f32_8x12_neon(const struct gemm_f32_tile *tile)
{
    if (tile->m == 8 && tile->n == 12)
        gemm_f32_8x12_whole_neon(tile);
    else
        run_8x12(tile, gemm_f32_8x12_neon);
}

static void gemm_f32_8x12_narrow_neon(const struct gemm_f32_tile *tile)
{
    if (tile->m == 8 && tile->n == 12)
        gemm_f32_8x12_narrow_whole_neon(tile);
    else
        run_8x12(tile, gemm_f32_8x12_narrow_neon);
}

static void gemm_f32_8x8_narrow_neon(const struct gemm_f32_tile *tile)
{
    if (tile->n != 8)
        gemm_f32_run_staged(tile, 8, gemm_f32_8x8_narrow_neon);
    else
        (tile->m == 8 ? gemm_f32_8x8_narrow_whole_neon : gemm_f32_8x8_neon)(tile);
}

/* clang-format off */
#define KERNEL(mr, nr, U) \
    {"gemm_f32_" #mr "x" #nr "_neon", CPU_NEON, mr, nr, 0, gemm_f32_##mr##x##nr##_neon, 0},
const struct gemm_f32_kernel gemm_f32_rows_neon[GEMM_F32_TILES] = {
    KERNEL(8, 12, 1)
#include "kernels/gemm/f32/tiles_list.h"
};
#undef KERNEL
/* clang-format on */

gemm_f32_fn gemm_f32_8x12_packing_neon, gemm_f32_8x12_columns_packing_neon;
const struct gemm_f32_kernel gemm_f32_packing_neon[2] = {
    {"gemm_f32_8x12_packing_neon", CPU_NEON, 8, 12, 0, gemm_f32_8x12_packing_neon, 0},
    {"gemm_f32_8x12_columns_packing_neon", CPU_NEON, 8, 12, 1, gemm_f32_8x12_columns_packing_neon,
     0},
};

const struct gemm_f32_kernel gemm_f32_in_order_neon[GEMM_F32_IN_ORDER_TILES] = {
    {"gemm_f32_8x12_a55_neon", CPU_NEON, 8, 12, 0, gemm_f32_8x12_narrow_neon, IN_ORDER_NARROW},
    {"gemm_f32_8x8_a55_neon", CPU_NEON, 8, 8, 0, gemm_f32_8x8_narrow_neon, IN_ORDER_NARROW},
};
