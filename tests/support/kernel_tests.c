/* A list of fixed capacity, with room for the tests' names. */
#include "tests/support/kernel_tests.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/cpu.h"
#include "tests/support/require.h"

enum { MOST_TESTS = 1024, MOST_NAME = 128 };
static struct CMUnitTest tests[MOST_TESTS];
static char names[MOST_TESTS][MOST_NAME];
static size_t count;

void kernel_tests_add_alone(const struct CMUnitTest *alone, size_t alone_count)
{
    require(alone_count <= MOST_TESTS - count);
    for (size_t i = 0; i < alone_count; i++)
        tests[count++] = alone[i];
}

void kernel_tests_add(const char *kernel, uint32_t needs, const void *state,
                      const struct CMUnitTest *each, size_t each_count)
{
    if (needs & ~cpu_get()->features)
        return;
    require(each_count <= MOST_TESTS - count);
    for (size_t i = 0; i < each_count; i++, count++) {
        int length = snprintf(names[count], MOST_NAME, "%s: %s", kernel, each[i].name);
        require(length > 0 && length < MOST_NAME);
        tests[count] = each[i];
        tests[count].name = names[count];
        tests[count].initial_state = (void *)(uintptr_t)state; /* cmocka will not change it */
    }
}

/* Built with branch protection, and on a processor that has it: from here on a branch of a kernel
 * to an address in a register goes to a place that accepts it, or the program ends. The program's
 * first and last pages have code of files that may be without such places. */
static void protect_branches(void)
{
#if defined(__ARM_FEATURE_BTI_DEFAULT) && defined(PROT_BTI)
    extern char _start[], etext[];
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)_start / page + 1) * page;
    uintptr_t end = ((uintptr_t)etext / page - 1) * page;
    if (getauxval(AT_HWCAP2) & HWCAP2_BTI)
        require(!mprotect((void *)begin, end - begin, PROT_READ | PROT_EXEC | PROT_BTI));
#endif
}

int kernel_tests_run(const char *group, const struct kernel_tests_guard *guards,
                     size_t guards_count)
{
    protect_branches();
    for (size_t i = 0; i < guards_count; i++)
        guard_init(guards[i].guard, guards[i].most_bytes);
    int failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    for (size_t i = 0; i < guards_count; i++)
        guard_deinit(guards[i].guard);
    return failed;
}
