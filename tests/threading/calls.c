/* When a user's pool is called: without a lock that another context needs, and not for small
 * problems. */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "src/core/log.h"
#include "tests/support/estimate.h"
#include "tests/support/pools.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

/* ---- two contexts ---- */

/* A user's pool that runs tasks only when another context has described, made and executed a
 * primitive: it would wait for ever if one lock were held around both. */
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool inside, done;
    neo_status status; /* of the other context */
};

/* At most some seconds. */
static bool wait_until(struct meeting *m, const bool *flag)
{
    struct timespec end;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &end), 0);
    end.tv_sec += 20;
    (void)pthread_mutex_lock(&m->lock);
    while (!*flag && !pthread_cond_timedwait(&m->changed, &m->lock, &end))
        continue;
    bool seen = *flag;
    (void)pthread_mutex_unlock(&m->lock);
    return seen;
}

static void tell(struct meeting *m, bool *flag)
{
    (void)pthread_mutex_lock(&m->lock);
    *flag = true;
    (void)pthread_cond_broadcast(&m->changed);
    (void)pthread_mutex_unlock(&m->lock);
}

static int two_threads(void *context)
{
    (void)context;
    return 2;
}

static int never_in_parallel(void *context)
{
    (void)context;
    return 0;
}

static void run_after_the_other(void *context, int n, neo_task_fn *task, void *argument)
{
    struct meeting *m = context;
    tell(m, &m->inside);
    (void)wait_until(m, &m->done);
    for (int i = 0; i < n; i++)
        task(argument, i, n);
}

/* The same product on a pool, or on the engine's own. */
static neo_status multiply_on(const neo_threadpool *pool)
{
    neo_engine *own;
    neo_stream *own_stream;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_memory_desc plain = tensor_desc(2, (neo_dim[]){96, 96}, "ab");
    neo_matmul_desc desc = {.src = plain, .weights = plain, .dst = plain};
    assert_int_equal(neo_engine_create(&own), NEO_OK);
    assert_int_equal(neo_stream_create(&own_stream, own, &(neo_stream_options){.threadpool = pool}),
                     NEO_OK);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, own, &desc, NULL), NEO_OK);
    estimate_set(pd, 1e15); /* cycles: worth all threads */
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    struct tensor src = tensor_make(own, &plain, 1), weights = tensor_make(own, &plain, 2);
    struct tensor dst = tensor_make(own, &plain, 0);
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, src.memory}, {NEO_ARG_WEIGHTS, weights.memory}, {NEO_ARG_DST, dst.memory}};
    neo_status status = neo_primitive_execute(primitive, own_stream, 3, args);
    tensor_free(&src);
    tensor_free(&weights);
    tensor_free(&dst);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_stream_destroy(own_stream);
    neo_engine_destroy(own);
    return status;
}

static void *run_other_context(void *argument)
{
    struct meeting *m = argument;
    if (wait_until(m, &m->inside))
        m->status = multiply_on(NULL);
    tell(m, &m->done);
    return NULL;
}

static void tp5_a_context_does_not_wait_for_another_one(void **state)
{
    (void)state;
    struct meeting m = {.lock = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER,
                        .status = NEO_INVALID_ARGUMENT};
    neo_threadpool pool = {.context = &m,
                           .num_threads = two_threads,
                           .in_parallel = never_in_parallel,
                           .parallel_for = run_after_the_other};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_other_context, &m), 0);
    uint64_t begin = log_now_ns();
    assert_int_equal(multiply_on(&pool), NEO_OK);
    assert_true(log_now_ns() - begin < UINT64_C(15000000000));
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_true(m.inside && m.done);
    assert_int_equal(m.status, NEO_OK);
}

/* ---- small problems ---- */

/* How many calls the pool gets for one matrix multiplication, whose sizes the primitive may not
 * know before. */
static long calls_for(neo_dim size, bool runtime)
{
    neo_memory_desc plain = tensor_desc(2, (neo_dim[]){size, size}, "ab"), given = plain;
    neo_dim unknown[] = {NEO_RUNTIME_DIM, NEO_RUNTIME_DIM};
    if (runtime)
        assert_int_equal(neo_memory_desc_init_strides(&given, 2, unknown, NEO_F32, unknown),
                         NEO_OK);
    neo_matmul_desc desc = {.src = given, .weights = given, .dst = given};
    struct test_pool *pool = test_pool_create(TEST_POOL_SYNCHRONOUS, 3);
    neo_stream *counted;
    assert_int_equal(neo_stream_create(&counted, engine,
                                       &(neo_stream_options){.threadpool = test_pool_table(pool)}),
                     NEO_OK);
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    struct tensor src = tensor_make(engine, &plain, 1), weights = tensor_make(engine, &plain, 2);
    struct tensor dst = tensor_make(engine, &plain, 0);
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, src.memory}, {NEO_ARG_WEIGHTS, weights.memory}, {NEO_ARG_DST, dst.memory}};
    assert_int_equal(neo_primitive_execute(primitive, counted, 3, args), NEO_OK);
    long calls = test_pool_counts(pool).calls;
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_stream_destroy(counted);
    test_pool_destroy(pool);
    tensor_free(&src);
    tensor_free(&weights);
    tensor_free(&dst);
    return calls;
}

/* One task is all that a few cycles are worth. */
static void small_problems_stay_in_the_caller(void **state)
{
    (void)state;
    for (int runtime = 0; runtime < 2; runtime++) {
        assert_int_equal(calls_for(4, runtime), 0);
        assert_true(calls_for(160, runtime) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tp5_a_context_does_not_wait_for_another_one),
        cmocka_unit_test(small_problems_stay_in_the_caller),
    };
    return cmocka_run_group_tests_name("threads_calls", tests, session_setup, session_teardown);
}
