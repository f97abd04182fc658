/* Addresses as numbers that wrap around, two in a vector. */
#ifndef SRC_CONVOLUTION_ADDRESS_PAIRS_H
#define SRC_CONVOLUTION_ADDRESS_PAIRS_H

#include <stdint.h>
#include <string.h>

#include "neoprene/types.h"

typedef uint64_t pair __attribute__((vector_size(16)));
_Static_assert(sizeof(pair) == 2 * sizeof(float *), "a vector of two addresses");

static inline uint64_t bytes(neo_dim elements)
{
    return (uint64_t)elements * sizeof(float);
}

static inline pair both(uint64_t value)
{
    return (pair){value, value};
}

static inline pair load_pair(const uint64_t *from)
{
    pair value;
    memcpy(&value, from, sizeof value);
    return value;
}

/* A vector of addresses as it is wanted by those who read through them. */
static inline void put_pair(const float **out, pair addresses)
{
    memcpy(out, &addresses, sizeof addresses);
}

#endif
