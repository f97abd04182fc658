/* Where a thread is and where it may be: the kernel that is asked is the test's own. */
#include "tests/support/test.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "arch/cores.h"
#include "arch/topology.h"
#include "src/threading/core_kinds.h"
#include "src/threading/leave_cpu.h"

typedef unsigned char cpus[LEAVE_CPU_MOST / 8];

/* A kernel with one thread. */
static struct {
    cpus granted; /* by the cpuset */
    cpus wished;  /* as the thread has said last */
    cpus may;     /* both */
    int cpu, refusal, calls;
} kernel;

static bool has(const cpus set, int cpu)
{
    return set[cpu / 8] >> cpu % 8 & 1;
}

static void set_cpus(cpus set, int count, const int *numbers)
{
    memset(set, 0, sizeof(cpus));
    for (int i = 0; i < count; i++)
        set[numbers[i] / 8] |= (unsigned char)(1 << numbers[i] % 8);
}

int __wrap_sched_getcpu(void);
int __wrap_sched_getcpu(void)
{
    return kernel.cpu;
}

int __wrap_sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t *set)
{
    (void)thread;
    memcpy(set, kernel.may, bytes);
    return 0;
}

/* Moves the thread if it is where it may not be. */
int __wrap_sched_setaffinity(pid_t thread, size_t bytes, const cpu_set_t *set);
int __wrap_sched_setaffinity(pid_t thread, size_t bytes, const cpu_set_t *set)
{
    (void)thread;
    cpus both, none = {0};
    memcpy(both, set, bytes);
    for (size_t i = 0; i < sizeof both; i++)
        both[i] &= kernel.granted[i];
    kernel.calls++;
    errno = kernel.refusal ? kernel.refusal : EINVAL;
    if (kernel.refusal || memcmp(both, none, sizeof both) == 0)
        return -1;
    memcpy(kernel.wished, set, bytes);
    memcpy(kernel.may, both, bytes);
    for (int i = 0; !has(kernel.may, kernel.cpu); i++)
        kernel.cpu = i;
    return 0;
}

/* A thread on a CPU of a machine with four, of which it may use some. */
static void begin(int cpu, int count, const int *numbers)
{
    memset(&kernel, 0, sizeof kernel);
    set_cpus(kernel.granted, 4, (int[]){0, 1, 2, 3});
    set_cpus(kernel.wished, count, numbers);
    set_cpus(kernel.may, count, numbers);
    kernel.cpu = cpu;
}

static void a_thread_that_leaves_may_use_the_same_cpus_as_before(void **state)
{
    (void)state;
    begin(1, 2, (int[]){1, 2});
    assert_true(leave_cpu(1));
    assert_int_equal(kernel.cpu, 2);
    cpus expected;
    set_cpus(expected, 2, (int[]){1, 2});
    assert_memory_equal(kernel.may, expected, sizeof expected);
    assert_memory_equal(kernel.wished, expected, sizeof expected);
}

/* When the cpuset grows, a thread without a wish of its own may use what is new. */
static void a_thread_without_a_wish_has_none_afterwards(void **state)
{
    (void)state;
    begin(3, 4, (int[]){0, 1, 2, 3});
    assert_true(leave_cpu(3));
    assert_int_equal(kernel.cpu, 0);
    assert_memory_equal(kernel.may, kernel.granted, sizeof kernel.may);
    assert_true(has(kernel.wished, LEAVE_CPU_MOST - 1));
}

static void a_thread_stays_where_there_is_no_other_cpu(void **state)
{
    (void)state;
    static const int others[] = {-1, LEAVE_CPU_MOST};
    begin(2, 1, (int[]){2});
    assert_false(leave_cpu(2));
    for (size_t i = 0; i < count_of(others); i++)
        assert_false(leave_cpu(others[i]));
    assert_int_equal(kernel.calls, 0);
    begin(2, 2, (int[]){2, 3});
    kernel.refusal = EPERM;
    assert_false(leave_cpu(2));
    assert_int_equal(kernel.cpu, 2);
    assert_true(has(kernel.may, 2) && has(kernel.may, 3));
}

static void the_kind_of_a_cpu_is_known_or_not(void **state)
{
    (void)state;
    const struct topology t = {
        .count = 2,
        .cpus = {{.cpu = 1, .capacity = 1024, .model = core_named("cortex-a55")},
                 {.cpu = 3, .capacity = 1024, .model = core_named("cortex-a76")}},
    };
    static const int where[] = {-1, 0, 1, 2, 3, 4, 1 << 20};
    struct core_kinds kinds;
    assert_true(core_kinds_init(&kinds, &t));
    for (size_t i = 0; i < count_of(where); i++) {
        kernel.cpu = where[i];
        int expected = where[i] == 1   ? core_kind(core_named("cortex-a55"))
                       : where[i] == 3 ? core_kind(core_named("cortex-a76"))
                                       : -1;
        assert_int_equal(core_kinds_here(&kinds), expected);
    }
    core_kinds_deinit(&kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_leaves_may_use_the_same_cpus_as_before),
        cmocka_unit_test(a_thread_without_a_wish_has_none_afterwards),
        cmocka_unit_test(a_thread_stays_where_there_is_no_other_cpu),
        cmocka_unit_test(the_kind_of_a_cpu_is_known_or_not),
    };
    return cmocka_run_group_tests_name("threads_cpu", tests, NULL, NULL);
}
