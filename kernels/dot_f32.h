/* Dot products of many rows with one vector, f32. */
#ifndef KERNELS_DOT_F32_H
#define KERNELS_DOT_F32_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"

/* For i < count: four sums, each in the order of p:
 *
 *   for p < k:  s[p % 4] = fma(rows[i * stride + p], x[p], s[p % 4])
 *   out[i] = (s[0] + s[1]) + (s[2] + s[3])
 *
 * Nothing else is read. out does not overlap the rest. */
typedef void dot_f32_fn(const float *rows, size_t stride, const float *x, size_t k, size_t count,
                        float *out);

struct dot_f32_kernel {
    const char *name;
    uint32_t needs;
    dot_f32_fn *run;
};
extern const struct dot_f32_kernel dot_f32_neon, dot_f32_ref;

/* Fastest first; the last needs nothing. */
extern const struct dot_f32_kernel *const dot_f32_kernels[];
extern const size_t dot_f32_kernel_count;

/* The fastest that the features allow; never NULL. */
const struct dot_f32_kernel *dot_f32_find(uint32_t features);

#endif
