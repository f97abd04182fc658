/* Rows of a floating-point src as s8, each with the scale that makes its largest element 127: what
 * neo_attributes_set_dynamic_src() permits. */
#ifndef SRC_MATMUL_QUANTIZED_H
#define SRC_MATMUL_QUANTIZED_H

#include "kernels/elementwise/quantize.h"
#include "src/matmul/matmul.h"

/* Are they multiplied so by weights whose scales are attributes? The weights are of integers, in
 * all of a column the same scale and zero point belong to them, and src has none. */
bool matmul_is_dynamic(const struct problem *problem);
#define MATMUL_IS_DYNAMIC "the attributes permit that src is quantised, which all rows then are"

/* Row `number` of all matrices of dst's batch: writes k elements to out. Returns what these are to
 * be multiplied by. */
float matmul_quantize_row(const struct execution *execution, const struct quantize_kernel *kernel,
                          size_t number, int8_t *out);

#endif
