/* Size classes of blocks: steps of 128 bytes up to 1 KiB, then eight to a power of two. */
#ifndef SRC_MEMORY_BLOCKS_CLASSES_H
#define SRC_MEMORY_BLOCKS_CLASSES_H

#include <stdbool.h>
#include <stddef.h>

#define SMALL_STEP 128u  /* the alignment of every block */
#define SMALL_CLASSES 8u /* 128, 256, ... 1024 */
#define SMALL_BITS 10u   /* 2^10 is the largest of them */
#define STEPS 8u         /* classes to a power of two above that */
#define MAX_BITS 62u     /* the largest class is 2^62 */
#define CLASSES (SMALL_CLASSES + (MAX_BITS - SMALL_BITS) * STEPS)

struct class_of {
    size_t index, bytes;
};

/* Above 2^e the classes are 9/8, 10/8, ... 16/8 of 2^e: bytes is at most 2^62. */
static inline struct class_of class_of(size_t bytes)
{
    if (bytes <= 1u << SMALL_BITS) {
        size_t index = bytes ? (bytes - 1) / SMALL_STEP : 0;
        return (struct class_of){index, (index + 1) * SMALL_STEP};
    }
    unsigned exponent = 63u - (unsigned)__builtin_clzll(bytes - 1);
    size_t steps = ((bytes - 1) >> (exponent - 3)) + 1; /* 9 .. 16 */
    return (struct class_of){SMALL_CLASSES + (exponent - SMALL_BITS) * STEPS + steps - STEPS - 1,
                             steps << (exponent - 3)};
}

static inline bool has_class(size_t bytes)
{
    return bytes <= (size_t)1 << MAX_BITS;
}

#endif
