/* Objects kept for reuse. */
#include "tests/support/test.h"

#include <pthread.h>
#include <string.h>

#include "src/core/slab.h"
#include "tests/support/fault.h"

enum { BYTES = 200 };

static struct slab_stats stats_of(struct slab *slab)
{
    struct slab_stats stats;
    slab_stats(slab, &stats);
    return stats;
}

static void a_warm_get_allocates_nothing_and_returns_zeros(void **state)
{
    (void)state;
    struct slab slab;
    slab_init(&slab, BYTES, 4);
    void *first = slab_get(&slab);
    memset(first, 0xff, BYTES);
    slab_put(&slab, first);
    size_t before = fault_allocations();
    static const char zeros[BYTES];
    for (int i = 0; i < 10000; i++) {
        void *object = slab_get(&slab);
        assert_ptr_equal(object, first);
        assert_memory_equal(object, zeros, BYTES);
        slab_put(&slab, object);
    }
    assert_int_equal(fault_allocations(), before);
    assert_int_equal(stats_of(&slab).made, 1);
    slab_deinit(&slab);
}

static void no_more_than_the_bound_is_kept(void **state)
{
    (void)state;
    struct slab slab;
    slab_init(&slab, 1, 3); /* smaller than a link */
    void *objects[10];
    for (size_t i = 0; i < count_of(objects); i++)
        objects[i] = slab_get(&slab);
    for (size_t i = 0; i < count_of(objects); i++)
        slab_put(&slab, objects[i]);
    slab_put(&slab, NULL);
    assert_int_equal(stats_of(&slab).kept, 3);
    assert_int_equal(stats_of(&slab).peak_used, 10);
    assert_int_equal(stats_of(&slab).used, 0);
    slab_deinit(&slab);
}

static void exhausted_memory_is_null_and_the_next_get_works(void **state)
{
    (void)state;
    struct slab slab;
    slab_init(&slab, BYTES, 3);
    fault_arm(1);
    assert_null(slab_get(&slab));
    assert_true(fault_disarm());
    assert_int_equal(stats_of(&slab).used, 0);
    void *object = slab_get(&slab);
    assert_non_null(object);
    slab_put(&slab, object);
    slab_deinit(&slab);
}

static void *get_and_put(void *argument)
{
    for (int i = 0; i < 2000; i++) {
        unsigned *object = slab_get(argument);
        assert_int_equal(*object, 0);
        *object = 1; /* a data race if two threads had the same object */
        slab_put(argument, object);
    }
    return NULL;
}

static void threads_never_share_an_object(void **state)
{
    (void)state;
    struct slab slab;
    pthread_t threads[8];
    slab_init(&slab, BYTES, 3);
    for (size_t i = 0; i < count_of(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, get_and_put, &slab), 0);
    for (size_t i = 0; i < count_of(threads); i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(stats_of(&slab).used, 0);
    assert_true(stats_of(&slab).peak_used <= count_of(threads));
    slab_deinit(&slab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warm_get_allocates_nothing_and_returns_zeros),
        cmocka_unit_test(no_more_than_the_bound_is_kept),
        cmocka_unit_test(exhausted_memory_is_null_and_the_next_get_works),
        cmocka_unit_test(threads_never_share_an_object),
    };
    return cmocka_run_group_tests_name("slab", tests, NULL, NULL);
}
