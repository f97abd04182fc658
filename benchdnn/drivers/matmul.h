/* The matmul driver's shared part. */
#ifndef BENCHDNN_DRIVERS_MATMUL_H
#define BENCHDNN_DRIVERS_MATMUL_H

#include "benchdnn/problem.h"

/* How many matrices dst has. */
int64_t matmul_batch(const struct matmul_shape *shape);

/* Where the matrix of a dense tensor begins that belongs to dst's matrix number index. */
int64_t matmul_offset(const struct dims *tensor, const struct matmul_shape *shape, int64_t index);

#endif
