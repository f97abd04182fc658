/* C = A B, f32, where columns of A and of C are contiguous, A is read in place and B is packed:
 * images of planes, say, which a pointwise convolution turns into others.
 *
 * A strip is `tiles` tiles of `height` rows, one below the other, of one panel of B. */
#ifndef KERNELS_GEMM_F32_PLANES_PLANES_H
#define KERNELS_GEMM_F32_PLANES_PLANES_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"

enum { GEMM_F32_PLANES_LOW = 1, GEMM_F32_PLANES_HIGH = 2 };

/* For i < tiles * height, j < width, k = 4 * rounds + tail:
 *
 *   sum = 0
 *   for p < k in this order:  sum = fma(a[p * a_step + i], b[p * width + j], sum)
 *   C = sum + (bias ? bias[j] : 0)
 *   if (clamp & GEMM_F32_PLANES_LOW) C = max(C, low)
 *   if (clamp & GEMM_F32_PLANES_HIGH) C = min(C, high)
 *   c[j * ldc + i] = C
 *
 * The first product may be rounded alone: no more than the sign of a zero depends on that. All is
 * read and written exactly. */
struct gemm_f32_planes {
    const float *a;
    size_t a_step;
    size_t rounds, tail; /* tail <= 3 */
    const float *b;
    float *c;
    size_t ldc;
    size_t tiles;      /* >= 1 */
    const float *bias; /* or NULL */
    uint32_t clamp;
    float low, high;
    uint32_t height, width; /* the kernel's */
};
typedef void gemm_f32_planes_fn(const struct gemm_f32_planes *strip);

/* Kernels by width / 4 - 1: width 4 has tiles of 16 rows, width 8 of 12, width 12 of 8; and each
 * has tiles of four rows for what is left. */
enum { GEMM_F32_PLANES_WIDTHS = 3, GEMM_F32_PLANES_LOWEST = 4 };
struct gemm_f32_planes_kernels {
    const char *name;
    uint32_t needs;
    uint8_t in_order; /* IN_ORDER_*: for cores that issue in this way; 0: for all */
    struct {
        uint32_t height;
        gemm_f32_planes_fn *run, *run_lowest;
    } tiles[GEMM_F32_PLANES_WIDTHS];
};

/* Fastest first; the last needs nothing. */
extern const struct gemm_f32_planes_kernels gemm_f32_planes_kernels[];
extern const size_t gemm_f32_planes_kernel_count;

/* The fastest that the features allow on a core that issues so (IN_ORDER_* or 0); never NULL. */
const struct gemm_f32_planes_kernels *gemm_f32_planes_find(uint32_t features, int in_order);

/* The definition, for any tiles. */
gemm_f32_planes_fn gemm_f32_planes_run_ref;

#endif
