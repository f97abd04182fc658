/* A list of fixed capacity, with room for the tests' names. */
#include "tests/support/kernel_tests.h"

#include "arch/cpu.h"
#include "tests/support/require.h"

enum { MOST_TESTS = 1024, MOST_NAME = 128 };
static struct CMUnitTest tests[MOST_TESTS];
static char names[MOST_TESTS][MOST_NAME];
static size_t count;

void kernel_tests_add_alone(struct CMUnitTest test)
{
    require(count < MOST_TESTS);
    tests[count++] = test;
}

void kernel_tests_add(const char *kernel, uint32_t needs, const void *state,
                      const struct CMUnitTest *each, size_t each_count)
{
    if (needs & ~cpu_get()->features)
        return;
    for (size_t i = 0; i < each_count; i++) {
        struct CMUnitTest test = each[i];
        require(count < MOST_TESTS);
        int length = snprintf(names[count], MOST_NAME, "%s: %s", kernel, each[i].name);
        require(length > 0 && length < MOST_NAME);
        test.name = names[count];
        test.initial_state = (void *)(uintptr_t)state; /* cmocka will not change it */
        kernel_tests_add_alone(test);
    }
}

int kernel_tests_run(const char *group, const struct kernel_tests_guard *guards,
                     size_t guards_count)
{
    for (size_t i = 0; i < guards_count; i++)
        guard_init(guards[i].guard, guards[i].most_bytes);
    int failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    for (size_t i = 0; i < guards_count; i++)
        guard_deinit(guards[i].guard);
    return failed;
}
