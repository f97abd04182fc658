/* Dot products of many rows with one to four vectors, f32. */
#ifndef KERNELS_DOT_F32_DOT_H
#define KERNELS_DOT_F32_DOT_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"
#include "kernels/asm/list.h"

/* For i < count, j < columns: four sums, each in the order of p:
 *
 *   for p < k:  s[p % 4] = fma(rows[i * stride + p], x[j * x_stride + p], s[p % 4])
 *   sum = (s[0] + s[1]) + (s[2] + s[3])
 *   out[i * out_row + j * out_column] = sum, or sum + out[i * out_row + j * out_column] if it adds
 *
 * Nothing else is read. out does not overlap the rest. */
struct dot_f32 {
    size_t stride, x_stride;
    size_t count, columns; /* columns: 1 … DOT_F32_COLUMNS */
    size_t k;
    size_t out_row, out_column;
    uint8_t adds; /* 1: to what out holds; 0: out is not read */
};
typedef void dot_f32_fn(const struct dot_f32 *dot, const float *rows, const float *x, float *out);

enum { DOT_F32_COLUMNS = 4 };

struct dot_f32_kernel {
    const char *name;
    uint32_t needs;
    uint8_t in_order; /* IN_ORDER_*: for such cores, slower on others; 0: for all */
    dot_f32_fn *run;
};

/* Fastest first; the last needs nothing. A new kernel is a file of its own and a name here. */
#if NEO_PORTABLE
#define DOT_F32_KERNELS(KERNEL) KERNEL(dot_f32_generic) KERNEL(dot_f32_ref)
#else
#define DOT_F32_KERNELS(KERNEL) KERNEL(dot_f32_narrow_neon) KERNEL(dot_f32_neon) KERNEL(dot_f32_ref)
#endif

NAMED_KERNELS(dot_f32, dot_f32_kernel, DOT_F32_KERNELS);

/* The fastest that the features allow, for cores that issue in this way; never NULL. */
const struct dot_f32_kernel *dot_f32_find(uint32_t features, int in_order);

#endif
