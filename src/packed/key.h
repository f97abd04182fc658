/* The identity of packed weights: made, checked, compared, hashed. */
#ifndef SRC_PACKED_KEY_H
#define SRC_PACKED_KEY_H

#include <stdbool.h>

#include "neoprene/weights.h"

enum { KEY_LAYOUT_ID, KEY_LAYOUT_VERSION, KEY_MIN_WORDS };

/* Fills key from a content and a layout descriptor of count words; false if there are too few or
 * too many words. */
bool weights_key_init(neo_weights_key *key, neo_weights_content content, const uint32_t *layout,
                      size_t count);

/* The number of words is in range and the words after them are 0. */
bool weights_key_is_valid(const neo_weights_key *key);

bool weights_key_equal(const neo_weights_key *a, const neo_weights_key *b);

/* The same but for the layout's version. */
bool weights_key_same_but_version(const neo_weights_key *a, const neo_weights_key *b);

/* For hash tables in memory; with_version false gives versions of one thing the same value. */
uint64_t weights_key_hash(const neo_weights_key *key, bool with_version);

#endif
