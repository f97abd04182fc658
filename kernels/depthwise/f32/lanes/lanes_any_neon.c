/* Lines of values for kernels of any height and any stride: the tiles of lanes.h that
 * the assembly has no functions for. */
#include <arm_neon.h>
#include <math.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/depthwise/f32/lanes/lanes.h"

enum { LANES = 4, TOGETHER = 4, PAIR = 2 };

/* R rows, V vectors that are a period apart. */
INLINE void add_taps(float32x4_t acc[TOGETHER][PAIR], const struct dwconv_f32_lanes *job,
                     const float *weights, size_t at, size_t R, size_t V)
{
    for (size_t kx = 0; kx < job->kw; kx++) {
        const float *const *lines = job->lines;
        size_t from = at + job->offsets[kx];
        for (size_t ky = 0; ky < job->kh; ky++, lines++) {
            float32x4_t w = vld1q_f32(weights);
            weights = at_byte(weights, job->weights_tap);
#pragma GCC unroll 4
            for (size_t r = 0; r < R; r++)
#pragma GCC unroll 2
                for (size_t v = 0; v < V; v++) {
                    const float *in = at_byte(lines[r * job->stride], from + v * job->src_period);
                    acc[r][v] = vfmaq_f32(acc[r][v], vld1q_f32(in), w);
                }
        }
    }
}

/* Bytes from the beginning of a line of dst, and of one of source. */
struct place {
    size_t to, from;
};

INLINE void run_tile(const struct dwconv_f32_lanes *job, struct place at, size_t channel, size_t R,
                     size_t V)
{
    float32x4_t acc[TOGETHER][PAIR], bias = vld1q_f32(at_byte(job->bias, channel));
    for (size_t r = 0; r < R; r++)
        for (size_t v = 0; v < V; v++)
            acc[r][v] = bias;
    add_taps(acc, job, at_byte(job->weights, channel), at.from, R, V);
    float32x4_t low = vdupq_n_f32(-INFINITY), high = vdupq_n_f32(INFINITY);
    if (job->clamp)
        low = vld1q_f32(job->clamp), high = vld1q_f32(job->clamp + LANES);
    for (size_t r = 0; r < R; r++)
        for (size_t v = 0; v < V; v++)
            vst1q_f32(to_byte(job->dst, at.to + r * job->dst_row + v * job->period),
                      vminq_f32(vmaxq_f32(acc[r][v], low), high));
}

INLINE void run_rows(const struct dwconv_f32_lanes *job, size_t R)
{
    for (const struct dwconv_f32_lanes_phase *phase = job->phases; phase < job->phases_end;
         phase++) {
        struct place at = {phase->at, phase->at};
        for (; at.to + job->period <= job->last; at.to += PAIR * job->period) {
            run_tile(job, at, phase->channel, R, PAIR);
            at.from += PAIR * job->src_period;
        }
        if (at.to <= job->last)
            run_tile(job, at, phase->channel, R, 1);
    }
}

void dwconv_f32_lanes_any_1(const struct dwconv_f32_lanes *job)
{
    run_rows(job, 1);
}

void dwconv_f32_lanes_any_2(const struct dwconv_f32_lanes *job)
{
    run_rows(job, 2);
}

void dwconv_f32_lanes_any_4(const struct dwconv_f32_lanes *job)
{
    run_rows(job, 4);
}
