/* Tensors for operation tests: a descriptor, a guarded buffer, and elements by logical position. */
#ifndef TESTS_SUPPORT_TENSOR_H
#define TESTS_SUPPORT_TENSOR_H

#include "neoprene/neoprene.h"
#include "tests/support/guard.h"

struct tensor {
    neo_memory_desc desc;
    neo_memory *memory;
    float *data; /* strided tensors only */
    struct guard guard;
};

/* A buffer that ends where a page begins that may not be touched, filled with a marker (so that
 * what nobody writes can be told) and then, if seed is not 0, with small integers at the elements.
 * Fails the test when something cannot be made. */
struct tensor tensor_make(neo_engine *engine, const neo_memory_desc *desc, unsigned seed);
void tensor_free(struct tensor *tensor);

/* A descriptor by tag; an unknown tag fails the test. */
neo_memory_desc tensor_desc(int ndims, const neo_dim *dims, const char *tag);
/* The same, as the inner part of a tensor that is by 2 * gap larger in each dimension. */
neo_memory_desc tensor_part(int ndims, const neo_dim *dims, const char *tag, neo_dim gap);
/* The same tensor with one element for all positions along the dimensions of the mask. */
neo_memory_desc tensor_repeated(const neo_memory_desc *desc, unsigned mask);
neo_memory_desc tensor_matrix(neo_dim rows, neo_dim columns, const char *tag);

/* The element at a position; sizes of 1 are broadcast. */
float *tensor_at(const struct tensor *tensor, const neo_dim *position);

/* From an element to its neighbour along a dimension, in elements; 0 if it is broadcast. */
neo_dim tensor_step(const struct tensor *tensor, int dimension);

/* Elements along a line of a tensor: references walk these, since under an emulator finding each
 * element by its position would take longer than all that is tested. */
struct line {
    const float *at;
    neo_dim step;
};
struct line tensor_line(const struct tensor *tensor, const neo_dim *position, int dimension);
/* sum + a[0] b[0] + a[1] b[1] …, in this order. */
float line_dot(float sum, struct line a, struct line b, neo_dim count);

/* Fails unless every byte that belongs to no element still holds the marker. */
void tensor_check_gaps(const struct tensor *tensor);

/* Packs a plain tensor with a reorder into desc. */
struct tensor tensor_reordered(neo_engine *engine, neo_stream *stream, const struct tensor *plain,
                               const neo_memory_desc *desc);

/* Calls visit for every position of dims, the last one running fastest. */
void tensor_for_each(int ndims, const neo_dim *dims,
                     void (*visit)(void *context, const neo_dim *position), void *context);

#endif
