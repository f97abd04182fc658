/* Where an entry's bytes are in memory: in a mapping of the file, or in a copy. */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/packed/content_hash.h"
#include "src/packed/file/provider.h"

enum { SMALLEST_HUGE_BYTES = 2 << 20 };

/* ---- the mapping ---- */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static int map_entry(struct file_entry *entry, int protection, int flags)
{
    size_t lead = (size_t)(entry->offset % page_bytes());
    size_t bytes;
    if (!checked_add(&bytes, entry->base.size, lead))
        return -EFBIG;
    char *map = mmap(NULL, bytes, protection, MAP_SHARED | flags, entry->generation->fd,
                     (off_t)(entry->offset - lead));
    if (map == MAP_FAILED)
        return -errno;
    entry->map = map;
    entry->map_bytes = bytes;
    entry->base.data = map + lead;
    entry->base.mapped_bytes = entry->base.size;
    return 0;
}

static void unmap_entry(struct file_entry *entry)
{
    munmap(entry->map, entry->map_bytes);
    entry->map = NULL;
    entry->base.data = NULL;
    entry->base.mapped_bytes = 0;
}

/* Wishes; none of them changes what the entry holds. */
static void advise_pages(const struct file_provider *provider, const struct file_entry *entry)
{
    if (file_has(provider, NEO_WEIGHTS_WILLNEED))
        madvise(entry->map, entry->map_bytes, MADV_WILLNEED);
    if (file_has(provider, NEO_WEIGHTS_HUGE_PAGES) && entry->map_bytes >= SMALLEST_HUGE_BYTES)
        madvise(entry->map, entry->map_bytes, MADV_HUGEPAGE);
    if (file_has(provider, NEO_WEIGHTS_LOCK) && mlock(entry->map, entry->map_bytes))
        log_warn("weights: %zu bytes cannot be locked in memory: %s", entry->map_bytes,
                 strerror(errno));
}

int pages_map_new(struct file_entry *entry)
{
    return map_entry(entry, PROT_READ | PROT_WRITE, 0);
}

void pages_seal(const struct file_provider *provider, const struct file_entry *entry)
{
    mprotect(entry->map, entry->map_bytes, PROT_READ);
    advise_pages(provider, entry);
}

/* ---- memory ---- */

int pages_take_memory(struct file_provider *provider, struct file_entry *entry)
{
    const neo_weights_allocator *allocator = &provider->options.allocator;
    entry->base.data = allocator->allocate(allocator->context, entry->base.size, entry->base.align);
    if (!entry->base.data)
        return -ENOMEM;
    entry->heap = true;
    entry->base.memory_bytes = entry->base.size;
    return 0;
}

static void give_memory(struct file_provider *provider, struct file_entry *entry)
{
    const neo_weights_allocator *allocator = &provider->options.allocator;
    allocator->release(allocator->context, entry->base.data, entry->base.size);
    entry->base.data = NULL;
    entry->base.memory_bytes = 0;
    entry->heap = false;
}

void pages_drop(struct file_provider *provider, struct file_entry *entry)
{
    if (entry->map)
        unmap_entry(entry);
    if (entry->heap)
        give_memory(provider, entry);
}

/* ---- what is in the file ---- */

/* The threads of the stream that wants the entry hash it, if there is one. The first error of any
 * of them is kept. */
struct reading {
    const struct file_entry *entry;
    atomic_int error;
};

static int hash_as_it_comes(struct reading *reading, content_ready_fn *ready, uint64_t checksum)
{
    const struct store_entry *base = &reading->entry->base;
    const struct content_source source = {base->data, base->size, ready, reading};
    neo_weights_content content = content_hash_from(&source, parallel_lent());
    int error = atomic_load(&reading->error);
    if (error)
        return error;
    return content.low == checksum ? 0 : -EBADMSG;
}

static bool take_error(struct reading *reading, int error)
{
    int none = 0;
    if (error)
        atomic_compare_exchange_strong(&reading->error, &none, error);
    return !error;
}

/* Whether the file has the entry's bytes before end. */
static int check_size(const struct file_entry *entry, size_t end)
{
    struct io_identity file;
    int error = io_identify(entry->generation->fd, &file);
    return !error && file.bytes < entry->offset + end ? -ENODATA : error;
}

/* Where the file has no such pages any more, touching them would raise SIGBUS; this call fails. Old
 * kernels do not know it. */
static int populate(const char *data, size_t size)
{
#ifdef MADV_POPULATE_READ
    size_t lead = (uintptr_t)data % page_bytes();
    char *begin = (char *)(uintptr_t)data - lead;
    int failed = madvise(begin, size + lead, MADV_POPULATE_READ);
    return failed && (errno == EFAULT || errno == EHWPOISON) ? -ENODATA : 0;
#else
    (void)data, (void)size;
    return 0;
#endif
}

static bool mapped_is_ready(void *context, size_t begin, size_t size)
{
    struct reading *reading = context;
    const char *data = reading->entry->base.data;
    int error = check_size(reading->entry, begin + size);
    return take_error(reading, error ? error : populate(data + begin, size));
}

static int bring_mapped(struct file_provider *provider, struct file_entry *entry, uint64_t checksum,
                        bool verify)
{
    int flags = file_has(provider, NEO_WEIGHTS_POPULATE) ? MAP_POPULATE : 0;
    int error = map_entry(entry, PROT_READ, flags);
    if (error)
        return error;
    advise_pages(provider, entry);
    struct reading reading = {.entry = entry};
    error = check_size(entry, entry->base.size);
    if (!error && verify)
        error = hash_as_it_comes(&reading, mapped_is_ready, checksum);
    if (error)
        unmap_entry(entry);
    return error;
}

static bool copy_is_ready(void *context, size_t begin, size_t size)
{
    struct reading *reading = context;
    const struct file_entry *entry = reading->entry;
    char *data = entry->base.data;
    return take_error(reading,
                      io_read(entry->generation->fd, data + begin, size, entry->offset + begin));
}

static int bring_copy(struct file_provider *provider, struct file_entry *entry, uint64_t checksum)
{
    int error = pages_take_memory(provider, entry);
    if (error)
        return error;
    struct reading reading = {.entry = entry};
    error = hash_as_it_comes(&reading, copy_is_ready, checksum);
    if (error)
        give_memory(provider, entry);
    return error;
}

int pages_bring(struct file_provider *provider, struct file_entry *entry, uint64_t checksum,
                bool verify)
{
    return file_has(provider, NEO_WEIGHTS_COPY) ? bring_copy(provider, entry, checksum)
                                                : bring_mapped(provider, entry, checksum, verify);
}
