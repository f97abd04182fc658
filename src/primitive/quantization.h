/* Scales and zero points: their checks, and where the values for a line of elements are.
 *
 * The values for a tensor are an array in the order of its dimensions: one value for each index of
 * a dimension in the mask, or for each group of indices of the last two. */
#ifndef SRC_PRIMITIVE_QUANTIZATION_H
#define SRC_PRIMITIVE_QUANTIZATION_H

#include "src/primitive/post_ops.h"

/* Notes in the problem what belongs to which tensor. Returns NULL or a sentence; *unsupported tells
 * a wrong description from one that nothing serves. */
const char *quantization_check(struct problem *problem, bool *unsupported);

/* The tensor that values are for; the problem is checked. */
const neo_memory_desc *quantization_tensor(const struct problem *problem,
                                           const struct quantization *q);

/* How many values there are for a tensor; NEO_RUNTIME_DIM if that is not known. */
neo_dim quantization_count(const struct quantization *q, const neo_memory_desc *desc);

/* Indices along a dimension that share a value; 0: all of them. */
neo_dim quantization_group(const struct quantization *q, int ndims, int dim);

/* Which of the values belongs to an element; a dimension of one element has it at any position. */
neo_dim quantization_index(const struct quantization *q, const neo_memory_desc *desc,
                           const neo_dim *position);

/* The scale of an element of tensor t, 1 if it has none, and its zero point, or 0. */
float quantization_scale(const struct execution *execution, enum tensor t, const neo_dim *position);
int32_t quantization_zero_point(const struct execution *execution, enum tensor t,
                                const neo_dim *position);

/* The longest parts of dimension `dim` of tensor t, as many indices each, in which all elements
 * have the same scale and zero point; 0: it is one part. */
neo_dim quantization_part(const struct problem *problem, enum tensor t, int dim);

/* What belongs to a tensor of an execution: number `index` of the attributes (less 1; 0: nothing).
 * Applies run to each value of a line of the tensor and the value that belongs to it. line is in
 * the tensor's dimensions. */
void quantization_apply(const struct execution *execution, int index, const neo_memory_desc *desc,
                        binary_f32_fn *run, const struct line *line, float *values);

/* What belongs to each value of a line, or 1 where nothing does. */
void quantization_read(const struct execution *execution, int index, const neo_memory_desc *desc,
                       const struct line *line, float *values);

#endif
