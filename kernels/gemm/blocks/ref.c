/* The definition of what is done with blocks of weights. */
#include "kernels/gemm/blocks/blocks.h"

#include <math.h>

static void read_scales(const struct gemm_blocks *blocks, const uint8_t *block,
                        float out[GEMM_BLOCKS_NR])
{
    for (size_t j = 0; j < GEMM_BLOCKS_NR; j++)
        out[j] =
            element_read_f32(blocks->scale, block + gemm_blocks_weight_bytes(blocks), (ptrdiff_t)j);
}

static int32_t weight_of(const struct gemm_blocks *blocks, const uint8_t *block, size_t p, size_t j)
{
    if (blocks->weight == ELEMENT_S4)
        return gemm_s4_weight(block, p, j);
    size_t half = j / GEMM_BLOCKS_HALF * GEMM_BLOCKS_HALF * blocks->block;
    return (int8_t)block[half + gemm_panel_at(4, GEMM_BLOCKS_HALF, j % GEMM_BLOCKS_HALF, p)];
}

static void to_s8(const struct gemm_blocks *blocks, const uint8_t *block, size_t half, size_t group,
                  int8_t *out)
{
    for (size_t p = 0; p < blocks->block; p++)
        for (size_t j = 0; j < GEMM_BLOCKS_HALF; j++)
            out[gemm_panel_at(group, GEMM_BLOCKS_HALF, j, p)] =
                (int8_t)weight_of(blocks, block, p, half * GEMM_BLOCKS_HALF + j);
}

static void to_f32(const struct gemm_blocks *blocks, const uint8_t *block, const float *scales,
                   const float *offsets, float *out)
{
    for (size_t p = 0; p < blocks->block; p++)
        for (size_t j = 0; j < GEMM_BLOCKS_NR; j++) {
            float weight = (float)weight_of(blocks, block, p, j);
            *out++ = offsets ? fmaf(weight, scales[j], offsets[j]) : weight * scales[j];
        }
}

static void add_scaled(size_t m, const int32_t *sums, const float *scales, float *to)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < GEMM_BLOCKS_HALF; j++) {
            float *sum = to + i * GEMM_BLOCKS_NR + j;
            int32_t product = sums[i * GEMM_BLOCKS_HALF + j] - GEMM_FLOAT_START;
            *sum = fmaf((float)product, scales[j], *sum);
        }
}

static float sum_of(const struct gemm_blocks_tile *tile, size_t i, size_t j)
{
    const int8_t *a = tile->a, *b = tile->b;
    float sum = 0;
    for (size_t g = 0; g < tile->blocks; g++) {
        int32_t products = 0;
        for (size_t p = 0; p < tile->block; p++)
            products += a[gemm_panel_at(GEMM_BLOCKS_GROUP, GEMM_BLOCKS_MR, i, p)] *
                        b[gemm_panel_at(GEMM_BLOCKS_GROUP, GEMM_BLOCKS_HALF, j, p)];
        sum = fmaf((float)products, tile->scales[g * GEMM_BLOCKS_NR + j], sum);
        a += GEMM_BLOCKS_MR * tile->block + tile->a_step;
        b += GEMM_BLOCKS_HALF * tile->block;
    }
    return sum;
}

static void multiply(const struct gemm_blocks_tile *tile)
{
    for (size_t i = 0; i < GEMM_BLOCKS_MR; i++)
        for (size_t j = 0; j < GEMM_BLOCKS_HALF; j++)
            tile->c[i * tile->row + j] = sum_of(tile, i, j);
}

const struct gemm_blocks_kernel gemm_blocks_ref = {
    "gemm_blocks_ref", 0, read_scales, to_s8, to_f32, add_scaled, multiply};
