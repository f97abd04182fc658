/* Where the matrices of a batch are. */
#ifndef SRC_MATMUL_BATCH_H
#define SRC_MATMUL_BATCH_H

#include "src/matmul/matmul.h"

/* Elements from one matrix of the batch to the next, in the order of dst; broadcast tensors stay
 * where they are. */
struct matmul_steps {
    neo_dim src, weights, dst;
};

/* False if some tensor has no such constant step. packed_elements: of one packed matrix of weights;
 * 0 if they are plain. Sizes are known. */
bool matmul_batch_steps(const struct problem *problem, size_t packed_elements,
                        struct matmul_steps *out);

#endif
