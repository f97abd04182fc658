/* Entries that are in the file. */
#include <errno.h>
#include <unistd.h>

#include "src/core/log.h"
#include "src/packed/file/provider.h"
#include "src/packed/file/stamp.h"
#include "src/packed/provider.h"
#include "src/packed/wanted.h"

/* Writing the time of a use ends the file's stamp, and is worth that where it decides what goes. */
enum { USED_STEP_S = 6 * 3600, USED_STEP_WITH_LIMIT_S = 1, NS_PER_S = 1000000000 };

struct index_item *file_item_of(const struct file_provider *provider,
                                const struct file_entry *entry)
{
    struct file_generation *generation = provider->current ? provider->current : entry->generation;
    return index_find(&generation->index, &entry->base.key);
}

static void note_use(const struct file_provider *provider, struct file_generation *generation,
                     struct index_item *item)
{
    uint64_t now = format_now_ns();
    uint64_t step_s = provider->options.limit_bytes ? USED_STEP_WITH_LIMIT_S : USED_STEP_S;
    bool recent = now - item->record.used_ns < step_s * NS_PER_S;
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
        note_use(provider, entry->generation, item);
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

/* Brings the entry of an intact record. One of another size than wanted is wrong whatever its bytes
 * are, and none of them is read. */
static int bring(struct file_provider *provider, struct file_entry *entry,
                 const struct index_item *item)
{
    size_t wanted = weights_wanted_size();
    if (wanted && item->record.size != wanted)
        return -EBADMSG;
    const struct file_generation *generation = entry->generation;
    const struct stamped_file file = {.path = provider->path,
                                      .fd = generation->fd,
                                      .boot = provider->boot,
                                      .file_id = generation->index.header.file_id};
    uint32_t slot = item->record.slot;
    bool verify = !item->verified && !file_has(provider, NEO_WEIGHTS_TRUST);
    if (verify && !file_has(provider, NEO_WEIGHTS_VERIFY))
        verify = !stamp_covers(&file, slot);
    struct file_stamp stamp;
    bool can_stamp = verify && !file_has(provider, NEO_WEIGHTS_READ_ONLY) &&
                     stamp_begin(&stamp, &file, item->record.offset, item->record.size);
    int error = pages_bring(provider, entry, item->record.data_checksum, verify);
    if (!error && can_stamp)
        stamp_end(&stamp, &file, slot);
    return error;
}

neo_status file_find(void *context, struct store_entry *base)
{
    struct file_provider *provider = context;
    struct file_entry *entry = (struct file_entry *)base;
    file_lock(provider);
    const struct index_item *found = current_locate(provider, &base->key);
    if (!found) {
        file_unlock(provider);
        return NEO_NOT_FOUND;
    }
    const struct index_item item = *found; /* they move when there are more */
    entry->generation = generation_retain(provider->current);
    entry->offset = item.record.offset;
    base->size = (size_t)item.record.size;
    base->align = item.record.align;
    file_unlock(provider);

    int error = bring(provider, entry, &item);
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
