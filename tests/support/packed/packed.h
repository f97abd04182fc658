/* Short ways to pack the weights of a product of M × 40 by 40 × 30; what cannot be made fails the
 * test. */
#ifndef TESTS_SUPPORT_PACKED_PACKED_H
#define TESTS_SUPPORT_PACKED_PACKED_H

#include "neoprene/packed_weights.h"
#include "tests/support/tensor.h"

enum { PACKED_ELEMENTS = 40 * 30 };

/* The product of m rows, with weights as the library likes them. */
neo_primitive_desc *packed_describe(neo_engine *where, neo_dim m, const neo_attributes *attributes);

/* Its weights, plain. */
struct tensor packed_source(neo_engine *where, const char *tag, unsigned seed);

neo_packed_weights *packed_make(neo_stream *in, const neo_primitive_desc *pd,
                                const struct tensor *plain);

const void *packed_data(const neo_packed_weights *weights);

/* Of the provider in force. */
neo_weights_statistics packed_statistics(neo_engine *where);

/* Executes the product once. */
void packed_multiply(const neo_primitive_desc *pd, neo_stream *in,
                     const neo_packed_weights *weights, const struct tensor *src,
                     const struct tensor *dst);

#endif
