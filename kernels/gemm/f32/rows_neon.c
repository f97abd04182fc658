/* Row kernels: the lines of a tile are rows of C, A gives the lanes and B the vectors. */
#include "kernels/gemm/f32/neon.h"
#include "kernels/gemm/f32/offsets.h"

/* U steps of k for each round of the loop: as many as the registers hold without a spill, counting
 * mr nr / 4 accumulators, ceil(mr U / 4) vectors of A and those of B that are loaded ahead. */
INLINE void run_rows(const struct gemm_f32_tile *tile, size_t mr, size_t nr, size_t U,
                     gemm_f32_fn *self)
{
    const struct gemm_f32_lines lines = {tile->a, tile->b, tile->row, tile->m};
    if (tile->n == nr)
        run_lines(tile, &lines, mr, nr / 4, U, 0);
    else
        gemm_f32_run_staged(tile, nr, self);
}

/* Whole tiles of 8x12 are assembly (8x12_neon.S), one for each way of issuing
 * instructions; those of 8x8 for cores that issue in order (8x8_neon.S). */
gemm_f32_fn gemm_f32_8x12_whole_neon, gemm_f32_8x12_a55_neon;
gemm_f32_fn gemm_f32_8x8_a55_neon;

static __attribute__((noinline)) void run_8x12(const struct gemm_f32_tile *tile, gemm_f32_fn *self)
{
    run_rows(tile, 8, 12, 1, self);
}

static __attribute__((noinline)) void run_8x8(const struct gemm_f32_tile *tile, gemm_f32_fn *self)
{
    run_rows(tile, 8, 8, 2, self);
}

#define WHOLE_OR_PART(nr, name, whole)                 \
    static void name(const struct gemm_f32_tile *tile) \
    {                                                  \
        if (tile->m == 8 && tile->n == (nr))           \
            whole(tile);                               \
        else                                           \
            run_8x##nr(tile, name);                    \
    }
WHOLE_OR_PART(12, gemm_f32_8x12_neon, gemm_f32_8x12_whole_neon)
WHOLE_OR_PART(12, gemm_f32_8x12_narrow_neon, gemm_f32_8x12_a55_neon)
WHOLE_OR_PART(8, gemm_f32_8x8_narrow_neon, gemm_f32_8x8_a55_neon)
#undef WHOLE_OR_PART

static void gemm_f32_7x12_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 7, 12, 1, gemm_f32_7x12_neon);
}

static void gemm_f32_6x12_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 6, 12, 2, gemm_f32_6x12_neon);
}

static void gemm_f32_5x12_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 5, 12, 4, gemm_f32_5x12_neon);
}

static void gemm_f32_4x12_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 4, 12, 4, gemm_f32_4x12_neon);
}

static void gemm_f32_3x12_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 3, 12, 4, gemm_f32_3x12_neon);
}

static void gemm_f32_2x12_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 2, 12, 4, gemm_f32_2x12_neon);
}

static void gemm_f32_1x12_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 1, 12, 4, gemm_f32_1x12_neon);
}

static void gemm_f32_8x8_neon(const struct gemm_f32_tile *tile)
{
    run_8x8(tile, gemm_f32_8x8_neon);
}

static void gemm_f32_7x8_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 7, 8, 4, gemm_f32_7x8_neon);
}

static void gemm_f32_6x8_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 6, 8, 2, gemm_f32_6x8_neon);
}

static void gemm_f32_5x8_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 5, 8, 4, gemm_f32_5x8_neon);
}

static void gemm_f32_4x8_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 4, 8, 4, gemm_f32_4x8_neon);
}

static void gemm_f32_3x8_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 3, 8, 4, gemm_f32_3x8_neon);
}

static void gemm_f32_2x8_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 2, 8, 4, gemm_f32_2x8_neon);
}

static void gemm_f32_1x8_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 1, 8, 4, gemm_f32_1x8_neon);
}

static void gemm_f32_8x4_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 8, 4, 4, gemm_f32_8x4_neon);
}

static void gemm_f32_7x4_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 7, 4, 4, gemm_f32_7x4_neon);
}

static void gemm_f32_6x4_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 6, 4, 2, gemm_f32_6x4_neon);
}

static void gemm_f32_5x4_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 5, 4, 4, gemm_f32_5x4_neon);
}

static void gemm_f32_4x4_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 4, 4, 4, gemm_f32_4x4_neon);
}

static void gemm_f32_3x4_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 3, 4, 4, gemm_f32_3x4_neon);
}

static void gemm_f32_2x4_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 2, 4, 4, gemm_f32_2x4_neon);
}

static void gemm_f32_1x4_neon(const struct gemm_f32_tile *tile)
{
    run_rows(tile, 1, 4, 4, gemm_f32_1x4_neon);
}

const struct gemm_f32_kernel gemm_f32_rows_neon[GEMM_F32_TILES] = {
    {"gemm_f32_8x12_neon", CPU_NEON, 8, 12, 0, gemm_f32_8x12_neon, 0},
    {"gemm_f32_7x12_neon", CPU_NEON, 7, 12, 0, gemm_f32_7x12_neon, 0},
    {"gemm_f32_6x12_neon", CPU_NEON, 6, 12, 0, gemm_f32_6x12_neon, 0},
    {"gemm_f32_5x12_neon", CPU_NEON, 5, 12, 0, gemm_f32_5x12_neon, 0},
    {"gemm_f32_4x12_neon", CPU_NEON, 4, 12, 0, gemm_f32_4x12_neon, 0},
    {"gemm_f32_3x12_neon", CPU_NEON, 3, 12, 0, gemm_f32_3x12_neon, 0},
    {"gemm_f32_2x12_neon", CPU_NEON, 2, 12, 0, gemm_f32_2x12_neon, 0},
    {"gemm_f32_1x12_neon", CPU_NEON, 1, 12, 0, gemm_f32_1x12_neon, 0},
    {"gemm_f32_8x8_neon", CPU_NEON, 8, 8, 0, gemm_f32_8x8_neon, 0},
    {"gemm_f32_7x8_neon", CPU_NEON, 7, 8, 0, gemm_f32_7x8_neon, 0},
    {"gemm_f32_6x8_neon", CPU_NEON, 6, 8, 0, gemm_f32_6x8_neon, 0},
    {"gemm_f32_5x8_neon", CPU_NEON, 5, 8, 0, gemm_f32_5x8_neon, 0},
    {"gemm_f32_4x8_neon", CPU_NEON, 4, 8, 0, gemm_f32_4x8_neon, 0},
    {"gemm_f32_3x8_neon", CPU_NEON, 3, 8, 0, gemm_f32_3x8_neon, 0},
    {"gemm_f32_2x8_neon", CPU_NEON, 2, 8, 0, gemm_f32_2x8_neon, 0},
    {"gemm_f32_1x8_neon", CPU_NEON, 1, 8, 0, gemm_f32_1x8_neon, 0},
    {"gemm_f32_8x4_neon", CPU_NEON, 8, 4, 0, gemm_f32_8x4_neon, 0},
    {"gemm_f32_7x4_neon", CPU_NEON, 7, 4, 0, gemm_f32_7x4_neon, 0},
    {"gemm_f32_6x4_neon", CPU_NEON, 6, 4, 0, gemm_f32_6x4_neon, 0},
    {"gemm_f32_5x4_neon", CPU_NEON, 5, 4, 0, gemm_f32_5x4_neon, 0},
    {"gemm_f32_4x4_neon", CPU_NEON, 4, 4, 0, gemm_f32_4x4_neon, 0},
    {"gemm_f32_3x4_neon", CPU_NEON, 3, 4, 0, gemm_f32_3x4_neon, 0},
    {"gemm_f32_2x4_neon", CPU_NEON, 2, 4, 0, gemm_f32_2x4_neon, 0},
    {"gemm_f32_1x4_neon", CPU_NEON, 1, 4, 0, gemm_f32_1x4_neon, 0},
};

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
