/* What is left to do with a line of sums before it is a result in dst: bias, post-operations,
 * storing. */
#ifndef SRC_PRIMITIVE_FINISH_H
#define SRC_PRIMITIVE_FINISH_H

#include "src/primitive/post_ops.h"

/* values (line->count of them, contiguous) become results at dst[i * dst_step], which may be values
 * itself with a step of 1. bias: whether the problem's bias is still to be added. */
void finish_line(const struct execution *execution, const struct line *line, float *values,
                 bool bias, float *dst, neo_dim dst_step);

#endif
