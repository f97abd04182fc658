/* Everything runs on a stack of 64 KiB: the threads of many runtimes have no more. */
#include "tests/support/test.h"

#include <pthread.h>

#include "neoprene/neoprene.h"
#include "src/threading/default_pool_parts.h"
#include "tests/support/cases/primitives.h"
#include "tests/support/pages.h"
#include "tests/support/require.h"
#include "tests/support/small_stack.h"
#include "tests/support/tensor.h"

static neo_engine *engine;
static neo_stream *stream;

static void execute(const struct primitive_problem *problem, int index,
                    const neo_primitive_desc *pd)
{
    (void)problem, (void)index;
    neo_primitive *primitive;
    struct primitive_args args = primitive_args_make(engine, pd, 3, neo_stream_num_threads(stream));
    require(neo_primitive_create(&primitive, pd) == NEO_OK);
    require(neo_primitive_execute(primitive, stream, args.count, args.list) == NEO_OK);
    neo_primitive_destroy(primitive);
    primitive_args_free(&args);
}

/* Sizes that are known at the execution are planned for on the stack. */
static void multiply_with_late_sizes(void)
{
    enum { M = 5, N = 7, K = 9 };
    neo_memory_desc late = tensor_desc(2, (neo_dim[]){NEO_RUNTIME_DIM, NEO_RUNTIME_DIM}, "ab");
    const neo_memory_desc descs[] = {tensor_desc(2, (neo_dim[]){M, K}, "ab"),
                                     tensor_desc(2, (neo_dim[]){K, N}, "ab"),
                                     tensor_desc(2, (neo_dim[]){M, N}, "ab")};
    neo_matmul_desc desc = {.src = late, .weights = late, .dst = late};
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_memory *memories[3];
    require(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL) == NEO_OK);
    require(neo_primitive_create(&primitive, pd) == NEO_OK);
    for (int i = 0; i < 3; i++)
        require(neo_memory_create(&memories[i], &descs[i], engine, NEO_MEMORY_ALLOCATE) == NEO_OK);
    const neo_exec_arg args[] = {
        {NEO_ARG_SRC, memories[0]}, {NEO_ARG_WEIGHTS, memories[1]}, {NEO_ARG_DST, memories[2]}};
    require(neo_primitive_execute(primitive, stream, 3, args) == NEO_OK);
    for (int i = 0; i < 3; i++)
        neo_memory_destroy(memories[i]);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

static void live(void *unused)
{
    (void)unused;
    neo_stream_options options = {.max_threads = 3};
    require(neo_engine_create(&engine) == NEO_OK);
    require(neo_stream_create(&stream, engine, &options) == NEO_OK);
    primitive_for_each(engine, false, execute);
    multiply_with_late_sizes();
    neo_stream_destroy(stream);
    neo_engine_destroy(engine);
}

static void a_life_fits_into_a_small_stack(void **state)
{
    (void)state;
    print_message("%zu bytes of %d were used\n", small_stack_run(live, NULL), SMALL_STACK_BYTES);
}

/* ---- the pool's own threads ---- */

static void note_stack_bytes(void *argument, int i, int n)
{
    size_t *bytes = argument;
    pthread_attr_t attributes;
    (void)n;
    require(pthread_getattr_np(pthread_self(), &attributes) == 0);
    require(pthread_attr_getstacksize(&attributes, &bytes[i]) == 0);
    (void)pthread_attr_destroy(&attributes);
}

static void threads_have_the_stack_that_is_stated(void **state)
{
    (void)state;
    SKIP_WITH_PRETENDED_PAGES();
    enum { TASKS = 200 };
    neo_threadpool pool;
    neo_threadpool_options options = {.threads = 4, .affinity = NEO_AFFINITY_COMPACT};
    assert_int_equal(neo_threadpool_create(&pool, &options), NEO_OK);
    size_t bytes[TASKS], callers;
    note_stack_bytes(&callers, 0, 1);
    pool.parallel_for(pool.context, TASKS, note_stack_bytes, bytes);
    for (int i = 0; i < TASKS; i++)
        assert_true(bytes[i] == POOL_STACK_BYTES || bytes[i] == callers);
    neo_threadpool_destroy(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_fits_into_a_small_stack),
        cmocka_unit_test(threads_have_the_stack_that_is_stated),
    };
    return cmocka_run_group_tests_name("threads_stack", tests, NULL, NULL);
}
