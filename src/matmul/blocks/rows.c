/* Rows of floats become panels of s8. */
#include <string.h>

#include "src/core/checked.h"
#include "src/matmul/blocks/blocks.h"
#include "src/matmul/quantized.h"

static void pack_block(const struct blocks_band *band, struct span tile, size_t g,
                       const int8_t *rows)
{
    const struct matmul_blocks *plan = band->plan;
    size_t mr = tile.end - tile.begin, block = plan->blocks.block;
    int32_t sums[BLOCKS_MR] = {0}, *starts = band->starts + tile.begin * plan->count + g * mr;
    plan->pack(&(struct pack_panel){
        .from = ELEMENT_S8,
        .to = ELEMENT_S8,
        .group = plan->as_they_are ? 4 : plan->type->group,
        .width = mr,
        .count = mr,
        .k = block,
        .src = rows + g * block,
        .lane = (ptrdiff_t)plan->depth,
        .step = 1,
        .out = blocks_a(band, tile.begin, mr, g),
        .sums = sums,
    });
    for (size_t i = 0; i < mr; i++)
        starts[i] = gemm_s4_start(sums[i]);
}

void blocks_quantize_tiles(void *argument, struct span tiles, int slot)
{
    const struct blocks_band *band = argument;
    const struct matmul_blocks *plan = band->plan;
    int8_t *rows = (int8_t *)(band->tasks + (size_t)slot * plan->task_bytes);
    for (size_t t = tiles.begin; t < tiles.end; t++) {
        struct span tile = blocks_tile(band, t);
        for (size_t i = tile.begin; i < tile.end; i++) {
            int8_t *row = rows + (i - tile.begin) * plan->depth;
            band->row_scales[i] =
                matmul_quantize_row(band->execution, plan->quantize, band->first + i, row);
            memset(row + plan->k, 0, plan->depth - plan->k);
        }
        for (size_t g = 0; g < plan->count; g++)
            pack_block(band, tile, g, rows);
    }
}
