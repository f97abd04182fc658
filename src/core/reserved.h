/* Members of public structures that later versions may give a meaning (docs/abi.md). */
#ifndef SRC_CORE_RESERVED_H
#define SRC_CORE_RESERVED_H

#include <stdbool.h>
#include <stdint.h>

enum { RESERVED_COUNT = 4 };

#define RESERVED_IS_SET "a reserved member is not 0: it asks for what this version does not have"

/* A program for a later version wants something that it would not get. */
static inline bool reserved_is_set(const uint64_t reserved[RESERVED_COUNT])
{
    uint64_t any = 0;
    for (int i = 0; i < RESERVED_COUNT; i++)
        any |= reserved[i];
    return any != 0;
}

#endif
