/* What the elements of a product become before they are multiplied. */
#ifndef SRC_GEMM_MULTIPLIED_H
#define SRC_GEMM_MULTIPLIED_H

#include <stdbool.h>

#include "kernels/gemm/types.h"
#include "src/primitive/problem.h"

/* The type that is fastest on the CPU of those that hold both sides' elements, or may hold them by
 * the problem's fpmath mode; NULL: f32, by its own kernels. are_adjusted: zero points and scales
 * are applied to floats as they are packed, which gives f32. */
const struct gemm_type *gemm_multiplied(const struct problem *problem, const struct cpu *cpu,
                                        bool are_adjusted);

/* Bits of a weight in panels of that type, or of its own type where it stays as it is. */
double gemm_weight_bits(const struct problem *problem, const struct gemm_type *type);

#endif
