/* A 64-bit hash of an array of 32-bit words: not for untrusted input, good in all bits. */
#ifndef SRC_CORE_HASH_H
#define SRC_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Folds the 128-bit product, so that every bit of both factors reaches every bit of the result. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes at once, in the same pieces as a key is written: a load is fast when one store made
 * all of it. */
static inline uint64_t hash_load(const uint32_t *words)
{
    uint64_t value;
    memcpy(&value, words, sizeof value);
    return value;
}

/* Up to four words from `words` on, of which count are there, into a chain. */
static inline uint64_t hash_step(uint64_t chain, const uint32_t *words, size_t count, uint64_t k)
{
    if (count >= 4)
        return hash_mix(chain ^ hash_load(words), k ^ hash_load(words + 2));
    uint64_t first = count >= 2 ? hash_load(words) : words[0];
    return hash_mix(chain ^ first, k ^ (count == 3 ? words[2] : 0));
}

/* Four chains side by side, four words a step each: a multiplication takes longer than it takes to
 * start the next one. The length goes in first, so that trailing zeros count. The constants are
 * the first bits of the fractions of the square roots of 2, 3, 5 and 7, made odd. */
static inline uint64_t hash_words(const uint32_t *words, size_t count)
{
    enum { CHAINS = 4, STEP = 4 * CHAINS };
    static const uint64_t k[CHAINS] = {0x6a09e667f3bcc909u, 0xbb67ae8584caa73bu,
                                       0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u};
    uint64_t chain[CHAINS] = {count ^ k[1], k[2], k[3], k[0]};
    for (; count >= STEP; count -= STEP, words += STEP) {
#pragma GCC unroll 4
        for (size_t i = 0; i < CHAINS; i++)
            chain[i] = hash_step(chain[i], words + 4 * i, 4, k[i]);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < CHAINS; i++)
        if (4 * i < count)
            chain[i] = hash_step(chain[i], words + 4 * i, count - 4 * i, k[i]);
    return hash_mix(hash_mix(chain[0] ^ k[2], chain[1] ^ k[3]),
                    hash_mix(chain[2] ^ k[0], chain[3] ^ k[1]));
}

#endif
