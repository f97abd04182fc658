/* Fills tensors such that results can be compared exactly. */
#ifndef BENCHDNN_FILL_H
#define BENCHDNN_FILL_H

#include "benchdnn/problem.h"
#include "benchdnn/tensor.h"

/* Small integers; so many of src's are 0 that every sum of products is exact in any order. With
 * is_winograd the ranges are those that its transforms lose little of. */
void fill_operand(struct tensor *tensor, const struct problem *problem, int operand,
                  bool is_winograd);

/* Integers that are not 0, of so much at most. */
enum { FILL_BINARY_MOST = 8 };
void fill_binary(struct tensor *tensor);
/* A selection's condition: 0 or 1. */
void fill_condition(struct tensor *tensor);
/* Multiples of 1/4 in [-1, 1] that are not 0. */
void fill_prelu(struct tensor *tensor);
void fill_scales(struct tensor *tensor, const struct quantity *quantity);
void fill_zero_points(struct tensor *tensor, const struct quantity *quantity);

#endif
