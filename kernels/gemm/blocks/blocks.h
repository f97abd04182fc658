/* Weights of four or eight bits whose scales are beside them, and what is done with a block of
 * them.
 *
 * A panel of B is GEMM_BLOCKS_NR columns. Each block of `block` steps of k has its weights and then
 * a scale for every column:
 *
 *   four bits:  as kernels/gemm/s4/s4.h says
 *   eight bits: columns 0 … 7, then 8 … 15, each a panel of s8 of this width with groups of 4
 *               (gemm_panel_at())
 *
 * After its blocks a panel may have offsets, one of f32 for each block and column. A weight q
 * stands for q * scale + offset. Where k ends within a block there are zeros, which no product is
 * made of but zeros. */
#ifndef KERNELS_GEMM_BLOCKS_BLOCKS_H
#define KERNELS_GEMM_BLOCKS_BLOCKS_H

#include "kernels/gemm/s4/s4.h"
#include "kernels/gemm/types.h"

enum { GEMM_BLOCKS_NR = GEMM_S4_NR, GEMM_BLOCKS_HALF = 8, GEMM_BLOCKS_UNIT = GEMM_S4_STEPS };

struct gemm_blocks {
    enum element weight; /* S4 or S8 */
    enum element scale;  /* F32 or F16 */
    size_t block;        /* a multiple of GEMM_BLOCKS_UNIT, at most GEMM_S4_MOST_BLOCK */
    int has_offsets;
};

static inline size_t gemm_blocks_count(const struct gemm_blocks *blocks, size_t k)
{
    return (k + blocks->block - 1) / blocks->block;
}

static inline size_t gemm_blocks_weight_bytes(const struct gemm_blocks *blocks)
{
    return GEMM_BLOCKS_NR * blocks->block * element_bits(blocks->weight) / 8;
}

static inline size_t gemm_blocks_bytes(const struct gemm_blocks *blocks)
{
    return gemm_blocks_weight_bytes(blocks) + GEMM_BLOCKS_NR * element_bytes(blocks->scale);
}

static inline size_t gemm_blocks_offsets_at(const struct gemm_blocks *blocks, size_t k)
{
    return gemm_blocks_count(blocks, k) * gemm_blocks_bytes(blocks);
}

static inline size_t gemm_blocks_panel_bytes(const struct gemm_blocks *blocks, size_t k)
{
    size_t offsets = blocks->has_offsets ? GEMM_BLOCKS_NR * sizeof(float) : 0;
    return gemm_blocks_count(blocks, k) * (gemm_blocks_bytes(blocks) + offsets);
}

/* values[j * GEMM_S4_MOST_BLOCK + p]: of column j at step p. Writes all of a block. */
void gemm_blocks_write(const struct gemm_blocks *blocks, const int8_t *values,
                       const float scales[GEMM_BLOCKS_NR], uint8_t *out);

/* For i < 8, j < GEMM_BLOCKS_HALF:
 *
 *   sum = 0
 *   for g < blocks in this order:
 *       sum = fma(the sum over the block of A(i, p) * B(p, j), scales[g * GEMM_BLOCKS_NR + j], sum)
 *   c[i * row + j] = sum
 *
 * A and B are panels of s8 with groups of 8 for each block, which follow each other, those of A at
 * a distance; a block's sums are below 2^22 in size. */
struct gemm_blocks_tile {
    size_t blocks, block; /* at least one; steps, a multiple of GEMM_BLOCKS_UNIT */
    const int8_t *a;
    size_t a_step; /* bytes from the end of a block of A to the next one */
    const int8_t *b;
    const float *scales;
    float *c;
    size_t row;
};
enum { GEMM_BLOCKS_MR = 8, GEMM_BLOCKS_GROUP = 8 };
typedef void gemm_blocks_multiply_fn(const struct gemm_blocks_tile *tile);

/* The scales of a block as f32. */
typedef void gemm_blocks_scales_fn(const struct gemm_blocks *blocks, const uint8_t *block,
                                   float out[GEMM_BLOCKS_NR]);

/* Columns [8 half, 8 half + 8) of a block become a panel of s8 with groups of 4, 8 or 16. */
typedef void gemm_blocks_to_s8_fn(const struct gemm_blocks *blocks, const uint8_t *block,
                                  size_t half, size_t group, int8_t *out);

/* For p < block, j < GEMM_BLOCKS_NR: out[p * GEMM_BLOCKS_NR + j] =
 * offsets ? fma(weight, scales[j], offsets[j]) : weight * scales[j], of f32. */
typedef void gemm_blocks_to_f32_fn(const struct gemm_blocks *blocks, const uint8_t *block,
                                   const float *scales, const float *offsets, float *out);

/* For i < m, j < GEMM_BLOCKS_HALF, where sums are GEMM_FLOAT_START and less than 2^22 more or
 * less, so that their bits are those of floats:
 * to[i * GEMM_BLOCKS_NR + j] =
 *     fma((float)(sums[i * GEMM_BLOCKS_HALF + j] - GEMM_FLOAT_START), scales[j], itself) */
typedef void gemm_blocks_add_scaled_fn(size_t m, const int32_t *sums, const float *scales,
                                       float *to);

struct gemm_blocks_kernel {
    const char *name;
    uint32_t needs;
    gemm_blocks_scales_fn *scales;
    gemm_blocks_to_s8_fn *to_s8;
    gemm_blocks_to_f32_fn *to_f32;
    gemm_blocks_add_scaled_fn *add_scaled;
    gemm_blocks_multiply_fn *multiply; /* NULL: tiles of kernels/gemm/types.h do as well */
};

/* Fastest first; the last one needs nothing. All have the same bits. */
extern const struct gemm_blocks_kernel *const gemm_blocks_kernels[];
extern const size_t gemm_blocks_kernel_count;

/* The fastest that the features allow. */
const struct gemm_blocks_kernel *gemm_blocks_find(uint32_t features);

extern const struct gemm_blocks_kernel gemm_blocks_i8mm, gemm_blocks_neon, gemm_blocks_ref;

/* Those of NEON, which other kernels have, too. */
gemm_blocks_scales_fn gemm_blocks_scales_neon;
gemm_blocks_to_s8_fn gemm_blocks_to_s8_neon;
gemm_blocks_to_f32_fn gemm_blocks_to_f32_neon;
gemm_blocks_add_scaled_fn gemm_blocks_add_scaled_neon;

#endif
