/* The definition of the f32 matrix-multiplication kernels: one plain loop for all tiles. */
#include "kernels/elementwise/f32/clamp_ref.h"
#include "kernels/gemm/f32/gemm.h"

#include <math.h>

static float element(const struct gemm_f32_tile *tile, size_t mr, size_t nr, size_t i, size_t j)
{
    float sum = tile->accumulate ? tile->c[i * tile->row + j * tile->col] : 0.0f;
    for (size_t p = 0; p < tile->k; p++)
        sum = fmaf(tile->a[p * mr + i], tile->b[p * nr + j], sum);
    return tile->bias ? sum + tile->bias[j] : sum;
}

static void run(const struct gemm_f32_tile *tile, size_t mr, size_t nr)
{
    for (size_t i = 0; i < tile->m; i++)
        for (size_t j = 0; j < tile->n; j++)
            tile->c[i * tile->row + j * tile->col] =
                clamp(element(tile, mr, nr, i, j), tile->low, tile->high);
}

static void gemm_f32_8x12_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 8, 12);
}

static void gemm_f32_7x12_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 7, 12);
}

static void gemm_f32_6x12_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 6, 12);
}

static void gemm_f32_5x12_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 5, 12);
}

static void gemm_f32_4x12_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 4, 12);
}

static void gemm_f32_3x12_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 3, 12);
}

static void gemm_f32_2x12_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 2, 12);
}

static void gemm_f32_1x12_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 1, 12);
}

static void gemm_f32_8x8_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 8, 8);
}

static void gemm_f32_7x8_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 7, 8);
}

static void gemm_f32_6x8_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 6, 8);
}

static void gemm_f32_5x8_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 5, 8);
}

static void gemm_f32_4x8_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 4, 8);
}

static void gemm_f32_3x8_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 3, 8);
}

static void gemm_f32_2x8_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 2, 8);
}

static void gemm_f32_1x8_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 1, 8);
}

static void gemm_f32_8x4_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 8, 4);
}

static void gemm_f32_7x4_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 7, 4);
}

static void gemm_f32_6x4_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 6, 4);
}

static void gemm_f32_5x4_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 5, 4);
}

static void gemm_f32_4x4_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 4, 4);
}

static void gemm_f32_3x4_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 3, 4);
}

static void gemm_f32_2x4_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 2, 4);
}

static void gemm_f32_1x4_ref(const struct gemm_f32_tile *tile)
{
    run(tile, 1, 4);
}

const struct gemm_f32_kernel gemm_f32_rows_ref[GEMM_F32_TILES] = {
    {"gemm_f32_8x12_ref", 0, 8, 12, 0, gemm_f32_8x12_ref, 0},
    {"gemm_f32_7x12_ref", 0, 7, 12, 0, gemm_f32_7x12_ref, 0},
    {"gemm_f32_6x12_ref", 0, 6, 12, 0, gemm_f32_6x12_ref, 0},
    {"gemm_f32_5x12_ref", 0, 5, 12, 0, gemm_f32_5x12_ref, 0},
    {"gemm_f32_4x12_ref", 0, 4, 12, 0, gemm_f32_4x12_ref, 0},
    {"gemm_f32_3x12_ref", 0, 3, 12, 0, gemm_f32_3x12_ref, 0},
    {"gemm_f32_2x12_ref", 0, 2, 12, 0, gemm_f32_2x12_ref, 0},
    {"gemm_f32_1x12_ref", 0, 1, 12, 0, gemm_f32_1x12_ref, 0},
    {"gemm_f32_8x8_ref", 0, 8, 8, 0, gemm_f32_8x8_ref, 0},
    {"gemm_f32_7x8_ref", 0, 7, 8, 0, gemm_f32_7x8_ref, 0},
    {"gemm_f32_6x8_ref", 0, 6, 8, 0, gemm_f32_6x8_ref, 0},
    {"gemm_f32_5x8_ref", 0, 5, 8, 0, gemm_f32_5x8_ref, 0},
    {"gemm_f32_4x8_ref", 0, 4, 8, 0, gemm_f32_4x8_ref, 0},
    {"gemm_f32_3x8_ref", 0, 3, 8, 0, gemm_f32_3x8_ref, 0},
    {"gemm_f32_2x8_ref", 0, 2, 8, 0, gemm_f32_2x8_ref, 0},
    {"gemm_f32_1x8_ref", 0, 1, 8, 0, gemm_f32_1x8_ref, 0},
    {"gemm_f32_8x4_ref", 0, 8, 4, 0, gemm_f32_8x4_ref, 0},
    {"gemm_f32_7x4_ref", 0, 7, 4, 0, gemm_f32_7x4_ref, 0},
    {"gemm_f32_6x4_ref", 0, 6, 4, 0, gemm_f32_6x4_ref, 0},
    {"gemm_f32_5x4_ref", 0, 5, 4, 0, gemm_f32_5x4_ref, 0},
    {"gemm_f32_4x4_ref", 0, 4, 4, 0, gemm_f32_4x4_ref, 0},
    {"gemm_f32_3x4_ref", 0, 3, 4, 0, gemm_f32_3x4_ref, 0},
    {"gemm_f32_2x4_ref", 0, 2, 4, 0, gemm_f32_2x4_ref, 0},
    {"gemm_f32_1x4_ref", 0, 1, 4, 0, gemm_f32_1x4_ref, 0},
};

/* The loop is the same: the strides say what is contiguous. */
const struct gemm_f32_kernel gemm_f32_columns_ref[GEMM_F32_TILES] = {
    {"gemm_f32_8x12_columns_ref", 0, 8, 12, 1, gemm_f32_8x12_ref, 0},
    {"gemm_f32_7x12_columns_ref", 0, 7, 12, 1, gemm_f32_7x12_ref, 0},
    {"gemm_f32_6x12_columns_ref", 0, 6, 12, 1, gemm_f32_6x12_ref, 0},
    {"gemm_f32_5x12_columns_ref", 0, 5, 12, 1, gemm_f32_5x12_ref, 0},
    {"gemm_f32_4x12_columns_ref", 0, 4, 12, 1, gemm_f32_4x12_ref, 0},
    {"gemm_f32_3x12_columns_ref", 0, 3, 12, 1, gemm_f32_3x12_ref, 0},
    {"gemm_f32_2x12_columns_ref", 0, 2, 12, 1, gemm_f32_2x12_ref, 0},
    {"gemm_f32_1x12_columns_ref", 0, 1, 12, 1, gemm_f32_1x12_ref, 0},
    {"gemm_f32_8x8_columns_ref", 0, 8, 8, 1, gemm_f32_8x8_ref, 0},
    {"gemm_f32_7x8_columns_ref", 0, 7, 8, 1, gemm_f32_7x8_ref, 0},
    {"gemm_f32_6x8_columns_ref", 0, 6, 8, 1, gemm_f32_6x8_ref, 0},
    {"gemm_f32_5x8_columns_ref", 0, 5, 8, 1, gemm_f32_5x8_ref, 0},
    {"gemm_f32_4x8_columns_ref", 0, 4, 8, 1, gemm_f32_4x8_ref, 0},
    {"gemm_f32_3x8_columns_ref", 0, 3, 8, 1, gemm_f32_3x8_ref, 0},
    {"gemm_f32_2x8_columns_ref", 0, 2, 8, 1, gemm_f32_2x8_ref, 0},
    {"gemm_f32_1x8_columns_ref", 0, 1, 8, 1, gemm_f32_1x8_ref, 0},
    {"gemm_f32_8x4_columns_ref", 0, 8, 4, 1, gemm_f32_8x4_ref, 0},
    {"gemm_f32_7x4_columns_ref", 0, 7, 4, 1, gemm_f32_7x4_ref, 0},
    {"gemm_f32_6x4_columns_ref", 0, 6, 4, 1, gemm_f32_6x4_ref, 0},
    {"gemm_f32_5x4_columns_ref", 0, 5, 4, 1, gemm_f32_5x4_ref, 0},
    {"gemm_f32_4x4_columns_ref", 0, 4, 4, 1, gemm_f32_4x4_ref, 0},
    {"gemm_f32_3x4_columns_ref", 0, 3, 4, 1, gemm_f32_3x4_ref, 0},
    {"gemm_f32_2x4_columns_ref", 0, 2, 4, 1, gemm_f32_2x4_ref, 0},
    {"gemm_f32_1x4_columns_ref", 0, 1, 4, 1, gemm_f32_1x4_ref, 0},
};

static void gemm_f32_8x12_packing_ref(const struct gemm_f32_tile *tile)
{
    struct gemm_f32_tile packed = *tile;
    packed.b = tile->to;
    for (size_t p = 0; p < tile->k; p++)
        for (size_t j = 0; j < 12; j++)
            tile->to[p * 12 + j] = tile->from[p * tile->from_row + j];
    run(&packed, 8, 12);
}

const struct gemm_f32_kernel gemm_f32_packing_ref[2] = {
    {"gemm_f32_8x12_packing_ref", 0, 8, 12, 0, gemm_f32_8x12_packing_ref, 0},
    {"gemm_f32_8x12_columns_packing_ref", 0, 8, 12, 1, gemm_f32_8x12_packing_ref, 0},
};
