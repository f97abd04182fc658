/* Which bytes of a file are taken: extents in order, none overlapping. */
#ifndef SRC_PACKED_FILE_SPACE_H
#define SRC_PACKED_FILE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct space_extent {
    uint64_t begin, end;
};

/* All zero is empty. */
struct file_space {
    struct space_extent *extents;
    size_t count, capacity;
};

/* 0; -EEXIST if some of it is taken; -ENOMEM. size > 0, and offset + size does not wrap. */
int space_claim(struct file_space *space, uint64_t offset, uint64_t size);

/* Gives back what was claimed at offset. */
void space_release(struct file_space *space, uint64_t offset);

/* The first offset at a multiple of align with size free bytes; UINT64_MAX if there is none below
 * 2^63. align is a power of two. */
uint64_t space_find(const struct file_space *space, uint64_t size, uint64_t align);

/* The end of the last extent. */
uint64_t space_end(const struct file_space *space);

void space_deinit(struct file_space *space);

#endif
