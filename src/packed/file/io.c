/* System calls of the cache file. */
#include "src/packed/file/io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/core/checked.h"
#include "src/core/log.h"

enum { OPEN_FLAGS = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };

/* ---- open ---- */

static int open_once(const char *path, int flags)
{
    int fd;
    do
        fd = open(path, OPEN_FLAGS | flags, 0600);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

static const char *refuse_file(const struct stat *file)
{
    if (!S_ISREG(file->st_mode))
        return "it is not a regular file";
    if (file->st_uid != geteuid() && file->st_uid != 0)
        return "it belongs to another user";
    if (file->st_mode & (S_IWGRP | S_IWOTH))
        return "others may write to it";
    return NULL;
}

static int check_opened(const char *path, int fd)
{
    struct stat file;
    if (fstat(fd, &file))
        return -errno;
    const char *refused = refuse_file(&file);
    if (!refused)
        return 0;
    log_warn("weights: '%s' is not used: %s", path, refused);
    return -EPERM;
}

static bool means_read_only(int error)
{
    return error == -EACCES || error == -EROFS || error == -EPERM || error == -ETXTBSY;
}

int io_open(const char *path, enum io_access access, bool *writable, int *refusal)
{
    int fd = access == IO_READ ? -EROFS : open_once(path, O_RDWR);
    if (fd == -ENOENT && access == IO_CREATE)
        fd = open_once(path, O_RDWR | O_CREAT);
    *writable = fd >= 0;
    *refusal = fd < 0 ? fd : 0;
    if (means_read_only(fd)) {
        int reading = open_once(path, O_RDONLY);
        fd = reading == -ENOENT && access == IO_CREATE ? fd : reading;
    }
    if (fd < 0)
        return fd;
    int error = check_opened(path, fd);
    if (error) {
        close(fd);
        return error;
    }
    return fd;
}

int io_open_new(const char *path)
{
    return open_once(path, O_RDWR | O_CREAT | O_EXCL);
}

static int identity_of(int result, const struct stat *file, struct io_identity *out)
{
    if (result)
        return -errno;
    enum { BLOCK = 512 }; /* of st_blocks, whatever the file system has */
    *out = (struct io_identity){file->st_dev, file->st_ino, (uint64_t)file->st_size,
                                (uint64_t)file->st_blocks * BLOCK};
    return 0;
}

int io_identify(int fd, struct io_identity *out)
{
    struct stat file;
    return identity_of(fstat(fd, &file), &file, out);
}

int io_identify_path(const char *path, struct io_identity *out)
{
    struct stat file;
    return identity_of(lstat(path, &file), &file, out);
}

bool io_same_file(const struct io_identity *a, const struct io_identity *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* ---- growth: beyond RLIMIT_FSIZE the kernel would send SIGXFSZ, which ends a process ---- */

struct signal_guard {
    sigset_t limit, before;
    bool was_pending;
};

static void guard_begin(struct signal_guard *guard)
{
    sigset_t pending;
    sigemptyset(&guard->limit);
    sigaddset(&guard->limit, SIGXFSZ);
    sigpending(&pending);
    guard->was_pending = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &guard->limit, &guard->before);
}

/* Takes away the signal if it is ours; the mask is the thread's own. */
static void guard_end(const struct signal_guard *guard, bool raised)
{
    static const struct timespec at_once;
    if (raised && !guard->was_pending)
        sigtimedwait(&guard->limit, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

/* Most of the time the limit is known, and the kernel need not be asked. */
static int check_limit(uint64_t offset, uint64_t size)
{
    struct rlimit limit;
    uint64_t end;
    if (__builtin_add_overflow(offset, size, &end) || end > INT64_MAX)
        return -EFBIG;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        end > limit.rlim_cur)
        return -EFBIG;
    return 0;
}

static int write_all(int fd, const char *data, size_t size, uint64_t offset)
{
    while (size) {
        ssize_t written = pwrite(fd, data, size, (off_t)offset);
        if (written < 0 && errno != EINTR)
            return -errno;
        if (written == 0)
            return -ENOSPC;
        if (written < 0)
            continue;
        data += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
    return 0;
}

int io_write(int fd, const void *data, size_t size, uint64_t offset)
{
    int error = check_limit(offset, size);
    if (error)
        return error;
    struct signal_guard guard;
    guard_begin(&guard);
    error = write_all(fd, data, size, offset);
    guard_end(&guard, error == -EFBIG);
    return error;
}

int io_allocate(int fd, uint64_t offset, uint64_t size)
{
    int error = check_limit(offset, size);
    if (error)
        return error;
    struct signal_guard guard;
    guard_begin(&guard);
    do
        error = -posix_fallocate(fd, (off_t)offset, (off_t)size);
    while (error == -EINTR);
    guard_end(&guard, error == -EFBIG);
    return error;
}

/* ---- the rest ---- */

int io_read(int fd, void *data, size_t size, uint64_t offset)
{
    char *at = data;
    while (size) {
        ssize_t got = pread(fd, at, size, (off_t)offset);
        if (got < 0 && errno != EINTR)
            return -errno;
        if (got == 0)
            return -ENODATA;
        if (got < 0)
            continue;
        at += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return 0;
}

int io_sync(int fd)
{
    int result;
    do
        result = fdatasync(fd);
    while (result && errno == EINTR);
    return result ? -errno : 0;
}

int io_sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0; /* with the slash: "/" stays "/" */
    char *folder = slash ? strndup(path, length) : strdup(".");
    if (!folder)
        return -ENOMEM;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0)
        return -errno;
    int result = fsync(fd) ? -errno : 0;
    close(fd);
    return result;
}

int io_lock(int fd)
{
    int result;
    do
        result = flock(fd, LOCK_EX | LOCK_NB);
    while (result && errno == EINTR);
    return result ? -errno : 0;
}

void io_unlock(int fd)
{
    flock(fd, LOCK_UN);
}

neo_status io_status(int error)
{
    static const struct {
        int error;
        neo_status status;
    } rows[] = {
        {0, NEO_OK},
        {-ENOMEM, NEO_OUT_OF_MEMORY},
        {-ENOENT, NEO_NOT_FOUND},
        {-EWOULDBLOCK, NEO_BUSY},
        {-ETIMEDOUT, NEO_BUSY},
        {-EBUSY, NEO_BUSY},
        {-EILSEQ, NEO_CORRUPT},
        {-EPROTONOSUPPORT, NEO_UNSUPPORTED},
    };
    for (size_t i = 0; i < count_of(rows); i++)
        if (rows[i].error == error)
            return rows[i].status;
    return NEO_IO_ERROR;
}
