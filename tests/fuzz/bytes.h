/* Bytes that choices are drawn from: zeros once they are used up, so that 0 should be the simplest
 * choice. */
#ifndef TESTS_FUZZ_BYTES_H
#define TESTS_FUZZ_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};

static inline unsigned fuzz_byte(struct fuzz_bytes *bytes)
{
    if (!bytes->left)
        return 0;
    bytes->left--;
    return *bytes->at++;
}

/* From 0 to bound - 1; bound is at most 256. */
static inline int fuzz_below(struct fuzz_bytes *bytes, int bound)
{
    return (int)fuzz_byte(bytes) % bound;
}

/* True for one byte in `of`. */
static inline bool fuzz_rarely(struct fuzz_bytes *bytes, int of)
{
    return fuzz_below(bytes, of) == of - 1;
}

static inline int64_t fuzz_word(struct fuzz_bytes *bytes)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word = word << 8 | fuzz_byte(bytes);
    return (int64_t)word;
}

/* An element of an array. */
#define FUZZ_OF(choices, bytes) \
    (choices)[fuzz_below((bytes), (int)(sizeof(choices) / sizeof *(choices)))]

#endif
