/* Convolution of eight pixels by pointer: tiles for the assembly of
 * kernels/indirect/f32/tiles_neon.S and kernels/indirect/f32/tiles_in_order_neon.S, which writes
 * them whole. Of ragged ones it writes a copy. */
#include <arm_neon.h>
#include <stdbool.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/indirect/f32/indirect.h"
#include "kernels/indirect/f32/offsets.h"

enum { PIXELS = INDIRECT_F32_PIXELS, WIDTH = INDIRECT_F32_WIDTH };

/* By columns and pixels: where there are too many of both for a tile, it has two parts. */
typedef indirect_f32_fn *const tile_table[WIDTH / 4][PIXELS];

static indirect_f32_fn run_parts, run_narrow_parts;

#define KERNEL(pixels, columns) indirect_f32_fn indirect_f32_##pixels##x##columns##_neon;
#include "kernels/indirect/f32/tiles_list.h"
#undef KERNEL
#define KERNEL(pixels, columns) indirect_f32_fn indirect_f32_##pixels##x##columns##_narrow_neon;
#include "kernels/indirect/f32/in_order_list.h"
#undef KERNEL

static tile_table tiles = {
#define KERNEL(pixels, columns) \
    [columns / 4 - 1][pixels - 1] = indirect_f32_##pixels##x##columns##_neon,
#include "kernels/indirect/f32/tiles_list.h"
#undef KERNEL
    [WIDTH / 4 - 1][4] = run_parts,
    [WIDTH / 4 - 1][5] = run_parts,
    [WIDTH / 4 - 1][6] = run_parts,
    [WIDTH / 4 - 1][7] = run_parts,
};

/* Of one and two pixels there are no others. */
static tile_table narrow_tiles = {
    [0][0] = indirect_f32_1x4_neon, [0][1] = indirect_f32_2x4_neon,
    [1][0] = indirect_f32_1x8_neon, [1][1] = indirect_f32_2x8_neon,
#define KERNEL(pixels, columns) \
    [columns / 4 - 1][pixels - 1] = indirect_f32_##pixels##x##columns##_narrow_neon,
#include "kernels/indirect/f32/in_order_list.h"
#undef KERNEL
    [1][7] = run_narrow_parts,
};

/* All columns. */
static inline void run_whole(tile_table table, const struct indirect_f32_tile *tile)
{
    table[tile->width / 4 - 1][tile->count - 1](tile);
}

static inline void run_halves(tile_table table, const struct indirect_f32_tile *tile)
{
    size_t last = tile->count / 2, first = tile->count - last;
    struct indirect_f32_tile part = *tile;
    part.count = first;
    run_whole(table, &part);
    part.pixels += first;
    part.dst += first * tile->row;
    part.count = last;
    run_whole(table, &part);
}

static void run_parts(const struct indirect_f32_tile *tile)
{
    run_halves(tiles, tile);
}

static void run_narrow_parts(const struct indirect_f32_tile *tile)
{
    run_halves(narrow_tiles, tile);
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
static __attribute__((noinline)) void run_copy(tile_table table,
                                               const struct indirect_f32_tile *tile, bool is_whole)
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
    run_whole(table, &whole);
    if (!is_whole)
        store(tile, values);
}

static inline void run_by(tile_table table, const struct indirect_f32_tile *tile)
{
    bool is_whole = tile->n == tile->width;
    if (is_whole && tile->bias)
        run_whole(table, tile);
    else
        run_copy(table, tile, is_whole);
}

static void run(const struct indirect_f32_tile *tile)
{
    run_by(tiles, tile);
}

static void run_narrow_fours(const struct indirect_f32_tile *tile)
{
    run_by(narrow_tiles, tile);
}

const struct indirect_f32_kernel indirect_f32_neon = {"indirect_f32_neon",      CPU_NEON, 0, 1, 0,
                                                      {PIXELS, PIXELS, PIXELS}, run};
const struct indirect_f32_kernel indirect_f32_narrow_fours_neon = {"indirect_f32_narrow_fours_neon",
                                                                   CPU_NEON,
                                                                   IN_ORDER_NARROW,
                                                                   4,
                                                                   0,
                                                                   {PIXELS, PIXELS - 1},
                                                                   run_narrow_fours};
