/* Aligned mappings: a range that is too long is reserved, and both ends are given back. */
#include "src/memory/kinds/mapping.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/core/checked.h"

size_t mapping_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *mapping_align_up(void *data, size_t alignment)
{
    size_t past = (uintptr_t)data & (alignment - 1);
    return past ? (char *)data + (alignment - past) : data;
}

static void unmap(void *from, void *to)
{
    if (from != to)
        munmap(from, (size_t)((char *)to - (char *)from));
}

bool mapping_create(struct mapping *out, size_t bytes, size_t alignment, int protection)
{
    size_t page = mapping_page_bytes(), whole, reserved;
    if (!checked_round_up(&whole, bytes, page) ||
        !checked_add(&reserved, whole, alignment > page ? alignment - page : 0))
        return false;
    char *start = mmap(NULL, reserved, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return false;
    char *base = mapping_align_up(start, alignment);
    unmap(start, base);
    unmap(base + whole, start + reserved);
    *out = (struct mapping){base, whole};
    return true;
}

int mapping_create_file(struct mapping *out, size_t bytes, size_t alignment, int protection,
                        bool is_shared, int fd, uint64_t offset)
{
    struct mapping range;
    if (!mapping_create(&range, bytes, alignment, PROT_NONE))
        return ENOMEM;
    int flags = MAP_FIXED | (is_shared ? MAP_SHARED : MAP_PRIVATE);
    /* cppcheck-suppress leakReturnValNotUsed ; a fixed mapping is where it was asked to be */
    if (mmap(range.base, range.bytes, protection, flags, fd, (off_t)offset) == MAP_FAILED) {
        int error = errno;
        mapping_destroy(&range);
        return error;
    }
    *out = range;
    return 0;
}

void mapping_destroy(const struct mapping *mapping)
{
    munmap(mapping->base, mapping->bytes);
}

void mapping_give(const struct mapping *mapping, struct allocation *out)
{
    out->data = out->base = mapping->base;
    out->mapped_bytes = mapping->bytes;
    out->page_bytes = mapping_page_bytes();
}

neo_status mapping_release(struct allocation *allocation)
{
    munmap(allocation->base, allocation->mapped_bytes);
    if (allocation->fd >= 0)
        close(allocation->fd);
    return NEO_OK;
}
