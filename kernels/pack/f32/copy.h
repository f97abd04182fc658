/* Copies a plane of f32 values between any two pairs of strides: the inner part of a reorder. */
#ifndef KERNELS_PACK_F32_COPY_H
#define KERNELS_PACK_F32_COPY_H

#include "kernels/asm/list.h"

/* for r < rows, c < cols:  dst[r * dst_row + c * dst_col] = src[r * src_row + c * src_col]
 *
 * Strides are in elements and may be negative; those of src may be 0. dst does not overlap src.
 * Nothing but the elements named is read or written. Fast if src and dst have the same direction
 * of stride 1 (copies), or different ones (4x4 transposes). */
struct copy_f32_plane {
    size_t rows, cols;
    const float *src;
    ptrdiff_t src_row, src_col;
    float *dst;
    ptrdiff_t dst_row, dst_col;
};
typedef void copy_f32_fn(const struct copy_f32_plane *plane);
KERNEL_LIST(copy_f32);

#endif
