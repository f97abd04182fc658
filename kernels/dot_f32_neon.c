/* Dot products by vectors: one vector of sums a row, eight rows at a time, so that as many chains
 * of multiply-adds run beside each other. Sixteen steps of k take 32 FMLA, nine LD1 of four
 * registers (four of the vector stay for all rows) and the loop: 8 sums + 4 + 4 registers. */
#include <arm_neon.h>

#include "kernels/dot_f32.h"
#include "kernels/vector_neon.h"

#define INLINE static inline __attribute__((always_inline))
enum { MAX_ROWS = 8 };

/* R rows; R is a constant after inlining. */
INLINE void sum_rows(const float *rows, size_t stride, const float *x, size_t k,
                     float32x4_t sums[MAX_ROWS], size_t R)
{
    const float *at[MAX_ROWS];
#pragma GCC unroll 8
    for (size_t r = 0; r < R; r++) {
        at[r] = rows + r * stride;
        sums[r] = vdupq_n_f32(0);
    }
    for (size_t rounds = k / 16; rounds; rounds--, x += 16) {
        float32x4x4_t y = vld1q_f32_x4(x);
#pragma GCC unroll 8
        for (size_t r = 0; r < R; r++) {
            float32x4x4_t a = vld1q_f32_x4(at[r]);
            at[r] += 16;
#pragma GCC unroll 4
            for (size_t v = 0; v < 4; v++)
                sums[r] = vfmaq_f32(sums[r], a.val[v], y.val[v]);
        }
    }
    for (size_t done = k & ~(size_t)15; done < k; done += 4, x += 4) {
        float32x4_t y = load_part(x, k - done);
#pragma GCC unroll 8
        for (size_t r = 0; r < R; r++) {
            sums[r] = vfmaq_f32(sums[r], load_part(at[r], k - done), y);
            at[r] += 4;
        }
    }
}

static inline float32x4_t reduce(const float32x4_t sums[4])
{
    return vpaddq_f32(vpaddq_f32(sums[0], sums[1]), vpaddq_f32(sums[2], sums[3]));
}

static void run(const float *rows, size_t stride, const float *x, size_t k, size_t count,
                float *out)
{
    float32x4_t sums[MAX_ROWS];
    for (; count >= 8; count -= 8, rows += 8 * stride, out += 8) {
        sum_rows(rows, stride, x, k, sums, 8);
        vst1q_f32(out, reduce(sums));
        vst1q_f32(out + 4, reduce(sums + 4));
    }
    for (; count >= 4; count -= 4, rows += 4 * stride, out += 4) {
        sum_rows(rows, stride, x, k, sums, 4);
        vst1q_f32(out, reduce(sums));
    }
    for (; count; count--, rows += stride, out++) {
        sum_rows(rows, stride, x, k, sums, 1);
        *out = vaddvq_f32(sums[0]);
    }
}

const struct dot_f32_kernel dot_f32_neon = {"dot_f32_neon", CPU_NEON, run};
