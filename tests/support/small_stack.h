/* A stack of 64 KiB: the threads of many runtimes have no more. */
#ifndef TESTS_SUPPORT_SMALL_STACK_H
#define TESTS_SUPPORT_SMALL_STACK_H

#include <stddef.h>

enum { SMALL_STACK_BYTES = 64 << 10 };

/* Calls run(argument) on such a stack, below which nothing may be touched, and returns how much of
 * it was used. */
size_t small_stack_run(void (*run)(void *argument), void *argument);

#endif
