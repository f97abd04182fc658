/* Turns a description into the words by which the primitive cache knows it. */
#ifndef SRC_PRIMITIVE_KEY_H
#define SRC_PRIMITIVE_KEY_H

#include "src/primitive/problem.h"

/* A key is written in pairs of words, each with one store. Every tensor and every post-operation
 * has at most one descriptor's pairs and a few more. */
enum { KEY_DESC_PAIRS = 3 + 2 * NEO_MAX_NDIMS, KEY_POST_OP_PAIRS = 3 + KEY_DESC_PAIRS };
enum {
    KEY_MAX_PAIRS = 32 + PARAMETER_BYTES / 8 + TENSOR_COUNT * KEY_DESC_PAIRS +
                    MAX_EXTRAS * (1 + KEY_DESC_PAIRS) + MAX_QUANTIZATIONS * 4 +
                    NEO_MAX_POST_OPS * KEY_POST_OP_PAIRS
};

/* Writes the pairs of the description, and of which of its implementations is wanted, to pairs
 * (KEY_MAX_PAIRS of them); returns how many. Floating-point parameters enter by their bits,
 * pointers and contents never do. ndims of every tensor is from 0 to NEO_MAX_NDIMS. Two
 * descriptions have the same key exactly if they say the same: every pair tells how what follows it
 * is to be read. */
size_t key_write(uint64_t *pairs, const struct description *description, int index);

/* At most so many pairs, by the description's own counts. */
size_t key_bound(const struct description *description);

#endif
