/* Pooling: its parameters and algorithms. */
#ifndef SRC_POOLING_POOLING_H
#define SRC_POOLING_POOLING_H

#include "neoprene/pooling.h"
#include "src/primitive/problem.h"

enum { MOST_SPACE = 1 << 30 };

struct pooling_parameters {
    uint64_t algorithm; /* neo_pooling */
};

static inline const struct pooling_parameters *pooling_parameters(const struct problem *problem)
{
    return (const void *)problem->parameters;
}

extern const struct algorithm pooling_windows, pooling_winners;

#endif
