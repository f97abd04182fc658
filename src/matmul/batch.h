/* Where the matrices of a batch are. */
#ifndef SRC_MATMUL_BATCH_H
#define SRC_MATMUL_BATCH_H

#include "src/matmul/matmul.h"

/* Elements: from the first matrix of the batch to another one, or between matrices. */
struct matmul_steps {
    neo_dim src, weights, dst;
};

/* The batch as nested loops in the order of dst, the innermost one first: as few as there can be
 * with constant steps, at least one. Broadcast tensors stay where they are. */
struct matmul_batch {
    size_t loop_count;
    struct matmul_loop {
        size_t count;
        struct matmul_steps steps;
    } loops[NEO_MAX_NDIMS - 2];
};

/* packed_elements: of one packed matrix of weights; 0 if they are plain. Sizes are known, and none
 * of the batch is 0. */
void matmul_batch_init(struct matmul_batch *out, const struct problem *problem,
                       size_t packed_elements);

/* Where matrix number `index` is. */
struct matmul_steps matmul_batch_at(const struct matmul_batch *batch, size_t index);

/* On the way through all matrices: one turn of the innermost loop. All 0 at first. */
struct matmul_walk {
    struct matmul_steps at; /* the turn's first matrix */
    size_t turns[NEO_MAX_NDIMS - 2];
};

/* To the next turn; false if there is none. */
bool matmul_batch_turn(const struct matmul_batch *batch, struct matmul_walk *walk);

#endif
