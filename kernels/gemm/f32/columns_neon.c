/* Column kernels: the lines of a tile are columns of C, B gives the lanes and A the vectors. Where
 * mr is no multiple of 4, the row kernel computes the tile and it is transposed at the end. */
#include "kernels/gemm/f32/neon.h"

INLINE void run_columns(const struct gemm_f32_tile *tile, size_t mr, size_t nr, size_t U,
                        gemm_f32_fn *self)
{
    const struct gemm_f32_lines lines = {tile->b, tile->a, tile->col, tile->n};
    if (tile->m == mr)
        run_lines(tile, &lines, nr, mr / 4, U, 1);
    else
        gemm_f32_run_staged_columns(tile, mr, self);
}

/* Row kernels of the same nr follow each other by falling mr in their table. */
INLINE void run_by_rows(const struct gemm_f32_tile *tile, size_t mr, size_t nr)
{
    size_t index = (GEMM_F32_NR - nr) / 4 * GEMM_F32_MR + GEMM_F32_MR - mr;
    gemm_f32_run_transposed(tile, nr, gemm_f32_rows_neon[index].run);
}

/* Whole tiles of 8x12 are assembly: 8x12_columns_neon.S, and for cores that issue in order
 * in_order_neon.S. */
gemm_f32_fn gemm_f32_8x12_columns_whole_neon;

/* KERNEL(mr, nr, U): those of the tiles that are not done by rows. */
#define LOWER_OR_NARROWER \
    KERNEL(8, 8, 2)       \
    KERNEL(8, 4, 4)       \
    KERNEL(4, 12, 2)      \
    KERNEL(4, 8, 4)       \
    KERNEL(4, 4, 4)

#define KERNEL(mr, nr, U)                                                                   \
    static __attribute__((noinline)) void run_##mr##x##nr(const struct gemm_f32_tile *tile, \
                                                          gemm_f32_fn *self)                \
    {                                                                                       \
        run_columns(tile, mr, nr, U, self);                                                 \
    }
KERNEL(8, 12, 1)
LOWER_OR_NARROWER
#undef KERNEL

#define WHOLE_OR_PART(mr, nr, name, whole)             \
    static void name(const struct gemm_f32_tile *tile) \
    {                                                  \
        if (tile->m == (mr) && tile->n == (nr))        \
            whole(tile);                               \
        else                                           \
            run_##mr##x##nr(tile, name);               \
    }
WHOLE_OR_PART(8, 12, gemm_f32_8x12_columns_neon, gemm_f32_8x12_columns_whole_neon)

#define KERNEL(mr, nr, U)                                                             \
    static void gemm_f32_##mr##x##nr##_columns_neon(const struct gemm_f32_tile *tile) \
    {                                                                                 \
        run_##mr##x##nr(tile, gemm_f32_##mr##x##nr##_columns_neon);                   \
    }
LOWER_OR_NARROWER
#undef KERNEL

#define BY_ROWS(mr, nr)                                                               \
    static void gemm_f32_##mr##x##nr##_columns_neon(const struct gemm_f32_tile *tile) \
    {                                                                                 \
        run_by_rows(tile, mr, nr);                                                    \
    }
#define HEIGHTS_BY_ROWS(nr) \
    BY_ROWS(7, nr)          \
    BY_ROWS(6, nr)          \
    BY_ROWS(5, nr)          \
    BY_ROWS(3, nr)          \
    BY_ROWS(2, nr)          \
    BY_ROWS(1, nr)
HEIGHTS_BY_ROWS(12)
HEIGHTS_BY_ROWS(8)
HEIGHTS_BY_ROWS(4)
#undef HEIGHTS_BY_ROWS
#undef BY_ROWS

/* clang-format off */
#define KERNEL(mr, nr, U) \
    {"gemm_f32_" #mr "x" #nr "_columns_neon", CPU_NEON, mr, nr, 1, \
     gemm_f32_##mr##x##nr##_columns_neon, 0},
const struct gemm_f32_kernel gemm_f32_columns_neon[GEMM_F32_TILES] = {
    KERNEL(8, 12, 1)
#include "kernels/gemm/f32/tiles_list.h"
};
#undef KERNEL
/* clang-format on */

gemm_f32_fn gemm_f32_8x12_columns_narrow_whole_neon;
WHOLE_OR_PART(8, 12, gemm_f32_8x12_columns_narrow_neon, gemm_f32_8x12_columns_narrow_whole_neon)
const struct gemm_f32_kernel gemm_f32_columns_in_order_neon[GEMM_F32_ONE_TILE] = {
    {"gemm_f32_8x12_columns_narrow_neon", CPU_NEON, 8, 12, 1, gemm_f32_8x12_columns_narrow_neon,
     IN_ORDER_NARROW},
};
#undef LOWER_OR_NARROWER
#undef WHOLE_OR_PART
