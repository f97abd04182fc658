/* How rows of A are read where they lie, for the plan and for its estimate. */
#ifndef SRC_GEMM_ROWS_H
#define SRC_GEMM_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu.h"

struct gemm_plan;

/* Rows whose addresses differ by a multiple of a large power of two share few places in the L1
 * cache. More than two of them in one place would drive each other and B out. */
bool gemm_rows_collide(size_t a_stride, const struct cpu *cpu);

/* Where two tiles' rows are in more of such places than all but one of a cache's ways, for so many
 * columns at least they may be copied: copying takes up to a hundredth of the time of their
 * products, and lines of B are driven out less often. SIZE_MAX: for no number of them. */
size_t gemm_copied_columns(size_t a_stride, const struct cpu *cpu);

enum { GEMM_LOW_TILE = 4 }; /* as many rows as one place of the L1 cache has ways */

/* Rows that would drive each other out of the L1 cache are copied. Where columns are few that costs
 * more than lower tiles do, of so many rows as one place of the cache has room for. */
bool gemm_lower_tiles_pay(const struct cpu *cpu, double n);

/* Are kernels faster that multiply four steps of the last columns at a time, where weights have
 * these once more? */
bool gemm_tail_pays(const struct cpu *cpu, size_t m, size_t n, size_t k);

enum { GEMM_MAX_BLOCK_K = 512 }; /* of four bytes */

/* The most values of k that a block has. */
size_t gemm_most_k(const struct gemm_plan *plan, const struct cpu *cpu);

/* Chooses the blocks of k by that, and how many full panels are used together. Returns the most
 * values of k. */
size_t gemm_choose_block_k(struct gemm_plan *plan, const struct cpu *cpu);

/* The most values of k that are one block, where so many rows are read in place. */
size_t gemm_whole_k(const struct cpu *cpu, size_t rows, size_t n);

/* The highest tile of such kernels for n columns. */
size_t gemm_tail_height(size_t n);

#endif
