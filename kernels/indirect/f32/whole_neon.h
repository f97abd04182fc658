/* Convolution of eight pixels by pointer: any tile by what writes whole ones. */
#ifndef KERNELS_INDIRECT_F32_WHOLE_NEON_H
#define KERNELS_INDIRECT_F32_WHOLE_NEON_H

#include <arm_neon.h>
#include <stdbool.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/indirect/f32/indirect.h"

/* The first half of the pixels, then the others, where there are too many for a tile. */
static inline void run_halves(const struct indirect_f32_tile *tile, indirect_f32_fn *run)
{
    struct indirect_f32_tile part = *tile;
    part.count = (tile->count + 1) / 2;
    run(&part);
    part.pixels += part.count;
    part.dst += part.count * tile->row;
    part.count = tile->count - part.count;
    run(&part);
}

/* Only what is valid, from a copy of all. */
static inline void store(const struct indirect_f32_tile *tile, const float *values)
{
    for (size_t i = 0; i < tile->count; i++)
        for (size_t j = 0; j < tile->n; j += 4)
            store_part(tile->dst + i * tile->row + j, vld1q_f32(values + i * tile->width + j),
                       tile->n - j);
}

/* With a bias of a whole vector, and all of a tile of which not all is wanted. */
static inline void run_copy(const struct indirect_f32_tile *tile, indirect_f32_fn *run)
{
    float values[INDIRECT_F32_PIXELS * INDIRECT_F32_WIDTH], bias[INDIRECT_F32_WIDTH] = {0};
    struct indirect_f32_tile whole = *tile;
    bool is_whole = tile->n == tile->width;
    for (size_t j = 0; tile->bias && j < tile->n; j++)
        bias[j] = tile->bias[j];
    whole.bias = bias;
    if (!is_whole) {
        whole.dst = values;
        whole.row = tile->width;
    }
    run(&whole);
    if (!is_whole)
        store(tile, values);
}

/* run: writes all of a tile, and wants a bias. */
static inline void run_by(const struct indirect_f32_tile *tile, indirect_f32_fn *run)
{
    if (tile->n == tile->width && tile->bias)
        run(tile);
    else
        run_copy(tile, run);
}

#endif
