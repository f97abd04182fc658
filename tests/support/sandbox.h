/* Runs a function in a process of its own that may not make a system call. */
#ifndef TESTS_SUPPORT_SANDBOX_H
#define TESTS_SUPPORT_SANDBOX_H

#include <stdbool.h>

/* False where system calls cannot be watched: in an emulator, or when a sanitizer makes some. */
bool sandbox_is_possible(void);

/* Forks; the child calls prepare(context), then run(context), each of which returns 0 for success.
 * Returns 0 if both did and run() made no system call, the number of the first call it made (at
 * least 1; read is told as -1), or -2 if one failed or died. Only one thread may be running. */
int sandbox_run(int (*prepare)(void *context), int (*run)(void *context), void *context);

#endif
