/* Sets of small integers as arrays of 64-bit words; the caller owns the words. */
#ifndef SRC_MEMORY_PLAN_BITSET_H
#define SRC_MEMORY_PLAN_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BITSET_NONE SIZE_MAX

static inline size_t bitset_words(size_t members)
{
    return members / 64 + (members % 64 != 0);
}

static inline bool bitset_has(const uint64_t *set, size_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}

static inline void bitset_add(uint64_t *set, size_t i)
{
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void bitset_remove(uint64_t *set, size_t i)
{
    set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static inline void bitset_clear(uint64_t *set, size_t words)
{
    for (size_t w = 0; w < words; w++)
        set[w] = 0;
}

static inline void bitset_copy(uint64_t *set, const uint64_t *from, size_t words)
{
    for (size_t w = 0; w < words; w++)
        set[w] = from[w];
}

static inline void bitset_or(uint64_t *set, const uint64_t *with, size_t words)
{
    for (size_t w = 0; w < words; w++)
        set[w] |= with[w];
}

static inline void bitset_and(uint64_t *set, const uint64_t *with, size_t words)
{
    for (size_t w = 0; w < words; w++)
        set[w] &= with[w];
}

/* Adds first, first + 1, … last - 1. */
static inline void bitset_add_range(uint64_t *set, size_t first, size_t last)
{
    for (size_t i = first; i < last;) {
        size_t room = 64 - i % 64;
        size_t take = last - i < room ? last - i : room;
        uint64_t ones = take == 64 ? ~UINT64_C(0) : (UINT64_C(1) << take) - 1;
        set[i / 64] |= ones << (i % 64);
        i += take;
    }
}

/* The smallest member that is at least from, or BITSET_NONE. */
static inline size_t bitset_next(const uint64_t *set, size_t words, size_t from)
{
    size_t w = from / 64;
    if (w >= words)
        return BITSET_NONE;
    uint64_t bits = set[w] & ~UINT64_C(0) << (from % 64);
    while (!bits) {
        if (++w == words)
            return BITSET_NONE;
        bits = set[w];
    }
    return w * 64 + (size_t)__builtin_ctzll(bits);
}

#endif
