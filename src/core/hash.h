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

/* Two words a step; the length goes in first, so that trailing zeros count. The constants are the
 * fractional bits of the square roots of 2, 3 and 5, made odd. */
static inline uint64_t hash_words(const uint32_t *words, size_t count)
{
    const uint64_t k0 = 0x6a09e667f3bcc909u, k1 = 0xbb67ae8584caa73bu, k2 = 0x3c6ef372fe94f82bu;
    uint64_t hash = hash_mix(count ^ k0, k1);
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        uint64_t pair;
        memcpy(&pair, words + i, sizeof pair);
        hash = hash_mix(hash ^ pair, k2);
    }
    if (i < count)
        hash = hash_mix(hash ^ words[i], k1);
    return hash_mix(hash ^ k1, k2);
}

#endif
