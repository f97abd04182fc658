/* Parts of the index of a cache file that its files share. */
#ifndef SRC_PACKED_FILE_INDEX_PARTS_H
#define SRC_PACKED_FILE_INDEX_PARTS_H

#include "src/packed/file/index.h"

enum {
    INDEX_LAST_SLOT = FORMAT_BLOCK_SLOTS - 1
}; /* of a block: where the link to the next one is */

/* Where the next item goes; NULL: no memory. Items may move. */
struct index_item *index_next_item(struct file_index *index);

/* Of the record in the slot that has not been read. */
uint64_t index_next_place(const struct file_index *index);

/* Adds the next item, that of the record in that slot. Unless it is damaged it becomes the current
 * item of its key, instead of `replaced`, which may be NULL. */
void index_add_item(struct file_index *index, struct index_item *item,
                    const struct format_record *record, bool damaged, struct index_item *replaced);

#endif
