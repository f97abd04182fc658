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

static inline size_t gemm_f32_panels_vectors(struct gemm_f32_panels panels)
{
    return 3u * panels.full + panels.middle + panels.last;
}

#endif
