/* Transforms of Winograd's minimal filtering, f32: the contract of the kernels, and their table.
 *
 * A tile of (rows - 2) x (cols - 2) outputs of a 3x3 convolution comes from rows x cols inputs by
 * way of as many products. Sizes are 4, 5, 6 and 8: the points are infinity, 0, 1, -1, 2, -2, 1/2,
 * -1/2, of which the first so many are used. Row 0 of a matrix to the products is what
 * interpolation gives; in a `standard` one so are the others, scaled such that their first
 * coefficient is 1; in another one they are multiples of these. Matrices from the products are
 * always standard. */
#ifndef KERNELS_WINOGRAD_F32_H
#define KERNELS_WINOGRAD_F32_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"

enum { WINOGRAD_F32_POINTS = 8, WINOGRAD_F32_LANES = 4 };

/* A transform of n values to m: out[i] = sum over j < n of matrix[i * n + j] * in[j]. */
struct winograd_f32_matrix {
    size_t n, m;
    const float *values;
    int standard;
};

/* Where one point's value of each tile goes: channel c at to[lane] + c * step[lane]. */
struct winograd_f32_target {
    float *to[WINOGRAD_F32_LANES];
    size_t step[WINOGRAD_F32_LANES];
    int together; /* four lanes, their targets neighbours with one step */
};

/* For each lane < lanes (a tile) and c < channels:
 *
 *   in[y][x] = pixels[(y * cols + x) * 4 + lane][c]
 *   target(y, x) of lane and channel first + c = (rows' matrix * in * cols' matrix
 * transposed)[y][x]
 *
 * Pixels of lanes that are not used are read too. channels is at least 4. */
struct winograd_f32_input {
    struct winograd_f32_matrix rows, cols; /* square */
    size_t lanes, channels, first;
    const float *const *pixels;
    const struct winograd_f32_target *targets; /* [rows][cols] */
    size_t step; /* of all targets, which are all together; 0: look at each */
};
typedef void winograd_f32_input_fn(const struct winograd_f32_input *task);

/* One tile: for c < channels, y < height, x < width (at most what the matrices give):
 *
 *   in[u][v] = sums[offsets[u * cols.n + v] + c]
 *   dst[y * dst_row + x * dst_column + c] = clamp(bias[c] + (rows' matrix * in * cols'
 *                                                            matrix transposed)[y][x])
 *
 * sums may be read up to the next multiple of four channels. */
struct winograd_f32_output {
    struct winograd_f32_matrix rows, cols;
    size_t channels, height, width;
    const float *sums;
    const uint32_t *offsets;
    const float *bias; /* or NULL */
    float *dst;
    size_t dst_row, dst_column;
    float low, high; /* -INFINITY, INFINITY: no clamp */
};
typedef void winograd_f32_output_fn(const struct winograd_f32_output *task);

struct winograd_f32_kernel {
    const char *name;
    uint32_t needs;
    winograd_f32_input_fn *input;
    winograd_f32_output_fn *output;
};
extern const struct winograd_f32_kernel winograd_f32_neon, winograd_f32_ref;

/* Fastest first; the last needs nothing. */
extern const struct winograd_f32_kernel *const winograd_f32_kernels[];
extern const size_t winograd_f32_kernel_count;

/* The fastest that the features allow; never NULL. */
const struct winograd_f32_kernel *winograd_f32_find(uint32_t features);

#endif
