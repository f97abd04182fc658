/* Convolution of eight pixels by pointer: tiles for the assembly of
 * kernels/indirect_f32_tiles_neon.S, which writes them whole. Of ragged ones it writes a copy. */
#include <arm_neon.h>
#include <stdbool.h>

#include "kernels/indirect_f32.h"
#include "kernels/indirect_f32_offsets.h"
#include "kernels/vector_neon.h"

enum { PIXELS = INDIRECT_F32_PIXELS, WIDTH = INDIRECT_F32_WIDTH };

#define KERNEL(pixels, columns) indirect_f32_fn indirect_f32_##pixels##x##columns##_neon;
#include "kernels/indirect_f32_tiles_list.h"
#undef KERNEL

static indirect_f32_fn run_parts;

/* By columns and pixels: where there are too many of both for a tile, it has two parts. */
static indirect_f32_fn *const tiles[WIDTH / 4][PIXELS] = {
#define KERNEL(pixels, columns) \
    [columns / 4 - 1][pixels - 1] = indirect_f32_##pixels##x##columns##_neon,
#include "kernels/indirect_f32_tiles_list.h"
#undef KERNEL
    [WIDTH / 4 - 1][4] = run_parts,
    [WIDTH / 4 - 1][5] = run_parts,
    [WIDTH / 4 - 1][6] = run_parts,
    [WIDTH / 4 - 1][7] = run_parts,
};

/* All columns. */
static inline void run_whole(const struct indirect_f32_tile *tile)
{
    tiles[tile->width / 4 - 1][tile->count - 1](tile);
}

static void run_parts(const struct indirect_f32_tile *tile)
{
    indirect_f32_fn *const *by_pixels = tiles[WIDTH / 4 - 1];
    struct indirect_f32_tile part = *tile;
    size_t last = tile->count / 2, first = tile->count - last;
    by_pixels[first - 1](&part);
    part.pixels += first;
    part.dst += first * tile->row;
    by_pixels[last - 1](&part);
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
    bool is_whole = tile->n == tile->width;
    if (is_whole && tile->bias)
        run_whole(tile);
    else
        run_copy(tile, is_whole);
}

const struct indirect_f32_kernel indirect_f32_neon = {"indirect_f32_neon",      CPU_NEON, 0, 0,
                                                      {PIXELS, PIXELS, PIXELS}, run};
