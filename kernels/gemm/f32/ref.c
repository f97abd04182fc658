/* The definition of the f32 matrix-multiplication kernels: one plain loop for all tiles. */
#include "kernels/elementwise/f32/clamp_ref.h"
#include "kernels/gemm/f32/gemm.h"

#include <math.h>

static float element(const struct gemm_f32_tile *tile, size_t mr, size_t nr, size_t i, size_t j)
{
    float sum = tile->accumulate ? tile->c[i * tile->row + j * tile->col] : 0.0f;
    for (size_t p = 0; p < tile->k; p++)
        sum = fmaf(tile->a[p * mr + i], tile->b[p * nr + j], sum);
    return tile->bias ? sum + tile->bias[j] : sum;
}

static void run(const struct gemm_f32_tile *tile, size_t mr, size_t nr)
{
    for (size_t i = 0; i < mr; i++)
        for (size_t j = 0; j < tile->n; j++)
            tile->c[i * tile->row + j * tile->col] =
                clamp(element(tile, mr, nr, i, j), tile->low, tile->high);
}

#define KERNEL(mr, nr)                                                \
    void gemm_f32_##mr##x##nr##_ref(const struct gemm_f32_tile *tile) \
    {                                                                 \
        run(tile, mr, nr);                                            \
    }
KERNEL(8, 12)
#include "kernels/gemm/f32/tiles_list.h"
#undef KERNEL

void gemm_f32_8x12_packing_ref(const struct gemm_f32_tile *tile)
{
    struct gemm_f32_tile packed = *tile;
    packed.b = tile->to;
    for (size_t p = 0; p < tile->k; p++)
        for (size_t j = 0; j < 12; j++)
            tile->to[p * 12 + j] = tile->from[p * tile->from_row + j];
    run(&packed, 8, 12);
}
