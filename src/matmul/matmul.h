/* Matrix multiplication: what its algorithms share. */
#ifndef SRC_MATMUL_MATMUL_H
#define SRC_MATMUL_MATMUL_H

#include "src/primitive/problem.h"

extern const struct algorithm matmul_dot, matmul_lines, matmul_direct, matmul_gemm, matmul_typed,
    matmul_blocks, matmul_swapped, matmul_reference;

extern const struct operation matmul_operation;
extern const struct type_set matmul_types[]; /* what the definition serves */

/* The operation's check. */
const char *matmul_check(struct problem *problem, bool *unsupported);

/* Of layouts that are left to an algorithm: all plain, or packed weights and the others plain. */
void matmul_choose_plain(const struct algorithm *self, struct problem *problem,
                         const struct cpu *cpu);
void matmul_choose_packed(const struct algorithm *self, struct problem *problem,
                          const struct cpu *cpu);

/* Elements next to each other along dim lie next to each other, or will, if the layout is `any`. */
bool matmul_is_contiguous(const neo_memory_desc *desc, int dim);

/* There is a bias of one value per column, next to each other: tile kernels add it. */
bool matmul_is_bias_by_column(const struct problem *problem);

/* The matrices' own sizes; NEO_RUNTIME_DIM if not known. */
struct matmul_shape {
    neo_dim batch, m, n, k;
};
struct matmul_shape matmul_shape(const struct problem *problem);

/* Batch coordinates (and zeros behind them) of dst's matrix number index. */
void matmul_position(const struct problem *problem, size_t index, neo_dim *position);

/* The offset of the matrix of `tensor` at a batch position, in elements, broadcast where its size
 * is 1. */
neo_dim matmul_batch_offset(const neo_memory_desc *tensor, const neo_dim *position);

/* The number of a packed matrix of weights at a batch position. */
size_t matmul_weights_index(const neo_memory_desc *weights, const neo_dim *position);

#endif
