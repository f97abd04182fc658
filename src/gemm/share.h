/* How threads share the tiles of a blocked multiplication. */
#ifndef SRC_GEMM_SHARE_H
#define SRC_GEMM_SHARE_H

#include "src/gemm/gemm.h"

struct gemm_share {
    size_t rows, columns; /* tiles of all matrices, panels */
    int tasks;
    bool by_runs; /* of tiles, panel after panel; else: */
    struct partition_grid grid;
};

/* The division into at most so many tasks whose longest one is shortest, by its products, what it
 * packs, and the weights that it reads from memory. */
struct gemm_share gemm_share_tiles(const struct gemm_plan *plan, int most_tasks);

/* What falls to task i; returns the number of rectangles. */
size_t gemm_share_rects(const struct gemm_share *share, int i,
                        struct partition_rect rects[PARTITION_RUN_RECTS]);

#endif
