/* What tiles of a step begin with, and how they end, where their sums become results while they are
 * in registers. */
#ifndef SRC_GEMM_WAYS_ENDS_H
#define SRC_GEMM_WAYS_ENDS_H

#include "src/gemm/results.h"
#include "src/gemm/step.h"

struct gemm_ends {
    const struct gemm_results *results; /* NULL: sums are stored */
    const struct gemm_block *block;
    bool begins, ends;  /* the step is the first one of k, the last one */
    struct span filled; /* of the block's columns: what columns and start have */
    struct result_columns columns;
    struct result_rows rows;
    int32_t start[RESULT_COLUMNS];
    struct gemm_finish finish; /* of one panel's tiles */
    char *dst;                 /* of the block */
};

void gemm_ends_init(struct gemm_ends *ends, const struct gemm_task *task,
                    const struct gemm_step *step, const struct gemm_block *block);

/* Sets start and end of a tile, and of those below it, of the block's columns [column, column +
 * width), not all of which have to exist, and rows from number `row` on. Both are the ends' until
 * the next call. */
void gemm_ends_set(struct gemm_ends *ends, size_t row, size_t column, size_t width,
                   struct gemm_tile *tile);

#endif
