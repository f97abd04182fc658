/* What is done with blocks of weights, by vectors. A line is four steps of k and eight columns: a
 * vector of four bits' bytes, two of s8. */
#include "kernels/gemm/blocks/blocks.h"

#include <arm_neon.h>

#include "kernels/asm/inline.h"

void gemm_blocks_scales_neon(const struct gemm_blocks *blocks, const uint8_t *block,
                             float out[GEMM_BLOCKS_NR])
{
    const uint8_t *from = block + gemm_blocks_weight_bytes(blocks);
    if (blocks->scale == ELEMENT_F32) {
        memcpy(out, from, GEMM_BLOCKS_NR * sizeof *out);
        return;
    }
    for (size_t j = 0; j < GEMM_BLOCKS_NR; j += 4) {
        float16x4_t scales = vreinterpret_f16_u8(vld1_u8(from + 2 * j));
        vst1q_f32(out + j, vcvt_f32_f16(scales));
    }
}

/* A line of columns [8 half, 8 half + 8), step by step within a column. */
INLINE int8x16x2_t load_line(const struct gemm_blocks *blocks, const uint8_t *block, size_t half,
                             size_t line)
{
    if (blocks->weight == ELEMENT_S4) {
        uint8x16_t both = vld1q_u8(block + line * 2 * GEMM_BLOCKS_NR + half * 16);
        int8x16_t low = vreinterpretq_s8_u8(vandq_u8(both, vdupq_n_u8(15)));
        return (int8x16x2_t){
            {vsubq_s8(low, vdupq_n_s8(8)), vshrq_n_s8(vreinterpretq_s8_u8(both), 4)}};
    }
    const int8_t *from =
        (const int8_t *)block + half * GEMM_BLOCKS_HALF * blocks->block + line * 32;
    return (int8x16x2_t){{vld1q_s8(from), vld1q_s8(from + 16)}};
}

/* The same four columns of `lines` lines go side by side. */
INLINE void store_groups(const int8x16x2_t *part, size_t lines, size_t v, int8_t *out)
{
    int32x4_t first = vreinterpretq_s32_s8(part[0].val[v]);
    if (lines == 1) {
        vst1q_s8(out, part[0].val[v]);
    } else if (lines == 2) {
        int32x4_t second = vreinterpretq_s32_s8(part[1].val[v]);
        vst1q_s8(out, vreinterpretq_s8_s32(vzip1q_s32(first, second)));
        vst1q_s8(out + 16, vreinterpretq_s8_s32(vzip2q_s32(first, second)));
    } else {
        vst4q_s32((int32_t *)(void *)out,
                  (int32x4x4_t){{first, vreinterpretq_s32_s8(part[1].val[v]),
                                 vreinterpretq_s32_s8(part[2].val[v]),
                                 vreinterpretq_s32_s8(part[3].val[v])}});
    }
}

/* Groups of 4 × lines steps; blocks' type of weights and lines are constants after inlining. blocks
 * is a copy: stores of bytes might change the caller's. */
INLINE void regroup(struct gemm_blocks blocks, const uint8_t *block, size_t half, size_t lines,
                    int8_t *out)
{
    for (size_t line = 0; line < blocks.block / 4; line += lines, out += 32 * lines) {
        int8x16x2_t part[4];
#pragma GCC unroll 4
        for (size_t i = 0; i < lines; i++)
            part[i] = load_line(&blocks, block, half, line + i);
        store_groups(part, lines, 0, out);
        store_groups(part, lines, 1, out + 16 * lines);
    }
}

INLINE void regroup_by(struct gemm_blocks blocks, const uint8_t *block, size_t half, size_t group,
                       int8_t *out)
{
    if (group == 4)
        regroup(blocks, block, half, 1, out);
    else if (group == 8)
        regroup(blocks, block, half, 2, out);
    else
        regroup(blocks, block, half, 4, out);
}

void gemm_blocks_to_s8_neon(const struct gemm_blocks *blocks, const uint8_t *block, size_t half,
                            size_t group, int8_t *out)
{
    if (blocks->weight == ELEMENT_S4)
        regroup_by(*blocks, block, half, group, out);
    else
        regroup_by(*blocks, block, half, group, out);
}

INLINE void store_step(int16x4_t weights, const float *scales, const float *offsets, float *out)
{
    float32x4_t value = vcvtq_f32_s32(vmovl_s16(weights)), scale = vld1q_f32(scales);
    vst1q_f32(out, offsets ? vfmaq_f32(vld1q_f32(offsets), value, scale) : vmulq_f32(value, scale));
}

/* Four columns of a line, whose bytes are turned to be one step after another. */
INLINE void store_four(int8x16_t columns, const float *scales, const float *offsets, float *out)
{
    static const uint8_t turn[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    int8x16_t steps = vqtbl1q_s8(columns, vld1q_u8(turn));
    int16x8_t first = vmovl_s8(vget_low_s8(steps)), second = vmovl_high_s8(steps);
    store_step(vget_low_s16(first), scales, offsets, out);
    store_step(vget_high_s16(first), scales, offsets, out + GEMM_BLOCKS_NR);
    store_step(vget_low_s16(second), scales, offsets, out + 2 * GEMM_BLOCKS_NR);
    store_step(vget_high_s16(second), scales, offsets, out + 3 * GEMM_BLOCKS_NR);
}

void gemm_blocks_to_f32_neon(const struct gemm_blocks *blocks, const uint8_t *block,
                             const float *scales, const float *offsets, float *out)
{
    for (size_t line = 0; line < blocks->block / 4; line++, out += 4 * GEMM_BLOCKS_NR)
        for (size_t half = 0; half < 2; half++) {
            int8x16x2_t columns = load_line(blocks, block, half, line);
            for (size_t v = 0; v < 2; v++) {
                size_t j = half * GEMM_BLOCKS_HALF + v * 4;
                store_four(columns.val[v], scales + j, offsets ? offsets + j : NULL, out + j);
            }
        }
}

INLINE void add_four(const int32_t *sums, float32x4_t scales, float *to)
{
    float32x4_t value = vreinterpretq_f32_s32(vld1q_s32(sums));
    value = vsubq_f32(value, vdupq_n_f32(0x1.8p23f));
    vst1q_f32(to, vfmaq_f32(vld1q_f32(to), value, scales));
}

void gemm_blocks_add_scaled_neon(size_t m, const int32_t *sums, const float *scales, float *to)
{
    float32x4_t left = vld1q_f32(scales), right = vld1q_f32(scales + 4);
#pragma GCC unroll 4
    for (size_t i = 0; i < m; i++, sums += GEMM_BLOCKS_HALF, to += GEMM_BLOCKS_NR) {
        add_four(sums, left, to);
        add_four(sums + 4, right, to + 4);
    }
}

const struct gemm_blocks_kernel gemm_blocks_neon = {
    .name = "gemm_blocks_neon",
    .needs = CPU_NEON,
    .scales = gemm_blocks_scales_neon,
    .to_s8 = gemm_blocks_to_s8_neon,
    .to_f32 = gemm_blocks_to_f32_neon,
    .add_scaled = gemm_blocks_add_scaled_neon,
};
