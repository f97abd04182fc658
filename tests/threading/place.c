/* Where the threads of the built-in pool run. */
#include "tests/support/test.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/core/log.h"
#include "src/threading/affinity.h"
#include "src/threading/leave_cpu.h"
#include "tests/support/meeting.h"

static cpu_set_t mask_of_this_thread(void)
{
    cpu_set_t mask;
    assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
    return mask;
}

static void check_bound(struct meeting *m)
{
    cpu_set_t mask = mask_of_this_thread();
    if (CPU_COUNT(&mask) != 1)
        atomic_fetch_add(&m->bad, 1);
}

static cpu_set_t mask_of_caller;

static void check_free(struct meeting *m)
{
    cpu_set_t mask = mask_of_this_thread();
    if (!CPU_EQUAL(&mask, &mask_of_caller))
        atomic_fetch_add(&m->bad, 1);
}

/* ---- worker and caller on one CPU ---- */

/* Tasks about as long as it takes a worker to come, noted by where they ran. */
struct places {
    pthread_t caller;
    int pinned;           /* the caller's only CPU */
    atomic_int cpu;       /* the worker's */
    atomic_int elsewhere; /* tasks of the worker */
    atomic_int same;      /* those of them on the caller's CPU */
};

static void note_place(void *argument, int i, int n)
{
    struct places *p = argument;
    (void)i, (void)n;
    int cpu = sched_getcpu();
    if (!pthread_equal(p->caller, pthread_self())) {
        atomic_store(&p->cpu, cpu);
        atomic_fetch_add(&p->same, cpu == p->pinned);
        atomic_fetch_add(&p->elsewhere, 1);
    }
    uint64_t end = log_now_ns() + 20000;
    while (log_now_ns() < end)
        ;
}

/* How many tasks the worker has had in the end: fewer than asked for where other programs keep it
 * from running for too long. */
static int run_until_worker_has(struct default_pool *pool, struct places *p, int tasks, bool parked)
{
    uint64_t deadline = log_now_ns() + UINT64_C(300000000);
    atomic_store(&p->elsewhere, 0);
    while (atomic_load(&p->elsewhere) < tasks && log_now_ns() < deadline) {
        default_pool_run(pool, 2, note_place, p);
        if (parked)
            (void)usleep(100);
    }
    return atomic_load(&p->elsewhere);
}

static void pin_this_thread(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

/* Tasks of the worker after its caller came to the CPU where it was, and those of them there. */
struct shared_cpu {
    int tasks, same;
};

static struct shared_cpu share_cpu(struct default_pool *pool, bool parked, const cpu_set_t *all)
{
    enum { REPEATS = 10, TASKS = 10 };
    struct places p = {.caller = pthread_self()};
    struct shared_cpu shared = {0};
    for (int i = 0; i < REPEATS; i++) {
        p.pinned = -1;
        if (run_until_worker_has(pool, &p, 1, parked) == 0)
            continue;
        p.pinned = atomic_load(&p.cpu);
        pin_this_thread(p.pinned);
        (void)usleep(2000);
        atomic_store(&p.same, 0);
        shared.tasks += run_until_worker_has(pool, &p, TASKS, parked);
        shared.same += atomic_load(&p.same);
        assert_int_equal(sched_setaffinity(0, sizeof *all, all), 0);
    }
    return shared;
}

/* Pins the caller to the CPU where the worker is, again and again. A worker that stays there only
 * runs when the caller does not, as if there were one thread. */
static void a_worker_leaves_the_cpu_of_its_caller(void **state)
{
    (void)state;
    enum { TELLING = 20 };
    cpu_set_t before = mask_of_this_thread();
    int tasks = 0;
    for (int kind = 0; CPU_COUNT(&before) > 1 && kind < 4; kind++) {
        bool parked = kind & 1;
        struct default_pool *pool = make_pool(&(neo_threadpool_options){
            .threads = kind & 2 ? 2 * CPU_COUNT(&before) : 2, .spin_us = parked ? -1 : 100000});
        struct shared_cpu shared = share_cpu(pool, parked, &before);
        default_pool_destroy(pool);
        print_message("worker %s: %d of %d tasks on the caller's CPU\n",
                      parked ? "asleep" : "awake", shared.same, shared.tasks);
        assert_true(shared.tasks < TELLING || 3 * shared.same < shared.tasks);
        tasks += shared.tasks;
    }
    if (tasks < TELLING && CPU_COUNT(&before) > 1) {
        print_message("other programs keep this one's threads from running\n");
        skip();
    }
}

static void a_thread_that_leaves_a_cpu_keeps_its_mask(void **state)
{
    (void)state;
    cpu_set_t before = mask_of_this_thread(), after;
    for (int i = 0; i < 20; i++) {
        int cpu = sched_getcpu();
        assert_int_equal(leave_cpu(cpu), CPU_COUNT(&before) > 1);
        after = mask_of_this_thread();
        assert_true(CPU_EQUAL(&before, &after));
    }
    pin_this_thread(sched_getcpu());
    cpu_set_t one = mask_of_this_thread();
    assert_false(leave_cpu(sched_getcpu())); /* there is no other one */
    after = mask_of_this_thread();
    assert_true(CPU_EQUAL(&one, &after));
    assert_false(leave_cpu(-1));
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static int last_cpu_of_mask(void *context, int i)
{
    int last = -1;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, (cpu_set_t *)context))
            last = cpu;
    return i > 0 ? last : -1;
}

static int impossible_cpu(void *context, int i)
{
    (void)context;
    return i == 1 ? 1 << 30 : i == 2 ? CPU_SETSIZE - 1 : -7;
}

static void workers_are_bound_as_asked_and_the_caller_never(void **state)
{
    (void)state;
    cpu_set_t before = mask_of_this_thread(), after;
    mask_of_caller = before;
    const struct {
        neo_threadpool_options options;
        void (*check)(struct meeting *meeting);
    } rows[] = {
        {{.threads = 4, .affinity = NEO_AFFINITY_COMPACT}, check_bound},
        {{.threads = 4, .affinity = NEO_AFFINITY_SPREAD}, check_bound},
        {{.threads = 4, .affinity = NEO_AFFINITY_NONE}, check_free},
        {{.threads = 4, .cpu_of_thread = last_cpu_of_mask, .context = &before}, check_bound},
        {{.threads = 4, .cpu_of_thread = impossible_cpu}, check_free},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        struct default_pool *pool = make_pool(&rows[i].options);
        hold_meeting(pool, 4, &(struct meeting){.check = rows[i].check});
        after = mask_of_this_thread();
        assert_true(CPU_EQUAL(&before, &after));
        default_pool_destroy(pool);
    }
}

static int far(int node, int other)
{
    return 10 + 10 * abs(node - other);
}

static struct topology machine;
static void expect_order(neo_affinity mode, int first_node, const int *want)
{
    int order[TOPOLOGY_MAX_CPUS];
    affinity_order(order, &machine, mode,
                   &(struct affinity_machine){.first_node = first_node, .distance = far});
    for (int i = 0; i < machine.count; i++)
        assert_int_equal(machine.cpus[order[i]].cpu, want[i]);
}

/* Three nodes of two cores with two threads each. */
static void bound_threads_fill_near_nodes_first_or_alternate(void **state)
{
    (void)state;
    machine.count = 12;
    for (int i = 0; i < 12; i++)
        machine.cpus[i] = (struct topology_cpu){
            .cpu = i, .node = i % 6 / 2, .core = i % 2, .sibling = i / 6, .class = TOPOLOGY_BIG};
    static const int compact[] = {4, 5, 10, 11, 2, 3, 8, 9, 0, 1, 6, 7};
    static const int spread[] = {4, 2, 0, 5, 3, 1, 10, 8, 6, 11, 9, 7};
    expect_order(NEO_AFFINITY_COMPACT, 2, compact);
    expect_order(NEO_AFFINITY_SPREAD, 2, spread);
}

/* A node of two clusters of two, and one of two clusters of one: clusters take turns, whatever is
 * in them. */
static void spread_threads_count_clusters(void **state)
{
    (void)state;
    machine.count = 6;
    for (int i = 0; i < 6; i++)
        machine.cpus[i] = (struct topology_cpu){.cpu = i,
                                                .node = i / 4,
                                                .cluster = i < 4 ? i / 2 : i - 4,
                                                .core = i,
                                                .class = TOPOLOGY_BIG};
    static const int spread[] = {0, 4, 2, 5, 1, 3};
    expect_order(NEO_AFFINITY_SPREAD, 0, spread);
}

/* A node of two clusters of two, and two little cores with low numbers. */
static void bound_threads_take_little_cores_last(void **state)
{
    (void)state;
    machine.count = 6;
    for (int i = 0; i < 6; i++)
        machine.cpus[i] = (struct topology_cpu){
            .cpu = i, .core = i, .cluster = i / 2, .class = i < 2 ? TOPOLOGY_LITTLE : TOPOLOGY_BIG};
    static const int compact[] = {2, 3, 4, 5, 0, 1}, spread[] = {2, 4, 3, 5, 0, 1};
    expect_order(NEO_AFFINITY_COMPACT, 0, compact);
    expect_order(NEO_AFFINITY_SPREAD, 0, spread);
}

static void the_environment_sets_the_binding(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        neo_affinity mode;
    } rows[] = {{"compact", NEO_AFFINITY_COMPACT}, {"spread", NEO_AFFINITY_SPREAD},
                {"none", NEO_AFFINITY_NONE},       {"Compact", NEO_AFFINITY_NONE},
                {"", NEO_AFFINITY_NONE},           {"default", NEO_AFFINITY_NONE}};
    for (size_t i = 0; i < count_of(rows); i++) {
        assert_int_equal(setenv("NEOPRENE_AFFINITY", rows[i].text, 1), 0);
        assert_int_equal(affinity_from_environment(), rows[i].mode);
    }
    assert_int_equal(setenv("NEOPRENE_AFFINITY", "compact", 1), 0);
    struct default_pool *pool = pool_of(3);
    hold_meeting(pool, 3, &(struct meeting){.check = check_bound});
    default_pool_destroy(pool);
    assert_int_equal(unsetenv("NEOPRENE_AFFINITY"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_leaves_the_cpu_of_its_caller),
        cmocka_unit_test(a_thread_that_leaves_a_cpu_keeps_its_mask),
        cmocka_unit_test(workers_are_bound_as_asked_and_the_caller_never),
        cmocka_unit_test(bound_threads_fill_near_nodes_first_or_alternate),
        cmocka_unit_test(spread_threads_count_clusters),
        cmocka_unit_test(bound_threads_take_little_cores_last),
        cmocka_unit_test(the_environment_sets_the_binding),
    };
    return cmocka_run_group_tests_name("threads_place", tests, NULL, NULL);
}
