/* Matrix multiplication in place: how rows become tiles. */
#include "src/matmul/direct/direct.h"

void direct_tile_rows(struct tiling *out, const struct matmul_direct *plan, size_t r, size_t rows)
{
    const struct strips *run = &plan->columns.runs[r];
    const uint16_t *by_height = plan->kernels[r];
    size_t tiles = div_up(rows, run->height), tall = div_up(rows, tiles);
    size_t low_tiles = tiles * tall - rows, tall_tiles = tiles - low_tiles;
    const struct gemm_f32_direct_kernel *kernel = direct_tile(run, by_height[tall - 1]);
    size_t same_call = gemm_f32_direct_goes_on_lower(kernel) ? low_tiles : 0;
    *out = (struct tiling){
        .tall = kernel->run,
        .low = low_tiles > same_call ? direct_tile(run, by_height[tall - 2])->run : NULL,
        .tall_tiles = tall_tiles,
        .same_call = (uint32_t)same_call,
        .low_tiles = (uint32_t)(low_tiles - same_call),
        .low_row = tall_tiles * tall,
        .low_a = tall_tiles * tall * plan->a_row,
    };
}
