/* System calls of the cache file, with what the others must not forget.
 *
 * All return 0 (or a file descriptor) or a negative errno. None raises SIGXFSZ or changes a
 * process-wide signal handler; all survive EINTR. */
#ifndef SRC_PACKED_FILE_IO_H
#define SRC_PACKED_FILE_IO_H

#include <stdbool.h>
#include <sys/types.h>

#include "neoprene/types.h"

/* Which file a path or a descriptor means. */
struct io_identity {
    dev_t device;
    ino_t inode;
    uint64_t bytes;
    uint64_t disk_bytes; /* that its blocks take; fewer where it has holes or is compressed */
};

enum io_access { IO_READ, IO_WRITE, IO_CREATE };

/* Opens a cache file: no links are followed, the descriptor is closed on exec, a new file gets
 * mode 0600. -EPERM for what is no regular file, belongs to another user (root excepted) or is
 * writable for others. With more than IO_READ, a file that may only be read is opened for that;
 * *writable tells, and *refusal why. */
int io_open(const char *path, enum io_access access, bool *writable, int *refusal);

/* A new file of mode 0600; -EEXIST if there is anything of that name. */
int io_open_new(const char *path);

int io_identify(int fd, struct io_identity *out);
int io_identify_path(const char *path, struct io_identity *out);
bool io_same_file(const struct io_identity *a, const struct io_identity *b);

int io_read(int fd, void *data, size_t size, uint64_t offset); /* -ENODATA at the end of the file */
int io_write(int fd, const void *data, size_t size, uint64_t offset);

/* Makes sure that [offset, offset + size) has disk space, so that storing to it through a mapping
 * cannot raise SIGBUS for want of it. */
int io_allocate(int fd, uint64_t offset, uint64_t size);

int io_sync(int fd);
int io_sync_folder_of(const char *path);

/* The lock belongs to the open file, so it ends with the process at the latest. -EWOULDBLOCK:
 * somebody else has it. */
int io_lock(int fd);
void io_unlock(int fd);

neo_status io_status(int error);

#endif
