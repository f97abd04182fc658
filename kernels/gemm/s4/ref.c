/* The definition of products with weights of four bits. */
#include "kernels/gemm/s4/s4.h"

#include <math.h>

static float sum_of(const struct gemm_s4_tile *tile, enum element scale, size_t i, size_t j)
{
    float sum = 0;
    const int8_t *a = tile->a;
    const uint8_t *b = tile->b;
    for (size_t g = 0; g < tile->blocks; g++) {
        int32_t products = 0;
        for (size_t p = 0; p < tile->block; p++)
            products += a[(p / 4 * tile->mr + i) * 4 + p % 4] * gemm_s4_weight(b, p, j);
        sum = fmaf((float)products, gemm_s4_scale(b, tile->block, scale, j), sum);
        a += tile->block * tile->mr;
        b += gemm_s4_block_bytes(tile->block, scale);
    }
    return sum * tile->row_scales[i];
}

static void run(const struct gemm_s4_tile *tile, enum element scale)
{
    for (size_t i = 0; i < tile->mr; i++)
        for (size_t j = 0; j < tile->n; j++) {
            float *c = tile->c + i * tile->row + j;
            float sum = sum_of(tile, scale, i, j);
            *c = tile->add ? sum + *c : sum;
        }
}

static void run_f32(const struct gemm_s4_tile *tile)
{
    run(tile, ELEMENT_F32);
}

static void run_f16(const struct gemm_s4_tile *tile)
{
    run(tile, ELEMENT_F16);
}

const struct gemm_s4_kernel gemm_s4_ref[GEMM_S4_SCALES] = {
    {"gemm_s4_f32_ref", 0, ELEMENT_F32, run_f32},
    {"gemm_s4_f16_ref", 0, ELEMENT_F16, run_f16},
};
