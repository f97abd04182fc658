/* One inode of a cache file: its descriptor, its index, the lease on it.
 *
 * A file is written anew by renaming another one to its path. Who has entries of the older
 * generation mapped keeps them: a generation lives until its last user is gone. Not thread-safe:
 * the provider's mutex protects it. */
#ifndef SRC_PACKED_FILE_GENERATION_H
#define SRC_PACKED_FILE_GENERATION_H

#include "src/packed/file/index.h"
#include "src/packed/file/io.h"

enum generation_state {
    GENERATION_USABLE,
    GENERATION_BLANK,   /* it will be formatted in place by the first writer */
    GENERATION_BROKEN,  /* it was ours: the first writer writes it anew */
    GENERATION_FOREIGN, /* it is left alone */
    GENERATION_NEWER,
};

struct file_generation {
    size_t references;
    int fd;
    struct io_identity identity;
    enum generation_state state;
    bool writable;
    int refusal;        /* why it is not */
    pid_t process;      /* that opened it: a fork shares the lock, so the child may not use it */
    size_t lease_users; /* reservations that are being packed */
    struct file_index index;
};

/* Opens the file at path and reads what it holds. */
int generation_open(const char *path, enum io_access access, struct file_generation **out);

/* Formats a new, empty file and holds the lease on it. The descriptor is the generation's from now
 * on, and closed if this fails. */
int generation_create(int fd, uint64_t number, struct file_generation **out);

struct file_generation *generation_retain(struct file_generation *generation);
void generation_release(struct file_generation *generation);

/* Reads what has been added by others. */
int generation_refresh(struct file_generation *generation, bool exclusive);

/* Is this what is at path now, in this process? */
bool generation_is_current(const struct file_generation *generation, const char *path);

/* 0, -EILSEQ (not a cache file), -EPROTONOSUPPORT (newer), or why it cannot be written to. */
int generation_check_writable(const struct file_generation *generation);

/* Takes the lease, if nobody has it, and reads what its last holder wrote; a blank file is
 * formatted. */
int generation_lease(struct file_generation *generation);
void generation_end_lease(struct file_generation *generation);

/* The process that has the lease, or 0. */
uint32_t generation_writer(const struct file_generation *generation);

#endif
