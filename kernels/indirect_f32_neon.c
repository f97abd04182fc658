/* Convolution of eight pixels by pointer: tiles for the assembly of
 * kernels/indirect_f32_tiles_neon.S, which writes them whole. Of ragged ones it writes a copy. */
#include <arm_neon.h>
#include <stdbool.h>

#include "kernels/indirect_f32.h"
#include "kernels/indirect_f32_offsets.h"
#include "kernels/vector_neon.h"

enum { PIXELS = INDIRECT_F32_PIXELS, WIDTH = INDIRECT_F32_WIDTH, HALF = PIXELS / 2 };

indirect_f32_fn indirect_f32_8x4_neon, indirect_f32_8x8_neon, indirect_f32_4x12_neon;

/* Eight pixels of all columns. */
static void run_whole(const struct indirect_f32_tile *tile)
{
    if (tile->width == 4) {
        indirect_f32_8x4_neon(tile);
        return;
    }
    if (tile->width == 8) {
        indirect_f32_8x8_neon(tile);
        return;
    }
    struct indirect_f32_tile half = *tile;
    indirect_f32_4x12_neon(&half);
    half.pixels += HALF;
    half.dst += HALF * tile->row;
    indirect_f32_4x12_neon(&half);
}

/* Only what is valid, from a copy of all. */
static void store(const struct indirect_f32_tile *tile, const float *values)
{
    for (size_t i = 0; i < tile->count; i++)
        for (size_t j = 0; j < tile->n; j += 4)
            store_part(tile->dst + i * tile->row + j, vld1q_f32(values + i * tile->width + j),
                       tile->n - j);
}

/* With a bias of a whole vector, and all of a tile of which not all is wanted. */
static __attribute__((noinline)) void run_copy(const struct indirect_f32_tile *tile, bool is_whole)
{
    float values[PIXELS * WIDTH], bias[WIDTH] = {0};
    struct indirect_f32_tile whole = *tile;
    for (size_t j = 0; tile->bias && j < tile->n; j++)
        bias[j] = tile->bias[j];
    whole.bias = bias;
    if (!is_whole) {
        whole.dst = values;
        whole.row = tile->width;
    }
    run_whole(&whole);
    if (!is_whole)
        store(tile, values);
}

static void run(const struct indirect_f32_tile *tile)
{
    bool is_whole = tile->count == PIXELS && tile->n == tile->width;
    if (is_whole && tile->bias)
        run_whole(tile);
    else
        run_copy(tile, is_whole);
}

const struct indirect_f32_kernel indirect_f32_neon = {"indirect_f32_neon",      CPU_NEON, 0, 0,
                                                      {PIXELS, PIXELS, PIXELS}, run};
