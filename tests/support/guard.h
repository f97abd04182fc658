/* Memory between two pages that may not be touched: an access one byte beyond a buffer at either
 * end is a fault. */
#ifndef TESTS_SUPPORT_GUARD_H
#define TESTS_SUPPORT_GUARD_H

#include <stddef.h>

struct guard {
    unsigned char *map; /* forbidden page, usable bytes, forbidden page */
    size_t usable_bytes, page_bytes;
};

/* Fails the test when there is no memory. */
void guard_init(struct guard *guard, size_t most_bytes);
void guard_deinit(struct guard *guard);

/* The first, or the last, bytes of the usable part; each call gives the same memory again. */
void *guard_begin(const struct guard *guard, size_t bytes);
void *guard_end(const struct guard *guard, size_t bytes);

/* guard_end() or guard_begin(). */
void *guard_at(const struct guard *guard, size_t bytes, int end);

#endif
