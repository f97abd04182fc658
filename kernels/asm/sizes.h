/* Sizes: what kernels reckon with most. */
#ifndef KERNELS_ASM_SIZES_H
#define KERNELS_ASM_SIZES_H

#include <stddef.h>

static inline size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Bytes, rounded up to whole lines of the cache. */
static inline size_t in_lines(size_t bytes)
{
    const size_t line = 64;
    return (bytes + line - 1) / line * line;
}

/* The next part of memory, of which `used` bytes are taken: whole lines. memory: NULL to count. */
static inline void *take_lines(void *memory, size_t *used, size_t bytes)
{
    size_t at = *used;
    *used += in_lines(bytes);
    return memory ? (unsigned char *)memory + at : NULL;
}

#endif
