/* Shared constants: one copy for one content, built once, different ones at the same time. */
#include "tests/support/test.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "neoprene/types.h"
#include "src/memory/constants.h"
#include "tests/support/domain.h"
#include "tests/support/fault.h"

static struct constants constants;

static int set_up(void **state)
{
    constants_init(&constants, &domain, false);
    return domain_set_up(state);
}

static int tear_down(void **state)
{
    int left = constants_deinit(&constants) != NEO_OK;
    return domain_tear_down(state) || left;
}

static size_t current_bytes(void)
{
    return tracker_usage(&domain.tracker, NEO_KIND_ALL).current;
}

/* What a build does, and how often it was asked to. */
struct recipe {
    unsigned char value;
    neo_status status;
    unsigned sleep_us;
    atomic_int builds;
    sem_t *meet, *met; /* waits for another build to run at the same time */
    bool is_alone;     /* the other one did not come */
};

static void meet_other(struct recipe *recipe)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    sem_post(recipe->meet);
    recipe->is_alone = sem_timedwait(recipe->met, &until) != 0;
}

static neo_status fill(void *argument, void *data, size_t bytes)
{
    struct recipe *recipe = argument;
    atomic_fetch_add(&recipe->builds, 1);
    if (recipe->meet)
        meet_other(recipe);
    if (recipe->sleep_us)
        usleep(recipe->sleep_us);
    memset(data, recipe->value, bytes);
    return recipe->status;
}

static neo_status get(uint32_t key, size_t bytes, struct recipe *recipe, struct constant **out)
{
    const uint32_t words[] = {0xC0DE, key};
    const struct constant_request request = {
        .key = words,
        .key_words = count_of(words),
        .memory = {.bytes = bytes, .owner = "constant"},
        .build = fill,
        .argument = recipe,
        .node = -1,
    };
    return constants_get(&constants, &request, out);
}

/* ---- one copy ---- */

static void eight_streams_and_all_batches_share_one_copy(void **state)
{
    (void)state;
    enum { STREAMS = 8, BATCHES = 64 };
    static struct constant *held[STREAMS][BATCHES];
    struct recipe recipe = {.value = 7};
    for (int stream = 0; stream < STREAMS; stream++)
        for (int batch = 0; batch < BATCHES; batch++) {
            assert_int_equal(get(1, 100000, &recipe, &held[stream][batch]), NEO_OK);
            assert_ptr_equal(constant_data(held[stream][batch]), constant_data(held[0][0]));
        }
    assert_int_equal(recipe.builds, 1);
    assert_int_equal(current_bytes(), 100000);
    assert_int_equal(((const unsigned char *)constant_data(held[3][5]))[99999], 7);
    struct constants_stats stats = constants_stats(&constants);
    assert_int_equal(stats.live, 1);
    assert_int_equal(stats.live_bytes, 100000);
    assert_int_equal(stats.hits, STREAMS * BATCHES - 1);
    assert_int_equal(constants_deinit(&constants), NEO_BUSY);
    for (int stream = 0; stream < STREAMS; stream++)
        for (int batch = 0; batch < BATCHES; batch++) {
            assert_int_equal(current_bytes(), 100000);
            constant_release(held[stream][batch]);
        }
    assert_int_equal(current_bytes(), 0);
    stats = constants_stats(&constants);
    assert_int_equal(stats.live, 0);
    assert_int_equal(stats.live_bytes, 0);
}

static void constants_differ_by_every_word_of_their_key(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    static struct constant *held[COUNT];
    struct recipe recipe = {.value = 1};
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(get(i, 64, &recipe, &held[i]), NEO_OK);
    assert_int_equal(recipe.builds, COUNT);
    assert_int_equal(current_bytes(), COUNT * 64);
    uint32_t longer[] = {0xC0DE, 5, 0};
    struct constant_request request = {.key = longer,
                                       .key_words = 3,
                                       .memory = {.bytes = 64},
                                       .build = fill,
                                       .argument = &recipe,
                                       .node = -1};
    struct constant *other, *empty;
    assert_int_equal(constants_get(&constants, &request, &other), NEO_OK);
    assert_ptr_not_equal(constant_data(other), constant_data(held[5]));
    request.key_words = 0;
    request.key = NULL;
    assert_int_equal(constants_get(&constants, &request, &empty), NEO_OK);
    assert_int_equal(recipe.builds, COUNT + 2);
    struct constant *again = constant_retain(held[9]);
    for (uint32_t i = COUNT; i-- > 0;)
        constant_release(held[i]);
    constant_release(other);
    constant_release(empty);
    assert_int_equal(current_bytes(), 64);
    constant_release(again);
    constant_release(NULL);
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    struct recipe recipe = {0};
    struct constant *out;
    assert_int_equal(get(1, 0, &recipe, &out), NEO_INVALID_ARGUMENT);
    struct constant_request request = {.key_words = 1, .memory = {.bytes = 1}, .build = fill};
    assert_int_equal(constants_get(&constants, &request, &out), NEO_INVALID_ARGUMENT);
    request = (struct constant_request){.memory = {.bytes = 1}};
    assert_int_equal(constants_get(&constants, &request, &out), NEO_INVALID_ARGUMENT);
    assert_null(out);
}

/* ---- threads ---- */

struct caller {
    pthread_t thread;
    uint32_t key;
    struct recipe *recipe;
    struct constant *constant;
    neo_status status;
};

static void *call(void *argument)
{
    struct caller *caller = argument;
    caller->status = get(caller->key, 5000, caller->recipe, &caller->constant);
    return NULL;
}

static void run_all(struct caller *callers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pthread_create(&callers[i].thread, NULL, call, &callers[i]);
    for (size_t i = 0; i < count; i++)
        pthread_join(callers[i].thread, NULL);
}

static void threads_that_want_the_same_constant_wait_for_one_build(void **state)
{
    (void)state;
    struct recipe recipe = {.value = 3, .sleep_us = 20000};
    struct caller callers[16];
    for (size_t i = 0; i < count_of(callers); i++)
        callers[i] = (struct caller){.key = 1, .recipe = &recipe};
    run_all(callers, count_of(callers));
    assert_int_equal(recipe.builds, 1);
    assert_int_equal(current_bytes(), 5000);
    for (size_t i = 0; i < count_of(callers); i++) {
        assert_int_equal(callers[i].status, NEO_OK);
        assert_ptr_equal(callers[i].constant, callers[0].constant);
        assert_int_equal(((const unsigned char *)constant_data(callers[i].constant))[4999], 3);
    }
    for (size_t i = 0; i < count_of(callers); i++)
        constant_release(callers[i].constant);
}

/* Each build ends only after the other one began. */
static void different_constants_are_built_at_the_same_time(void **state)
{
    (void)state;
    sem_t first, second;
    sem_init(&first, 0, 0);
    sem_init(&second, 0, 0);
    struct recipe recipes[] = {{.value = 1, .meet = &first, .met = &second},
                               {.value = 2, .meet = &second, .met = &first}};
    struct caller callers[] = {{.key = 1, .recipe = &recipes[0]},
                               {.key = 2, .recipe = &recipes[1]}};
    run_all(callers, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(callers[i].status, NEO_OK);
        assert_false(recipes[i].is_alone);
        constant_release(callers[i].constant);
    }
    sem_destroy(&first);
    sem_destroy(&second);
}

static void a_failure_reaches_all_who_wait_and_the_next_call_builds_again(void **state)
{
    (void)state;
    struct recipe bad = {.status = NEO_CORRUPT, .sleep_us = 20000}, good = {.value = 4};
    struct caller callers[16];
    for (size_t i = 0; i < count_of(callers); i++)
        callers[i] = (struct caller){.key = 1, .recipe = &bad};
    run_all(callers, count_of(callers));
    for (size_t i = 0; i < count_of(callers); i++) {
        assert_int_equal(callers[i].status, NEO_CORRUPT);
        assert_null(callers[i].constant);
    }
    assert_int_equal(current_bytes(), 0);
    struct constants_stats stats = constants_stats(&constants);
    assert_int_equal(stats.failures, bad.builds);
    assert_int_equal(stats.live, 0);
    struct constant *constant;
    assert_int_equal(get(1, 5000, &good, &constant), NEO_OK);
    assert_int_equal(((const unsigned char *)constant_data(constant))[0], 4);
    constant_release(constant);
}

static void *churn(void *argument)
{
    struct caller *caller = argument;
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t key = (caller->key * 7 + i) % 5;
        struct constant *constant;
        if (get(key, 600, caller->recipe, &constant) != NEO_OK)
            caller->status = NEO_RUNTIME_ERROR;
        else if (((const unsigned char *)constant_data(constant))[599] != caller->recipe->value)
            caller->status = NEO_CORRUPT;
        constant_release(constant);
    }
    return NULL;
}

static void getting_and_releasing_from_many_threads_leaves_nothing(void **state)
{
    (void)state;
    struct recipe recipe = {.value = 9};
    struct caller callers[8];
    for (uint32_t i = 0; i < count_of(callers); i++) {
        callers[i] = (struct caller){.key = i, .recipe = &recipe};
        pthread_create(&callers[i].thread, NULL, churn, &callers[i]);
    }
    for (size_t i = 0; i < count_of(callers); i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].status, NEO_OK);
    }
    struct constants_stats stats = constants_stats(&constants);
    assert_int_equal(stats.live, 0);
    assert_int_equal(stats.builds + stats.hits, 8 * 400);
}

/* ---- nodes ---- */

static void each_node_has_its_own_replica_only_if_asked_for(void **state)
{
    (void)state;
    struct recipe recipe = {.value = 6};
    const uint32_t key = 1;
    struct constant_request request = {
        .key = &key, .key_words = 1, .memory = {.bytes = 4096}, .build = fill, .argument = &recipe};
    for (int replicas = 0; replicas < 2; replicas++) {
        struct constants registry;
        constants_init(&registry, &domain, replicas);
        struct constant *held[3];
        recipe.builds = 0;
        for (int i = 0; i < 3; i++) {
            request.node = i % 2;
            assert_int_equal(constants_get(&registry, &request, &held[i]), NEO_OK);
        }
        assert_int_equal(recipe.builds, replicas ? 2 : 1);
        assert_int_equal(held[0] == held[1], !replicas);
        assert_ptr_equal(held[0], held[2]);
        neo_allocation_info info;
        constant_query(held[0], &info);
        assert_int_equal(info.requested, replicas ? NEO_KIND_NUMA_BOUND : NEO_KIND_HEAP);
        assert_int_equal(info.node, info.kind == NEO_KIND_NUMA_BOUND ? 0 : -1);
        assert_int_equal(constants_stats(&registry).live_bytes, current_bytes());
        for (int i = 0; i < 3; i++)
            constant_release(held[i]);
        assert_int_equal(constants_deinit(&registry), NEO_OK);
    }
}

static void every_failing_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    struct recipe recipe = {.value = 1};
    bool delivered = true;
    for (size_t n = 1; delivered; n++) {
        struct constant *constant;
        fault_arm(n);
        neo_status status = get(1, 1000, &recipe, &constant);
        delivered = fault_disarm();
        assert_int_equal(status, delivered ? NEO_OUT_OF_MEMORY : NEO_OK);
        constant_release(constant);
        assert_int_equal(current_bytes(), 0);
        assert_int_equal(constants_stats(&constants).live, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(eight_streams_and_all_batches_share_one_copy),
        TEST(constants_differ_by_every_word_of_their_key),
        TEST(wrong_requests_are_refused),
        TEST(threads_that_want_the_same_constant_wait_for_one_build),
        TEST(different_constants_are_built_at_the_same_time),
        TEST(a_failure_reaches_all_who_wait_and_the_next_call_builds_again),
        TEST(getting_and_releasing_from_many_threads_leaves_nothing),
        TEST(each_node_has_its_own_replica_only_if_asked_for),
        TEST(every_failing_allocation_leaves_nothing_behind),
    };
    return cmocka_run_group_tests_name("memory_constants", tests, NULL, NULL);
}
