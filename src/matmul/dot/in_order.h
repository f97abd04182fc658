/* What dot products take on cores that issue in order. */
#ifndef SRC_MATMUL_DOT_IN_ORDER_H
#define SRC_MATMUL_DOT_IN_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/cpu.h"

/* Cycles of `rows` times `columns` results of k products each; `vector` tells those of a vector of
 * products in a tile of so many columns, 1 … DOT_F32_COLUMNS. */
double dot_in_order_cycles(const struct core *core, size_t rows, size_t columns, size_t k,
                           const double *vector);

#endif
