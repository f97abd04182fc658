/* The provider that keeps packed weights in a file which processes share.
 *
 * The lease (a lock on the file) is held only while something is packed: from reserve_space() to
 * look_up_or_insert(). Another process that wants to pack waits for it, looking whether its entry
 * has come meanwhile; so each entry is packed by one process, and no process is the only writer.
 *
 * When the file refuses anything, the entry is kept in memory instead, and the reason is kept for
 * the statistics. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/weights/allocator.h"
#include "src/weights/content_hash.h"
#include "src/weights/file_rewrite.h"
#include "src/weights/key.h"
#include "src/weights/store.h"

enum {
    DEFAULT_LEASE_TIMEOUT_MS = 10000,
    MAX_TRIES = 8, /* of what a replaced file or a damaged entry makes us begin again */
    FIRST_WAIT_US = 50,
    LAST_WAIT_US = 5000,
    USED_STEP_NS = 1000000000,
    SMALLEST_HUGE_BYTES = 2 << 20,
    SMALLEST_DEAD_BYTES = 1 << 20, /* fewer are not worth writing the file anew for */
};

struct file_provider {
    pthread_mutex_t mutex; /* guards all that follows, and the generations */
    char *path;
    neo_weights_file_options options;
    struct file_generation *current; /* NULL: there is no file, or it cannot be read */
    int last_error;
    uint64_t fallbacks, damaged, rewrites;
};

struct file_entry {
    struct store_entry base;
    struct file_generation *generation; /* whose bytes these are; NULL for an entry in memory */
    uint64_t offset;
    char *map;
    size_t map_bytes;
    bool heap;
};

static void lock(struct file_provider *provider)
{
    pthread_mutex_lock(&provider->mutex);
}

static void unlock(struct file_provider *provider)
{
    pthread_mutex_unlock(&provider->mutex);
}

static bool has(const struct file_provider *provider, uint32_t flag)
{
    return provider->options.flags & flag;
}

static enum io_access access_of(const struct file_provider *provider, bool create)
{
    if (has(provider, NEO_WEIGHTS_READ_ONLY))
        return IO_READ;
    return create ? IO_CREATE : IO_WRITE;
}

/* ---- the current generation ---- */

/* Entries in use stay counted when the file becomes another one. */
static void inherit_users(struct file_generation *fresh, const struct file_generation *old)
{
    for (size_t i = 0; i < old->index.count; i++) {
        const struct index_item *item = &old->index.items[i];
        neo_weights_key key = format_record_key(&item->record);
        struct index_item *heir = item->users ? index_find(&fresh->index, &key) : NULL;
        if (heir)
            heir->users = item->users;
    }
}

static void set_current(struct file_provider *provider, struct file_generation *fresh)
{
    generation_release(provider->current);
    provider->current = fresh;
}

/* Makes current what is at the path now. Without create, a file that has gone is kept in use. */
static int follow_path(struct file_provider *provider, bool create)
{
    if (provider->current && generation_is_current(provider->current, provider->path))
        return 0;
    struct file_generation *fresh;
    int error = generation_open(provider->path, access_of(provider, create), &fresh);
    if (error)
        return error == -ENOENT && provider->current && !create ? 0 : error;
    if (provider->current)
        inherit_users(fresh, provider->current);
    set_current(provider, fresh);
    return 0;
}

static struct index_item *find_usable(const struct file_provider *provider,
                                      const neo_weights_key *key)
{
    struct index_item *item = provider->current ? index_find(&provider->current->index, key) : NULL;
    return item && index_item_is_usable(item) ? item : NULL;
}

/* Looks first at what is known, then at what others have added. */
static struct index_item *locate(struct file_provider *provider, const neo_weights_key *key)
{
    struct index_item *item = find_usable(provider, key);
    if (item)
        return item;
    int error = follow_path(provider, false);
    if (!error && provider->current)
        error = generation_refresh(provider->current, false);
    if (error && error != -ENOENT)
        provider->last_error = error;
    return find_usable(provider, key);
}

/* ---- pages ---- */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Maps the entry's bytes of its generation. */
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
    if (!entry->map)
        return;
    munmap(entry->map, entry->map_bytes);
    entry->map = NULL;
    entry->base.data = NULL;
    entry->base.mapped_bytes = 0;
}

/* Wishes; none of them changes what the entry holds. */
static void advise_pages(const struct file_provider *provider, const struct file_entry *entry)
{
    if (has(provider, NEO_WEIGHTS_WILLNEED))
        madvise(entry->map, entry->map_bytes, MADV_WILLNEED);
    if (has(provider, NEO_WEIGHTS_HUGE_PAGES) && entry->map_bytes >= SMALLEST_HUGE_BYTES)
        madvise(entry->map, entry->map_bytes, MADV_HUGEPAGE);
    if (has(provider, NEO_WEIGHTS_LOCK) && mlock(entry->map, entry->map_bytes))
        log_warn("weights: %zu bytes cannot be locked in memory: %s", entry->map_bytes,
                 strerror(errno));
}

static int take_memory(struct file_provider *provider, struct file_entry *entry)
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

/* ---- entries that are in the file ---- */

/* Through a mapping, that a truncated file would make a trap: so the size is looked at first. */
static int check_mapped(const struct file_entry *entry, uint64_t checksum, bool verify)
{
    struct io_identity file;
    int error = io_identify(entry->generation->fd, &file);
    if (error)
        return error;
    if (file.bytes < entry->offset + entry->base.size)
        return -ENODATA;
    bool good = !verify || neo_weights_hash(entry->base.data, entry->base.size).low == checksum;
    return good ? 0 : -EBADMSG;
}

/* All pages in one call instead of a fault for each few of them; old kernels do not know it. */
static void populate(const struct file_entry *entry)
{
#ifdef MADV_POPULATE_READ
    madvise(entry->map, entry->map_bytes, MADV_POPULATE_READ);
#else
    (void)entry;
#endif
}

static int bring_mapped(struct file_provider *provider, struct file_entry *entry, uint64_t checksum,
                        bool verify)
{
    int flags = has(provider, NEO_WEIGHTS_POPULATE) ? MAP_POPULATE : 0;
    int error = map_entry(entry, PROT_READ, flags);
    if (error)
        return error;
    advise_pages(provider, entry);
    if (verify)
        populate(entry);
    error = check_mapped(entry, checksum, verify);
    if (error)
        unmap_entry(entry);
    return error;
}

static int bring_copy(struct file_provider *provider, struct file_entry *entry, uint64_t checksum,
                      bool verify)
{
    int error = take_memory(provider, entry);
    if (error)
        return error;
    error = io_read(entry->generation->fd, entry->base.data, entry->base.size, entry->offset);
    if (!error && verify && neo_weights_hash(entry->base.data, entry->base.size).low != checksum)
        error = -EBADMSG;
    if (error)
        give_memory(provider, entry);
    return error;
}

/* The item may have moved or gone while the lock was not held. */
static struct index_item *item_of(const struct file_provider *provider,
                                  const struct file_entry *entry)
{
    struct file_generation *generation = provider->current ? provider->current : entry->generation;
    return index_find(&generation->index, &entry->base.key);
}

static void note_use(struct file_generation *generation, struct index_item *item)
{
    uint64_t now = format_now_ns();
    bool recent = now - item->record.used_ns < USED_STEP_NS;
    if (recent || !generation->writable || generation->process != getpid())
        return;
    item->record.used_ns = now;
    uint64_t place = item->place + offsetof(struct format_record, used_ns);
    io_write(generation->fd, &now, sizeof now, place); /* if it fails, it is used less recently */
}

static void note_good(struct file_provider *provider, struct file_entry *entry)
{
    struct index_item *item = item_of(provider, entry);
    if (!item)
        return;
    item->verified |= entry->generation == provider->current;
    item->users++;
    if (entry->generation == provider->current && !has(provider, NEO_WEIGHTS_READ_ONLY))
        note_use(entry->generation, item);
}

/* A file that is shorter than its index says is not appended to any more. */
static void note_bad(struct file_provider *provider, struct file_entry *entry, int error)
{
    provider->last_error = error;
    if (error != -EBADMSG && error != -ENODATA)
        return;
    provider->damaged++;
    log_warn("weights: an entry of '%s' is damaged; it is packed again", provider->path);
    struct index_item *item = index_find(&entry->generation->index, &entry->base.key);
    if (item)
        item->damaged = true;
    entry->generation->index.rewrite |= error == -ENODATA;
}

static void detach(struct file_entry *entry)
{
    generation_release(entry->generation);
    entry->generation = NULL;
}

static neo_status file_find(void *context, struct store_entry *base)
{
    struct file_provider *provider = context;
    struct file_entry *entry = (struct file_entry *)base;
    lock(provider);
    const struct index_item *item = locate(provider, &base->key);
    if (!item) {
        unlock(provider);
        return NEO_NOT_FOUND;
    }
    entry->generation = generation_retain(provider->current);
    entry->offset = item->record.offset;
    base->size = (size_t)item->record.size;
    base->align = item->record.align;
    uint64_t checksum = item->record.data_checksum;
    bool verify = !item->verified && !has(provider, NEO_WEIGHTS_TRUST);
    unlock(provider);

    int error = has(provider, NEO_WEIGHTS_COPY) ? bring_copy(provider, entry, checksum, true)
                                                : bring_mapped(provider, entry, checksum, verify);
    lock(provider);
    if (error) {
        note_bad(provider, entry, error);
        detach(entry);
    } else {
        note_good(provider, entry);
    }
    unlock(provider);
    return error ? NEO_NOT_FOUND : NEO_OK;
}

/* ---- the lease ---- */

/* With the lock held: takes the lease on what is at the path, or says why not. */
static int try_lease(struct file_provider *provider)
{
    if (has(provider, NEO_WEIGHTS_READ_ONLY))
        return -EROFS;
    struct file_generation *current = provider->current;
    if (current && current->lease_users && current->process == getpid()) {
        current->lease_users++;
        return 0;
    }
    for (int i = 0; i < MAX_TRIES; i++) {
        int error = follow_path(provider, true);
        if (!error)
            error = generation_lease(provider->current);
        if (error)
            return error;
        if (generation_is_current(provider->current, provider->path))
            return 0;
        generation_end_lease(provider->current); /* it was replaced before we had the lease */
    }
    return -EAGAIN;
}

static uint64_t clock_us(void)
{
    return log_now_ns() / 1000;
}

static void sleep_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Waits for the lease; on 0 the lock is held too. -EEXIST: the entry has come meanwhile. */
static int wait_for_lease(struct file_provider *provider, const neo_weights_key *key)
{
    uint64_t end = clock_us() + UINT64_C(1000) * provider->options.lease_timeout_ms;
    for (long wait = FIRST_WAIT_US;; wait = wait < LAST_WAIT_US / 2 ? 2 * wait : LAST_WAIT_US) {
        lock(provider);
        int error = try_lease(provider);
        if (error == 0)
            return 0;
        bool here = error == -EWOULDBLOCK && locate(provider, key);
        unlock(provider);
        if (here)
            return -EEXIST;
        if (error != -EWOULDBLOCK)
            return error;
        if (clock_us() > end)
            return -ETIMEDOUT;
        sleep_us(wait);
    }
}

/* ---- space for a new entry ---- */

/* All entries of the file but those in use may go to keep it within limit bytes. */
static int write_anew(struct file_provider *provider, uint64_t limit)
{
    struct file_generation *old = provider->current, *fresh;
    if (old->lease_users > 1)
        return -EBUSY; /* another thread is packing into it */
    struct rewrite_plan plan = {.limit_bytes = limit};
    int error = file_rewrite(provider->path, old, &plan, &fresh);
    if (error)
        return error;
    provider->rewrites++;
    provider->damaged += old->index.lost + old->index.refused;
    inherit_users(fresh, old);
    generation_end_lease(old);
    set_current(provider, fresh);
    return 0;
}

static bool is_mostly_dead(const struct file_index *index)
{
    uint64_t live, dead, entries;
    index_measure(index, &live, &dead, &entries);
    return dead > live && dead >= SMALLEST_DEAD_BYTES;
}

static int find_place(const struct file_provider *provider, const struct store_entry *entry,
                      uint64_t *offset)
{
    const struct file_space *space = &provider->current->index.space;
    uint64_t align = format_data_align(entry->size, entry->align);
    *offset = space_find(space, entry->size, align);
    uint64_t limit = provider->options.limit_bytes;
    uint64_t room = FORMAT_BLOCK_BYTES; /* for an index block that may be needed */
    if (*offset == UINT64_MAX)
        return -EFBIG;
    return limit && *offset + entry->size + room > limit ? -EDQUOT : 0;
}

/* Writes the file anew with a quarter of the limit free, so that it is not done each time. */
static int shrink(struct file_provider *provider, const struct store_entry *entry)
{
    uint64_t limit = provider->options.limit_bytes;
    uint64_t need = entry->size + format_data_align(entry->size, entry->align) +
                    FORMAT_EMPTY_BYTES + 2 * FORMAT_BLOCK_BYTES;
    if (need > limit)
        return -EDQUOT;
    uint64_t rest = limit - need;
    return write_anew(provider, rest < limit / 4 * 3 ? rest + 1 : limit / 4 * 3);
}

/* With the lease and the lock held: claims bytes of a sound file for the entry. */
static int claim_place(struct file_provider *provider, struct file_entry *entry)
{
    int error = 0;
    const struct file_generation *current = provider->current;
    if (current->state == GENERATION_BROKEN || current->index.rewrite ||
        is_mostly_dead(&current->index))
        error = write_anew(provider, provider->options.limit_bytes);
    uint64_t offset = 0;
    if (!error)
        error = find_place(provider, &entry->base, &offset);
    if (error == -EDQUOT) {
        error = shrink(provider, &entry->base);
        if (!error)
            error = find_place(provider, &entry->base, &offset);
    }
    if (!error)
        error = space_claim(&provider->current->index.space, offset, entry->base.size);
    if (error)
        return error;
    entry->offset = offset;
    entry->generation = generation_retain(provider->current);
    return 0;
}

/* The opposite of claim_place() and of taking the lease. */
static void abandon_place(struct file_provider *provider, struct file_entry *entry)
{
    lock(provider);
    space_release(&entry->generation->index.space, entry->offset);
    generation_end_lease(entry->generation);
    detach(entry);
    unlock(provider);
}

/* Takes the lease and a place in the file, and maps it. -EEXIST: the entry is there already. */
static int reserve_in_file(struct file_provider *provider, struct file_entry *entry)
{
    int error = wait_for_lease(provider, &entry->base.key);
    if (error)
        return error;
    error = find_usable(provider, &entry->base.key) ? -EEXIST : claim_place(provider, entry);
    if (error)
        generation_end_lease(provider->current);
    unlock(provider);
    if (error)
        return error;
    error = io_allocate(entry->generation->fd, entry->offset, entry->base.size);
    if (!error)
        error = map_entry(entry, PROT_READ | PROT_WRITE, 0);
    if (error)
        abandon_place(provider, entry);
    return error;
}

/* ---- memory instead ---- */

static void count_fallback(struct file_provider *provider, int error)
{
    lock(provider);
    provider->fallbacks++;
    provider->last_error = error;
    unlock(provider);
    log_warn("weights: '%s' cannot take an entry (%s); it is kept in memory", provider->path,
             strerror(-error));
}

static neo_status reserve_in_memory(struct file_provider *provider, struct file_entry *entry,
                                    int error)
{
    count_fallback(provider, error);
    return io_status(take_memory(provider, entry));
}

static neo_status file_reserve(void *context, struct store_entry *base, bool *found)
{
    struct file_provider *provider = context;
    struct file_entry *entry = (struct file_entry *)base;
    size_t size = base->size, align = base->align;
    int error = -EEXIST;
    for (int i = 0; error == -EEXIST && i < MAX_TRIES; i++) {
        error = reserve_in_file(provider, entry);
        if (error == -EEXIST && file_find(provider, base) == NEO_OK) {
            *found = true;
            return NEO_OK;
        }
        base->size = size; /* an entry that failed its checks may have said otherwise */
        base->align = align;
    }
    if (error == -EEXIST)
        error = -EIO; /* it is there, and cannot be used */
    return error ? reserve_in_memory(provider, entry, error) : NEO_OK;
}

/* Moves what was packed into memory: a place that was not committed may be given to others. */
static int leave_file(struct file_provider *provider, struct file_entry *entry)
{
    struct file_entry copy = {.base = entry->base};
    int error = take_memory(provider, &copy);
    if (error)
        return error;
    memcpy(copy.base.data, entry->base.data, entry->base.size);
    unmap_entry(entry);
    abandon_place(provider, entry);
    entry->base.data = copy.base.data;
    entry->base.memory_bytes = copy.base.memory_bytes;
    entry->heap = true;
    return 0;
}

/* ---- commit ---- */

static int write_record(struct file_provider *provider, struct file_entry *entry)
{
    struct file_generation *generation = entry->generation;
    uint64_t now = format_now_ns();
    struct format_record record = {
        .offset = entry->offset,
        .size = entry->base.size,
        .align = (uint32_t)entry->base.align,
        .data_checksum = neo_weights_hash(entry->base.data, entry->base.size).low,
        .created_ns = now,
        .used_ns = now,
    };
    format_record_set_key(&record, &entry->base.key);
    lock(provider);
    int error = index_append(&generation->index, generation->fd, &record);
    if (!error) {
        struct index_item *item = index_find(&generation->index, &entry->base.key);
        item->verified = true;
        item->users++;
    }
    unlock(provider);
    return error;
}

/* The bytes first, then the record that speaks of them. */
static int commit_to_file(struct file_provider *provider, struct file_entry *entry)
{
    bool durable = has(provider, NEO_WEIGHTS_DURABLE);
    int error = durable && msync(entry->map, entry->map_bytes, MS_SYNC) ? -errno : 0;
    if (!error && durable)
        error = io_sync(entry->generation->fd);
    if (!error)
        error = write_record(provider, entry);
    if (!error && durable)
        io_sync(entry->generation->fd); /* committed already; only its survival is in doubt */
    return error;
}

static neo_status file_commit(void *context, struct store_entry *base)
{
    struct file_provider *provider = context;
    struct file_entry *entry = (struct file_entry *)base;
    if (entry->heap)
        return NEO_OK;
    if (entry->generation->process != getpid()) /* a fork of who made the reservation */
        return NEO_RUNTIME_ERROR;
    int error = commit_to_file(provider, entry);
    if (error) {
        count_fallback(provider, error);
        return io_status(leave_file(provider, entry));
    }
    mprotect(entry->map, entry->map_bytes, PROT_READ); /* nobody writes to it by mistake */
    advise_pages(provider, entry);
    lock(provider);
    generation_end_lease(entry->generation);
    unlock(provider);
    return NEO_OK;
}

/* ---- release ---- */

static void leave_item(struct file_provider *provider, struct file_entry *entry)
{
    lock(provider);
    struct index_item *item = item_of(provider, entry);
    if (item && item->users)
        item->users--;
    detach(entry);
    unlock(provider);
}

static void file_release(void *context, struct store_entry *base, bool committed)
{
    struct file_provider *provider = context;
    struct file_entry *entry = (struct file_entry *)base;
    unmap_entry(entry);
    if (entry->heap)
        give_memory(provider, entry);
    if (!entry->generation)
        return;
    if (committed)
        leave_item(provider, entry);
    else
        abandon_place(provider, entry);
}

/* ---- the provider ---- */

static void file_statistics(void *context, neo_weights_statistics *out)
{
    struct file_provider *provider = context;
    lock(provider);
    out->fallbacks = provider->fallbacks;
    out->damaged = provider->damaged;
    out->rewrites = provider->rewrites;
    out->file_errno = -provider->last_error;
    out->file_status = io_status(provider->last_error);
    const struct file_generation *current = provider->current;
    struct io_identity file;
    if (current) {
        index_measure(&current->index, &out->live_bytes, &out->dead_bytes, &out->file_entries);
        out->damaged += current->index.lost + current->index.refused;
        out->generation = current->index.header.generation;
        if (io_identify(current->fd, &file) == 0)
            out->file_bytes = file.bytes;
    }
    unlock(provider);
}

static void file_destroy(void *context)
{
    struct file_provider *provider = context;
    if (!provider)
        return;
    generation_release(provider->current);
    pthread_mutex_destroy(&provider->mutex);
    free(provider->path);
    free(provider);
}

static const struct store_backend file_backend = {
    .entry_bytes = sizeof(struct file_entry),
    .find = file_find,
    .reserve = file_reserve,
    .commit = file_commit,
    .release = file_release,
    .statistics = file_statistics,
    .destroy = file_destroy,
};

/* What is wrong now is what makes a provider fail that may not do without the file. */
static int open_first(struct file_provider *provider)
{
    bool required = has(provider, NEO_WEIGHTS_REQUIRE_FILE);
    int error = follow_path(provider, required && !has(provider, NEO_WEIGHTS_READ_ONLY));
    if (!error && !has(provider, NEO_WEIGHTS_READ_ONLY))
        error = generation_check_writable(provider->current);
    else if (!error && provider->current->state > GENERATION_BLANK)
        error = -EILSEQ;
    if (error == -ENOENT && !required)
        return 0;
    provider->last_error = error;
    return error;
}

static neo_status provider_new(struct file_provider **out, const char *path,
                               const neo_weights_file_options *options)
{
    struct file_provider *provider = calloc(1, sizeof *provider);
    if (!provider)
        return NEO_OUT_OF_MEMORY;
    pthread_mutex_init(&provider->mutex, NULL);
    provider->options = *options;
    if (!options->lease_timeout_ms)
        provider->options.lease_timeout_ms = DEFAULT_LEASE_TIMEOUT_MS;
    size_t bytes = strlen(path) + 1;
    provider->path = malloc(bytes);
    if (!provider->path) {
        file_destroy(provider);
        return NEO_OUT_OF_MEMORY;
    }
    memcpy(provider->path, path, bytes);
    *out = provider;
    return NEO_OK;
}

neo_status neo_weights_file_provider_create(neo_weights_provider *out, const char *path,
                                            const neo_weights_file_options *options)
{
    if (!out)
        return NEO_INVALID_ARGUMENT;
    *out = (neo_weights_provider){.context = NULL};
    neo_weights_file_options wanted = {.flags = 0};
    if (options)
        wanted = *options;
    if (!path || !*path || !allocator_init(&wanted.allocator, &wanted.allocator)) {
        log_check("weights: a file provider needs a path, and an allocator both its functions");
        return NEO_INVALID_ARGUMENT;
    }
    struct file_provider *provider;
    neo_status status = provider_new(&provider, path, &wanted);
    if (status != NEO_OK)
        return status;
    int error = open_first(provider);
    if (error == -ENOMEM || (error && has(provider, NEO_WEIGHTS_REQUIRE_FILE))) {
        file_destroy(provider);
        return io_status(error);
    }
    return store_create(out, &file_backend, provider, wanted.memory_limit_bytes);
}
