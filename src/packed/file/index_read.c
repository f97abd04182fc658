/* The records of a cache file: read a block at a time, judged, and taken in one after the other. */
#include <errno.h>
#include <stdlib.h>

#include "src/core/log.h"
#include "src/packed/file/index_parts.h"
#include "src/packed/file/io.h"

/* A few blocks and a hole of terabytes would take hours to verify. No file system compresses
 * weights as far as that; one that does not tell of its blocks says 0. */
static bool is_mostly_hole(const struct format_record *record, const struct io_identity *file)
{
    enum { MOST_COMPRESSED = 64 };
    return file->disk_bytes && record->size / MOST_COMPRESSED > file->disk_bytes;
}

/* Whether what an intact record says agrees with all before it. */
static int admit_place(struct file_index *index, const struct format_record *record,
                       const struct io_identity *file)
{
    if (record->offset + record->size > file->bytes || is_mostly_hole(record, file))
        return -ENODATA;
    return space_claim(&index->space, record->offset, record->size);
}

/* Finds the item of the same key, if there is one; then the record has to say that it replaces it.
 */
static bool admit_key(struct file_index *index, const struct format_record *record,
                      struct index_item **replaced)
{
    neo_weights_key key = format_record_key(record);
    *replaced = index_find(index, &key);
    return !*replaced || record->replaces == (*replaced)->record.slot + 1;
}

static int admit(struct file_index *index, const struct format_record *record,
                 const struct io_identity *file)
{
    struct index_item *replaced, *item = index_next_item(index);
    if (!item)
        return -ENOMEM;
    bool good = admit_key(index, record, &replaced);
    int error = good ? admit_place(index, record, file) : -EEXIST;
    if (error == -ENOMEM)
        return error;
    if (error) {
        log_warn("weights: the record in slot %u contradicts the file; it is not used",
                 record->slot);
        index->refused++;
        index->rewrite = true;
    }
    index_add_item(index, item, record, error != 0, replaced);
    return 0;
}

static int follow(struct file_index *index, const struct format_record *link,
                  const struct io_identity *file)
{
    int error = admit_place(index, link, file);
    if (error == -ENOMEM)
        return error;
    if (error) {
        index->rewrite = true;
        return -ENODATA;
    }
    index->block = link->offset;
    return 0;
}

struct block {
    struct format_record records[FORMAT_BLOCK_SLOTS];
    enum format_verdict verdicts[FORMAT_BLOCK_SLOTS];
    unsigned first, end; /* slots of the block: the first unread one, one after the last used one */
};

static int read_block(const struct file_index *index, int fd, struct block *block)
{
    block->first = index->slot % FORMAT_BLOCK_SLOTS;
    block->end = block->first;
    uint64_t skipped = (uint64_t)block->first * FORMAT_RECORD_BYTES;
    int error = io_read(fd, block->records + block->first, FORMAT_BLOCK_BYTES - skipped,
                        index->block + skipped);
    for (unsigned i = block->first; !error && i < FORMAT_BLOCK_SLOTS; i++) {
        uint32_t slot = index->slot - block->first + i;
        block->verdicts[i] = format_record_judge(&block->records[i], slot, index->header.file_id);
        if (block->verdicts[i] != FORMAT_BLANK)
            block->end = i + 1;
    }
    return error;
}

/* A slot before the last used one is blank or damaged. */
static bool has_gap(const struct block *block)
{
    for (unsigned i = block->first; i + 1 < block->end; i++)
        if (block->verdicts[i] != FORMAT_GOOD)
            return true;
    return false;
}

/* A record may arrive while its block is read, and then look like a gap: the second reading
 * decides. */
static int read_settled_block(const struct file_index *index, int fd, struct block *block)
{
    int error = read_block(index, fd, block);
    return !error && has_gap(block) ? read_block(index, fd, block) : error;
}

/* Takes the next record of a block in; *more is cleared when there is nothing to be read after it.
 */
static int take_record(struct file_index *index, const struct block *block,
                       const struct io_identity *file, bool exclusive, bool *more)
{
    unsigned i = index->slot % FORMAT_BLOCK_SLOTS;
    enum format_verdict verdict = block->verdicts[i];
    bool last = i + 1 == block->end;
    if (verdict == FORMAT_DAMAGED && last && !exclusive) {
        *more = false; /* perhaps it is just being written */
        return 0;
    }
    if (verdict == FORMAT_GOOD && i != INDEX_LAST_SLOT) {
        int error = admit(index, &block->records[i], file);
        index->slot += !error;
        return error;
    }
    if (verdict == FORMAT_GOOD) {
        int error = follow(index, &block->records[i], file);
        index->slot += !error;
        return error;
    }
    index->lost += verdict == FORMAT_DAMAGED;
    index->rewrite |= !last || verdict == FORMAT_BLANK || i == INDEX_LAST_SLOT;
    if (i == INDEX_LAST_SLOT) {
        *more = false; /* without the link, the rest is out of reach */
        return 0;
    }
    index->slot++;
    return 0;
}

int index_refresh(struct file_index *index, int fd, bool exclusive)
{
    struct block *block = malloc(sizeof *block);
    if (!block)
        return -ENOMEM;
    int error = 0;
    bool more = true;
    while (!error && more) {
        uint32_t begin = index->slot;
        struct io_identity file; /* its size after the records were read: it only grows */
        error = read_settled_block(index, fd, block);
        if (!error)
            error = io_identify(fd, &file);
        while (!error && more && index->slot - begin + block->first < block->end)
            error = take_record(index, block, &file, exclusive, &more);
        more = more && block->end == FORMAT_BLOCK_SLOTS;
    }
    free(block);
    if (error == -ENODATA) { /* the file is shorter than its index says */
        index->rewrite = true;
        error = 0;
    }
    return error;
}
