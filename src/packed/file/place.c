/* Room in the file for a new entry. */
#include <errno.h>

#include "src/packed/file/provider.h"
#include "src/packed/file/rewrite.h"

enum { SMALLEST_DEAD_BYTES = 1 << 20 }; /* fewer are not worth writing the file anew for */

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
    generation_end_lease(old);
    current_replace(provider, fresh);
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

void place_abandon(struct file_provider *provider, struct file_entry *entry)
{
    file_lock(provider);
    space_release(&entry->generation->index.space, entry->offset);
    generation_end_lease(entry->generation);
    file_detach(entry);
    file_unlock(provider);
}

int place_take(struct file_provider *provider, struct file_entry *entry)
{
    int error = lease_wait(provider, &entry->base.key);
    if (error)
        return error;
    error = current_find(provider, &entry->base.key) ? -EEXIST : claim_place(provider, entry);
    if (error)
        generation_end_lease(provider->current);
    file_unlock(provider);
    if (error)
        return error;
    error = io_allocate(entry->generation->fd, entry->offset, entry->base.size);
    if (!error)
        error = pages_map_new(entry);
    if (error)
        place_abandon(provider, entry);
    return error;
}
