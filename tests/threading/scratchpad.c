/* A primitive is made once and runs on any number of threads: the scratchpad that the user brings
 * for so many is enough, and the bits of the result are the same. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "tests/support/cases/primitives.h"
#include "tests/support/estimate.h"
#include "tests/support/guard.h"
#include "tests/support/pools.h"
#include "tests/support/tensor.h"

#define LARGE 1e15 /* cycles: worth all threads */
enum { MOST_THREADS = 128 };

/* The deferred pool is one thread that runs many tasks: as many as a pool of that size gets. */
static struct place {
    int threads;
    struct test_pool *pool;
    neo_stream *stream;
} places[] = {{.threads = 1},  {.threads = 2},  {.threads = 3},  {.threads = 7},
              {.threads = 13}, {.threads = 64}, {.threads = 128}};

static neo_engine *engine;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(neo_engine_create(&engine), NEO_OK);
    for (size_t i = 0; i < count_of(places); i++) {
        struct place *p = &places[i];
        p->pool = test_pool_create(TEST_POOL_DEFERRED, p->threads);
        neo_stream_options options = {.threadpool = test_pool_table(p->pool)};
        assert_int_equal(neo_stream_create(&p->stream, engine, &options), NEO_OK);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(places); i++) {
        neo_stream_destroy(places[i].stream);
        test_pool_destroy(places[i].pool);
    }
    neo_engine_destroy(engine);
    return 0;
}

/* With a scratchpad of so many bytes, which ends (or begins) at a page that may not be touched. */
static neo_status execute(const neo_primitive *primitive, neo_stream *stream,
                          const struct primitive_args *args, size_t bytes, int at_end)
{
    struct primitive_args mine = *args;
    struct guard guard;
    neo_memory_desc desc;
    neo_dim size = (neo_dim)bytes;
    guard_init(&guard, bytes + 1);
    assert_int_equal(neo_memory_desc_init_tag(&desc, 1, &size, NEO_U8, "a"), NEO_OK);
    void *scratch = guard_at(&guard, bytes, at_end);
    memset(scratch, 0xff, bytes); /* NaN for whoever reads what he has not written */
    neo_memory *memory = NULL;
    if (bytes) {
        assert_int_equal(neo_memory_create(&memory, &desc, engine, scratch), NEO_OK);
        mine.list[mine.count++] = (neo_exec_arg){NEO_ARG_SCRATCHPAD, memory};
    }
    neo_status status = neo_primitive_execute(primitive, stream, mine.count, mine.list);
    neo_memory_destroy(memory);
    guard_deinit(&guard);
    return status;
}

static void check_place(const neo_primitive *primitive, const neo_primitive_desc *pd,
                        const struct place *p, const struct primitive_args *args, const void *want)
{
    size_t enough = neo_primitive_desc_scratchpad_size(pd, p->threads);
    size_t most = neo_primitive_desc_scratchpad_size(pd, MOST_THREADS), dst_bytes;
    void *dst = primitive_args_dst(args, &dst_bytes);
    assert_true(enough <= most);
    size_t sizes[] = {enough, enough, most};
    for (int i = 0; i < 3; i++) {
        memset(dst, 0xee, dst_bytes);
        assert_int_equal(execute(primitive, p->stream, args, sizes[i], i), NEO_OK);
        if (memcmp(dst, want, dst_bytes))
            fail_msg("%s: other results on %d threads", neo_primitive_desc_implementation(pd),
                     p->threads);
    }
    if (enough)
        assert_int_equal(execute(primitive, p->stream, args, enough - 1, 0), NEO_INVALID_ARGUMENT);
}

static void check_implementation(const neo_primitive_desc *pd)
{
    neo_primitive *primitive;
    estimate_set(pd, LARGE);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    struct primitive_args args = primitive_args_make(engine, pd, 3, 1);
    if (neo_primitive_desc_scratchpad_size(pd, 1)) { /* the last one, which execute() replaces */
        args.count--;
        neo_memory_destroy(args.list[args.count].memory);
        free(args.buffers[args.count]);
    }
    size_t bytes;
    void *dst = primitive_args_dst(&args, &bytes), *want = malloc(bytes);
    assert_non_null(want);
    memset(dst, 0xee, bytes); /* a sum adds to it */
    assert_int_equal(
        execute(primitive, places[0].stream, &args, neo_primitive_desc_scratchpad_size(pd, 1), 0),
        NEO_OK);
    memcpy(want, dst, bytes);
    for (size_t i = 0; i < count_of(places); i++)
        check_place(primitive, pd, &places[i], &args, want);
    free(want);
    primitive_args_free(&args);
    neo_primitive_destroy(primitive);
}

static void one_primitive_runs_on_any_number_of_threads_in_a_guarded_scratchpad(void **state)
{
    (void)state;
    int implementations = 0;
    for (size_t number = 0; number < primitive_problem_count; number++) {
        struct primitive_problem problem;
        neo_primitive_desc *pd;
        primitive_problem_init(&problem, engine, number, true);
        for (int i = 0; primitive_problem_describe(&pd, engine, &problem, i) == NEO_OK; i++) {
            check_implementation(pd);
            neo_primitive_desc_destroy(pd);
            implementations++;
        }
        primitive_problem_deinit(&problem);
    }
    assert_true(implementations > (int)primitive_problem_count);
}

/* More panels of output channels than it multiplies in one round; input channels that are read to
 * the last byte of the zeros that padding is. */
static void winograds_algorithm_in_rounds_keeps_to_its_scratchpad(void **state)
{
    (void)state;
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .algorithm = NEO_CONVOLUTION_WINOGRAD,
                                 .src = tensor_desc(4, (neo_dim[]){1, 36, 6, 6}, "nhwc"),
                                 .weights = tensor_desc(4, (neo_dim[]){216, 36, 3, 3}, "any"),
                                 .dst = tensor_desc(4, (neo_dim[]){1, 216, 6, 6}, "nhwc"),
                                 .strides = {1, 1},
                                 .padding_left = {1, 1},
                                 .padding_right = {1, 1}};
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    neo_attributes_set_scratchpad_mode(attributes, NEO_SCRATCHPAD_USER);
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    do
        check_implementation(pd);
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
}

/* Nothing of a primitive depends on the number of threads of the context that made it (TP6): so it
 * takes as long on n threads as one that was made for n. */
static void tp6_primitives_made_for_64_threads_and_for_one_are_the_same(void **state)
{
    (void)state;
    neo_engine *engines[2];
    static const char *const threads[] = {"1", "64"};
    for (int e = 0; e < 2; e++) {
        assert_int_equal(setenv("NEOPRENE_NUM_THREADS", threads[e], 1), 0);
        assert_int_equal(neo_engine_create(&engines[e]), NEO_OK);
    }
    assert_int_equal(unsetenv("NEOPRENE_NUM_THREADS"), 0);
    for (size_t number = 0; number < primitive_problem_count; number++) {
        struct primitive_problem problems[2];
        neo_primitive_desc *pds[2];
        for (int e = 0; e < 2; e++) {
            primitive_problem_init(&problems[e], engines[e], number, true);
            assert_int_equal(primitive_problem_describe(&pds[e], engines[e], &problems[e], 0),
                             NEO_OK);
        }
        assert_string_equal(neo_primitive_desc_implementation(pds[0]),
                            neo_primitive_desc_implementation(pds[1]));
        for (size_t i = 0; i < count_of(places); i++)
            assert_int_equal(neo_primitive_desc_scratchpad_size(pds[0], places[i].threads),
                             neo_primitive_desc_scratchpad_size(pds[1], places[i].threads));
        const neo_memory_desc *weights[] = {neo_primitive_desc_query(pds[0], NEO_ARG_WEIGHTS),
                                            neo_primitive_desc_query(pds[1], NEO_ARG_WEIGHTS)};
        assert_true(!weights[0] == !weights[1]);
        assert_true(!weights[0] || neo_memory_desc_equal(weights[0], weights[1]));
        for (int e = 0; e < 2; e++) {
            neo_primitive_desc_destroy(pds[e]);
            primitive_problem_deinit(&problems[e]);
        }
    }
    for (int e = 0; e < 2; e++)
        neo_engine_destroy(engines[e]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_primitive_runs_on_any_number_of_threads_in_a_guarded_scratchpad),
        cmocka_unit_test(winograds_algorithm_in_rounds_keeps_to_its_scratchpad),
        cmocka_unit_test(tp6_primitives_made_for_64_threads_and_for_one_are_the_same),
    };
    return cmocka_run_group_tests_name("threads_scratchpad", tests, setup, teardown);
}
