/* What a cache file holds: items, the header, what is written. Records are read in
 * index_read.c. */
#include "src/packed/file/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/packed/content_hash.h"
#include "src/packed/file/index_parts.h"
#include "src/packed/file/io.h"
#include "src/packed/key.h"

void index_deinit(struct file_index *index)
{
    free(index->items);
    free(index->buckets);
    space_deinit(&index->space);
    *index = (struct file_index){.count = 0};
}

/* ---- items ---- */

static size_t *bucket_of(const struct file_index *index, const neo_weights_key *key)
{
    return &index->buckets[weights_key_hash(key, true) & (index->bucket_count - 1)];
}

static void link_item(struct file_index *index, size_t i)
{
    neo_weights_key key = format_record_key(&index->items[i].record);
    size_t *bucket = bucket_of(index, &key);
    index->items[i].next = *bucket;
    *bucket = i + 1;
}

static void unlink_item(struct file_index *index, const struct index_item *item)
{
    neo_weights_key key = format_record_key(&item->record);
    size_t *link = bucket_of(index, &key);
    while (*link && &index->items[*link - 1] != item)
        link = &index->items[*link - 1].next;
    if (*link)
        *link = item->next;
}

/* Damaged records of a key that is there twice are in no bucket. */
static bool is_linked(const struct file_index *index, size_t i)
{
    neo_weights_key key = format_record_key(&index->items[i].record);
    size_t at = *bucket_of(index, &key);
    while (at && at != i + 1)
        at = index->items[at - 1].next;
    return at != 0;
}

static bool grow_items(struct file_index *index)
{
    size_t capacity = index->capacity ? 2 * index->capacity : FORMAT_BLOCK_SLOTS;
    size_t *buckets = calloc(2 * capacity, sizeof *buckets);
    bool *linked = calloc(capacity, sizeof *linked);
    struct index_item *items =
        buckets && linked ? realloc(index->items, capacity * sizeof *items) : NULL;
    if (!items) {
        free(buckets);
        free(linked);
        return false;
    }
    index->items = items;
    for (size_t i = 0; i < index->count; i++)
        linked[i] = is_linked(index, i);
    free(index->buckets);
    index->buckets = buckets;
    index->bucket_count = 2 * capacity;
    index->capacity = capacity;
    for (size_t i = 0; i < index->count; i++)
        if (linked[i])
            link_item(index, i);
    free(linked);
    return true;
}

struct index_item *index_next_item(struct file_index *index)
{
    bool full = index->count == index->capacity;
    return full && !grow_items(index) ? NULL : &index->items[index->count];
}

uint64_t index_next_place(const struct file_index *index)
{
    return index->block + (uint64_t)(index->slot % FORMAT_BLOCK_SLOTS) * FORMAT_RECORD_BYTES;
}

void index_add_item(struct file_index *index, struct index_item *item,
                    const struct format_record *record, bool damaged, struct index_item *replaced)
{
    *item = (struct index_item){
        .record = *record, .place = index_next_place(index), .damaged = damaged};
    if (!damaged && replaced) {
        unlink_item(index, replaced);
        replaced->replaced = true;
    }
    if (!damaged)
        link_item(index, index->count);
    index->count++;
}

struct index_item *index_find(const struct file_index *index, const neo_weights_key *key)
{
    if (!index->count)
        return NULL;
    for (size_t at = *bucket_of(index, key); at; at = index->items[at - 1].next) {
        neo_weights_key other = format_record_key(&index->items[at - 1].record);
        if (weights_key_equal(&other, key))
            return &index->items[at - 1];
    }
    return NULL;
}

bool index_item_is_usable(const struct index_item *item)
{
    return !item->replaced && !item->damaged;
}

bool index_item_is_stale(const struct file_index *index, const struct index_item *item)
{
    neo_weights_key key = format_record_key(&item->record);
    for (size_t i = 0; i < index->count; i++) {
        const struct index_item *other = &index->items[i];
        if (other->record.content_low != item->record.content_low || !index_item_is_usable(other) ||
            other->record.layout[KEY_LAYOUT_VERSION] <= item->record.layout[KEY_LAYOUT_VERSION])
            continue;
        neo_weights_key newer = format_record_key(&other->record);
        if (weights_key_same_but_version(&newer, &key))
            return true;
    }
    return false;
}

void index_measure(const struct file_index *index, uint64_t *live_bytes, uint64_t *dead_bytes,
                   uint64_t *entries)
{
    *live_bytes = *dead_bytes = *entries = 0;
    for (size_t i = 0; i < index->count; i++) {
        const struct index_item *item = &index->items[i];
        bool usable = index_item_is_usable(item);
        *(usable ? live_bytes : dead_bytes) += item->record.size;
        *entries += usable;
    }
}

/* ---- header ---- */

static int claim_fixed_places(struct file_index *index)
{
    int error = space_claim(&index->space, 0, FORMAT_HEADER_BYTES);
    if (!error)
        error = space_claim(&index->space, FORMAT_HEADER_BYTES, FORMAT_BLOCK_BYTES);
    if (error)
        space_deinit(&index->space);
    index->block = FORMAT_HEADER_BYTES;
    return error;
}

/* What a shorter file lacks counts as zero. */
static int read_header(int fd, struct format_header *header)
{
    struct io_identity file;
    int error = io_identify(fd, &file);
    *header = (struct format_header){.version = 0};
    return error ? error : io_read(fd, header, min_size(file.bytes, sizeof *header), 0);
}

int index_read_header(struct file_index *index, int fd, enum format_verdict *verdict)
{
    struct format_header header;
    int error = read_header(fd, &header);
    if (error)
        return error;
    *verdict = format_header_judge(&header);
    if (*verdict != FORMAT_GOOD)
        return 0;
    error = claim_fixed_places(index);
    if (!error)
        index->header = header;
    return error;
}

/* The first index block is not written: what posix_fallocate() adds is zero. */
int index_format(struct file_index *index, int fd, uint64_t generation)
{
    struct format_header header;
    format_header_fill(&header, generation);
    int error = io_allocate(fd, 0, FORMAT_EMPTY_BYTES);
    if (!error)
        error = io_write(fd, &header, sizeof header, 0);
    if (!error)
        error = io_sync(fd);
    if (!error)
        error = claim_fixed_places(index);
    if (!error)
        index->header = header;
    return error;
}

/* ---- writing ---- */

static int write_record(const struct file_index *index, int fd, struct format_record *record)
{
    format_record_seal(record, index->slot, index->header.file_id);
    return io_write(fd, record, sizeof *record, index_next_place(index));
}

static int write_new_block(int fd, uint64_t offset)
{
    void *zeros = calloc(1, FORMAT_BLOCK_BYTES);
    if (!zeros)
        return -ENOMEM;
    int error = io_allocate(fd, offset, FORMAT_BLOCK_BYTES);
    if (!error)
        error = io_write(fd, zeros, FORMAT_BLOCK_BYTES, offset);
    free(zeros);
    return error;
}

static int append_block(struct file_index *index, int fd)
{
    uint64_t offset = space_find(&index->space, FORMAT_BLOCK_BYTES, FORMAT_BLOCK_ALIGN);
    int error = space_claim(&index->space, offset, FORMAT_BLOCK_BYTES);
    if (error)
        return error;
    struct format_record link = {
        .kind = FORMAT_LINK, .offset = offset, .size = FORMAT_BLOCK_BYTES, .align = 1};
    error = write_new_block(fd, offset);
    if (!error)
        error = write_record(index, fd, &link);
    if (error) {
        space_release(&index->space, offset);
        return error;
    }
    index->block = offset;
    index->slot++;
    return 0;
}

int index_append(struct file_index *index, int fd, struct format_record *record)
{
    struct index_item *item = index_next_item(index);
    if (!item)
        return -ENOMEM;
    int error = index->slot % FORMAT_BLOCK_SLOTS == INDEX_LAST_SLOT ? append_block(index, fd) : 0;
    if (error)
        return error;
    neo_weights_key key = format_record_key(record);
    struct index_item *replaced = index_find(index, &key);
    record->kind = FORMAT_ENTRY;
    record->replaces = replaced ? replaced->record.slot + 1 : 0;
    error = write_record(index, fd, record);
    if (error)
        return error;
    index_add_item(index, item, record, false, replaced);
    index->slot++;
    return 0;
}

/* ---- entries' bytes ---- */

int index_copy_data(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size,
                    uint64_t checksum)
{
    char *buffer = malloc(min_size(size, CONTENT_CHUNK_BYTES));
    struct content_chain *chain = content_chain_create();
    int error = buffer && chain ? 0 : -ENOMEM;
    for (uint64_t done = 0; !error && done < size; done += CONTENT_CHUNK_BYTES) {
        size_t piece = min_size(size - done, CONTENT_CHUNK_BYTES);
        error = io_read(from, buffer, piece, from_offset + done);
        if (error)
            break;
        content_chain_add(chain, buffer, piece);
        if (to >= 0)
            error = io_write(to, buffer, piece, to_offset + done);
    }
    if (!error && content_chain_finish(chain).low != checksum)
        error = -EBADMSG;
    free(buffer);
    content_chain_destroy(chain);
    return error;
}

int index_verify_data(int fd, uint64_t offset, uint64_t size, uint64_t checksum)
{
    return index_copy_data(fd, offset, -1, 0, size, checksum);
}
