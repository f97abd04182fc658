/* A file that is written beside another one and then takes its place.
 *
 * Where the file system allows it has no name until then: who dies meanwhile leaves nothing behind.
 * Otherwise, and for a moment in any case, it has a name that nobody else has. Nothing is removed
 * that was not made here. */
#ifndef SRC_PACKED_FILE_FRESH_H
#define SRC_PACKED_FILE_FRESH_H

struct fresh_file {
    int fd;
    char *name; /* NULL: none yet */
};

/* An empty file of mode 0600 in the folder of path. Returns 0 or a negative errno. */
int fresh_open(struct fresh_file *fresh, const char *path);

/* Puts what was written to the disk and then in the place of path. */
int fresh_publish(struct fresh_file *fresh, const char *path);

/* Removes the name, if it still has one of its own. The descriptor is its user's to close. */
void fresh_deinit(struct fresh_file *fresh);

#endif
