/* Entries that are in the file. */
#include <errno.h>
#include <unistd.h>

#include "src/core/log.h"
#include "src/weights/file_provider.h"

enum { USED_STEP_NS = 1000000000 };

struct index_item *file_item_of(const struct file_provider *provider,
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
    struct index_item *item = file_item_of(provider, entry);
    if (!item)
        return;
    item->users++;
    if (!entry->generation || entry->generation != provider->current)
        return;
    item->verified = true;
    if (!file_has(provider, NEO_WEIGHTS_READ_ONLY))
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

void file_detach(struct file_entry *entry)
{
    generation_release(entry->generation);
    entry->generation = NULL;
}

neo_status file_find(void *context, struct store_entry *base)
{
    struct file_provider *provider = context;
    struct file_entry *entry = (struct file_entry *)base;
    file_lock(provider);
    const struct index_item *item = current_locate(provider, &base->key);
    if (!item) {
        file_unlock(provider);
        return NEO_NOT_FOUND;
    }
    entry->generation = generation_retain(provider->current);
    entry->offset = item->record.offset;
    base->size = (size_t)item->record.size;
    base->align = item->record.align;
    uint64_t checksum = item->record.data_checksum;
    bool verify = !item->verified && !file_has(provider, NEO_WEIGHTS_TRUST);
    file_unlock(provider);

    int error = pages_bring(provider, entry, checksum, verify);
    file_lock(provider);
    if (error) {
        note_bad(provider, entry, error);
        file_detach(entry);
    } else {
        note_good(provider, entry);
    }
    file_unlock(provider);
    return error ? NEO_NOT_FOUND : NEO_OK;
}
