/* The definition of the strided copy. */
#include "kernels/pack/f32/copy.h"

static void run(const struct copy_f32_plane *plane)
{
    for (size_t r = 0; r < plane->rows; r++)
        for (size_t c = 0; c < plane->cols; c++)
            plane->dst[(ptrdiff_t)r * plane->dst_row + (ptrdiff_t)c * plane->dst_col] =
                plane->src[(ptrdiff_t)r * plane->src_row + (ptrdiff_t)c * plane->src_col];
}

const struct copy_f32_kernel copy_f32_ref = {"copy_f32_ref", 0, run};
