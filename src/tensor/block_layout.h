/* Packed layouts of weights that hold their own scales, each of which a block of steps of k shares:
 * matmul's, of four or eight bits. The id tells the blocks' size and what there is beside weights;
 * kernels/gemm/blocks/blocks.h what is where in a panel. Panels follow one another. */
#ifndef SRC_TENSOR_BLOCK_LAYOUT_H
#define SRC_TENSOR_BLOCK_LAYOUT_H

#include <stdbool.h>

#include "kernels/gemm/blocks/blocks.h"
#include "src/tensor/layout.h"

/* False: the descriptor has another layout. */
bool block_layout_read(struct gemm_blocks *out, const neo_memory_desc *desc);

/* Makes a descriptor of s4 or s8, with its last two dimensions k and n, packed. */
void block_layout_set(neo_memory_desc *desc, const struct gemm_blocks *blocks);

/* Is the id one of these layouts'? */
static inline bool block_layout_is(uint16_t id)
{
    enum { IDS = 64 };
    return id > LAYOUT_MATMUL_BLOCKS && id < LAYOUT_MATMUL_BLOCKS + IDS;
}

/* NULL, or why a descriptor with such an id is wrong. */
const char *block_layout_wrong(const neo_memory_desc *desc);

/* Of a descriptor that is right. */
size_t block_layout_bytes(const neo_memory_desc *desc);

/* The steps of k that blocks of a layout have where so many share a scale, which are a multiple of
 * GEMM_BLOCKS_UNIT or all of k: as many, or a part of them that kernels can sum. 0: there is none.
 */
size_t block_layout_block(size_t group, size_t k);

#endif
