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

/* Whole tiles of 8x12 are assembly (8x12_columns_neon.S), and for cores that issue in
 * order all of eight or four rows (columns_in_order_neon.S). */
gemm_f32_fn gemm_f32_8x12_columns_whole_neon;

/* KERNEL(mr, nr, U): those of the tiles that are not done by rows. */
#define TILES_OF_COLUMNS \
    KERNEL(8, 12, 1)     \
    KERNEL(8, 8, 2)      \
    KERNEL(8, 4, 4)      \
    KERNEL(4, 12, 2)     \
    KERNEL(4, 8, 4)      \
    KERNEL(4, 4, 4)

#define KERNEL(mr, nr, U)                                                                   \
    static __attribute__((noinline)) void run_##mr##x##nr(const struct gemm_f32_tile *tile, \
                                                          gemm_f32_fn *self)                \
    {                                                                                       \
        run_columns(tile, mr, nr, U, self);                                                 \
    }
TILES_OF_COLUMNS
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

static void gemm_f32_7x12_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 7, 12);
}

static void gemm_f32_6x12_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 6, 12);
}

static void gemm_f32_5x12_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 5, 12);
}

static void gemm_f32_4x12_columns_neon(const struct gemm_f32_tile *tile)
{
    run_4x12(tile, gemm_f32_4x12_columns_neon);
}

static void gemm_f32_3x12_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 3, 12);
}

static void gemm_f32_2x12_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 2, 12);
}

static void gemm_f32_1x12_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 1, 12);
}

static void gemm_f32_8x8_columns_neon(const struct gemm_f32_tile *tile)
{
    run_8x8(tile, gemm_f32_8x8_columns_neon);
}

static void gemm_f32_7x8_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 7, 8);
}

static void gemm_f32_6x8_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 6, 8);
}

static void gemm_f32_5x8_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 5, 8);
}

static void gemm_f32_4x8_columns_neon(const struct gemm_f32_tile *tile)
{
    run_4x8(tile, gemm_f32_4x8_columns_neon);
}

static void gemm_f32_3x8_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 3, 8);
}

static void gemm_f32_2x8_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 2, 8);
}

static void gemm_f32_1x8_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 1, 8);
}

static void gemm_f32_8x4_columns_neon(const struct gemm_f32_tile *tile)
{
    run_8x4(tile, gemm_f32_8x4_columns_neon);
}

static void gemm_f32_7x4_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 7, 4);
}

static void gemm_f32_6x4_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 6, 4);
}

static void gemm_f32_5x4_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 5, 4);
}

static void gemm_f32_4x4_columns_neon(const struct gemm_f32_tile *tile)
{
    run_4x4(tile, gemm_f32_4x4_columns_neon);
}

static void gemm_f32_3x4_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 3, 4);
}

static void gemm_f32_2x4_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 2, 4);
}

static void gemm_f32_1x4_columns_neon(const struct gemm_f32_tile *tile)
{
    run_by_rows(tile, 1, 4);
}

const struct gemm_f32_kernel gemm_f32_columns_neon[GEMM_F32_TILES] = {
    {"gemm_f32_8x12_columns_neon", CPU_NEON, 8, 12, 1, gemm_f32_8x12_columns_neon, 0},
    {"gemm_f32_7x12_columns_neon", CPU_NEON, 7, 12, 1, gemm_f32_7x12_columns_neon, 0},
    {"gemm_f32_6x12_columns_neon", CPU_NEON, 6, 12, 1, gemm_f32_6x12_columns_neon, 0},
    {"gemm_f32_5x12_columns_neon", CPU_NEON, 5, 12, 1, gemm_f32_5x12_columns_neon, 0},
    {"gemm_f32_4x12_columns_neon", CPU_NEON, 4, 12, 1, gemm_f32_4x12_columns_neon, 0},
    {"gemm_f32_3x12_columns_neon", CPU_NEON, 3, 12, 1, gemm_f32_3x12_columns_neon, 0},
    {"gemm_f32_2x12_columns_neon", CPU_NEON, 2, 12, 1, gemm_f32_2x12_columns_neon, 0},
    {"gemm_f32_1x12_columns_neon", CPU_NEON, 1, 12, 1, gemm_f32_1x12_columns_neon, 0},
    {"gemm_f32_8x8_columns_neon", CPU_NEON, 8, 8, 1, gemm_f32_8x8_columns_neon, 0},
    {"gemm_f32_7x8_columns_neon", CPU_NEON, 7, 8, 1, gemm_f32_7x8_columns_neon, 0},
    {"gemm_f32_6x8_columns_neon", CPU_NEON, 6, 8, 1, gemm_f32_6x8_columns_neon, 0},
    {"gemm_f32_5x8_columns_neon", CPU_NEON, 5, 8, 1, gemm_f32_5x8_columns_neon, 0},
    {"gemm_f32_4x8_columns_neon", CPU_NEON, 4, 8, 1, gemm_f32_4x8_columns_neon, 0},
    {"gemm_f32_3x8_columns_neon", CPU_NEON, 3, 8, 1, gemm_f32_3x8_columns_neon, 0},
    {"gemm_f32_2x8_columns_neon", CPU_NEON, 2, 8, 1, gemm_f32_2x8_columns_neon, 0},
    {"gemm_f32_1x8_columns_neon", CPU_NEON, 1, 8, 1, gemm_f32_1x8_columns_neon, 0},
    {"gemm_f32_8x4_columns_neon", CPU_NEON, 8, 4, 1, gemm_f32_8x4_columns_neon, 0},
    {"gemm_f32_7x4_columns_neon", CPU_NEON, 7, 4, 1, gemm_f32_7x4_columns_neon, 0},
    {"gemm_f32_6x4_columns_neon", CPU_NEON, 6, 4, 1, gemm_f32_6x4_columns_neon, 0},
    {"gemm_f32_5x4_columns_neon", CPU_NEON, 5, 4, 1, gemm_f32_5x4_columns_neon, 0},
    {"gemm_f32_4x4_columns_neon", CPU_NEON, 4, 4, 1, gemm_f32_4x4_columns_neon, 0},
    {"gemm_f32_3x4_columns_neon", CPU_NEON, 3, 4, 1, gemm_f32_3x4_columns_neon, 0},
    {"gemm_f32_2x4_columns_neon", CPU_NEON, 2, 4, 1, gemm_f32_2x4_columns_neon, 0},
    {"gemm_f32_1x4_columns_neon", CPU_NEON, 1, 4, 1, gemm_f32_1x4_columns_neon, 0},
};

#define NAME(mr, nr, end) gemm_f32_##mr##x##nr##_columns_##end##_neon
#define KERNEL(mr, nr, U)                   \
    gemm_f32_fn NAME(mr, nr, narrow_whole); \
    WHOLE_OR_PART(mr, nr, NAME(mr, nr, narrow), NAME(mr, nr, narrow_whole))
TILES_OF_COLUMNS
#undef KERNEL

#define ENTRY(mr, nr, kind, in_order)                   \
    {"gemm_f32_" #mr "x" #nr "_columns_" #kind "_neon", \
     CPU_NEON,                                          \
     mr,                                                \
     nr,                                                \
     1,                                                 \
     NAME(mr, nr, kind),                                \
     in_order},
#define KERNEL(mr, nr, U) ENTRY(mr, nr, narrow, IN_ORDER_NARROW)
const struct gemm_f32_kernel gemm_f32_columns_in_order_neon[GEMM_F32_IN_ORDER_COLUMNS] = {
    TILES_OF_COLUMNS};
#undef KERNEL
#undef ENTRY
#undef NAME
#undef TILES_OF_COLUMNS
#undef WHOLE_OR_PART
