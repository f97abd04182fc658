/* Tasks compute in the floating-point mode of the thread that called, on every kind of pool, and
 * leave that of the thread they run on as it was. */
#include "tests/support/test.h"

#include <pthread.h>
#include <string.h>

#include "neoprene/neoprene.h"
#include "src/threading/parallel.h"
#include "tests/support/float_modes.h"
#include "tests/support/pools.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

enum { TASKS = 24, THREADS = 4 };

static void note_mode(void *argument, int i, int n)
{
    uint64_t *modes = argument;
    (void)n;
    modes[i] = float_mode_here();
}

static void check_pool(const neo_threadpool *pool, const char *name)
{
    struct parallel p;
    uint64_t modes[TASKS];
    parallel_init(&p, pool, NULL, 0);
    parallel_for(&p, TASKS, note_mode, modes); /* the threads exist from now on */
    for (int mode = 0; mode < FLOAT_MODES; mode++) {
        uint64_t want = float_modes[mode].bits, own = float_mode_swap(want);
        parallel_for(&p, TASKS, note_mode, modes);
        uint64_t after = float_mode_swap(own);
        assert_int_equal(after, want);
        for (int i = 0; i < TASKS; i++)
            if (modes[i] != want)
                fail_msg("pool %s, mode %s: task %d ran in %#jx, not %#jx", name,
                         float_modes[mode].name, i, (uintmax_t)modes[i], (uintmax_t)want);
    }
}

static void tasks_have_the_callers_mode_on_every_users_pool(void **state)
{
    (void)state;
    for (int kind = 0; kind < TEST_POOL_KINDS; kind++) {
        struct test_pool *pool = test_pool_create((enum test_pool_kind)kind, THREADS);
        check_pool(test_pool_table(pool), test_pool_name((enum test_pool_kind)kind));
        test_pool_destroy(pool);
    }
}

/* Each task waits until another thread runs one, too: the caller alone would prove nothing. */
struct meeting {
    pthread_barrier_t all_here;
    uint64_t modes[THREADS];
};

static void meet_and_note_mode(void *argument, int i, int n)
{
    struct meeting *meeting = argument;
    (void)pthread_barrier_wait(&meeting->all_here);
    note_mode(meeting->modes, i, n);
}

static void tasks_have_the_callers_mode_on_the_built_in_pool(void **state)
{
    (void)state;
    neo_threadpool pool;
    neo_threadpool_options options = {.threads = THREADS};
    assert_int_equal(neo_threadpool_create(&pool, &options), NEO_OK);
    struct meeting meeting;
    assert_int_equal(pthread_barrier_init(&meeting.all_here, NULL, THREADS), 0);
    for (int mode = 0; mode < FLOAT_MODES; mode++) {
        uint64_t want = float_modes[mode].bits, own = float_mode_swap(want);
        pool.parallel_for(pool.context, THREADS, meet_and_note_mode, &meeting);
        (void)float_mode_swap(own);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(meeting.modes[i], want);
    }
    (void)pthread_barrier_destroy(&meeting.all_here);
    check_pool(&pool, "built-in");
    neo_threadpool_destroy(&pool);
}

/* ---- a user's threads, which have modes of their own ---- */

struct own_thread {
    neo_task_fn *task;
    void *argument;
    int i, n;
    uint64_t own, after;
};

static void *run_in_own_mode(void *argument)
{
    struct own_thread *t = argument;
    float_mode_set(t->own);
    t->task(t->argument, t->i, t->n);
    t->after = float_mode_here();
    return NULL;
}

static int own_num_threads(void *context)
{
    (void)context;
    return THREADS;
}

static int own_in_parallel(void *context)
{
    (void)context;
    return 0;
}

/* A new thread for each task. */
static void own_parallel_for(void *context, int n, neo_task_fn *task, void *argument)
{
    uint64_t *own = context;
    for (int i = 0; i < n; i++) {
        struct own_thread t = {task, argument, i, n, *own, 0};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, run_in_own_mode, &t), 0);
        (void)pthread_join(thread, NULL);
        assert_int_equal(t.after, *own);
    }
}

static void a_users_threads_get_their_modes_back(void **state)
{
    (void)state;
    for (int i = 0; i < FLOAT_MODES; i++) {
        uint64_t own = float_modes[i].bits;
        neo_threadpool pool = {&own, 0, own_num_threads, own_in_parallel, own_parallel_for, NULL};
        check_pool(&pool, "of own threads");
    }
}

/* ---- shared weights ---- */

static void fill_with_thirds(const struct tensor *t)
{
    for (size_t i = 0; i < neo_memory_desc_elements(&t->desc); i++)
        t->data[i] = (float)(i % 17 + 1) / 3;
}

/* Winograd's transform is the packing that computes. */
static void shared_weights_have_the_same_bits_in_every_mode(void **state)
{
    (void)state;
    enum { SIZE = 12, CHANNELS = 8 };
    neo_memory_desc image = tensor_desc(4, (neo_dim[]){1, CHANNELS, SIZE, SIZE}, "acdb"),
                    plain = tensor_desc(4, (neo_dim[]){CHANNELS, CHANNELS, 3, 3}, "abcd");
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .algorithm = NEO_CONVOLUTION_WINOGRAD,
                                 .src = image,
                                 .weights = tensor_desc(4, plain.dims, "any"),
                                 .dst = image,
                                 .strides = {1, 1},
                                 .padding_left = {1, 1},
                                 .padding_right = {1, 1}};
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    const neo_memory_desc *packed = neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    struct tensor weights = tensor_make(engine, &plain, 1);
    fill_with_thirds(&weights);
    struct tensor want = tensor_reordered(engine, stream, &weights, packed);
    for (int mode = 0; mode < FLOAT_MODES; mode++) {
        neo_packed_weights *shared;
        size_t differing = 0;
        uint64_t own = float_mode_swap(float_modes[mode].bits);
        assert_int_equal(neo_weights_pack(&shared, pd, stream, weights.memory), NEO_OK);
        assert_int_equal(neo_weights_compare(&differing, stream, want.memory, weights.memory),
                         NEO_OK);
        (void)float_mode_swap(own);
        assert_int_equal(differing, 0);
        assert_memory_equal(neo_memory_get_handle(neo_packed_weights_memory(shared)),
                            neo_memory_get_handle(want.memory), neo_memory_desc_size(packed));
        neo_packed_weights_destroy(shared);
    }
    tensor_free(&weights);
    tensor_free(&want);
    neo_primitive_desc_destroy(pd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_have_the_callers_mode_on_every_users_pool),
        cmocka_unit_test(tasks_have_the_callers_mode_on_the_built_in_pool),
        cmocka_unit_test(a_users_threads_get_their_modes_back),
        cmocka_unit_test(shared_weights_have_the_same_bits_in_every_mode),
    };
    return cmocka_run_group_tests_name("threads_float_mode", tests, session_setup,
                                       session_teardown);
}
