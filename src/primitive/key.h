/* Turns a description into the words by which the primitive cache knows it. */
#ifndef SRC_PRIMITIVE_KEY_H
#define SRC_PRIMITIVE_KEY_H

#include "src/primitive/problem.h"

/* Every tensor and every post-operation has at most one descriptor's words and a few more. */
enum { KEY_DESC_WORDS = 6 + 4 * NEO_MAX_NDIMS, KEY_POST_OP_WORDS = 4 + KEY_DESC_WORDS };
enum {
    KEY_MAX_WORDS = 64 + TENSOR_COUNT * KEY_DESC_WORDS + MAX_QUANTIZATIONS * 8 +
                    NEO_MAX_POST_OPS * KEY_POST_OP_WORDS
};

/* Writes the words of the problem, and of which of its implementations is wanted, to words
 * (KEY_MAX_WORDS of them); returns how many. Floating-point parameters enter by their bits.
 * Pointers and contents never do. ndims of every tensor is from 0 to NEO_MAX_NDIMS. */
size_t key_write(uint32_t *words, const struct problem *problem, int index);

#endif
