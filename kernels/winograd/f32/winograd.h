/* Winograd's minimal filtering, f32: the contract of the kernels, and their table.
 *
 * A tile of (rows - 2) x (cols - 2) outputs of a 3x3 convolution comes from rows x cols inputs by
 * way of as many products; with five taps there are two outputs less in each dimension, with seven
 * four less. A dimension in which the kernel has one tap has a size of 1, one output and the matrix
 * 1. The other sizes are 4, 5, 6 and 8: the points are infinity, 0, 1, -1, 2, -2,
 * 1/2, -1/2, of which the first so many are used. Row 0 of a matrix to the products is what
 * interpolation gives; in a `standard` one so are the others, scaled such that their first
 * coefficient is 1; in another one they are multiples of these. Matrices from the products are
 * always standard. */
#ifndef KERNELS_WINOGRAD_F32_WINOGRAD_H
#define KERNELS_WINOGRAD_F32_WINOGRAD_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"
#include "kernels/asm/list.h"

enum {
    WINOGRAD_F32_POINTS = 8,
    WINOGRAD_F32_GROUP = 4, /* channels */
    WINOGRAD_F32_MR = 7,
    WINOGRAD_F32_NR = 12,
};

/* A transform of n values to m: out[i] = sum over j < n of matrix[i * n + j] * in[j]. */
struct winograd_f32_matrix {
    size_t n, m;
    const float *values;
    int standard;
};

/* Four channels of planes become neighbours, and so do pixels of these, so that what is stored is a
 * line: for y < rows, x < cols, c < channels:
 *
 *   dst[y * dst_row + c / 4 * dst_group + x * 4 + c % 4] = src[y * src_row + x + c * src_channel]
 */
struct winograd_f32_patch {
    size_t rows, cols, channels;
    const float *src;
    ptrdiff_t src_row, src_channel;
    float *dst;
    size_t dst_row, dst_group;
};
typedef void winograd_f32_gather_fn(const struct winograd_f32_patch *task);

/* One tile: for c < 4 * groups:
 *
 *   in[y][x] = pixels[x * rows.n + y][from + c / 4 * from_group + c % 4]
 *   target(y, x) of channel c = (rows' matrix * in * cols' matrix transposed)[y][x]
 *
 * where with i = y * cols.n + x target(y, x) of channel c is targets[i][at(i) + c % 4], and at(i)
 * is (first + c / 4) * steps[i] if there are steps, else (first + c / 4) * step + shift: tiles
 * whose pixels, or targets, are as far from each other can share their addresses. */
struct winograd_f32_input {
    struct winograd_f32_matrix rows, cols; /* square */
    size_t groups, first;
    ptrdiff_t from;
    size_t from_group;
    const float *const *pixels;
    float *const *targets;
    const size_t *steps;
    size_t step, shift;
};
typedef void winograd_f32_input_fn(const struct winograd_f32_input *task);

/* The products of some panels of weights, of 4, 8 or 12 columns all, with the inputs of all points.
 *
 * At a point, the rows of A (tiles) are divided into blocks of at most WINOGRAD_F32_MR; in a block
 * of h rows element (i, p) is at [(p / 4 * h + i) * 4 + p % 4], up to the next multiple of four p
 * (those beyond k have any values). Blocks follow each other, and so do points. `heights` has h for
 * each block of a point, then WINOGRAD_F32_PANEL; after the last point WINOGRAD_F32_END. A panel of
 * B is as gemm/gemm.h has it; the next one of a point follows, the first one of the next point is
 * at b + point. Rows of C have WINOGRAD_F32_NR elements, of which the panel's columns are written;
 * blocks and points follow each other, and the next panel is at c + panel.
 *
 * A kernel that fetches computes the same, and brings lines of B nearer that are wanted later,
 * whose addresses need not exist: for each block two of them in each of k / 4 groups, each
 * ahead_step behind the one before, of the panel behind this one, or if it is the last of a point,
 * of the first one of the next point.
 *
 * In blocks of the kernel's `same` rows or more a row's sums do not depend on how many there are:
 * their terms are added in the same order. */
enum { WINOGRAD_F32_PANEL = 0, WINOGRAD_F32_END = WINOGRAD_F32_MR + 1 };
struct winograd_f32_products {
    size_t k; /* at least 1 */
    const float *a, *b;
    size_t point;
    float *c;
    size_t panel, panels;
    const uint8_t *heights;
    size_t ahead_step; /* bytes */
};
typedef void winograd_f32_products_fn(const struct winograd_f32_products *task);

/* One tile: for c < channels, y < height, x < width (at most what the matrices give):
 *
 *   in[u][v] = sums[offsets[v * rows.n + u] / sizeof(float) + c]
 *   dst[y * dst_row + x * dst_column + c * dst_channel] = clamp(bias[c] + (rows' matrix * in *
 * cols' matrix transposed)[y][x])
 *
 * sums may be read up to the next multiple of four channels. dst_channel or dst_column is 1. */
struct winograd_f32_output {
    struct winograd_f32_matrix rows, cols;
    size_t channels, height, width;
    const float *sums;
    const uint32_t *offsets;
    const float *bias; /* or NULL */
    float *dst;
    size_t dst_row, dst_column, dst_channel;
    float low, high; /* -INFINITY, INFINITY: no clamp */
};
typedef void winograd_f32_output_fn(const struct winograd_f32_output *task);

struct winograd_f32_kernel {
    const char *name;
    uint32_t needs;
    winograd_f32_gather_fn *gather;
    winograd_f32_input_fn *input;
    winograd_f32_products_fn *products[WINOGRAD_F32_NR / 4]; /* by width / 4 - 1 */
    winograd_f32_products_fn *fetch; /* of 12 columns, that fetches; or NULL */
    winograd_f32_output_fn *output;
    uint8_t in_order; /* IN_ORDER_*: for cores that issue in this way; 0: for all */
    uint8_t sums;     /* for cores that have so many FMLA under way at a time; 0: for all */
    uint8_t same;     /* rows of a block from which on they do not matter to the sums */
};
/* All of those for NEON share it. */
winograd_f32_gather_fn winograd_f32_gather_neon;

/* Fastest first; the last needs nothing. A new kernel is a file of its own and a name here. */
#if NEO_PORTABLE
#define WINOGRAD_F32_KERNELS(KERNEL) KERNEL(winograd_f32_ref)
#else
#define WINOGRAD_F32_KERNELS(KERNEL) \
    KERNEL(winograd_f32_a55_neon)    \
    KERNEL(winograd_f32_deep_neon) KERNEL(winograd_f32_neon) KERNEL(winograd_f32_ref)
#endif

NAMED_KERNELS(winograd_f32, winograd_f32_kernel, WINOGRAD_F32_KERNELS);

/* The fastest that the CPU allows; never NULL. */
const struct winograd_f32_kernel *winograd_f32_find(const struct cpu *cpu);

#endif
