/* Copies of strided tensors into others of the same sizes. */
#ifndef SRC_LINES_COPY_H
#define SRC_LINES_COPY_H

#include "src/primitive/problem.h"

/* Element (0, 0, …) of each is at from and at to. Elements of one type are copied as they are, with
 * a scale of 1; others converted. In the execution's threads. */
void lines_copy(const struct execution *execution, const neo_memory_desc *from_desc,
                const void *from, const neo_memory_desc *to_desc, void *to, float scale);

#endif
