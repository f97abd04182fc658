/* How rows of A are read where they lie, for the plan and for its estimate. */
#ifndef SRC_GEMM_ROWS_H
#define SRC_GEMM_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu.h"

/* Rows whose addresses differ by a multiple of a large power of two share few places in the L1
 * cache. More than two of them in one place would drive each other and B out. */
bool gemm_f32_rows_collide(size_t a_stride, const struct cpu *cpu);

enum { GEMM_F32_LOW_TILE = 4 }; /* as many rows as one place of the L1 cache has ways */

/* Rows that would drive each other out of the L1 cache are copied. Where columns are few that costs
 * more than lower tiles do, of so many rows as one place of the cache has room for. */
bool gemm_f32_lower_tiles_pay(const struct cpu *cpu, double n);

#endif
