/* Makes a system call that changes files fail, or the process die just before it.
 *
 * The test programs are linked with --wrap for these calls, so the code under test is the one that
 * ships. */
#ifndef TESTS_SUPPORT_SYSCALLS_H
#define TESTS_SUPPORT_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>

enum syscall_kind {
    SYSCALL_CREATE,   /* open() with O_CREAT */
    SYSCALL_NAMELESS, /* open() with O_TMPFILE */
    SYSCALL_PWRITE,
    SYSCALL_FALLOCATE,
    SYSCALL_LINK,
    SYSCALL_RENAME,
    SYSCALL_UNLINK,
    SYSCALL_FSYNC,
    SYSCALL_FDATASYNC,
    SYSCALL_MSYNC,
    SYSCALL_FLOCK,
    SYSCALL_PREAD, /* for hooks only: it changes nothing, and is not counted */
    SYSCALL_KINDS
};

/* SIGKILL comes just before the n-th call from now (n = 1: the next one); if torn is true and it is
 * a pwrite(), after half of its bytes. */
void syscalls_kill_at(size_t n, bool torn);

/* The n-th call from now fails with error; every other one is done. */
void syscalls_fail_at(size_t n, int error);

/* Every call of that kind fails with error, until reset. */
void syscalls_fail_all(enum syscall_kind kind, int error);

/* Calls hook(argument) just before the next call of that kind, once. */
void syscalls_hook(enum syscall_kind kind, void (*hook)(void *argument), void *argument);

/* The kind of the last call that was made. */
enum syscall_kind syscalls_last(void);

/* No call fails any more. Returns true if the failure of syscalls_fail_at() was delivered. */
bool syscalls_reset(void);

#endif
