/* Limits and budgets: what the machine says, what the user says, and that nobody exceeds them. */
#include "tests/support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "neoprene/types.h"
#include "src/memory/kinds/mapping.h"
#include "tests/support/capture.h"
#include "tests/support/domain.h"
#include "tests/support/temporary.h"

#define MIB ((size_t)1 << 20)

/* ---- the machine ---- */

static void the_smallest_limit_of_a_control_group_and_its_parents_counts(void **state)
{
    (void)state;
    const char *root = temporary_folder("limits");
    size_t none = limits_read_machine(root);
    assert_true(none > 16 * MIB);

    temporary_put(root, "/proc/self/cgroup", "0::/a/b\n"); /* version 2 */
    temporary_put(root, "/sys/fs/cgroup/a/b/memory.max", "max\n");
    assert_int_equal(limits_read_machine(root), none);
    temporary_put(root, "/sys/fs/cgroup/a/b/memory.max", "9437184\n");
    assert_int_equal(limits_read_machine(root), 9 * MIB);
    temporary_put(root, "/sys/fs/cgroup/a/memory.max", "8388608\n");
    assert_int_equal(limits_read_machine(root), 8 * MIB);
    temporary_put(root, "/sys/fs/cgroup/memory.max", "7340032\n"); /* a container's own root */
    assert_int_equal(limits_read_machine(root), 7 * MIB);
    temporary_put(root, "/proc/self/cgroup", "0::/\n");
    assert_int_equal(limits_read_machine(root), 7 * MIB);
    temporary_put(root, "/sys/fs/cgroup/memory.max", "seven\n");
    assert_int_equal(limits_read_machine(root), none);

    temporary_put(root, "/proc/self/cgroup", "5:cpu,memory:/x\n4:pids:/x\n0::/\n"); /* version 1 */
    temporary_put(root, "/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "6291456\n");
    assert_int_equal(limits_read_machine(root), 6 * MIB);
    temporary_put(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(limits_read_machine(root), 6 * MIB);
    temporary_put(root, "/proc/self/cgroup", "5:cpu,memoryless:/x\n6:mem:/x\n");
    assert_int_equal(limits_read_machine(root), none);
    temporary_put(root, "/proc/self/cgroup", "nonsense\n::\n:\n\n");
    assert_int_equal(limits_read_machine(root), none);
}

static void the_machines_limit_is_read_again(void **state)
{
    (void)state;
    const char *root = temporary_folder("limits");
    temporary_put(root, "/proc/self/cgroup", "0::/\n");
    temporary_put(root, "/sys/fs/cgroup/memory.max", "1048576\n");
    domain.limits.root = root;
    struct allocation memory;
    assert_int_equal(domain_create(NEO_KIND_HEAP, MIB + 1, 0, &memory), NEO_OUT_OF_MEMORY);
    assert_int_equal(limits_total(&domain.limits), MIB);
    temporary_put(root, "/sys/fs/cgroup/memory.max", "2097152\n");
    usleep(30000); /* a refusal trusts no value older than 10 ms */
    assert_int_equal(domain_create(NEO_KIND_HEAP, MIB + 1, 0, &memory), NEO_OK);
    assert_int_equal(limits_object(&domain.limits), 2 * MIB);
    allocation_destroy(&memory);
    temporary_put(root, "/sys/fs/cgroup/memory.max", "1048576\n");
    domain.limits.reread_ns = 1;
    assert_int_equal(limits_total(&domain.limits), MIB);
}

static void the_address_space_limit_counts(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {.rlim_cur = 64 * MIB, .rlim_max = RLIM_INFINITY}, now;
        size_t before = limits_read_machine("");
        if (setrlimit(RLIMIT_AS, &limit) || getrlimit(RLIMIT_AS, &now) || now.rlim_cur != 64 * MIB)
            _exit(2);
        _exit(before > 64 * MIB && limits_read_machine("") == 64 * MIB ? 0 : 1);
    }
    int result = -1;
    waitpid(child, &result, 0);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 2)
        print_message("this system (an emulator?) does not let the address space be limited\n");
    else
        assert_int_equal(WEXITSTATUS(result), 0);
}

/* ---- the user's limits ---- */

static void one_object_and_the_sum_of_all_kinds_are_limited(void **state)
{
    (void)state;
    const size_t page = mapping_page_bytes();
    atomic_store(&domain.limits.user_object, MIB / 2);
    atomic_store(&domain.limits.user_total, MIB);
    struct allocation a, b, c;
    assert_int_equal(domain_create(NEO_KIND_HEAP, MIB / 2 + 1, 0, &a), NEO_OUT_OF_MEMORY);
    assert_int_equal(domain_create(NEO_KIND_HEAP, MIB / 2, 0, &a), NEO_OK);
    assert_int_equal(domain_create(NEO_KIND_SHARED, MIB / 2 - page, 0, &b), NEO_OK);
    assert_int_equal(domain_create(NEO_KIND_HEAP, page + 1, 0, &c), NEO_OUT_OF_MEMORY);
    assert_int_equal(domain_create(NEO_KIND_HEAP, page, 0, &c), NEO_OK);
    assert_int_equal(atomic_load(&domain.limits.used), MIB);
    assert_int_equal(tracker_usage(&domain.tracker, NEO_KIND_ALL).current, MIB);
    struct allocation d;
    for (int kind = 0; kind < NEO_KIND_COUNT; kind++)
        if (kind != NEO_KIND_FILE)
            assert_int_equal(domain_create((neo_allocation_kind)kind, 1, 0, &d), NEO_OUT_OF_MEMORY);
    allocation_destroy(&a);
    assert_int_equal(domain_create(NEO_KIND_HEAP, 1, 0, &d), NEO_OK);
    allocation_destroy(&b);
    allocation_destroy(&c);
    allocation_destroy(&d);
}

static void the_error_names_requested_used_and_limit(void **state)
{
    (void)state;
    atomic_store(&domain.limits.user_object, 3000);
    atomic_store(&domain.limits.user_total, 4000);
    struct allocation a, b;
    assert_int_equal(domain_create(NEO_KIND_HEAP, 2500, 0, &a), NEO_OK);
    neo_set_verbose(1);
    capture_begin();
    const neo_allocation_request sum = {.bytes = 1501, .owner = "conv1"}, object = {.bytes = 3001};
    neo_status sum_status = allocation_create(&domain, &sum, &b);
    neo_status object_status = allocation_create(&domain, &object, &b);
    char *log = capture_end();
    neo_set_verbose(0);
    assert_int_equal(sum_status, NEO_OUT_OF_MEMORY);
    assert_int_equal(object_status, NEO_OUT_OF_MEMORY);
    assert_string_equal(log,
                        "neoprene_verbose,v1,error,allocation for conv1: requested 1501 bytes with "
                        "2500 bytes used of a limit of 4000 bytes for all memory\n"
                        "neoprene_verbose,v1,error,allocation for an unnamed owner: requested 3001 "
                        "bytes with 2500 bytes used of a limit of 3000 bytes for one object\n");
    free(log);
    allocation_destroy(&a);
}

static void a_sum_that_would_wrap_is_refused(void **state)
{
    (void)state;
    struct limits *limits = &domain.limits;
    struct limits_refusal refusal;
    atomic_store(&limits->user_object, SIZE_MAX);
    atomic_store(&limits->user_total, SIZE_MAX);
    assert_int_equal(limits_reserve(limits, NEO_KIND_HEAP, 100, &refusal), NEO_OK);
    assert_int_not_equal(limits_reserve(limits, NEO_KIND_HEAP, SIZE_MAX, &refusal), NEO_OK);
    assert_int_equal(limits_reserve(limits, NEO_KIND_SHARED, SIZE_MAX - 99, &refusal),
                     NEO_OUT_OF_MEMORY);
    assert_true(refusal.used == 100 && refusal.limit == SIZE_MAX);
    assert_int_equal(limits_reserve(limits, NEO_KIND_SHARED, SIZE_MAX - 100, &refusal), NEO_OK);
    limits_return(limits, NEO_KIND_SHARED, SIZE_MAX - 100);
    limits_return(limits, NEO_KIND_HEAP, 100);
}

/* Whole pages may not fit where the bytes themselves do. */
static void a_kind_that_rounds_up_gives_way_to_one_that_fits(void **state)
{
    (void)state;
    atomic_store(&domain.limits.user_total, 100000);
    struct allocation memory;
    assert_int_equal(domain_create(NEO_KIND_HUGE_PAGE, 90000, 0, &memory), NEO_OK);
    assert_int_equal(memory.kind, NEO_KIND_HEAP);
    allocation_destroy(&memory);
    assert_int_equal(domain_create(NEO_KIND_HUGE_PAGE, 90000, NEO_ALLOCATION_STRICT, &memory),
                     NEO_OUT_OF_MEMORY);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Sizes around 0, powers of two and SIZE_MAX, with every kind and alignment. */
static void sizes_at_the_edges_are_served_within_the_limit_or_refused(void **state)
{
    (void)state;
    const size_t limit = 4 * MIB;
    atomic_store(&domain.limits.user_object, limit);
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 6000; i++) {
        unsigned shift = (unsigned)(next_random(&seed) % 64);
        size_t bytes = ((size_t)1 << shift) + (size_t)(next_random(&seed) % 9) - 4;
        if (i % 3 == 0)
            bytes = SIZE_MAX - (size_t)(next_random(&seed) % (4u << 20));
        neo_allocation_request request = {
            .bytes = bytes,
            .alignment = (size_t)1 << (next_random(&seed) % 22),
            .kind = (neo_allocation_kind)(next_random(&seed) % NEO_KIND_COUNT),
            .flags = next_random(&seed) % 2 ? NEO_ALLOCATION_STRICT : 0,
        };
        if (request.kind == NEO_KIND_FILE)
            request.kind = NEO_KIND_HEAP;
        struct allocation memory;
        neo_status status = allocation_create(&domain, &request, &memory);
        if (bytes > limit)
            assert_int_equal(status, NEO_OUT_OF_MEMORY);
        if (status == NEO_OK && bytes) {
            assert_true(memory.held_bytes >= bytes && memory.held_bytes <= limit);
            ((volatile char *)memory.data)[0] = 1;
            ((volatile char *)memory.data)[bytes - 1] = 1;
        }
        if (!(request.flags & NEO_ALLOCATION_STRICT) && bytes <= limit)
            assert_int_equal(status, NEO_OK);
        allocation_destroy(&memory);
        assert_int_equal(atomic_load(&domain.limits.used), 0);
    }
}

/* ---- threads ---- */

#define THREADS 16

struct racer {
    pthread_t thread;
    pthread_barrier_t *start;
    atomic_size_t *shadow; /* counted after a reservation, so never more than is reserved */
    size_t limit;
    uint64_t seed;
    atomic_bool *exceeded;
    size_t granted;
};

static void *race(void *argument)
{
    struct racer *racer = argument;
    pthread_barrier_wait(racer->start);
    for (int i = 0; i < 3000; i++) {
        size_t bytes = 1 + (size_t)(next_random(&racer->seed) % (racer->limit / 4));
        struct limits_refusal refusal;
        if (limits_reserve(&domain.limits, NEO_KIND_SHARED, bytes, &refusal) != NEO_OK)
            continue;
        racer->granted++;
        if (atomic_fetch_add(racer->shadow, bytes) + bytes > racer->limit)
            atomic_store(racer->exceeded, true);
        if (i % 7 == 0)
            sched_yield();
        atomic_fetch_sub(racer->shadow, bytes);
        limits_return(&domain.limits, NEO_KIND_SHARED, bytes);
    }
    return NULL;
}

static void race_all(size_t limit)
{
    pthread_barrier_t start;
    atomic_size_t shadow = 0;
    atomic_bool exceeded = false;
    size_t granted = 0;
    struct racer racers[THREADS];
    pthread_barrier_init(&start, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        racers[i] = (struct racer){.start = &start,
                                   .shadow = &shadow,
                                   .limit = limit,
                                   .seed = 99 + i,
                                   .exceeded = &exceeded};
        pthread_create(&racers[i].thread, NULL, race, &racers[i]);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(racers[i].thread, NULL);
        granted += racers[i].granted;
    }
    pthread_barrier_destroy(&start);
    assert_false(exceeded);
    assert_true(granted > THREADS);
}

static void threads_never_exceed_the_limit_together(void **state)
{
    (void)state;
    atomic_store(&domain.limits.user_total, MIB);
    race_all(MIB);
}

static void threads_never_exceed_a_budget_together(void **state)
{
    (void)state;
    atomic_store(&domain.limits.kinds[NEO_KIND_SHARED].budget, MIB / 2);
    race_all(MIB / 2);
}

struct taker {
    pthread_t thread;
    pthread_barrier_t *start;
    struct allocation memory;
    neo_status status;
};

static void *take(void *argument)
{
    struct taker *taker = argument;
    pthread_barrier_wait(taker->start);
    taker->status = domain_create(NEO_KIND_HEAP, MIB / 10, 0, &taker->memory);
    return NULL;
}

static void of_sixteen_requests_at_once_exactly_those_that_fit_are_served(void **state)
{
    (void)state;
    atomic_store(&domain.limits.user_total, MIB);
    for (int round = 0; round < 50; round++) {
        pthread_barrier_t start;
        struct taker takers[THREADS];
        int served = 0;
        pthread_barrier_init(&start, NULL, THREADS);
        for (size_t i = 0; i < THREADS; i++) {
            takers[i].start = &start;
            pthread_create(&takers[i].thread, NULL, take, &takers[i]);
        }
        for (size_t i = 0; i < THREADS; i++) {
            pthread_join(takers[i].thread, NULL);
            served += takers[i].status == NEO_OK;
        }
        for (size_t i = 0; i < THREADS; i++)
            allocation_destroy(&takers[i].memory);
        pthread_barrier_destroy(&start);
        assert_int_equal(served, 10);
    }
}

/* ---- budgets ---- */

static void a_request_beyond_the_budget_gets_the_next_kind(void **state)
{
    (void)state;
    const size_t page = mapping_page_bytes();
    atomic_store(&domain.limits.kinds[NEO_KIND_SHARED].budget, 2 * page);
    struct allocation a, b, c;
    assert_int_equal(domain_create(NEO_KIND_SHARED, page, 0, &a), NEO_OK);
    assert_int_equal(domain_create(NEO_KIND_SHARED, page + 1, 0, &b), NEO_OK);
    assert_int_equal(b.kind, NEO_KIND_HEAP);
    assert_int_equal(domain_create(NEO_KIND_SHARED, page + 1, NEO_ALLOCATION_STRICT, &c),
                     NEO_UNSUPPORTED);
    assert_int_equal(domain_create(NEO_KIND_SHARED, page, 0, &c), NEO_OK);
    assert_int_equal(c.kind, NEO_KIND_SHARED);
    allocation_destroy(&a);
    allocation_destroy(&b);
    allocation_destroy(&c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, domain_set_up, domain_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_smallest_limit_of_a_control_group_and_its_parents_counts),
        TEST(the_machines_limit_is_read_again),
        TEST(the_address_space_limit_counts),
        TEST(one_object_and_the_sum_of_all_kinds_are_limited),
        TEST(the_error_names_requested_used_and_limit),
        TEST(a_sum_that_would_wrap_is_refused),
        TEST(a_kind_that_rounds_up_gives_way_to_one_that_fits),
        TEST(sizes_at_the_edges_are_served_within_the_limit_or_refused),
        TEST(threads_never_exceed_the_limit_together),
        TEST(threads_never_exceed_a_budget_together),
        TEST(of_sixteen_requests_at_once_exactly_those_that_fit_are_served),
        TEST(a_request_beyond_the_budget_gets_the_next_kind),
    };
    return cmocka_run_group_tests_name("memory_limits", tests, NULL, NULL);
}
