/* Blocks of weights with scales: writing them, and the list of kernels. */
#include "kernels/gemm/blocks/blocks.h"

const struct gemm_blocks_kernel *const gemm_blocks_kernels[] = {
#if !NEO_PORTABLE
    &gemm_blocks_i8mm,
    &gemm_blocks_neon,
#endif
    &gemm_blocks_ref,
};
const size_t gemm_blocks_kernel_count = sizeof gemm_blocks_kernels / sizeof gemm_blocks_kernels[0];

const struct gemm_blocks_kernel *gemm_blocks_find(uint32_t features)
{
    size_t i = 0;
    while (gemm_blocks_kernels[i]->needs & ~features)
        i++;
    return gemm_blocks_kernels[i];
}

static void write_column(const struct gemm_blocks *blocks, const int8_t *values, size_t j,
                         uint8_t *out)
{
    size_t half = j / GEMM_BLOCKS_HALF * GEMM_BLOCKS_HALF * blocks->block;
    for (size_t p = 0; p < blocks->block; p++)
        if (blocks->weight == ELEMENT_S4)
            gemm_s4_write(out, p, j, values[p]);
        else
            out[half + gemm_panel_at(4, GEMM_BLOCKS_HALF, j % GEMM_BLOCKS_HALF, p)] =
                (uint8_t)values[p];
}

void gemm_blocks_write(const struct gemm_blocks *blocks, const int8_t *values,
                       const float scales[GEMM_BLOCKS_NR], uint8_t *out)
{
    uint8_t *end = out + gemm_blocks_weight_bytes(blocks);
    memset(out, 0, gemm_blocks_weight_bytes(blocks));
    for (size_t j = 0; j < GEMM_BLOCKS_NR; j++) {
        write_column(blocks, values + j * GEMM_S4_MOST_BLOCK, j, out);
        element_write_f32(blocks->scale, end, (ptrdiff_t)j, scales[j]);
    }
}
