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

/* Four chains side by side, two words a step each: a multiplication takes longer than it takes to
 * start the next one. The length goes in first, so that trailing zeros count. The constants are
 * the first bits of the fractions of the square roots of 2, 3, 5 and 7, made odd. */
static inline uint64_t hash_words(const uint32_t *words, size_t count)
{
    enum { CHAINS = 4, STEP = 2 * CHAINS };
    static const uint64_t k[CHAINS] = {0x6a09e667f3bcc909u, 0xbb67ae8584caa73bu,
                                       0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u};
    uint64_t chain[CHAINS] = {count ^ k[1], k[2], k[3], k[0]};
    uint64_t block[CHAINS];
    for (; count >= STEP; count -= STEP, words += STEP) {
        memcpy(block, words, sizeof block);
#pragma GCC unroll 4
        for (int i = 0; i < CHAINS; i++)
            chain[i] = hash_mix(chain[i] ^ block[i], k[i]);
    }
    memset(block, 0, sizeof block);
    if (count)
        memcpy(block, words, count * sizeof *words);
#pragma GCC unroll 4
    for (int i = 0; i < CHAINS; i++)
        chain[i] = hash_mix(chain[i] ^ block[i], k[i]);
    return hash_mix(hash_mix(chain[0] ^ k[2], chain[1] ^ k[3]) ^ chain[2], chain[3] ^ k[0]);
}

#endif
