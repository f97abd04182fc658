/* Weights in blocks as files have them, with decoders that are written from what the formats say;
 * and products by them. */
#ifndef TESTS_SUPPORT_CASES_BLOCKS_H
#define TESTS_SUPPORT_CASES_BLOCKS_H

#include <stdbool.h>

#include "neoprene/neoprene.h"
#include "tests/support/cases/typed.h"

struct block_weights {
    neo_block_source source;
    uint8_t *weights, *scales, *zeros;
};

/* Random ones, in all that a format leaves open. The source names them. */
struct block_weights block_weights_make(neo_block_format format, neo_dim k, neo_dim n,
                                        neo_dim group, uint32_t *seed);
void block_weights_free(struct block_weights *weights);

/* A weight is q * scale - less; c: what unsigned integers are less by when they are multiplied. */
struct decoded_weight {
    int q, c;
    double scale, less;
};

struct decoded_weight block_weights_decode(const struct block_weights *weights, size_t p, size_t j);

struct block_product {
    struct block_weights stored;
    struct typed src, bias, dst;
    bool has_bias; /* without one, it is of zeros */
    neo_packed_weights *packed;
};

/* Random tensors for weights that are there; the session's engine and stream import them. */
void block_product_make(struct block_product *p, neo_dim batch, neo_dim m, neo_data_type src,
                        uint32_t *seed);
void block_product_free(struct block_product *p);

/* dynamic: NEO_S8 or none. */
neo_status block_product_describe(neo_primitive_desc **out, const struct block_product *p,
                                  neo_data_type dynamic);
void block_product_execute(const struct block_product *p, const neo_primitive_desc *pd);

#endif
