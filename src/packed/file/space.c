/* Which bytes of a file are taken. */
#include "src/packed/file/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first extent that ends after offset. */
static size_t position_of(const struct file_space *space, uint64_t offset)
{
    size_t low = 0, high = space->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (space->extents[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int reserve_one(struct file_space *space)
{
    if (space->count < space->capacity)
        return 0;
    size_t capacity = space->capacity ? 2 * space->capacity : 64;
    struct space_extent *extents = realloc(space->extents, capacity * sizeof *extents);
    if (!extents)
        return -ENOMEM;
    space->extents = extents;
    space->capacity = capacity;
    return 0;
}

int space_claim(struct file_space *space, uint64_t offset, uint64_t size)
{
    size_t at = position_of(space, offset);
    if (at < space->count && space->extents[at].begin < offset + size)
        return -EEXIST;
    int error = reserve_one(space);
    if (error)
        return error;
    struct space_extent *extent = space->extents + at;
    memmove(extent + 1, extent, (space->count - at) * sizeof *extent);
    *extent = (struct space_extent){offset, offset + size};
    space->count++;
    return 0;
}

void space_release(struct file_space *space, uint64_t offset)
{
    size_t at = position_of(space, offset);
    if (at == space->count || space->extents[at].begin != offset)
        return;
    struct space_extent *extent = space->extents + at;
    space->count--;
    memmove(extent, extent + 1, (space->count - at) * sizeof *extent);
}

uint64_t space_find(const struct file_space *space, uint64_t size, uint64_t align)
{
    uint64_t begin = 0, end;
    for (size_t i = 0; i < space->count; i++) {
        const struct space_extent *next = &space->extents[i];
        if (!__builtin_add_overflow(begin, size, &end) && end <= next->begin)
            return begin;
        begin = (next->end + align - 1) & ~(align - 1);
    }
    bool fits = !__builtin_add_overflow(begin, size, &end) && end <= INT64_MAX;
    return fits ? begin : UINT64_MAX;
}

uint64_t space_end(const struct file_space *space)
{
    return space->count ? space->extents[space->count - 1].end : 0;
}

void space_deinit(struct file_space *space)
{
    free(space->extents);
    *space = (struct file_space){.count = 0};
}
