/* Address ranges with any alignment. */
#ifndef SRC_MEMORY_KINDS_MAPPING_H
#define SRC_MEMORY_KINDS_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/memory/allocation.h"

struct mapping {
    void *base;
    size_t bytes;
};

size_t mapping_page_bytes(void);

/* The first address from data on that is a multiple of alignment. */
void *mapping_align_up(void *data, size_t alignment);

/* Private zeroed pages, readable and writable unless protection says otherwise (PROT_*); base is
 * aligned to alignment, a power of two, and bytes are whole pages. False: out of address space or
 * memory. */
bool mapping_create(struct mapping *out, size_t bytes, size_t alignment, int protection);

/* Puts a file's bytes from offset (a multiple of the page) on into an aligned range.
 * Returns 0 or errno. */
int mapping_create_file(struct mapping *out, size_t bytes, size_t alignment, int protection,
                        bool is_shared, int fd, uint64_t offset);
void mapping_destroy(const struct mapping *mapping);

/* What most kinds do with it. */
void mapping_give(const struct mapping *mapping, struct allocation *out);
neo_status mapping_release(struct allocation *allocation);

#endif
