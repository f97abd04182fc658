/* The tests of a program that walks tables of kernels: the same ones for each kernel that this CPU
 * can run, and some that stand alone. A program has one list of them. */
#ifndef TESTS_SUPPORT_KERNEL_TESTS_H
#define TESTS_SUPPORT_KERNEL_TESTS_H

#include <stddef.h>
#include <stdint.h>

#include "tests/support/guard.h"
#include "tests/support/test.h"

/* A guard and the most bytes that the tests want of it. */
struct kernel_tests_guard {
    struct guard *guard;
    size_t most_bytes;
};

/* Adds the tests in each[] as "kernel: test" with this state, or none if the CPU lacks a bit of
 * needs (CPU_*). What does not fit in the list ends the program. Each fails too if vector registers
 * that calls must keep are lost. */
void kernel_tests_add(const char *kernel, uint32_t needs, const void *state,
                      const struct CMUnitTest *each, size_t each_count);

/* run(argument), and the test fails if vector registers that calls must keep are lost. Each test of
 * a kernel is called so, but what a function in between saves for itself comes back, lost or not;
 * tests of assembly call each kernel in this way. */
void kernel_tests_call(void (*run)(void *), void *argument);

/* Adds tests as they are. */
void kernel_tests_add_alone(const struct CMUnitTest *alone, size_t alone_count);

/* Runs all that were added, in that order, between the guards' init and deinit.
 * @return what main() returns: the number of tests that failed. */
int kernel_tests_run(const char *group, const struct kernel_tests_guard *guards,
                     size_t guards_count);

#endif
