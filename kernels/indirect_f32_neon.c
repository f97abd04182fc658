/* Convolution of eight pixels by pointer.
 *
 * Four channels of a pixel are one load, whose lanes multiply four vectors of weights each: for
 * four output channels 32 multiply-adds after 8 + 4 loads, and the 8 pointers of a tap. With 12
 * output channels the pixels go by fours, or the registers would not hold them. */
#include <arm_neon.h>
#include <math.h>

#include "kernels/indirect_f32.h"
#include "kernels/vector_neon.h"

enum { PIXELS = INDIRECT_F32_PIXELS, MOST_VECTORS = INDIRECT_F32_WIDTH / 4 };

/* One channel of P pixels: x[i] has it in a lane, and stands for 4 channels. */
INLINE void step(float32x4_t acc[PIXELS][MOST_VECTORS], const float32x4_t *x, size_t lane,
                 const float *weights, size_t P, size_t V)
{
    float32x4_t w[MOST_VECTORS];
#pragma GCC unroll 3
    for (size_t v = 0; v < V; v++)
        w[v] = vld1q_f32(weights + v * 4);
#pragma GCC unroll 8
    for (size_t i = 0; i < P; i++)
#pragma GCC unroll 3
        for (size_t v = 0; v < V; v++)
            acc[i][v] = fma_lane(acc[i][v], w[v], x[i], lane);
}

/* Four channels, or the 1 to 3 that are left. */
INLINE void steps(float32x4_t acc[PIXELS][MOST_VECTORS], const float *const *pixels, size_t at,
                  size_t count, const float *weights, size_t P, size_t V)
{
    float32x4_t x[PIXELS];
#pragma GCC unroll 8
    for (size_t i = 0; i < P; i++)
        x[i] = count >= 4 ? vld1q_f32(pixels[i] + at) : load_part(pixels[i] + at, count);
    step(acc, x, 0, weights, P, V);
    if (count > 1)
        step(acc, x, 1, weights + V * 4, P, V);
    if (count > 2)
        step(acc, x, 2, weights + V * 8, P, V);
    if (count > 3)
        step(acc, x, 3, weights + V * 12, P, V);
}

INLINE void finish(const struct indirect_f32_tile *tile, float32x4_t acc[PIXELS][MOST_VECTORS],
                   size_t first, size_t P, size_t V)
{
    float32x4_t low = vdupq_n_f32(tile->low), high = vdupq_n_f32(tile->high);
    int is_whole = first + P <= tile->count && tile->n == V * 4;
    float *dst = tile->dst + first * tile->row;
#pragma GCC unroll 3
    for (size_t v = 0; v < V; v++) {
        float32x4_t bias =
            tile->bias ? load_part(tile->bias + v * 4, left(tile->n, v * 4)) : vdupq_n_f32(0);
#pragma GCC unroll 8
        for (size_t i = 0; i < P; i++)
            acc[i][v] = vminq_f32(vmaxq_f32(vaddq_f32(acc[i][v], bias), low), high);
    }
    if (is_whole) {
#pragma GCC unroll 8
        for (size_t i = 0; i < P; i++, dst += tile->row)
#pragma GCC unroll 3
            for (size_t v = 0; v < V; v++)
                vst1q_f32(dst + v * 4, acc[i][v]);
        return;
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < P; i++, dst += tile->row)
        if (first + i < tile->count)
#pragma GCC unroll 3
            for (size_t v = 0; v < V; v++)
                store_part(dst + v * 4, acc[i][v], left(tile->n, v * 4));
}

/* Pixels first .. first + P - 1. */
INLINE void pixels(const struct indirect_f32_tile *tile, size_t first, size_t P, size_t V)
{
    float32x4_t acc[PIXELS][MOST_VECTORS];
    const float *weights = tile->weights;
    const float *const *from = tile->pixels + first;
#pragma GCC unroll 8
    for (size_t i = 0; i < P; i++)
#pragma GCC unroll 3
        for (size_t v = 0; v < V; v++)
            acc[i][v] = vdupq_n_f32(0);
    if (tile->channels == 4) {
        for (size_t tap = tile->taps; tap; tap--, from += PIXELS, weights += V * 16)
            steps(acc, from, tile->offset, 4, weights, P, V);
        finish(tile, acc, first, P, V);
        return;
    }
    for (size_t tap = 0; tap < tile->taps; tap++, from += PIXELS) {
        size_t c = 0;
        for (; c + 4 <= tile->channels; c += 4, weights += V * 16)
            steps(acc, from, tile->offset + c, 4, weights, P, V);
        if (c < tile->channels) {
            steps(acc, from, tile->offset + c, tile->channels - c, weights, P, V);
            weights += (tile->channels - c) * V * 4;
        }
    }
    finish(tile, acc, first, P, V);
}

static void run(const struct indirect_f32_tile *tile)
{
    if (tile->width == 4) {
        pixels(tile, 0, 8, 1);
    } else if (tile->width == 8) {
        pixels(tile, 0, 8, 2);
    } else {
        pixels(tile, 0, 4, 3);
        if (tile->count > 4)
            pixels(tile, 4, 4, 3);
    }
}

const struct indirect_f32_kernel indirect_f32_neon = {
    "indirect_f32_neon", CPU_NEON, 0, {PIXELS, PIXELS, PIXELS}, run};
