/* Convolution of eight pixels by pointer: tiles for the assembly of
 * kernels/indirect/f32/tiles_neon.S and kernels/indirect/f32/tiles_in_order_neon.S. */
#include "kernels/indirect/f32/indirect.h"
#include "kernels/indirect/f32/offsets.h"
#include "kernels/indirect/f32/whole_neon.h"

enum { PIXELS = INDIRECT_F32_PIXELS, WIDTH = INDIRECT_F32_WIDTH };

/* By columns and pixels; NULL: too many of both for a tile. */
typedef indirect_f32_fn *const tile_table[WIDTH / 4][PIXELS];

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
};

/* Of one and two pixels there are no others. */
static tile_table narrow_tiles = {
    [0][0] = indirect_f32_1x4_neon,
    [0][1] = indirect_f32_2x4_neon,
    [1][0] = indirect_f32_1x8_neon,
    [1][1] = indirect_f32_2x8_neon,
#define KERNEL(pixels, columns) \
    [columns / 4 - 1][pixels - 1] = indirect_f32_##pixels##x##columns##_narrow_neon,
#include "kernels/indirect/f32/in_order_list.h"
#undef KERNEL
};

static inline void run_by_table(tile_table table, const struct indirect_f32_tile *tile,
                                indirect_f32_fn *run_parts)
{
    indirect_f32_fn *run = table[tile->width / 4 - 1][tile->count - 1];
    run_by(tile, run ? run : run_parts);
}

static void run_parts(const struct indirect_f32_tile *tile);
static void run(const struct indirect_f32_tile *tile)
{
    run_by_table(tiles, tile, run_parts);
}

static void run_parts(const struct indirect_f32_tile *tile)
{
    run_halves(tile, run);
}

static void run_narrow_parts(const struct indirect_f32_tile *tile);
static void run_narrow_fours(const struct indirect_f32_tile *tile)
{
    run_by_table(narrow_tiles, tile, run_narrow_parts);
}

static void run_narrow_parts(const struct indirect_f32_tile *tile)
{
    run_halves(tile, run_narrow_fours);
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
