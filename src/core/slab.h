/* Objects of one size that are kept for reuse: a warm get or put makes no allocation.
 *
 * Thread-safe. At most max_kept free objects are kept; those beyond go back to the heap. */
#ifndef SRC_CORE_SLAB_H
#define SRC_CORE_SLAB_H

#include <stddef.h>
#include <stdint.h>

#include "src/core/lock.h"

struct slab_stats {
    size_t used, kept; /* objects out, and free ones here */
    size_t peak_used;
    uint64_t gets, made; /* made: gets that had to allocate */
};

struct slab {
    struct lock lock;
    size_t object_bytes, max_kept;
    struct slab_object *kept;
    struct slab_stats stats;
};

/* Allocates nothing. */
void slab_init(struct slab *slab, size_t object_bytes, size_t max_kept);

/* Every object must have been put back. */
void slab_deinit(struct slab *slab);

/* An object full of zeros, aligned as malloc() does; NULL when memory is exhausted. */
void *slab_get(struct slab *slab);

/* The same with undefined content; *used is the number of objects out with this one. */
void *slab_get_counted(struct slab *slab, size_t *used);

/* Returns the number of objects still out. NULL is fine. */
size_t slab_put(struct slab *slab, void *object);

void slab_stats(struct slab *slab, struct slab_stats *out);

#endif
