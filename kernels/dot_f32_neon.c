/* Dot products by vectors: one vector of sums a row, eight rows at a time, so that as many chains
 * of multiply-adds run beside each other. Sixteen steps of k take 32 FMLA, nine LD1 of four
 * registers (four of the vector stay for all rows) and the loop: 8 sums + 4 + 4 registers. */
#include <arm_neon.h>

#include "kernels/dot_f32.h"
#include "kernels/vector_neon.h"

#define INLINE static inline __attribute__((always_inline))
enum { MAX_ROWS = 8 };

/* The whole rounds of sixteen values of k, for eight rows. */
void dot_f32_8x16_neon(const float *rows, size_t stride, const float *x, size_t rounds,
                       float32x4_t sums[8]);

/* The last k values of R rows, by vectors; R is a constant after inlining. */
INLINE void add_rest(const float *rows, size_t stride, const float *x, size_t k,
                     float32x4_t sums[MAX_ROWS], size_t R)
{
    for (size_t done = 0; done < k; done += 4) {
        float32x4_t y = load_part(x + done, k - done);
#pragma GCC unroll 8
        for (size_t r = 0; r < R; r++)
            sums[r] = vfmaq_f32(sums[r], load_part(rows + r * stride + done, k - done), y);
    }
}

INLINE void sum_rows(const float *rows, size_t stride, const float *x, size_t k,
                     float32x4_t sums[MAX_ROWS], size_t R)
{
#pragma GCC unroll 8
    for (size_t r = 0; r < R; r++)
        sums[r] = vdupq_n_f32(0);
    size_t done = 0;
    for (; done + 16 <= k; done += 16) {
        float32x4x4_t y = vld1q_f32_x4(x + done);
#pragma GCC unroll 8
        for (size_t r = 0; r < R; r++) {
            float32x4x4_t a = vld1q_f32_x4(rows + r * stride + done);
#pragma GCC unroll 4
            for (size_t v = 0; v < 4; v++)
                sums[r] = vfmaq_f32(sums[r], a.val[v], y.val[v]);
        }
    }
    add_rest(rows + done, stride, x + done, k - done, sums, R);
}

static inline float32x4_t reduce(const float32x4_t sums[4])
{
    return vpaddq_f32(vpaddq_f32(sums[0], sums[1]), vpaddq_f32(sums[2], sums[3]));
}

static void run(const float *rows, size_t stride, const float *x, size_t k, size_t count,
                float *out)
{
    float32x4_t sums[MAX_ROWS];
    size_t whole = k & ~(size_t)15;
    for (; count >= 8; count -= 8, rows += 8 * stride, out += 8) {
        dot_f32_8x16_neon(rows, stride, x, k / 16, sums);
        add_rest(rows + whole, stride, x + whole, k - whole, sums, 8);
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
