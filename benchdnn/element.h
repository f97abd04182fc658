/* Elements of every data type as doubles. */
#ifndef BENCHDNN_ELEMENT_H
#define BENCHDNN_ELEMENT_H

#include "benchdnn/types.h"

/* Element number index of an array of the type. */
double element_load(enum type type, const void *array, int64_t index);
/* Rounds to nearest even; integers saturate. */
void element_store(enum type type, void *array, int64_t index, double value);
/* Elements first, first + stride, … are the values. */
void element_store_row(enum type type, void *array, int64_t first, int64_t stride,
                       const float *values, int64_t count);

/* What is left of value once it has been stored as the type. */
double element_round(enum type type, double value);

#endif
