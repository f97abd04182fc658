/* What is left to do with a line of sums before it is a result in dst: bias, post-operations,
 * dst's scale and zero point, storing. */
#ifndef SRC_PRIMITIVE_FINISH_H
#define SRC_PRIMITIVE_FINISH_H

#include "src/primitive/post_ops.h"

/* values (line->count of them, contiguous) become results of dst's type: number i at dst plus
 * i * dst_step elements. If dst is of f32 that may be values itself, with a step of 1. bias:
 * whether the problem's bias is still to be added. In this order, each step rounded to f32:
 *
 *   x + bias, then the post-operations, then / dst's scale, then + dst's zero point,
 *   then to the nearest value of dst's type, ties to even, saturated
 */
void finish_line(const struct execution *execution, const struct line *line, float *values,
                 bool bias, void *dst, neo_dim dst_step);

/* The same without the last step: values are what dst is to hold. For those who store themselves.
 */
void finish_values(const struct execution *execution, const struct line *line, float *values,
                   bool bias, const void *dst, neo_dim dst_step);

#endif
