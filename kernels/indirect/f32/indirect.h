/* Convolution of eight pixels without copying their patches, f32: the contract of the kernels, and
 * their table. For few output channels, where a copy would cost as much as the sums. */
#ifndef KERNELS_INDIRECT_F32_INDIRECT_H
#define KERNELS_INDIRECT_F32_INDIRECT_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"
#include "kernels/asm/list.h"

enum { INDIRECT_F32_PIXELS = 8, INDIRECT_F32_WIDTH = 12 };

/* For each pixel i < count and output channel j < n:
 *
 *   sum = 0
 *   for tap < taps, for c < channels, in this order:
 *       x = pixels[tap * 8 + i][offset + c]
 *       sum = fma(x, weights[(tap * channels + c) * width + j], sum)
 *   dst[i * row + j] = min(max(sum + (bias ? bias[j] : 0), low), high)
 *
 * The order is that of the gemm_f32 kernels. Pixels from count on may be read. */
struct indirect_f32_tile {
    size_t taps, channels;
    const float *const *pixels;
    size_t offset;
    const float *weights;
    size_t width; /* 4, 8 or 12 */
    float *dst;
    size_t row;
    size_t count, n;   /* 1 <= count <= 8, 1 <= n <= width */
    const float *bias; /* n values, or NULL */
    float low, high;   /* -INFINITY, INFINITY: no clamp */
};
typedef void indirect_f32_fn(const struct indirect_f32_tile *tile);

struct indirect_f32_kernel {
    const char *name;
    uint32_t needs;
    uint8_t in_order; /* IN_ORDER_*: for such cores, slower on others; 0: for all */
    uint8_t multiple; /* channels are one of this */
    uint8_t channels; /* at least so many: with fewer the next one is faster */
    uint8_t pixels[INDIRECT_F32_WIDTH / 4]; /* at a time, the best number, by width; 0: not taken */
    indirect_f32_fn *run;
};

/* Fastest first; the last needs nothing. A new kernel is a file of its own and a name here. */
#if NEO_PORTABLE
#define INDIRECT_F32_KERNELS(KERNEL) KERNEL(indirect_f32_ref)
#else
#define INDIRECT_F32_KERNELS(KERNEL)       \
    KERNEL(indirect_f32_narrow_fours_neon) \
    KERNEL(indirect_f32_narrow_neon) KERNEL(indirect_f32_neon) KERNEL(indirect_f32_ref)
#endif

NAMED_KERNELS(indirect_f32, indirect_f32_kernel, INDIRECT_F32_KERNELS);

/* Does it take such tiles, and is it fast enough with so few channels? */
int indirect_f32_suits(const struct indirect_f32_kernel *kernel, size_t channels, size_t width);

/* The fastest that the features allow, for cores that issue in this way; never NULL. */
const struct indirect_f32_kernel *indirect_f32_find(uint32_t features, int in_order,
                                                    size_t channels, size_t width);

#endif
