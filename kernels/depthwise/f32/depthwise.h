/* Depthwise convolution of some output rows, f32: the contract of the kernels, and their table. */
#ifndef KERNELS_DEPTHWISE_F32_DEPTHWISE_H
#define KERNELS_DEPTHWISE_F32_DEPTHWISE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"
#include "kernels/asm/list.h"

/* Each channel has kd x kh x kw weights of its own. With c < channels, y < out_rows, x < out_cols:
 *
 *   sum = bias ? bias[c] : 0
 *   for kx < kw, for kz < kd, for ky < kh, in this order:
 *       row = rows[kz * rows_plane + y * stride_h + ky * dilation_h]
 *       at = first + x * stride_w + kx * dilation_w
 *       if row is not NULL and 0 <= at < columns:
 *           sum = fma(row[at * column + c / multiplier * src_plane],
 *                     weights[((kz * kh + ky) * kw + kx) * weights_tap + c], sum)
 *   dst[y * dst_row + x * dst_column + c * dst_plane] = min(max(sum, low), high)
 *
 * in_pairs is another order, for strides of 2 and odd kw, of one plane. Column `single` of the
 * kernel is the first one if kw / 2 is odd, else the last one; the others are pairs of neighbours.
 *
 *   even = bias ? bias[c] : 0, odd = 0
 *   for each pair (kx, kx + 1), for ky < kh: the product of kx is added to even, that of kx + 1 to
 * odd sum = even + odd for ky < kh: that of `single` is added to sum
 *
 * The order is the same in every kernel that does a task, so a value does not depend on how an
 * image is cut into calls, and on the cores that these run on. Kernels may add zeros for padding
 * instead of leaving it out.
 *
 * nhwc: src_plane and dst_plane are 1; vectors are of channels. nchw: column and dst_column are 1;
 * vectors are of neighbouring columns. Pieces whose rows of source fit into the L1 move least
 * memory.
 */
struct dwconv_f32_task {
    size_t channels, out_rows, out_cols;
    size_t multiplier; /* so many channels of dst come of one of src */
    size_t kd, kh, kw, stride_h, stride_w, dilation_h, dilation_w; /* all >= 1 */
    const float *const *rows; /* column 0 of each row of source; NULL: a row of padding */
    size_t rows_plane;        /* from the rows for one plane of the kernel to those for the next */
    const float *zeros;       /* as long as a row of source, for those; NULL: kernels do without */
    ptrdiff_t first;          /* column of the first tap of output 0; negative: padding */
    size_t columns, column;   /* columns of source that exist; elements from one to the next */
    size_t src_plane;         /* from one channel to the next; of one channel it is not looked at */
    const float *weights;     /* [kd][kh][kw], each of channels values */
    size_t weights_tap;       /* from one tap to the next */
    const float *bias;        /* channels values, or NULL */
    float *dst;
    size_t dst_row, dst_column, dst_plane;
    int in_pairs;
    int whole_images; /* all rows are in a call, and nothing else is: see
                         depthwise/f32/lanes/image.h */
    float low, high;  /* -INFINITY, INFINITY: no clamp */
    /* what kernels with tiles do before they go on; 0: as the kernel likes */
    size_t strip;         /* columns of dst, in all rows */
    size_t tile_channels; /* in all rows of a strip; they are a multiple of 8 */
    int copies_weights;   /* so that those of these channels, or of a whole image's, lie together */
    void *scratch;        /* as many bytes as the kernel wants, aligned to 64 */
};
typedef void dwconv_f32_fn(const struct dwconv_f32_task *task);

struct dwconv_f32_kernel {
    const char *name;
    uint32_t needs;
    uint8_t kind;     /* IN_ORDER_*: for cores of this kind, or that issue so; 0: for all */
    uint8_t in_pairs; /* the order of sums that it has */
    uint8_t is_deep;  /* it does kernels of several planes, too */
    int (*does)(const struct dwconv_f32_task *task);    /* NULL: everything, in both orders */
    int (*reloads)(const struct dwconv_f32_task *task); /* does it load what is in planes once for
                                                         * each tap? NULL: it does not */
    uint8_t tile_columns; /* of dst, if it does these in all rows and channels; 0: whole rows */
    uint8_t tile_rows;    /* of dst, that it likes best to do together; 0: it has no such number */
    uint8_t all_channels_from; /* so many columns of dst, by the dilation, on it divides channels by
                                * itself, so that they should be all in a call; 0: it does not */
    size_t (*scratch_bytes)(
        const struct dwconv_f32_task *task); /* NULL: none; looks at no pointer. It is enough for
                                              * fewer rows, and planes of the kernel, too */
    dwconv_f32_fn *run;
};

/* Fastest first; the last needs nothing and does everything. A new kernel is a file of its own and
 * a name here. */
/* clang-format off */
#if NEO_PORTABLE
#define DWCONV_F32_KERNELS(KERNEL) KERNEL(dwconv_f32_ref)
#else
#define DWCONV_F32_KERNELS(KERNEL) \
    KERNEL(dwconv_f32_planes_pairs_neon) \
    KERNEL(dwconv_f32_planes_a55_neon) \
    KERNEL(dwconv_f32_planes_neon) \
    KERNEL(dwconv_f32_planes_stride_2_a55_neon) \
    KERNEL(dwconv_f32_planes_dilated_neon) \
    KERNEL(dwconv_f32_planes_copied_neon) \
    KERNEL(dwconv_f32_3x3_a55_neon) \
    KERNEL(dwconv_f32_3x3_neon) \
    KERNEL(dwconv_f32_tall_a55_neon) \
    KERNEL(dwconv_f32_taps_a55_neon) \
    KERNEL(dwconv_f32_tall_neon) \
    KERNEL(dwconv_f32_row_neon) \
    KERNEL(dwconv_f32_lanes_neon) \
    KERNEL(dwconv_f32_neon) \
    KERNEL(dwconv_f32_ref)
#endif
/* clang-format on */

NAMED_KERNELS(dwconv_f32, dwconv_f32_kernel, DWCONV_F32_KERNELS);

/* Can this kernel run this task, and is it meant to? Only what `channels`, `out_cols`, the sizes,
 * strides and dilations of the kernel, the distances of elements and the order are is looked at. */
static inline int dwconv_f32_does(const struct dwconv_f32_kernel *kernel,
                                  const struct dwconv_f32_task *task)
{
    if (!kernel->does)
        return 1;
    return kernel->in_pairs == task->in_pairs && (task->kd == 1 || kernel->is_deep) &&
           kernel->does(task);
}

static inline int dwconv_f32_clamps(const struct dwconv_f32_task *task)
{
    return task->low > -INFINITY || task->high < INFINITY;
}

/* What assembly clamps by: four times low, four times high. NULL: not at all. */
static inline const float *dwconv_f32_limits(const struct dwconv_f32_task *task, float limits[8])
{
    if (!dwconv_f32_clamps(task))
        return NULL;
    for (int i = 0; i < 4; i++) {
        limits[i] = task->low;
        limits[4 + i] = task->high;
    }
    return limits;
}

/* Do channels follow each other, in src as in dst? */
static inline int dwconv_f32_is_interleaved(const struct dwconv_f32_task *task)
{
    return task->channels == 1 ||
           (task->multiplier == 1 && task->src_plane == 1 && task->dst_plane == 1);
}

/* The fastest one that can on a core of this kind (core_kind()); never NULL. */
const struct dwconv_f32_kernel *dwconv_f32_find(uint32_t features, int kind,
                                                const struct dwconv_f32_task *task);

#endif
