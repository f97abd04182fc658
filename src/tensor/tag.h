/* Format tags: names for orders of dimensions in memory. */
#ifndef SRC_TENSOR_TAG_H
#define SRC_TENSOR_TAG_H

#include <stdbool.h>

/* Writes to order[i] which dimension is the i-th from the outermost in memory. False if tag is no
 * tag for ndims dimensions. */
bool tag_order(const char *tag, int ndims, int *order);

#endif
