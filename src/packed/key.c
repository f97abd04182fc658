/* The identity of packed weights. */
#include "src/packed/key.h"

#include <string.h>

#include "src/packed/content_hash.h"

bool weights_key_init(neo_weights_key *key, neo_weights_content content, const uint32_t *layout,
                      size_t count)
{
    if (count < KEY_MIN_WORDS || count > NEO_WEIGHTS_MAX_LAYOUT_WORDS)
        return false;
    memset(key, 0, sizeof *key);
    key->content = content;
    key->layout_words = (uint32_t)count;
    memcpy(key->layout, layout, count * sizeof *layout);
    return true;
}

bool weights_key_is_valid(const neo_weights_key *key)
{
    if (key->layout_words < KEY_MIN_WORDS || key->layout_words > NEO_WEIGHTS_MAX_LAYOUT_WORDS)
        return false;
    uint32_t rest = 0;
    for (size_t i = key->layout_words; i < NEO_WEIGHTS_MAX_LAYOUT_WORDS; i++)
        rest |= key->layout[i];
    return !rest;
}

bool weights_key_same_but_version(const neo_weights_key *a, const neo_weights_key *b)
{
    return a->content.low == b->content.low && a->content.high == b->content.high &&
           a->layout_words == b->layout_words &&
           a->layout[KEY_LAYOUT_ID] == b->layout[KEY_LAYOUT_ID] &&
           !memcmp(a->layout + KEY_MIN_WORDS, b->layout + KEY_MIN_WORDS,
                   sizeof a->layout - KEY_MIN_WORDS * sizeof a->layout[0]);
}

bool weights_key_equal(const neo_weights_key *a, const neo_weights_key *b)
{
    return a->layout[KEY_LAYOUT_VERSION] == b->layout[KEY_LAYOUT_VERSION] &&
           weights_key_same_but_version(a, b);
}

uint64_t weights_key_hash(const neo_weights_key *key, bool with_version)
{
    uint32_t words[NEO_WEIGHTS_MAX_LAYOUT_WORDS];
    memcpy(words, key->layout, sizeof words);
    if (!with_version)
        words[KEY_LAYOUT_VERSION] = 0;
    uint64_t seed = key->content.low ^ (key->content.high * UINT64_C(0x9e3779b97f4a7c15));
    return content_checksum(words, key->layout_words * sizeof words[0], seed);
}
