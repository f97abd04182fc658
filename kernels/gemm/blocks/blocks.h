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

struct gemm_blocks_kernel {
    const char *name;
    uint32_t needs;

    /* The scales of a block as f32. */
    void (*scales)(const struct gemm_blocks *blocks, const uint8_t *block,
                   float out[GEMM_BLOCKS_NR]);

    /* Columns [8 half, 8 half + 8) of a block become a panel of s8 with groups of 4, 8 or 16. */
    void (*to_s8)(const struct gemm_blocks *blocks, const uint8_t *block, size_t half, size_t group,
                  int8_t *out);

    /* For p < block, j < GEMM_BLOCKS_NR: out[p * GEMM_BLOCKS_NR + j] =
     * offsets ? fma(weight, scales[j], offsets[j]) : weight * scales[j], of f32. */
    void (*to_f32)(const struct gemm_blocks *blocks, const uint8_t *block, const float *scales,
                   const float *offsets, float *out);

    /* For i < m, j < GEMM_BLOCKS_HALF, where |sums| < 2^24:
     * to[i * GEMM_BLOCKS_NR + j] = fma((float)sums[i * GEMM_BLOCKS_HALF + j], scales[j], itself) */
    void (*add_scaled)(size_t m, const int32_t *sums, const float *scales, float *to);
};

/* Fastest first; the last one needs nothing. All have the same bits. */
extern const struct gemm_blocks_kernel *const gemm_blocks_kernels[];
extern const size_t gemm_blocks_kernel_count;

/* The fastest that the features allow. */
const struct gemm_blocks_kernel *gemm_blocks_find(uint32_t features);

extern const struct gemm_blocks_kernel gemm_blocks_neon, gemm_blocks_ref;

#endif
