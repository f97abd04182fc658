/* Size arithmetic that reports overflow: each returns false and leaves *out alone when it would
 * wrap. */
#ifndef SRC_CORE_CHECKED_H
#define SRC_CORE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define count_of(array) (sizeof(array) / sizeof((array)[0]))

static inline bool checked_add(size_t *out, size_t a, size_t b)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

static inline bool checked_mul(size_t *out, size_t a, size_t b)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

/* align is a power of two. */
static inline bool checked_round_up(size_t *out, size_t size, size_t align)
{
    size_t sum;
    if (!checked_add(&sum, size, align - 1))
        return false;
    *out = sum & ~(align - 1);
    return true;
}

static inline size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* b > 0; cannot overflow. */
static inline size_t div_up(size_t a, size_t b)
{
    if (!b)
        __builtin_unreachable();
    return a / b + (a % b != 0);
}

/* The largest one that divides the value; 0 for 0. What is so many bytes apart falls on every place
 * of a cache that is a multiple of it, and on no other. */
static inline size_t power_of_two_in(size_t value)
{
    return value & (~value + 1);
}

/* Of numbers that are not negative; with 0 the other one. */
static inline int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

/* For sizes that are known to be far from the limit. */
static inline size_t round_up(size_t a, size_t b)
{
    return div_up(a, b) * b;
}

#endif
