/* Products of floats, whose rows are quantised to s8, by weights in blocks with scales: what the
 * plan, the rows and the columns share.
 *
 * A band of rows at a time: its rows become panels of s8, tile by tile, then panels of weights are
 * multiplied one by one. Four bits are multiplied as they are by their own kernels, or widened a
 * block at a time for those of s8; both have the same bits. */
#ifndef SRC_MATMUL_BLOCKS_BLOCKS_H
#define SRC_MATMUL_BLOCKS_BLOCKS_H

#include "kernels/elementwise/quantize.h"
#include "kernels/gemm/blocks/blocks.h"
#include "kernels/pack/panel.h"
#include "src/matmul/matmul.h"
#include "src/threading/partition.h"

enum { BLOCKS_BAND = 128, BLOCKS_MR = 8 };

struct matmul_blocks {
    struct gemm_blocks blocks;
    size_t rows, band;       /* of src, of all batches; of them at a time, at most */
    size_t n, k, count;      /* of blocks of a column */
    size_t depth;            /* k with what blocks have behind it */
    size_t mr;               /* of tiles of rows, at most */
    bool is_plain;           /* results are stored as they are, in rows of one matrix of f32 */
    gemm_s4_fn *as_they_are; /* NULL: as s8 */
    const struct gemm_type *type;
    const struct gemm_kernel *s8;
    const struct gemm_blocks_kernel *kernel;
    const struct quantize_kernel *quantize;
    pack_panel_fn *pack;

    bool sums_all_blocks; /* kernel->multiply takes whole tiles */

    /* Parts of the scratchpad, in bytes: panels of a band's rows, what sums of its blocks begin
     * with, its rows' scales; then for each task a tile's rows of s8, or results, sums of f32 and
     * of s32 and a panel of s8, of a block or, behind them with their scales, of all. */
    size_t starts, scales, tasks, task_bytes;
};

/* One band of one execution. */
struct blocks_band {
    const struct matmul_blocks *plan;
    const struct execution *execution;
    size_t first, rows;
    int8_t *a;
    int32_t *starts;   /* number (tile's first row) * count + block * mr of the tile + row in it */
    float *row_scales; /* what a row of s8 is multiplied by */
    char *tasks;
};

static inline struct span blocks_tile(const struct blocks_band *band, size_t tile)
{
    size_t first = tile * band->plan->mr, left = band->rows - first;
    return (struct span){first, first + (left < band->plan->mr ? left : band->plan->mr)};
}

/* Where block g of the tile that begins at row `first` and has mr rows is: with the other blocks of
 * its tile, or with the same blocks of the other tiles, which kernels of s8 multiply together. */
static inline int8_t *blocks_a(const struct blocks_band *band, size_t first, size_t mr, size_t g)
{
    const struct matmul_blocks *plan = band->plan;
    size_t block = plan->blocks.block;
    return band->a + (plan->as_they_are ? first * plan->depth + g * block * mr
                                        : (g * band->rows + first) * block);
}

/* What a task on panels needs. */
size_t blocks_room_bytes(void);

/* Tasks on tiles of rows, and on panels of columns. */
parallel_tiles_fn blocks_quantize_tiles, blocks_multiply_panels;

#endif
