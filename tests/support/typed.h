/* Tensors of any data type with values that are known as numbers, for tests of all types: dense, in
 * the order of a tag, in a buffer that ends where a page begins that may not be touched. */
#ifndef TESTS_SUPPORT_TYPED_H
#define TESTS_SUPPORT_TYPED_H

#include "neoprene/neoprene.h"
#include "tests/support/guard.h"

struct typed {
    neo_memory_desc desc;
    neo_memory *memory;
    void *data;
    struct guard guard;
};

/* Fails the test when something cannot be made. The buffer is zeros. */
struct typed typed_make(neo_engine *engine, const neo_memory_desc *desc);
struct typed typed_make_tag(neo_engine *engine, neo_data_type type, int ndims, const neo_dim *dims,
                            const char *tag);
void typed_free(struct typed *typed);

/* The element at a position of a strided one. What is put is a value of the type. */
double typed_get(const struct typed *typed, const neo_dim *position);
void typed_put(const struct typed *typed, const neo_dim *position, double value);

/* Puts integers from low to high, or as many of them as the type has, at all positions. */
void typed_fill(const struct typed *typed, int low, int high, uint32_t *seed);

/* What a value becomes in an element of the type: to the nearest, ties to even, saturated. */
double typed_round(neo_data_type type, double value);

/* To the next position of a tensor with these sizes; 0 after the last one. */
int typed_next(int ndims, const neo_dim *dims, neo_dim *position);

#endif
