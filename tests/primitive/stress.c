/* Many threads that create, execute, hand over and destroy primitives while others evict them and
 * change every capacity at random; each result is compared with the one computed alone. Meant for
 * the thread sanitizer. */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cases/primitives.h"
#include "tests/support/fill.h"
#include "tests/support/random.h"
#include "tests/support/require.h"
#include "tests/support/rounds.h"
#include "tests/support/session.h"

enum {
    THREADS = 64,
    STEPS = 200,
    MANY_STEPS = 4000,
    HANDLES = 4,
    SHAPES = 12,
    SLOTS = 8,
    MOST = 24 * 24
};

static float src[2 * MOST]; /* every other one is read */
static float weights[MOST], expected[SHAPES][MOST];
static _Atomic(neo_primitive *) slots[SLOTS]; /* handles on their way to another thread */

static neo_dim size_of(size_t shape)
{
    return (neo_dim)(2 * shape + 2);
}

static neo_primitive *create(size_t shape)
{
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_dim size = size_of(shape);
    require(primitive_describe_matmul(&pd, engine, size, size, size) == NEO_OK);
    require(neo_primitive_create(&primitive, pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    return primitive;
}

static void execute(const neo_primitive *primitive, float *dst)
{
    static const int names[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST};
    void *const buffers[] = {src, weights, dst};
    const neo_primitive_desc *pd = neo_primitive_get_desc(primitive);
    neo_exec_arg args[3];
    for (int i = 0; i < 3; i++) {
        args[i].arg = names[i];
        require(neo_memory_create(&args[i].memory, neo_primitive_desc_query(pd, names[i]), engine,
                                  buffers[i]) == NEO_OK);
    }
    require(neo_primitive_execute(primitive, stream, 3, args) == NEO_OK);
    for (int i = 0; i < 3; i++)
        neo_memory_destroy(args[i].memory);
}

static size_t shape_of(const neo_primitive *primitive)
{
    const neo_primitive_desc *pd = neo_primitive_get_desc(primitive);
    return (size_t)(neo_primitive_desc_query(pd, NEO_ARG_DST)->dims[0] - 2) / 2;
}

static void check(const neo_primitive *primitive)
{
    float dst[MOST];
    size_t shape = shape_of(primitive), size = (size_t)size_of(shape);
    execute(primitive, dst);
    require(!memcmp(dst, expected[shape], size * size * sizeof *dst));
}

static void disturb(uint64_t *seed)
{
    switch (random_below(seed, 40)) {
    case 0:
        neo_engine_set_cache_capacity(
            engine, (neo_cache_capacity){random_below(seed, SHAPES + 2), SIZE_MAX});
        break;
    case 1:
        neo_engine_set_cache_capacity(engine,
                                      (neo_cache_capacity){SHAPES, random_below(seed, 50000)});
        break;
    case 2:
        neo_engine_clear_cache(engine);
        break;
    case 3:
        neo_engine_trim(engine, random_below(seed, 100000), NULL);
        break;
    case 4:
        neo_engine_set_block_budget(engine, random_below(seed, 3) * 100000);
        break;
    default:
        break;
    }
}

static void *work(void *argument)
{
    uint64_t seed = (uintptr_t)argument;
    neo_primitive *handles[HANDLES] = {NULL};
    for (size_t i = rounds_count(STEPS, MANY_STEPS); i > 0; i--) {
        neo_primitive **handle = &handles[random_below(&seed, HANDLES)];
        disturb(&seed);
        switch (*handle ? random_below(&seed, 4) : 0) {
        case 0:
            neo_primitive_destroy(*handle);
            *handle = create(random_below(&seed, SHAPES));
            break;
        case 1:
            *handle = atomic_exchange(&slots[random_below(&seed, SLOTS)], *handle);
            break;
        default:
            check(*handle);
            break;
        }
    }
    for (size_t i = 0; i < HANDLES; i++)
        neo_primitive_destroy(handles[i]);
    return NULL;
}

static neo_cache_statistics statistics(void)
{
    neo_cache_statistics stats;
    require(neo_engine_get_cache_statistics(engine, &stats) == NEO_OK);
    return stats;
}

static void compute_expected(void)
{
    uint32_t seed = fill_seed();
    fill_reals(src, 2 * MOST, &seed);
    fill_reals(weights, MOST, &seed);
    for (size_t shape = 0; shape < SHAPES; shape++) {
        neo_primitive *primitive = create(shape);
        execute(primitive, expected[shape]);
        neo_primitive_destroy(primitive);
    }
}

static void random_lives_in_64_threads_compute_the_same_and_leave_nothing(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    compute_expected();
    for (size_t i = 0; i < THREADS; i++)
        require(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < SLOTS; i++)
        neo_primitive_destroy(atomic_exchange(&slots[i], NULL));
    assert_int_equal(statistics().blocks_held, 0);
    neo_engine_clear_cache(engine);
    neo_engine_trim(engine, 0, NULL);
    neo_memory_usage usage;
    assert_int_equal(neo_engine_get_memory_usage(engine, NEO_KIND_ALL, &usage), NEO_OK);
    assert_int_equal(usage.current, 0);
}

/* One primitive, executed by all at once: no execution sees another one's scratchpad. */
static void *execute_one(void *argument)
{
    for (size_t i = rounds_count(STEPS, MANY_STEPS); i > 0; i--)
        check(argument);
    return NULL;
}

static void one_primitive_runs_in_64_threads_at_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    compute_expected();
    neo_primitive *primitive = create(SHAPES - 1);
    for (size_t i = 0; i < THREADS; i++)
        require(pthread_create(&threads[i], NULL, execute_one, primitive) == 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(statistics().blocks_held <= THREADS + 1);
    neo_primitive_destroy(primitive);
    assert_int_equal(statistics().blocks_held, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup_single, session_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(random_lives_in_64_threads_compute_the_same_and_leave_nothing),
        TEST(one_primitive_runs_in_64_threads_at_once),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("primitive_stress", tests, NULL, NULL);
}
