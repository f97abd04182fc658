/* Looking after a cache file: list, compact, delete. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/core/log.h"
#include "src/packed/file/rewrite.h"

enum { NS_PER_S = 1000000000 };

/* A file that can be looked at: ours, of a version we know. */
static int check_kind(const struct file_generation *generation)
{
    switch (generation->state) {
    case GENERATION_USABLE:
    case GENERATION_BLANK:
        return 0;
    case GENERATION_NEWER:
        return -EPROTONOSUPPORT;
    default:
        return -EILSEQ;
    }
}

static int verify_items(struct file_generation *generation)
{
    for (size_t i = 0; i < generation->index.count; i++) {
        struct index_item *item = &generation->index.items[i];
        const struct format_record *record = &item->record;
        if (!index_item_is_usable(item))
            continue;
        int error =
            index_verify_data(generation->fd, record->offset, record->size, record->data_checksum);
        item->damaged = error != 0;
        if (error && error != -EBADMSG && error != -ENODATA)
            return error;
    }
    return 0;
}

static void summarise(const struct file_generation *generation, neo_weights_file_summary *summary)
{
    const struct file_index *index = &generation->index;
    struct io_identity file = {.bytes = 0};
    io_identify(generation->fd, &file);
    *summary = (neo_weights_file_summary){
        .file_bytes = file.bytes,
        .generation = index->header.generation,
        .created_s = index->header.created_ns / NS_PER_S,
        .lost_records = index->lost,
        .writer = generation_writer(generation),
    };
    for (size_t i = 0; i < index->count; i++) {
        neo_weights_file_entry entry = file_entry_of(index, &index->items[i]);
        summary->entries[entry.state]++;
        summary->bytes[entry.state] += entry.size;
    }
}

static int list(struct file_generation *generation, int verify, neo_weights_file_visit *visit,
                void *argument, neo_weights_file_summary *summary)
{
    int error = check_kind(generation);
    if (!error && verify)
        error = verify_items(generation);
    if (error)
        return error;
    if (summary)
        summarise(generation, summary);
    for (size_t i = 0; visit && i < generation->index.count; i++) {
        neo_weights_file_entry entry =
            file_entry_of(&generation->index, &generation->index.items[i]);
        if (!visit(argument, &entry))
            break;
    }
    return 0;
}

neo_status neo_weights_file_list(const char *path, int verify, neo_weights_file_visit *visit,
                                 void *argument, neo_weights_file_summary *summary)
{
    if (!path)
        return log_refusal(__func__, "path is NULL");
    struct file_generation *generation;
    int error = generation_open(path, IO_READ, &generation);
    if (error)
        return io_status(error);
    error = list(generation, verify, visit, argument, summary);
    generation_release(generation);
    return io_status(error);
}

/* Opens the file as its only writer. */
static int open_alone(const char *path, struct file_generation **out)
{
    struct file_generation *generation;
    int error = generation_open(path, IO_WRITE, &generation);
    if (error)
        return error;
    error = generation_lease(generation);
    if (!error && !generation_is_current(generation, path))
        error = -EBUSY; /* somebody has just written it anew */
    if (error) {
        generation_release(generation);
        return error;
    }
    *out = generation;
    return 0;
}

neo_status neo_weights_file_compact(const char *path, uint64_t limit_bytes,
                                    neo_weights_file_visit *keep, void *argument,
                                    neo_weights_file_summary *summary)
{
    if (!path)
        return log_refusal(__func__, "path is NULL");
    struct file_generation *old, *fresh;
    int error = open_alone(path, &old);
    if (error)
        return io_status(error);
    struct rewrite_plan plan = {.limit_bytes = limit_bytes, .keep = keep, .argument = argument};
    error = file_rewrite(path, old, &plan, &fresh);
    generation_release(old);
    if (error)
        return io_status(error);
    generation_end_lease(fresh);
    if (summary)
        summarise(fresh, summary);
    generation_release(fresh);
    return NEO_OK;
}

neo_status neo_weights_file_delete(const char *path)
{
    if (!path)
        return log_refusal(__func__, "path is NULL");
    struct file_generation *generation;
    int error = open_alone(path, &generation);
    if (error)
        return io_status(error);
    if (unlink(path))
        error = -errno;
    generation_release(generation);
    return io_status(error);
}
