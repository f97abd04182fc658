/* What a cache file holds, as this process has read and checked it.
 *
 * Records are read with read(2), never through a mapping, so what was checked is what is used. A
 * record that fails its checks costs that entry alone. Records that contradict each other or the
 * file's size set `rewrite`: from then on nobody appends to this file, and the next insertion
 * writes it anew. */
#ifndef SRC_PACKED_FILE_INDEX_H
#define SRC_PACKED_FILE_INDEX_H

#include "src/packed/file/format.h"
#include "src/packed/file/space.h"

struct index_item {
    struct format_record record;
    uint64_t place; /* of the record, in the file */
    size_t next;    /* item + 1 in its bucket */
    bool replaced;  /* a later record took its place */
    bool damaged;   /* the record or the bytes failed a check */
    bool verified;  /* the bytes equal their checksum */
    size_t users;   /* mappings of it that are in use in this process */
};

struct file_index {
    struct format_header header; /* all zero until the file has one */
    struct index_item *items;    /* in the order of their slots */
    size_t count, capacity;
    size_t *buckets; /* item + 1; the current items by key */
    size_t bucket_count;
    struct file_space space;
    uint64_t block;   /* offset of the last index block */
    uint32_t slot;    /* the first one that has not been read */
    uint64_t lost;    /* records of which nothing is known */
    uint64_t refused; /* intact ones that contradict others or the file's size */
    bool rewrite;
};

/* All zero is a valid index of a file that has no header. */
void index_deinit(struct file_index *index);

/* Reads and judges the header; on FORMAT_GOOD the index is ready for index_refresh(). */
int index_read_header(struct file_index *index, int fd, enum format_verdict *verdict);

/* Writes a header into an empty file that nobody else writes to. */
int index_format(struct file_index *index, int fd, uint64_t generation);

/* Reads the records that have been added. exclusive: nobody can be writing one at this moment, so
 * one that is half there stays so. */
int index_refresh(struct file_index *index, int fd, bool exclusive);

/* The current item of a key, also if it is damaged; NULL if there is none. */
struct index_item *index_find(const struct file_index *index, const neo_weights_key *key);
bool index_item_is_usable(const struct index_item *item);

/* There is a usable entry for the same thing, of a later layout version. */
bool index_item_is_stale(const struct file_index *index, const struct index_item *item);

/* Commits an entry: fills in the slot, what it replaces and the checksum, and writes the record.
 * Its bytes are claimed in the space already. Only under the lease. */
int index_append(struct file_index *index, int fd, struct format_record *record);

/* Bytes of usable entries, and of the others. */
void index_measure(const struct file_index *index, uint64_t *live_bytes, uint64_t *dead_bytes,
                   uint64_t *entries);

/* Compares [offset, offset + size) of the file with a checksum, or a copy of it on the way:
 * 0, -EBADMSG if it differs, or an error of reading or writing. */
int index_copy_data(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size,
                    uint64_t checksum);
int index_verify_data(int fd, uint64_t offset, uint64_t size, uint64_t checksum);

#endif
