/* Depthwise convolution of any type: sums of a row of pixels, some channels at a time. Any kernel,
 * stride and dilation is a list: kernel rows (those of all planes of the kernel, one after the
 * other) by columns; a column's lines of channels are found by pointer, so that those in the
 * padding are anywhere. */
#ifndef KERNELS_DEPTHWISE_TAPS_H
#define KERNELS_DEPTHWISE_TAPS_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"
#include "kernels/elementwise/element.h"
#include "kernels/gemm/finish.h"

/* Channels of a call; rows that a kernel may take together. */
enum { DEPTHWISE_BLOCK = 16, DEPTHWISE_MOST_GROUP = 4 };

/* Where the weight of kernel row r of a group and of channel c is among those of a column. Dot
 * products, whose groups are of four, want rows next to each other; others channels. */
static inline size_t depthwise_unit_at(size_t group, size_t r, size_t c)
{
    return group == DEPTHWISE_MOST_GROUP ? c * group + r : r * DEPTHWISE_BLOCK + c;
}

/* For i < pixels, c < DEPTHWISE_BLOCK:
 *
 *   sums[i * row + c] = start[c] + the sum over g < groups, k < columns, r < group of
 *       line(g, i * stride + k * dilation, r)[c] *
 *       weights[(g * columns + k) * group * 16 + depthwise_unit_at(group, r, c)]
 *
 * where line(g, x, r) is lines[g * list + x * group + r], plus offset bytes. Kernel rows are taken
 * `group` at a time, as the kernel says; the last ones that are missing have lines too, and weights
 * of 0. Integers: src is s8, or u8, which counts as what it is less 128, weights are s8, and sums
 * s32 modulo 2^32. Floats: sums are f32, weights f32 or f16, and products are added in the order of
 * g, then k, or in that of k for each g alone; a kernel that sums f16 rounds start and each sum,
 * too.
 *
 * Nothing but 16 elements of each line is read, and nothing but sums is written. There is a pixel.
 *
 * end: NULL, or sums become results while they are in registers, as kernels/gemm/finish.h says: 16
 * of pixel i from dst[i * dst_row] on. Of end, offsets are 16 values, or NULL; what is of sums is
 * not read. Floats have no scales, nothing is requantized, and nothing is left in sums. Integers
 * have 16 scales, one of rows for all pixels or NULL, and is_float; there are no rows, a division
 * has a reciprocal, and sums are lost. */
struct depthwise_taps {
    size_t pixels, groups, columns, stride, dilation;
    const void *const *lines;
    size_t list;
    size_t offset;
    const void *weights;
    const void *start; /* of the sums' type */
    void *sums;
    size_t row;
    int is_narrow; /* integers: no weight is -128 */
    size_t below;  /* to the row of pixels that is below, of sums, or with an end of dst */
    const struct gemm_finish *end;
    size_t height, list_below; /* more than 1: with takes_rows */
};
typedef void depthwise_taps_fn(const struct depthwise_taps *taps);

/* Makes units of group * 16 weights, with channels next to each other, those that the kernel reads,
 * in place: `count` of them. */
typedef void depthwise_arrange_fn(size_t count, int8_t *weights);

struct depthwise_taps_kernel {
    const char *name;
    uint32_t needs;
    enum element src;
    enum element weights, sum; /* S8, F32 or F16; in registers S32, F32 or F16 */
    unsigned ends;             /* the types of dst, 1 << ELEMENT_*, in which sums may end */
    uint8_t group;
    uint8_t columns, stride;       /* of pixels that are not dilated; 0: any */
    depthwise_arrange_fn *arrange; /* NULL: there is nothing to do */
    depthwise_taps_fn *run;

    /* NULL, or what does two rows of pixels for kernels of three rows: the second one's sums or
     * results are `below` farther, and its kernel rows are the second to the fourth, for which
     * there are lines, too: in the same group, or in one more. */
    depthwise_taps_fn *run_pair;

    uint8_t narrow_ends; /* sums end where is_narrow alone */

    /* 0, or of how many groups kernels are that run() does `height` rows of pixels of, and
     * run_pair() so many pairs of rows. Lists of a row are list_below pointers behind those of the
     * one above, and `below` is said for run(), too. For others height is 1. */
    uint8_t takes_rows;
};

/* Fastest first; every type has one that needs nothing and takes any size. */
extern const struct depthwise_taps_kernel *const depthwise_taps_kernels[];
extern const size_t depthwise_taps_kernel_count;

/* The fastest one that the features allow for src of this type. weights, sum: kernels use f16 only
 * if that is said, which are then exact, or are permitted. */
const struct depthwise_taps_kernel *depthwise_taps_find(uint32_t features, enum element src,
                                                        enum element weights, enum element sum,
                                                        size_t columns, size_t stride,
                                                        size_t dilation);

/* The tables of one file each. */
enum { DEPTHWISE_S8_KERNELS = 10, DEPTHWISE_FLOAT_KERNELS = 5, DEPTHWISE_REF_KERNELS = 5 };
extern const struct depthwise_taps_kernel depthwise_s8_dotprod[DEPTHWISE_S8_KERNELS];
extern const struct depthwise_taps_kernel depthwise_s8_neon[DEPTHWISE_S8_KERNELS];
extern const struct depthwise_taps_kernel depthwise_f32_neon[DEPTHWISE_FLOAT_KERNELS];
extern const struct depthwise_taps_kernel depthwise_f16_fp16[DEPTHWISE_FLOAT_KERNELS];
extern const struct depthwise_taps_kernel depthwise_f16_fhm[DEPTHWISE_FLOAT_KERNELS];
extern const struct depthwise_taps_kernel depthwise_f16_neon[DEPTHWISE_FLOAT_KERNELS];
extern const struct depthwise_taps_kernel depthwise_bf16_neon[DEPTHWISE_FLOAT_KERNELS];
extern const struct depthwise_taps_kernel depthwise_taps_ref[DEPTHWISE_REF_KERNELS];

#endif
