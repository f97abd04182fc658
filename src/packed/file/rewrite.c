/* Writes a cache file anew. */
#include "src/packed/file/rewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/log.h"
#include "src/packed/file/fresh.h"

enum { NS_PER_S = 1000000000 };

neo_weights_file_entry file_entry_of(const struct file_index *index, const struct index_item *item)
{
    const struct format_record *record = &item->record;
    return (neo_weights_file_entry){
        .key = format_record_key(record),
        .offset = record->offset,
        .size = record->size,
        .align = record->align,
        .created_s = record->created_ns / NS_PER_S,
        .used_s = record->used_ns / NS_PER_S,
        .state = item->damaged                      ? NEO_WEIGHTS_DAMAGED
                 : item->replaced                   ? NEO_WEIGHTS_DEAD
                 : index_item_is_stale(index, item) ? NEO_WEIGHTS_STALE
                                                    : NEO_WEIGHTS_USABLE,
    };
}

/* ---- what is kept ---- */

/* In use, then most recently used, then inserted last. */
static int by_use(const void *left, const void *right)
{
    const struct index_item *a = *(const struct index_item *const *)left;
    const struct index_item *b = *(const struct index_item *const *)right;
    if (!a->users != !b->users)
        return a->users ? -1 : 1;
    if (a->record.used_ns != b->record.used_ns)
        return a->record.used_ns > b->record.used_ns ? -1 : 1;
    return a->record.slot > b->record.slot ? -1 : 1;
}

static int by_slot(const void *left, const void *right)
{
    const struct index_item *a = *(const struct index_item *const *)left;
    const struct index_item *b = *(const struct index_item *const *)right;
    return a->record.slot < b->record.slot ? -1 : 1;
}

/* What an entry adds to a file at most. */
static uint64_t cost(const struct format_record *record)
{
    return record->size + format_data_align(record->size, record->align) + FORMAT_RECORD_BYTES;
}

/* One that would not fit alone keeps no others out; after the first that does not fit beside those
 * used later, the rest goes. */
static size_t within_limit(const struct index_item **items, size_t count, uint64_t limit)
{
    uint64_t bytes = FORMAT_EMPTY_BYTES + FORMAT_BLOCK_BYTES;
    qsort(items, count, sizeof *items, by_use);
    size_t kept = 0;
    uint64_t empty = bytes;
    for (size_t i = 0; i < count; i++) {
        uint64_t more = cost(&items[i]->record);
        if (empty + more > limit && !items[i]->users)
            continue;
        if (bytes + more > limit && !items[i]->users)
            break;
        bytes += more;
        items[kept++] = items[i];
    }
    return kept;
}

static size_t select_items(const struct file_index *index, const struct rewrite_plan *plan,
                           const struct index_item **items)
{
    size_t count = 0;
    for (size_t i = 0; i < index->count; i++) {
        const struct index_item *item = &index->items[i];
        if (!index_item_is_usable(item))
            continue;
        neo_weights_file_entry entry = file_entry_of(index, item);
        if (!plan->keep || plan->keep(plan->argument, &entry))
            items[count++] = item;
    }
    if (plan->limit_bytes)
        count = within_limit(items, count, plan->limit_bytes);
    qsort(items, count, sizeof *items, by_slot);
    return count;
}

/* ---- copying ---- */

static int copy_item(struct file_generation *fresh, const struct file_generation *old,
                     const struct index_item *item)
{
    struct format_record record = item->record;
    record.offset =
        space_find(&fresh->index.space, record.size, format_data_align(record.size, record.align));
    int error = space_claim(&fresh->index.space, record.offset, record.size);
    if (error)
        return error;
    error = io_allocate(fresh->fd, record.offset, record.size);
    if (!error)
        error = index_copy_data(old->fd, item->record.offset, fresh->fd, record.offset, record.size,
                                record.data_checksum);
    if (!error)
        error = index_append(&fresh->index, fresh->fd, &record);
    if (error)
        space_release(&fresh->index.space, record.offset);
    return error;
}

static int copy_items(struct file_generation *fresh, const struct file_generation *old,
                      const struct rewrite_plan *plan)
{
    const struct file_index *index = &old->index;
    const struct index_item **items = calloc(index->count + 1, sizeof(const struct index_item *));
    if (!items)
        return -ENOMEM;
    int error = 0;
    size_t count = select_items(index, plan, items);
    for (size_t i = 0; i < count && !error; i++) {
        error = copy_item(fresh, old, items[i]);
        if (error == -EBADMSG || error == -ENODATA) {
            log_warn("weights: the entry in slot %u is damaged and left behind",
                     items[i]->record.slot);
            error = 0;
        }
    }
    free(items);
    return error;
}

int file_rewrite(const char *path, const struct file_generation *old,
                 const struct rewrite_plan *plan, struct file_generation **out)
{
    struct fresh_file file;
    struct file_generation *fresh = NULL;
    int error = fresh_open(&file, path);
    if (!error)
        error = generation_create(file.fd, old->index.header.generation + 1, &fresh);
    if (!error)
        error = copy_items(fresh, old, plan);
    if (!error)
        error = fresh_publish(&file, path);
    fresh_deinit(&file);
    if (error)
        generation_release(fresh);
    else
        *out = fresh;
    return error;
}
