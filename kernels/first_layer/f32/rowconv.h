/* Convolution of a row of pixels of few channels, f32: the contract of the kernels, and their
 * table.
 *
 * The channels of the source lie in planes, so that neighbouring pixels, and neighbouring taps of
 * one pixel, follow each other: a vector of source serves several of both. */
#ifndef KERNELS_FIRST_LAYER_F32_ROWCONV_H
#define KERNELS_FIRST_LAYER_F32_ROWCONV_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"

enum { ROWCONV_F32_PIXELS = 8, ROWCONV_F32_WIDTH = 12 };

/* For each pixel i < tiles * 8 and output channel j < width:
 *
 *   sum = 0
 *   for c < channels, for r < kernel_rows, for t < taps, in this order:
 *       x = rows[c * kernel_rows + r][from + i * stride + t]
 *       sum = fma(x, weights[((r * taps + t) * channels + c) * width + j], sum)
 *   dst[i * pixel + j * channel] = min(max(sum + (bias ? bias[j] : 0), low), high)
 *
 * Of a row, (8 * tiles - 1) * stride + taps values from `from` on are read, and up to three more to
 * make that a multiple of four. The sum of nothing but -0 may be either zero. */
struct rowconv_f32_task {
    const float *const *rows;
    size_t channels, kernel_rows; /* >= 1 */
    const float *weights;         /* a packed panel */
    float *dst;
    size_t pixel, channel;      /* elements; either pixel is 1, or channel is and pixel is not */
    size_t tiles, from;         /* tiles >= 1 */
    const float *bias;          /* width values, or NULL */
    float low, high;            /* -INFINITY, INFINITY: no clamp */
    size_t stride, taps, width; /* the kernel's */
};
typedef void rowconv_f32_fn(const struct rowconv_f32_task *task);

struct rowconv_f32_kernel {
    const char *name;
    uint32_t needs;
    uint8_t stride, taps, width; /* 0, 0, 0: any */
    rowconv_f32_fn *run;
    uint8_t
        in_order; /* IN_ORDER_*: for cores that issue in this way, slower on others; 0: for all */
};

rowconv_f32_fn rowconv_f32_ref;

/* Fastest first; the last needs nothing and serves everything. */
extern const struct rowconv_f32_kernel rowconv_f32_kernels[];
extern const size_t rowconv_f32_kernel_count;

/* The fastest for this stride, taps and width that the CPU allows; never NULL. Those for cores that
 * issue in order are found for these only. */
const struct rowconv_f32_kernel *rowconv_f32_find(const struct cpu *cpu, size_t stride, size_t taps,
                                                  size_t width);

#endif
