/* Rows of few channels as lines of values, for NEON: the tiles of lanes.h, of R rows and V vectors,
 * for kernels of KH rows at a stride of SH lines.
 *
 * Three products follow each other in a sum of a column of 3x3, twelve cycles where one takes four:
 * eight sums keep two pipes busy, but not four. So for such kernels tiles have four vectors where
 * lines are long enough. */
#include <arm_neon.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/depthwise/f32/lanes/lanes.h"

enum { LANES = 4, SUMS = 16, VECTORS = 4, TAPS = 7, LINES = 10 };

/* Bytes from the beginning of a line of dst, and of one of source. */
struct place {
    size_t to, from;
};

/* A column of the kernel: each line gives something to every row that has a tap there. */
INLINE void add_column(float32x4_t sums[SUMS], const struct dwconv_f32_lanes *job,
                       const float *const lines[LINES], const float *weights, size_t from,
                       size_t KH, size_t SH, size_t R, size_t V)
{
    float32x4_t taps[TAPS], line[VECTORS];
#pragma GCC unroll 8
    for (size_t ky = 0; ky < KH; ky++)
        taps[ky] = vld1q_f32(at_byte(weights, ky * job->weights_tap));
#pragma GCC unroll 16
    for (size_t i = 0; i < (R - 1) * SH + KH; i++) {
#pragma GCC unroll 4
        for (size_t v = 0; v < V; v++)
            line[v] = vld1q_f32(at_byte(lines[i], from + v * job->src_period));
#pragma GCC unroll 4
        for (size_t r = 0; r < R; r++)
#pragma GCC unroll 4
            for (size_t v = 0; v < V; v++)
                if (i >= r * SH && i < r * SH + KH)
                    sums[r * V + v] = vfmaq_f32(sums[r * V + v], line[v], taps[i - r * SH]);
    }
}

/* The same for kernels of any height. */
INLINE void add_any_column(float32x4_t sums[SUMS], const struct dwconv_f32_lanes *job,
                           const float *weights, size_t from, size_t R, size_t V)
{
    const float *const *lines = job->lines;
    for (size_t ky = 0; ky < job->kh; ky++, lines++) {
        float32x4_t tap = vld1q_f32(weights);
        weights = at_byte(weights, job->weights_tap);
#pragma GCC unroll 4
        for (size_t r = 0; r < R; r++)
#pragma GCC unroll 2
            for (size_t v = 0; v < V; v++) {
                const float *in = at_byte(lines[r * job->stride], from + v * job->src_period);
                sums[r * V + v] = vfmaq_f32(sums[r * V + v], vld1q_f32(in), tap);
            }
    }
}

INLINE void run_tile(const struct dwconv_f32_lanes *job, const float *const lines[LINES],
                     struct place at, size_t channel, size_t KH, size_t SH, size_t R, size_t V)
{
    float32x4_t sums[SUMS];
    const float *bias = at_byte(job->bias, channel);
    const float *weights = at_byte(job->weights, channel);
    float *dst = to_byte(job->dst, at.to);
#pragma GCC unroll 16
    for (size_t i = 0; i < R * V; i++)
        sums[i] = load_anew(bias);
    for (size_t kx = 0; kx < job->kw; kx++) {
        if (KH)
            add_column(sums, job, lines, weights, at.from + job->offsets[kx], KH, SH, R, V);
        else
            add_any_column(sums, job, weights, at.from + job->offsets[kx], R, V);
        weights = at_byte(weights, job->kh * job->weights_tap);
    }
    if (job->clamp)
#pragma GCC unroll 16
        for (size_t i = 0; i < R * V; i++)
            sums[i] =
                vminq_f32(vmaxq_f32(sums[i], vld1q_f32(job->clamp)), vld1q_f32(job->clamp + LANES));
#pragma GCC unroll 4
    for (size_t r = 0; r < R; r++, dst = to_byte(dst, job->dst_row))
#pragma GCC unroll 4
        for (size_t v = 0; v < V; v++)
            vst1q_f32(to_byte(dst, v * job->period), sums[r * V + v]);
}

/* Tiles of V vectors, as many as there are. */
INLINE struct place run_tiles(const struct dwconv_f32_lanes *job, const float *const lines[LINES],
                              struct place at, size_t channel, size_t KH, size_t SH, size_t R,
                              size_t V)
{
    for (; at.to + (V - 1) * job->period <= job->last; at.to += V * job->period) {
        run_tile(job, lines, at, channel, KH, SH, R, V);
        at.from += V * job->src_period;
    }
    return at;
}

INLINE void run_rows(const struct dwconv_f32_lanes *plan, size_t KH, size_t SH, size_t R)
{
    const struct dwconv_f32_lanes copy = *plan, *job = &copy;
    const float *lines[LINES];
    size_t count = KH ? (R - 1) * SH + KH : 0;
#pragma GCC unroll 16
    for (size_t i = 0; i < count; i++)
        lines[i] = job->lines[i];
    for (const struct dwconv_f32_lanes_phase *phase = job->phases; phase < job->phases_end;
         phase++) {
        struct place at = {phase->at, phase->at};
        if (KH == 3 && SH == 1 && R > 1)
            at = run_tiles(job, lines, at, phase->channel, KH, SH, R, 4);
        at = run_tiles(job, lines, at, phase->channel, KH, SH, R, 2);
        run_tiles(job, lines, at, phase->channel, KH, SH, R, 1);
    }
}

/* Kernels of any number of rows and any stride, and of some that have code of their own. */
#define KERNEL(name, KH, SH)                                                \
    static void run_##name(const struct dwconv_f32_lanes *job, size_t rows) \
    {                                                                       \
        if (rows == 4)                                                      \
            run_rows(job, KH, SH, 4);                                       \
        else if (rows == 2)                                                 \
            run_rows(job, KH, SH, 2);                                       \
        else                                                                \
            run_rows(job, KH, SH, 1);                                       \
    }
KERNEL(any, 0, 0)
KERNEL(1s1, 1, 1)
KERNEL(2s1, 2, 1)
KERNEL(3s1, 3, 1)
KERNEL(5s1, 5, 1)
KERNEL(7s1, 7, 1)
KERNEL(2s2, 2, 2)
KERNEL(3s2, 3, 2)
#undef KERNEL

const struct dwconv_f32_lanes_kernel dwconv_f32_lanes_kernels[] = {
    {1, 1, run_1s1}, {2, 1, run_2s1}, {3, 1, run_3s1}, {5, 1, run_5s1},
    {7, 1, run_7s1}, {2, 2, run_2s2}, {3, 2, run_3s2}, {0, 0, run_any},
};
