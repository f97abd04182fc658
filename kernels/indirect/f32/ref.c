/* The definition of a convolution of pixels by pointer. */
#include <math.h>

#include "kernels/elementwise/f32/clamp_ref.h"
#include "kernels/indirect/f32/indirect.h"

static float element(const struct indirect_f32_tile *tile, size_t i, size_t j)
{
    const float *weights = tile->weights + j;
    float sum = 0;
    for (size_t tap = 0; tap < tile->taps; tap++) {
        const float *x = tile->pixels[tap * INDIRECT_F32_PIXELS + i] + tile->offset;
        for (size_t c = 0; c < tile->channels; c++, weights += tile->width)
            sum = fmaf(x[c], *weights, sum);
    }
    return clamp(sum + (tile->bias ? tile->bias[j] : 0), tile->low, tile->high);
}

static void run(const struct indirect_f32_tile *tile)
{
    for (size_t i = 0; i < tile->count; i++)
        for (size_t j = 0; j < tile->n; j++)
            tile->dst[i * tile->row + j] = element(tile, i, j);
}

enum { PIXELS = INDIRECT_F32_PIXELS };
const struct indirect_f32_kernel indirect_f32_ref = {"indirect_f32_ref",       0,  0, 1, 0,
                                                     {PIXELS, PIXELS, PIXELS}, run};
