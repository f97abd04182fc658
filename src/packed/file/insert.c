/* Reservations: committed to the file, kept in memory when it refuses, or given back. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/core/log.h"
#include "src/packed/content_hash.h"
#include "src/packed/file/provider.h"

/* ---- memory instead ---- */

static void count_fallback(struct file_provider *provider, int error)
{
    file_lock(provider);
    provider->fallbacks++;
    provider->last_error = error;
    file_unlock(provider);
    log_warn("weights: '%s' cannot take an entry (%s); it is kept in memory", provider->path,
             strerror(-error));
}

static neo_status reserve_in_memory(struct file_provider *provider, struct file_entry *entry,
                                    int error)
{
    count_fallback(provider, error);
    return io_status(pages_take_memory(provider, entry));
}

neo_status file_reserve(void *context, struct store_entry *base, bool *found)
{
    struct file_provider *provider = context;
    struct file_entry *entry = (struct file_entry *)base;
    size_t size = base->size, align = base->align;
    int error = -EEXIST;
    for (int i = 0; error == -EEXIST && i < FILE_MAX_TRIES; i++) {
        error = place_take(provider, entry);
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
    int error = pages_take_memory(provider, &copy);
    if (error)
        return error;
    memcpy(copy.base.data, entry->base.data, entry->base.size);
    pages_drop(provider, entry);
    place_abandon(provider, entry);
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
        .data_checksum = content_hash(entry->base.data, entry->base.size, parallel_lent()).low,
        .created_ns = now,
        .used_ns = now,
    };
    format_record_set_key(&record, &entry->base.key);
    file_lock(provider);
    int error = index_append(&generation->index, generation->fd, &record);
    if (!error) {
        struct index_item *item = index_find(&generation->index, &entry->base.key);
        item->verified = true;
        item->users++;
    }
    file_unlock(provider);
    return error;
}

/* The bytes first, then the record that speaks of them. */
static int commit_to_file(struct file_provider *provider, struct file_entry *entry)
{
    bool durable = file_has(provider, NEO_WEIGHTS_DURABLE);
    int error = durable && msync(entry->map, entry->map_bytes, MS_SYNC) ? -errno : 0;
    if (!error && durable)
        error = io_sync(entry->generation->fd);
    if (!error)
        error = write_record(provider, entry);
    if (!error && durable)
        io_sync(entry->generation->fd); /* committed already; only its survival is in doubt */
    return error;
}

neo_status file_commit(void *context, struct store_entry *base)
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
    pages_seal(provider, entry);
    file_lock(provider);
    generation_end_lease(entry->generation);
    file_unlock(provider);
    return NEO_OK;
}

/* ---- release ---- */

static void leave_item(struct file_provider *provider, struct file_entry *entry)
{
    file_lock(provider);
    struct index_item *item = file_item_of(provider, entry);
    if (item && item->users)
        item->users--;
    file_detach(entry);
    file_unlock(provider);
}

void file_release(void *context, struct store_entry *base, bool committed)
{
    struct file_provider *provider = context;
    struct file_entry *entry = (struct file_entry *)base;
    pages_drop(provider, entry);
    if (!entry->generation)
        return;
    if (committed)
        leave_item(provider, entry);
    else
        place_abandon(provider, entry);
}
