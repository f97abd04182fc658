/* C = A B, f32, where rows of A are read in place, by a list of their addresses, and B is packed.
 *
 * A strip is `tiles` tiles of `height` rows, one below the other, times `panels` panels of B, one
 * beside the other. k comes in segments: each row has an address for every segment (a tap of a
 * convolution, say), and depth = 4 * rounds + tail values there. */
#ifndef KERNELS_GEMM_F32_LISTED_LISTED_H
#define KERNELS_GEMM_F32_LISTED_LISTED_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"
#include "kernels/asm/list.h"

/* Addresses in the list for one tile and segment; those beyond the tile's height are not read. */
enum { GEMM_F32_LISTED_HEIGHT = 7, GEMM_F32_LIST = 8 };
enum { GEMM_F32_LOW = 1, GEMM_F32_HIGH = 2 };
enum { GEMM_F32_REGULAR_ROUNDS = 4 }; /* of regular rows, at least */

/* For t < tiles, i < height, q < panels, j < width:
 *
 *   sum = 0
 *   for s < segments, p < depth in this order:
 *       sum += rows[(t * segments + s) * GEMM_F32_LIST + i][p] *
 *              b[q * b_step + (s * depth + p) * pitch + s * b_skip + j]
 *   C = c[(t * height + i) * ldc + q * width + j]
 *   C = sum + (accumulate ? C : 0) + (bias ? bias[q * width + j] : 0)
 *   if (clamp & GEMM_F32_LOW) C = max(C, low)
 *   if (clamp & GEMM_F32_HIGH) C = min(C, high)
 *
 * width is 12, 8 or 4, and pitch the same; or it is 1 and pitch is 4, with one panel only.
 * The last `missing` columns of C are not there if that is not 0: with one panel of 8 or 12 columns
 * and without accumulation.
 *
 * Whole vectors add in the order of s and p, with C first, and each product is rounded with its
 * sum, but the first one alone if there is no C: no more than the sign of a zero depends on that.
 * A single column has four sums an element, for p mod 4, and adds C to those. A and B are read
 * exactly, but for the three columns beside a single one, which must be there; b_skip: of what is
 * not read between two segments.
 *
 * Kernels that pack read a plain B instead, 12 columns a panel, none missing or skipped, and leave
 * it at `to` as b would be; there is one segment:
 *
 *   to[q * b_step + p * 12 + j] = from[p * from_row + q * 12 + j], p < depth
 *
 * Kernels that fetch compute the same, and bring lines nearer that are wanted later, whose
 * addresses need not exist: for each panel two of them in each of the `rounds` of a segment,
 * ahead_step apart, the first one `ahead` behind the panel's first element.
 *
 * Kernels for regular rows find row i of tile t at a + (t * height + i) * a_row, without a list,
 * and go from the panels of 12 columns to `eights` panels of 8 columns, which may be none, before
 * the next tile: panel e is at b_eights + e * eights_step, and its columns follow those before in C
 * and bias. There is one segment, of at least four rounds and no tail; nothing is missing. */
struct gemm_f32_listed {
    const float *const *rows;
    size_t segments, rounds, tail; /* segments >= 1, tail <= 3 */
    const float *b;
    size_t b_step;
    float *c;
    size_t ldc;
    size_t tiles, panels; /* >= 1 */
    const float *bias;    /* or NULL */
    uint32_t accumulate;
    uint32_t clamp;
    float low, high;
    uint32_t height, width; /* the kernel's */
    const float *from;
    size_t from_row;
    float *to;
    uint32_t missing; /* <= 3 */
    const float *a;
    size_t a_row;
    const float *b_eights;
    size_t eights_step, eights;
    const float *columns; /* for gemm_f32_listed_columns kernels */
    size_t column_step;
    size_t b_skip;
    size_t ahead, ahead_step; /* bytes */
};
typedef void gemm_f32_listed_fn(const struct gemm_f32_listed *strip);
gemm_f32_listed_fn gemm_f32_listed_columns_ref;

/* Kernels by width, 1, 4, 8 and 12, and by height - 1. */
enum { GEMM_F32_LISTED_WIDTHS = 4 };
typedef gemm_f32_listed_fn *gemm_f32_listed_by_height[GEMM_F32_LISTED_HEIGHT];
struct gemm_f32_listed_kernels {
    const char *name;
    uint32_t needs;
    uint8_t in_order; /* IN_ORDER_*: for such cores, slower on others; 0: for all */
    uint8_t height;   /* higher tiles are slower */
    gemm_f32_listed_by_height run[GEMM_F32_LISTED_WIDTHS];
    gemm_f32_listed_by_height pack; /* of width 12, for one tile, from a height on; or all NULL */
    gemm_f32_listed_by_height regular; /* for regular rows; or NULL */
    gemm_f32_listed_by_height fetch;   /* of width 12, that fetch, as pack */
};

/* Fastest first; the last needs nothing. A new kernel is a file of its own and a name here. */
#if NEO_PORTABLE
#define GEMM_F32_LISTED_KERNELS(KERNEL) KERNEL(gemm_f32_listed_generic) KERNEL(gemm_f32_listed_ref)
#else
#define GEMM_F32_LISTED_KERNELS(KERNEL) \
    KERNEL(gemm_f32_listed_narrow_neon) KERNEL(gemm_f32_listed_neon) KERNEL(gemm_f32_listed_ref)
#endif

NAMED_KERNELS(gemm_f32_listed, gemm_f32_listed_kernels, GEMM_F32_LISTED_KERNELS);

/* The fastest that the features allow, for cores that issue in this way; never NULL. */
const struct gemm_f32_listed_kernels *gemm_f32_listed_find(uint32_t features, int in_order);

/* The lowest `height` of those that a core with such features may use. */
size_t gemm_f32_listed_lowest(uint32_t features);

/* Kernels of one panel, of which nothing is missing, whose last 1 … 3 columns are contiguous, too:
 *
 *   width = 4 * vectors + columns, pitch = round_up(width, 4)
 *   b[(s * depth + p) * pitch + j] = columns[(j - 4 * vectors) * column_step + s * depth + p] for
 *       these columns j, and is not read
 *
 * They neither accumulate nor skip. Each of these columns has four sums: of each segment, step p of
 * the rounds goes to number p % 4, step p of the tail to p % 2. Their sum is (0 + 1) + (2 + 3).
 * Bias is read in full vectors. */
struct gemm_f32_listed_columns {
    const char *name; /* gemm_f32_listed_columns_<height>x<vectors>_<columns>_… */
    uint32_t needs;
    uint8_t height, vectors, columns;
    gemm_f32_listed_fn *run;
};

/* Fastest first; each has one that needs nothing. */
extern const struct gemm_f32_listed_columns *const gemm_f32_listed_columns_kernels;
extern const size_t gemm_f32_listed_columns_kernel_count;

/* The fastest that the features allow, NULL if there is none. */
gemm_f32_listed_fn *gemm_f32_listed_columns_find(uint32_t features, size_t height, size_t width);

/* The largest height for this width, with all lower ones; 0 if there is none. */
size_t gemm_f32_listed_columns_height(size_t width);

/* NULL for other heights and widths than those above. */
gemm_f32_listed_fn *gemm_f32_listed_run(const struct gemm_f32_listed_kernels *kernels,
                                        size_t height, size_t width);

/* Those that pack, and those for regular rows, by one for listed rows of any height and width. */
void gemm_f32_listed_pack_by(const struct gemm_f32_listed *strip, gemm_f32_listed_fn *run_packed);
void gemm_f32_listed_regular_by(const struct gemm_f32_listed *strip, gemm_f32_listed_fn *run_rows);

#endif
