/* A list of fixed capacity, with room for the tests' names. */
#include "tests/support/kernel_tests.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/cpu.h"
#include "tests/support/require.h"

enum { MOST_TESTS = 1024, MOST_NAME = 128 };

/* A test of a kernel, which gets this as its initial state. */
struct kernel_test {
    CMUnitTestFunction run;
    const void *state;
};

static struct CMUnitTest tests[MOST_TESTS];
static struct kernel_test kernel_tests[MOST_TESTS];
static char names[MOST_TESTS][MOST_NAME];
static size_t count;

void kernel_tests_add_alone(const struct CMUnitTest *alone, size_t alone_count)
{
    require(alone_count <= MOST_TESTS - count);
    for (size_t i = 0; i < alone_count; i++)
        tests[count++] = alone[i];
}

#if NEO_PORTABLE
void kernel_tests_call(void (*run)(void *), void *argument)
{
    run(argument);
}
#else
/* Half of v8 … v15 is the caller's. Compilers seldom keep anything in the last ones: what is lost
 * of them a test would not notice otherwise. */
void kernel_tests_call(void (*run)(void *), void *argument)
{
    enum { KEPT = 8 };
    static const uint64_t before[KEPT] = {11, 12, 13, 14, 15, 16, 17, 18};
    uint64_t after[KEPT];
    __asm__ volatile(
        "ldp d8, d9, [%[before]]\n\t"
        "ldp d10, d11, [%[before], #16]\n\t"
        "ldp d12, d13, [%[before], #32]\n\t"
        "ldp d14, d15, [%[before], #48]\n\t"
        "mov x0, %[argument]\n\t"
        "blr %[run]\n\t"
        "stp d8, d9, [%[after]]\n\t"
        "stp d10, d11, [%[after], #16]\n\t"
        "stp d12, d13, [%[after], #32]\n\t"
        "stp d14, d15, [%[after], #48]"
        :
        : [before] "r"(before), [after] "r"(after), [argument] "r"(argument), [run] "r"(run)
        : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
          "x14", "x15", "x16", "x17", "x18", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
          "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20",
          "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc",
          "memory");
    assert_memory_equal(after, before, sizeof before);
}
#endif

static void run_own(void *argument)
{
    const struct kernel_test *test = argument;
    void *own = (void *)(uintptr_t)test->state; /* cmocka will not change it */
    test->run(&own);
}

static void run_kernel_test(void **state)
{
    kernel_tests_call(run_own, *state);
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
        kernel_tests[count] = (struct kernel_test){each[i].test_func, state};
        tests[count].test_func = run_kernel_test;
        tests[count].initial_state = &kernel_tests[count];
    }
}

/* Built with branch protection, and on a processor that has it: from here on a branch of a kernel
 * to an address in a register goes to a place that accepts it, or the program ends. The program's
 * first two pages and last one have code of files that may be without such places: what begins and
 * ends programs follows _start, and may be on the next page. */
static void protect_branches(void)
{
#if defined(__ARM_FEATURE_BTI_DEFAULT) && defined(PROT_BTI)
    extern char _start[], etext[];
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)_start / page + 2) * page;
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
