/* Every algorithm of every operation on every kind of pool: the same bits as on one thread. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "arch/cores.h"
#include "arch/topology.h"
#include "src/packed/depthwise.h"
#include "src/packed/pack.h"
#include "src/primitive/engine.h"
#include "src/tensor/depthwise_layout.h"
#include "src/threading/default_pool.h"
#include "tests/support/cases/operands.h"
#include "tests/support/estimate.h"
#include "tests/support/pools.h"
#include "tests/support/rounds.h"
#include "tests/support/tensor.h"

/* ---- the pools ---- */

enum { BUILT_IN = TEST_POOL_KINDS, UNEQUAL, ENGINES };

static struct place {
    int kind, threads;
    struct test_pool *user;
    neo_threadpool table;
    struct default_pool *unequal;
    neo_stream *stream;
} places[] = {
    {.kind = ENGINES, .threads = 1}, /* the caller alone: what the others are compared with */
    {.kind = ENGINES},
    {.kind = BUILT_IN, .threads = 2},
    {.kind = BUILT_IN, .threads = 3},
    {.kind = BUILT_IN, .threads = 12},
    {.kind = UNEQUAL, .threads = 8},
    {.kind = UNEQUAL, .threads = 5},
    {.kind = TEST_POOL_SYNCHRONOUS, .threads = 3},
    {.kind = TEST_POOL_ASYNCHRONOUS, .threads = 3},
    {.kind = TEST_POOL_AWAITED, .threads = 5},
    {.kind = TEST_POOL_ONE, .threads = 1},
    {.kind = TEST_POOL_HOSTILE, .threads = 7},
    {.kind = TEST_POOL_HOSTILE, .threads = 16},
    {.kind = TEST_POOL_DEFERRED, .threads = 2},
    {.kind = TEST_POOL_DEFERRED, .threads = 6},
    {.kind = TEST_POOL_DEFERRED, .threads = 31},
    {.kind = TEST_POOL_DEFERRED, .threads = 64},
    {.kind = TEST_POOL_DEFERRED, .threads = 128},
};

static neo_engine *engine;

/* One big core, three middle ones, the rest little; every other one issues in order, for which
 * there are kernels of their own. */
static struct default_pool *make_unequal(int threads)
{
    static const uint32_t capacities[] = {300, 800, 1024};
    static const char *const names[] = {"cortex-a76", "cortex-a55", "cortex-x1", "cortex-a510"};
    struct topology t = {.count = 8};
    for (int i = 0; i < t.count; i++) {
        enum topology_class class = i ? i < 4 ? TOPOLOGY_MID : TOPOLOGY_LITTLE : TOPOLOGY_BIG;
        t.cpus[i] = (struct topology_cpu){.cpu = i,
                                          .capacity = capacities[class],
                                          .class = class,
                                          .model = core_named(names[i % 4])};
    }
    struct default_pool *pool;
    neo_threadpool_options options = {.threads = threads, .affinity = NEO_AFFINITY_COMPACT};
    assert_int_equal(default_pool_create_on(&pool, &options, &t), NEO_OK);
    return pool;
}

static void open_place(struct place *p)
{
    neo_stream_options options = {.max_threads = p->kind == ENGINES ? p->threads : 0};
    if (p->kind < TEST_POOL_KINDS) {
        p->user = test_pool_create((enum test_pool_kind)p->kind, p->threads);
        p->table = *test_pool_table(p->user);
    } else if (p->kind == BUILT_IN) {
        neo_threadpool_options pool = {.threads = p->threads};
        assert_int_equal(neo_threadpool_create(&p->table, &pool), NEO_OK);
    }
    options.threadpool = p->kind >= UNEQUAL ? NULL : &p->table;
    assert_int_equal(neo_stream_create(&p->stream, engine, &options), NEO_OK);
    if (p->kind == UNEQUAL) {
        p->unequal = make_unequal(p->threads);
        p->stream->parallel.builtin = p->unequal;
    }
    if (p->threads)
        assert_int_equal(neo_stream_num_threads(p->stream), p->threads);
}

static int setup(void **state)
{
    (void)state;
    assert_int_equal(neo_engine_create(&engine), NEO_OK);
    for (size_t i = 0; i < count_of(places); i++)
        open_place(&places[i]);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(places); i++) {
        neo_stream_destroy(places[i].stream);
        if (places[i].user) {
            struct test_pool_counts counts = test_pool_counts(places[i].user);
            test_pool_destroy(places[i].user);
            assert_true(counts.most > 1 || places[i].kind == TEST_POOL_ONE);
        } else
            neo_threadpool_destroy(&places[i].table);
        default_pool_destroy(places[i].unequal);
    }
    neo_engine_destroy(engine);
    return 0;
}

/* ---- the problems ---- */

/* Sums of these depend on the order of their terms: equal bits mean equal order. */
static struct tensor make_reals(const neo_memory_desc *desc, unsigned seed)
{
    struct tensor t = tensor_make(engine, desc, seed);
    uint32_t x = seed;
    for (size_t i = 0; i < neo_memory_desc_elements(desc); i++) {
        x = x * 1664525u + 1013904223u;
        t.data[i] = (float)(x >> 8) * 0x1p-23f - 1.0f;
    }
    return t;
}

/* What is in the padding shows then: zeros times infinity are not a number. */
static bool weights_are_infinite;

/* In the layout that the primitive chose, from dense reals. */
static struct tensor make_argument(const neo_primitive_desc *pd, int arg, const char *tag,
                                   unsigned seed)
{
    neo_memory_desc wanted = *neo_primitive_desc_query(pd, arg);
    neo_memory_desc plain = tensor_desc(wanted.ndims, wanted.dims, tag);
    struct tensor t = make_reals(&plain, seed);
    if (arg == NEO_ARG_WEIGHTS && weights_are_infinite)
        for (size_t i = 0; i < neo_memory_desc_elements(&plain); i++)
            t.data[i] = INFINITY;
    if (neo_memory_desc_equal(&plain, &wanted))
        return t;
    struct tensor reordered = tensor_reordered(engine, places[0].stream, &t, &wanted);
    tensor_free(&t);
    return reordered;
}

#define LARGE 1e15 /* cycles: worth all threads, which the tests want for small sizes too */

/* The last argument is dst, which is not set yet. One of five places is for each primitive: an
 * algorithm meets all of them in turn. */
static void compare_places(const neo_primitive_desc *pd, neo_exec_arg *args, int count)
{
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    const neo_memory_desc *desc = neo_primitive_desc_query(pd, NEO_ARG_DST);
    size_t bytes = neo_memory_desc_size(desc);
    struct tensor want = tensor_make(engine, desc, 1), got = tensor_make(engine, desc, 2);
    static size_t primitives;
    primitives++;
    for (size_t i = 0; i < count_of(places); i++) {
        struct tensor *dst = i ? &got : &want;
        if (i && !rounds_has(i, primitives, 5))
            continue;
        memset(neo_memory_get_handle(dst->memory), 0xee, bytes);
        args[count - 1] = (neo_exec_arg){NEO_ARG_DST, dst->memory};
        assert_int_equal(neo_primitive_execute(primitive, places[i].stream, count, args), NEO_OK);
        if (i &&
            memcmp(neo_memory_get_handle(got.memory), neo_memory_get_handle(want.memory), bytes))
            fail_msg("%s: other results with %d threads of pool kind %d",
                     neo_primitive_desc_implementation(pd), places[i].threads, places[i].kind);
    }
    tensor_free(&want);
    tensor_free(&got);
    neo_primitive_destroy(primitive);
}

/* Runs all implementations of a description, which takes ownership of pd. operands: of its
 * post-operations, or NULL. */
static void compare_implementations(neo_primitive_desc *pd, const char *src_tag,
                                    const char *weights_tag, const struct operands *operands)
{
    neo_status next;
    do {
        estimate_set(pd, LARGE);
        struct tensor src = make_argument(pd, NEO_ARG_SRC, src_tag, 3), weights = {0}, bias = {0};
        neo_exec_arg args[4 + OPERAND_COUNT] = {{NEO_ARG_SRC, src.memory}};
        int count = 1;
        if (weights_tag) {
            weights = make_argument(pd, NEO_ARG_WEIGHTS, weights_tag, 7);
            args[count++] = (neo_exec_arg){NEO_ARG_WEIGHTS, weights.memory};
        }
        if (neo_primitive_desc_query(pd, NEO_ARG_BIAS)) {
            bias = tensor_make(engine, neo_primitive_desc_query(pd, NEO_ARG_BIAS), 5);
            args[count++] = (neo_exec_arg){NEO_ARG_BIAS, bias.memory};
        }
        if (operands) {
            operands_set(operands, args + count);
            count += OPERAND_COUNT;
        }
        compare_places(pd, args, count + 1);
        tensor_free(&src);
        tensor_free(&weights);
        tensor_free(&bias);
        next = neo_primitive_desc_next(pd);
    } while (next == NEO_OK);
    assert_int_equal(next, NEO_LAST_IMPLEMENTATION);
    neo_primitive_desc_destroy(pd);
}

/* As it is, and with a value to add for each column and post-operations with operands. */
static void compare_matmul(const neo_matmul_desc *given, const char *tag)
{
    neo_matmul_desc desc = *given;
    int last = desc.dst.ndims - 1;
    neo_dim columns[3] = {1, 1, 1};
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    compare_implementations(pd, tag, tag, NULL);
    columns[last] = desc.dst.dims[last];
    desc.bias = tensor_desc(last + 1, columns, tag);
    struct operands operands = operands_make(engine, desc.dst.ndims, desc.dst.dims);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, operands.attributes),
                     NEO_OK);
    compare_implementations(pd, tag, tag, &operands);
    operands_free(&operands);
}

static void matmul_is_the_same_on_every_pool(void **state)
{
    (void)state;
    static const struct {
        neo_dim m, n, k;
        const char *src, *weights, *dst;
    } rows[] = {
        {67, 53, 71, "ab", "ab", "ab"},   {67, 53, 71, "ab", "any", "ab"},
        {1, 300, 64, "ab", "any", "ab"},  {300, 1, 64, "ab", "ab", "ab"},
        {3, 130, 520, "ab", "any", "ab"}, {130, 12, 33, "ab", "any", "ab"},
        {67, 53, 71, "ba", "ba", "ab"},   {130, 12, 33, "ba", "ab", "ab"},
        {5, 71, 40, "ab", "ba", "ab"},    {67, 53, 71, "ab", "ab", "ba"},
        {23, 9, 41, "ab", "any", "ab"},   {130, 15, 90, "ab", "any", "ab"},
        {2, 6, 14, "ab", "ab", "ab"},     {1, 31, 37, "ab", "ab", "ab"},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        neo_matmul_desc desc = {
            .src = tensor_desc(2, (neo_dim[]){rows[i].m, rows[i].k}, rows[i].src),
            .weights = tensor_desc(2, (neo_dim[]){rows[i].k, rows[i].n}, rows[i].weights),
            .dst = tensor_desc(2, (neo_dim[]){rows[i].m, rows[i].n}, rows[i].dst),
        };
        compare_matmul(&desc, "ab");
    }
}

static void batched_matmul_is_the_same_on_every_pool(void **state)
{
    (void)state;
    static const neo_dim columns[] = {29, 3};
    for (size_t i = 0; i < count_of(columns); i++) {
        neo_matmul_desc desc = {
            .src = tensor_desc(3, (neo_dim[]){5, 19, 23}, "abc"),
            .weights = tensor_desc(3, (neo_dim[]){5, 23, columns[i]}, "abc"),
            .dst = tensor_desc(3, (neo_dim[]){5, 19, columns[i]}, "abc"),
        };
        compare_matmul(&desc, "abc");
    }
}

static void compare_convolution(const neo_convolution_desc *given, const char *tag)
{
    neo_convolution_desc desc = *given;
    const char *weights_tag = desc.weights.ndims == 5 ? "abcde" : "abcd";
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    compare_implementations(pd, tag, weights_tag, NULL);
    desc.bias = tensor_desc(1, &desc.dst.dims[1], "a");
    struct operands operands = operands_make(engine, desc.dst.ndims, desc.dst.dims);
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, operands.attributes),
                     NEO_OK);
    compare_implementations(pd, tag, weights_tag, &operands);
    operands_free(&operands);
}

static void convolution_is_the_same_on_every_pool(void **state)
{
    (void)state;
    static const struct {
        neo_dim groups, channels, size, outputs, kernel;
        const char *weights, *image;
        neo_dim stride;
    } rows[] = {
        {1, 24, 13, 40, 1, "any", "acdb", 1},
        {1, 17, 11, 19, 3, "any", "acdb", 1},
        {1, 3, 16, 16, 5, "any", "acdb", 1},
        {24, 24, 12, 24, 3, "any", "acdb", 1},
        {40, 40, 14, 80, 3, "any", "abcd", 1}, /* shared by whole planes, or by rows of few */
        {3, 3, 14, 3, 3, "any", "abcd", 1},
        {2, 16, 9, 24, 3, "any", "acdb", 1},
        {1, 17, 11, 19, 3, "abcd", "acdb", 1},
        {2, 14, 13, 26, 3, "any", "acdb", 1},
        {1, 6, 15, 7, 3, "any", "acdb", 1},
        {4, 12, 14, 24, 3, "any", "acdb", 1}, /* as planes, of several parts */
        {4, 8, 21, 8, 1, "any", "acdb", 1},
        {1500, 1500, 3, 1500, 5, "abcde", "acdb", 1}, /* worth packing on several threads */
        {1, 6, 67, 10, 1, "any", "abcd", 2},          /* rows between those that are needed */
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        neo_dim g = rows[i].groups, c = rows[i].channels, s = rows[i].size, o = rows[i].outputs;
        neo_dim k = rows[i].kernel, pad = k / 2, stride = rows[i].stride;
        neo_dim out = (s - 1) / stride + 1;
        neo_dim dense[] = {o, c, k, k}, grouped[] = {g, o / g, c / g, k, k};
        neo_convolution_desc desc = {
            .prop_kind = NEO_FORWARD_INFERENCE,
            .src = tensor_desc(4, (neo_dim[]){2, c, s, s}, rows[i].image),
            .weights = tensor_desc(g > 1 ? 5 : 4, g > 1 ? grouped : dense, rows[i].weights),
            .dst = tensor_desc(4, (neo_dim[]){2, o, out, out}, rows[i].image),
            .strides = {stride, stride},
            .padding_left = {pad, pad},
            .padding_right = {pad, pad},
        };
        compare_convolution(&desc, rows[i].image);
    }
}

/* Each thread transposes rows of planes to a line of its own. */
static void dilated_convolution_is_the_same_on_every_pool(void **state)
{
    (void)state;
    enum { SIZE = 17 };
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = tensor_desc(4, (neo_dim[]){2, 13, SIZE, SIZE}, "abcd"),
        .weights = tensor_desc(4, (neo_dim[]){12, 13, 3, 3}, "any"),
        .dst = tensor_desc(4, (neo_dim[]){2, 12, SIZE, SIZE}, "abcd"),
        .strides = {1, 1},
        .dilations = {1, 1},
        .padding_left = {2, 2},
        .padding_right = {2, 2},
    };
    compare_convolution(&desc, "abcd");
}

/* Depthwise, with as much padding as there has to be. */
static void padding_is_left_out_or_not_on_every_pool(void **state)
{
    (void)state;
    static const struct {
        neo_dim channels, height, width, kernel[2], step;
        const char *image;
    } rows[] = {
        {20, 33, 33, {3, 3}, 18, "acdb"}, {72, 10, 14, {3, 3}, 5, "acdb"},
        {200, 3, 2, {3, 3}, 1, "acdb"},   {5, 7, 90, {1, 9}, 1, "abcd"},
        {6, 5, 300, {1, 4}, 3, "abcd"},
    };
    weights_are_infinite = true;
    for (size_t i = 0; i < count_of(rows); i++) {
        neo_dim c = rows[i].channels, step = rows[i].step;
        neo_dim reach[] = {(rows[i].kernel[0] - 1) * step, (rows[i].kernel[1] - 1) * step};
        neo_memory_desc image =
            tensor_desc(4, (neo_dim[]){2, c, rows[i].height, rows[i].width}, rows[i].image);
        neo_convolution_desc desc = {
            .prop_kind = NEO_FORWARD_INFERENCE,
            .algorithm = NEO_CONVOLUTION_DIRECT,
            .src = image,
            .weights =
                tensor_desc(5, (neo_dim[]){c, 1, 1, rows[i].kernel[0], rows[i].kernel[1]}, "any"),
            .dst = image,
            .strides = {1, 1},
            .dilations = {step - 1, step - 1},
            .padding_left = {reach[0] / 2, reach[1] / 2},
            .padding_right = {reach[0] - reach[0] / 2, reach[1] - reach[1] / 2},
        };
        compare_convolution(&desc, rows[i].image);
    }
    weights_are_infinite = false;
}

static void reorder_is_the_same_on_every_pool(void **state)
{
    (void)state;
    static const char *const tags[] = {"abcd", "acdb", "dbca"};
    neo_dim dims[] = {3, 21, 9, 14};
    for (size_t a = 0; a < count_of(tags); a++)
        for (size_t b = 0; b < count_of(tags); b++) {
            neo_memory_desc src = tensor_desc(4, dims, tags[a]),
                            dst = tensor_desc(4, dims, tags[b]);
            neo_primitive_desc *pd;
            assert_int_equal(neo_reorder_primitive_desc_create(&pd, engine, &src, &dst, NULL),
                             NEO_OK);
            compare_implementations(pd, tags[a], NULL, NULL);
        }
}

/* ---- packing ---- */

static const struct layout_case {
    enum layout_id id;
    const char *tag;
    int grouped, ndims;
    neo_dim dims[5];
} layout_cases[] = {
    {LAYOUT_MATMUL_F32, "acb", 0, 3, {3, 5, 214}},
    {LAYOUT_CONVOLUTION_F32, "oihw", 0, 4, {129, 6, 3, 3}},
    {LAYOUT_CONVOLUTION_F32, "goihw", 1, 5, {3, 31, 2, 3, 5}},
    {LAYOUT_DEPTHWISE_F32, "goihw", 1, 5, {421, 1, 1, 3, 3}},
    {LAYOUT_DEPTHWISE_F32, "hwigo", 1, 5, {421, 1, 1, 5, 3}},
    {LAYOUT_WINOGRAD_4_F32, "oihw", 0, 4, {113, 5, 3, 3}},
    {LAYOUT_DEPTHWISE_TYPED + 1, "goihw", 1, 5, {421, 1, 1, 3, 3}},
};

static void run_transfer(const struct place *place, const struct weights_transfer *t,
                         bool is_depthwise, bool unpacks)
{
    const struct parallel *parallel = &place->stream->parallel;
    int threads = neo_stream_num_threads(place->stream);
    struct depthwise_transfer depthwise = {t->plain, t->packed, t->plain_data, t->packed_data};
    if (is_depthwise)
        (unpacks ? depthwise_unpack : depthwise_pack)(&depthwise, parallel, threads);
    else
        (unpacks ? weights_unpack : weights_pack)(t, parallel, threads);
}

static void check_packing(const struct layout_case *c, const struct place *place,
                          const neo_memory_desc *plain, float *data, const struct tensor *want)
{
    neo_memory_desc packed = want->desc;
    int threads = neo_stream_num_threads(place->stream);
    size_t bytes = neo_memory_desc_size(&packed), plain_bytes = neo_memory_desc_size(plain);
    bool is_depthwise = depthwise_layout_is((uint16_t)c->id);
    struct tensor got = tensor_make(engine, &packed, 0), back = tensor_make(engine, plain, 5);
    struct weights_transfer transfer = {plain, &packed, data, neo_memory_get_handle(got.memory),
                                        cpu_get()};
    run_transfer(place, &transfer, is_depthwise, false);
    if (memcmp(transfer.packed_data, neo_memory_get_handle(want->memory), bytes))
        fail_msg("layout %d: packed otherwise on %d threads of pool kind %d", (int)c->id, threads,
                 place->kind);
    transfer.plain_data = back.data;
    if (!layout_winograd_points(c->id)) {
        run_transfer(place, &transfer, is_depthwise, true);
        assert_memory_equal(back.data, data, plain_bytes);
    }
    tensor_free(&got);
    tensor_free(&back);
}

static void packing_is_the_same_on_every_pool(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(layout_cases); i++) {
        const struct layout_case *c = &layout_cases[i];
        neo_memory_desc plain = tensor_desc(c->ndims, c->dims, c->tag);
        neo_memory_desc packed = tensor_desc(c->ndims, c->dims, "any");
        layout_set(&packed, c->id, c->grouped);
        struct tensor from = make_reals(&plain, 9);
        struct tensor want = tensor_reordered(engine, places[0].stream, &from, &packed);
        for (size_t p = 0; p < count_of(places); p++)
            check_packing(c, &places[p], &plain, from.data, &want);
        tensor_free(&from);
        tensor_free(&want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_is_the_same_on_every_pool),
        cmocka_unit_test(batched_matmul_is_the_same_on_every_pool),
        cmocka_unit_test(convolution_is_the_same_on_every_pool),
        cmocka_unit_test(dilated_convolution_is_the_same_on_every_pool),
        cmocka_unit_test(padding_is_left_out_or_not_on_every_pool),
        cmocka_unit_test(reorder_is_the_same_on_every_pool),
        cmocka_unit_test(packing_is_the_same_on_every_pool),
    };
    return cmocka_run_group_tests_name("threads_operations", tests, setup, teardown);
}
