/* Random convolutions, and products of few rows: the same bits on any number of threads, by every
 * implementation offered, in several floating-point modes of the caller. What a thread is given
 * decides which kernels do it. NEOPRENE_TEST_ROUND makes one alone. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/cases/convolution_random.h"
#include "tests/support/cases/divided.h"
#include "tests/support/estimate.h"
#include "tests/support/float_modes.h"
#include "tests/support/pools.h"
#include "tests/support/random.h"
#include "tests/support/rounds.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

enum { PRODUCTS = 12 }; /* rounds */
#define LARGE 1e15      /* cycles: worth all threads, however small */

static const int threads[] = {2, 3, 7};
static const enum test_pool_kind kinds[] = {TEST_POOL_DEFERRED, TEST_POOL_SYNCHRONOUS,
                                            TEST_POOL_DEFERRED};
enum { POOLS = count_of(threads) };
static struct {
    struct test_pool *pool;
    neo_stream *stream;
} pools[POOLS];

static int setup(void **state)
{
    if (session_setup_single(state))
        return -1;
    for (size_t i = 0; i < POOLS; i++) {
        pools[i].pool = test_pool_create(kinds[i], threads[i]);
        neo_stream_options options = {.threadpool = test_pool_table(pools[i].pool)};
        assert_int_equal(neo_stream_create(&pools[i].stream, engine, &options), NEO_OK);
    }
    return 0;
}

static int teardown(void **state)
{
    for (size_t i = 0; i < POOLS; i++) {
        neo_stream_destroy(pools[i].stream);
        struct test_pool_counts counts = test_pool_counts(pools[i].pool);
        test_pool_destroy(pools[i].pool);
        assert_int_equal(counts.most, threads[i]);
    }
    return session_teardown(state);
}

/* ---- a problem ---- */

/* Sums of these depend on the order of their terms: equal bits mean equal order. */
static struct tensor make_reals(const neo_memory_desc *desc, uint64_t *seed)
{
    struct tensor t = tensor_make(engine, desc, 0);
    for (size_t i = 0; i < neo_memory_desc_elements(desc); i++)
        t.data[i] = (float)random_below(seed, 1 << 24) * 0x1p-23f - 1;
    return t;
}

/* In the layout that pd wants. */
static struct tensor make_weights(const neo_primitive_desc *pd, uint64_t *seed)
{
    static const char tags[][7] = {"", "", "ab", "abc", "abcd", "abcde", "abcdef"};
    neo_memory_desc wanted = *neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    neo_memory_desc plain = tensor_desc(wanted.ndims, wanted.dims, tags[wanted.ndims]);
    struct tensor reals = make_reals(&plain, seed);
    struct tensor weights = tensor_reordered(engine, stream, &reals, &wanted);
    tensor_free(&reals);
    return weights;
}

static void execute(neo_primitive *primitive, neo_stream *on, const struct tensor *src,
                    const struct tensor *weights, const struct tensor *dst)
{
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, src->memory}, {NEO_ARG_WEIGHTS, weights->memory}, {NEO_ARG_DST, dst->memory}};
    assert_int_equal(neo_primitive_execute(primitive, on, (int)count_of(args), args), NEO_OK);
}

static neo_stream *many; /* of many threads, where a test has one */

static void check_implementation(const neo_primitive_desc *pd, uint64_t seed)
{
    const neo_memory_desc *desc = neo_primitive_desc_query(pd, NEO_ARG_DST);
    size_t bytes = neo_memory_desc_size(desc);
    struct tensor src = make_reals(neo_primitive_desc_query(pd, NEO_ARG_SRC), &seed);
    struct tensor weights = make_weights(pd, &seed);
    struct tensor want = tensor_make(engine, desc, 0), got = tensor_make(engine, desc, 0);
    memset(want.data, 0xee, bytes);
    neo_primitive *primitive;
    estimate_set(pd, LARGE);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    execute(primitive, stream, &src, &weights, &want);
    for (size_t i = 0; i < POOLS; i++) {
        memset(got.data, 0xee, bytes);
        execute(primitive, pools[i].stream, &src, &weights, &got);
        if (memcmp(got.data, want.data, bytes))
            fail_msg("%s: other results on %d threads", neo_primitive_desc_implementation(pd),
                     threads[i]);
    }
    if (many) {
        memset(got.data, 0xee, bytes);
        execute(primitive, many, &src, &weights, &got);
        if (memcmp(got.data, want.data, bytes))
            fail_msg("%s: other results on many threads", neo_primitive_desc_implementation(pd));
    }
    neo_primitive_destroy(primitive);
    struct tensor *all[] = {&src, &weights, &want, &got};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
}

static void check_all(neo_primitive_desc *pd, uint64_t seed)
{
    do
        check_implementation(pd, seed);
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
}

/* Few rounds in other modes than the default one: emulators take long for them. */
static void check_all_in_mode(neo_primitive_desc *pd, uint64_t seed, size_t round)
{
    size_t mode = round % 12 < FLOAT_MODES ? round % 12 : 0;
    uint64_t own = float_mode_swap(float_modes[mode].bits);
    check_all(pd, seed);
    (void)float_mode_swap(own);
}

static void check_convolution(size_t round)
{
    uint64_t seed = round;
    char name[CONVOLUTION_NAME];
    struct convolution_case row = convolution_random(&seed, name);
    neo_convolution_desc desc = convolution_case_desc(&row, &(struct convolution_variant){0});
    neo_primitive_desc *pd;
    print_message("round %zu: %s\n", round, name);
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    check_all_in_mode(pd, seed, round);
}

static struct divided divided;

/* Rows as they come, or 4 or 8 KiB apart. */
static void check_product(size_t round)
{
    uint64_t seed = round;
    const neo_dim depths[] = {400 + (neo_dim)random_below(&seed, 500), 1024, 2048};
    neo_dim m = 3 + (neo_dim)random_below(&seed, 7), k = depths[random_below(&seed, 3)];
    neo_dim n = 4 * (20 + (neo_dim)random_below(&seed, 45));
    neo_matmul_desc desc = {.src = tensor_desc(2, (neo_dim[]){m, k}, "ab"),
                            .weights = tensor_desc(2, (neo_dim[]){k, n}, "any"),
                            .dst = tensor_desc(2, (neo_dim[]){m, n}, "ab")};
    neo_primitive_desc *pd;
    print_message("round %zu: %dx%d:%dx%d\n", round, (int)m, (int)k, (int)k, (int)n);
    divided_count(&divided, &desc);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    check_all_in_mode(pd, seed, round);
}

static void random_convolutions_are_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    rounds_run(48, 20000, check_convolution);
}

/* With a cache that few rows leave from strip to strip. */
static void random_products_are_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    static struct cpu small;
    session_state_caches(&small, 32 << 10, 1 << 20);
    rounds_run(PRODUCTS, 2000, check_product);
    print_message("%zu in parts, %zu by copies\n", divided.parts, divided.copies);
    if (getenv("NEOPRENE_TEST_ROUND") || rounds_count(PRODUCTS, 2000) < PRODUCTS)
        return; /* too few to meet both */
    assert_true(divided.parts > 0);
    assert_int_equal(divided.copies > 0, divided_may_copy());
}

/* rate: of the implementation, or NULL: of all. */
static void check_winograd(neo_dim ic, neo_dim oc, neo_dim size, const char *tag, const char *rate)
{
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .algorithm = NEO_CONVOLUTION_WINOGRAD,
                                 .src = tensor_desc(4, (neo_dim[]){1, ic, size, size}, tag),
                                 .weights = tensor_desc(4, (neo_dim[]){oc, ic, 3, 3}, "any"),
                                 .dst = tensor_desc(4, (neo_dim[]){1, oc, size, size}, tag),
                                 .strides = {1, 1},
                                 .padding_left = {1, 1},
                                 .padding_right = {1, 1}};
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    while (rate && !strstr(neo_primitive_desc_implementation(pd), rate))
        assert_int_equal(neo_primitive_desc_next(pd), NEO_OK);
    if (!rate) {
        check_all(pd, (uint64_t)size);
        return;
    }
    check_implementation(pd, (uint64_t)size);
    neo_primitive_desc_destroy(pd);
}

/* Strips of large images are smaller for many threads, and those of many channels are shared
 * (tests/convolution/winograd_strips.c has these sizes). */
static void strips_for_many_threads_change_no_result(void **state)
{
    (void)state;
    enum { MANY = 80 };
    static struct cpu small;
    session_state_caches(&small, 64 << 10, 32 << 10);
    struct test_pool *pool = test_pool_create(TEST_POOL_SYNCHRONOUS, MANY);
    neo_stream_options options = {.threadpool = test_pool_table(pool)};
    assert_int_equal(neo_stream_create(&many, engine, &options), NEO_OK);
    check_winograd(16, 16, 160, "nhwc", "winograd_6");
    check_winograd(48, 48, 112, "nhwc", "winograd_6");
    check_winograd(96, 80, 14, "nhwc", NULL);
    check_winograd(131, 61, 9, "nchw", NULL);
    neo_stream_destroy(many);
    many = NULL;
    test_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_convolutions_are_the_same_on_any_number_of_threads),
        cmocka_unit_test(random_products_are_the_same_on_any_number_of_threads),
        cmocka_unit_test(strips_for_many_threads_change_no_result),
    };
    return cmocka_run_group_tests_name("threads_results", tests, setup, teardown);
}
