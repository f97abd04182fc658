/* Wrappers of the system calls that change files. */
#include "tests/support/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

/* The linker's --wrap fixes these names. */
int __real_open(const char *path, int flags, ...);
ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __real_pread(int fd, void *data, size_t size, off_t offset);
int __real_posix_fallocate(int fd, off_t offset, off_t size);
int __real_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_msync(void *data, size_t size, int flags);
int __real_flock(int fd, int operation);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *data, size_t size, off_t offset);
int __wrap_posix_fallocate(int fd, off_t offset, off_t size);
int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_msync(void *data, size_t size, int flags);
int __wrap_flock(int fd, int operation);

enum action { FAIL, KILL, KILL_TORN };

static atomic_size_t countdown; /* 0: not armed */
static atomic_int action;
static atomic_int error_at; /* for FAIL */
static atomic_bool delivered;
static atomic_int error_of[SYSCALL_KINDS];

static atomic_int last_kind;
static void (*hook_of[SYSCALL_KINDS])(void *argument); /* set while only one thread runs */
static void *hook_argument[SYSCALL_KINDS];

void syscalls_hook(enum syscall_kind kind, void (*hook)(void *argument), void *argument)
{
    hook_argument[kind] = argument;
    hook_of[kind] = hook;
}

enum syscall_kind syscalls_last(void)
{
    return (enum syscall_kind)atomic_load(&last_kind);
}

static void run_hook(enum syscall_kind kind)
{
    void (*hook)(void *argument) = hook_of[kind];
    if (!hook)
        return;
    hook_of[kind] = NULL;
    hook(hook_argument[kind]);
}

static void arm(size_t n, enum action what, int error)
{
    atomic_store(&action, (int)what);
    atomic_store(&error_at, error);
    atomic_store(&delivered, false);
    atomic_store(&countdown, n);
}

void syscalls_kill_at(size_t n, bool torn)
{
    arm(n, torn ? KILL_TORN : KILL, 0);
}

void syscalls_fail_at(size_t n, int error)
{
    arm(n, FAIL, error);
}

void syscalls_fail_all(enum syscall_kind kind, int error)
{
    atomic_store(&error_of[kind], error);
}

bool syscalls_reset(void)
{
    atomic_store(&countdown, 0);
    for (size_t i = 0; i < SYSCALL_KINDS; i++)
        atomic_store(&error_of[i], 0);
    return atomic_exchange(&delivered, false);
}

/* Is this call the one? */
static bool is_due(void)
{
    size_t left = atomic_load(&countdown);
    while (left && !atomic_compare_exchange_weak(&countdown, &left, left - 1))
        ;
    return left == 1;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* Returns the error with which the call has to fail, or 0. */
static int intercept(enum syscall_kind kind)
{
    run_hook(kind);
    atomic_store(&last_kind, (int)kind);
    int error = atomic_load(&error_of[kind]);
    if (!is_due())
        return error;
    if (atomic_load(&action) != FAIL)
        die();
    atomic_store(&delivered, true);
    return atomic_load(&error_at);
}

static bool fails(enum syscall_kind kind)
{
    int error = intercept(kind);
    if (error)
        errno = error;
    return error != 0;
}

int __wrap_open(const char *path, int flags, ...)
{
    bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
    if (!nameless && !(flags & O_CREAT))
        return __real_open(path, flags);
    va_list arguments;
    va_start(arguments, flags);
    unsigned mode = va_arg(arguments, unsigned);
    va_end(arguments);
    return fails(nameless ? SYSCALL_NAMELESS : SYSCALL_CREATE) ? -1
                                                               : __real_open(path, flags, mode);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
    if (atomic_load(&action) == KILL_TORN && atomic_load(&countdown) == 1)
        __real_pwrite(fd, data, size / 2, offset);
    return fails(SYSCALL_PWRITE) ? -1 : __real_pwrite(fd, data, size, offset);
}

ssize_t __wrap_pread(int fd, void *data, size_t size, off_t offset)
{
    run_hook(SYSCALL_PREAD);
    return __real_pread(fd, data, size, offset);
}

int __wrap_posix_fallocate(int fd, off_t offset, off_t size)
{
    int error = intercept(SYSCALL_FALLOCATE);
    return error ? error : __real_posix_fallocate(fd, offset, size);
}

int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return fails(SYSCALL_LINK) ? -1 : __real_linkat(from_folder, from, to_folder, to, flags);
}

int __wrap_rename(const char *from, const char *to)
{
    return fails(SYSCALL_RENAME) ? -1 : __real_rename(from, to);
}

int __wrap_unlink(const char *path)
{
    return fails(SYSCALL_UNLINK) ? -1 : __real_unlink(path);
}

int __wrap_fsync(int fd)
{
    return fails(SYSCALL_FSYNC) ? -1 : __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
    return fails(SYSCALL_FDATASYNC) ? -1 : __real_fdatasync(fd);
}

int __wrap_msync(void *data, size_t size, int flags)
{
    return fails(SYSCALL_MSYNC) ? -1 : __real_msync(data, size, flags);
}

int __wrap_flock(int fd, int operation)
{
    return fails(SYSCALL_FLOCK) ? -1 : __real_flock(fd, operation);
}
