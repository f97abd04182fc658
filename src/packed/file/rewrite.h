/* Writes a cache file anew: a temporary file, then rename. Nobody who has the old one is disturbed.
 */
#ifndef SRC_PACKED_FILE_REWRITE_H
#define SRC_PACKED_FILE_REWRITE_H

#include "src/packed/file/generation.h"

struct rewrite_plan {
    uint64_t limit_bytes; /* of the new file; 0: none. Least recently used entries go first, those
                           * in use in this process stay. */
    neo_weights_file_visit *keep; /* NULL: all */
    void *argument;
};

/* Takes usable entries over to a new file at path whose lease is held; those whose bytes turn out
 * damaged are left behind. The caller holds the lease on old, which stays as it is. */
int file_rewrite(const char *path, const struct file_generation *old,
                 const struct rewrite_plan *plan, struct file_generation **out);

/* An item as users see it. */
neo_weights_file_entry file_entry_of(const struct file_index *index, const struct index_item *item);

#endif
