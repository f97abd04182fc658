/* What is done with blocks of weights where there is SMMLA. */
#include "kernels/gemm/blocks/blocks.h"
#include "kernels/gemm/blocks/offsets.h"

extern gemm_blocks_multiply_fn gemm_blocks_8x4_i8mm;

/* Both halves of eight columns, whose groups are beside each other. */
static void multiply(const struct gemm_blocks_tile *tile)
{
    struct gemm_blocks_tile right = *tile;
    right.b += 32;
    right.scales += 4;
    right.c += 4;
    gemm_blocks_8x4_i8mm(tile);
    gemm_blocks_8x4_i8mm(&right);
}

const struct gemm_blocks_kernel gemm_blocks_i8mm = {
    .name = "gemm_blocks_i8mm",
    .needs = CPU_NEON | CPU_I8MM,
    .scales = gemm_blocks_scales_neon,
    .to_s8 = gemm_blocks_to_s8_neon,
    .to_f32 = gemm_blocks_to_f32_neon,
    .add_scaled = gemm_blocks_add_scaled_neon,
    .multiply = multiply,
};
