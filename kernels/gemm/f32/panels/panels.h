/* C = A B, f32: a few rows of A as they lie, times panels of packed weights side by side. One row
 * by one panel has too few sums to keep a core busy that waits for each of them. */
#ifndef KERNELS_GEMM_F32_PANELS_PANELS_H
#define KERNELS_GEMM_F32_PANELS_PANELS_H

#include "kernels/gemm/f32/direct/direct.h"

/* gemm/f32/direct/direct.h's contract for kernels that go on lower, but B is the panels that the
 * strip names, one after the other, each of them k rows without gaps; gap is 12 * k, ldb 4 * k;
 * b_tail is not used. C and bias have 4 * vectors columns, with 4 - lanes less: nothing beyond them
 * is read or written.
 *
 * Kernels for a tail, lanes == tail columns in the last vector, find these once more behind the
 * panels, k values each, and have four sums of each. Of the first f steps, with f = k % 4, or 4 if
 * that is 0, step p is summed by number p, then step f + p by number p % 4. Their sum is
 * (0 + 1) + (2 + 3). Their k is at least GEMM_F32_PANELS_LEAST_TAIL. */
enum { GEMM_F32_PANELS_LEAST_TAIL = 4 };
struct gemm_f32_panels_kernel {
    struct gemm_f32_direct_kernel
        tile; /* name: …_<height>x<full>_<middle>_<last>[_tail_<columns>]_…;
               * group: 3 */
    struct gemm_f32_panels panels; /* those it is for */
};

/* Fastest first; each has one that needs nothing. */
extern const struct gemm_f32_panels_kernel *const gemm_f32_panels_kernels;
extern const size_t gemm_f32_panels_kernel_count;

/* Where in the list the fastest is; gemm_f32_panels_kernel_count if there is none. */
size_t gemm_f32_panels_find(uint32_t features, size_t height, struct gemm_f32_panels panels);

/* The largest height for these panels, with all lower ones; 0 if there is none. */
size_t gemm_f32_panels_height(struct gemm_f32_panels panels);

static inline size_t gemm_f32_panels_vectors(struct gemm_f32_panels panels)
{
    return 3u * panels.full + panels.middle + panels.last;
}

/* Each height's definition. */
gemm_f32_direct_fn gemm_f32_panels_1_ref, gemm_f32_panels_2_ref, gemm_f32_panels_3_ref,
    gemm_f32_panels_4_ref, gemm_f32_panels_5_ref, gemm_f32_panels_6_ref, gemm_f32_panels_7_ref,
    gemm_f32_panels_8_ref;

#endif
