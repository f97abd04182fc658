/* What an execution is given: in any order, exactly once, and nothing is written if it is wrong. */
#include "tests/support/test.h"

#include <string.h>

#include "src/primitive/engine.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

#define INVALID(call) assert_int_equal(call, NEO_INVALID_ARGUMENT)

struct ready {
    neo_primitive *primitive;
    struct tensor src, weights, dst;
};

static int make_ready(void **state)
{
    static struct ready ready;
    neo_matmul_desc desc = {.src = tensor_matrix(4, 5, "ab"),
                            .weights = tensor_matrix(5, 6, "ab"),
                            .dst = tensor_matrix(4, 6, "ab")};
    neo_primitive_desc *pd;
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    neo_attributes_set_scratchpad_mode(attributes, NEO_SCRATCHPAD_USER);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    while (neo_primitive_desc_scratchpad_size(pd, 1) == 0)
        assert_int_equal(neo_primitive_desc_next(pd), NEO_OK);
    assert_int_equal(neo_primitive_create(&ready.primitive, pd), NEO_OK);
    neo_attributes_destroy(attributes);
    neo_primitive_desc_destroy(pd);
    ready.src = tensor_make(engine, &desc.src, 1);
    ready.weights = tensor_make(engine, &desc.weights, 2);
    ready.dst = tensor_make(engine, &desc.dst, 3);
    *state = &ready;
    return 0;
}

static int free_ready(void **state)
{
    struct ready *ready = *state;
    neo_primitive_destroy(ready->primitive);
    tensor_free(&ready->src);
    tensor_free(&ready->weights);
    tensor_free(&ready->dst);
    return 0;
}

static struct tensor scratch_tensor(size_t bytes)
{
    neo_dim dims[] = {(neo_dim)bytes};
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 1, dims, NEO_U8, "a"), NEO_OK);
    struct tensor tensor = {.desc = desc};
    assert_int_equal(neo_memory_create(&tensor.memory, &desc, engine, NULL), NEO_OK);
    return tensor;
}

static void wrong_arguments_change_nothing(void **state)
{
    struct ready *r = *state;
    float before[24];
    memcpy(before, r->dst.data, sizeof before);
    static _Alignas(128) unsigned char buffer[8 << 20];
    const neo_primitive_desc *pd = neo_primitive_get_desc(r->primitive);
    size_t bytes = neo_primitive_desc_scratchpad_size(pd, neo_stream_num_threads(stream));
    assert_in_range(bytes, 1, sizeof buffer - 128);
    size_t least = neo_primitive_desc_scratchpad_size(pd, 1);
    struct tensor scratch = scratch_tensor(bytes), small = scratch_tensor(least - 1);
    neo_memory_set_handle(scratch.memory, buffer);
    neo_memory_set_handle(small.memory, buffer);
    neo_engine *other;
    assert_int_equal(neo_engine_create(&other), NEO_OK);
    struct tensor foreign = tensor_make(other, &r->src.desc, 1);
    neo_exec_arg good[] = {{NEO_ARG_SRC, r->src.memory},
                           {NEO_ARG_WEIGHTS, r->weights.memory},
                           {NEO_ARG_DST, r->dst.memory},
                           {NEO_ARG_SCRATCHPAD, scratch.memory}};
    const struct {
        int index;
        neo_exec_arg arg;
    } wrong[] = {
        {0, {NEO_ARG_BIAS, r->src.memory}},
        {0, {NEO_ARG_WEIGHTS, r->weights.memory}},
        {0, {NEO_ARG_SRC, NULL}},
        {0, {NEO_ARG_SRC, r->dst.memory}},
        {0, {NEO_ARG_SRC, foreign.memory}},
        {1, {NEO_ARG_ATTR_MULTIPLE_POST_OP(0) | NEO_ARG_SRC_1, r->src.memory}},
        {3, {NEO_ARG_SCRATCHPAD, small.memory}},
        {3, {-5, scratch.memory}},
    };
    for (size_t i = 0; i < count_of(wrong); i++) {
        neo_exec_arg args[4];
        memcpy(args, good, sizeof args);
        args[wrong[i].index] = wrong[i].arg;
        INVALID(neo_primitive_execute(r->primitive, stream, 4, args));
    }
    INVALID(neo_primitive_execute(r->primitive, stream, 3, good));
    neo_exec_arg twice[5] = {[4] = {NEO_ARG_SCRATCHPAD, scratch.memory}};
    memcpy(twice, good, sizeof good);
    INVALID(neo_primitive_execute(r->primitive, stream, 5, twice));
    INVALID(neo_primitive_execute(r->primitive, stream, 4, NULL));
    INVALID(neo_primitive_execute(r->primitive, stream, -1, good));
    INVALID(neo_primitive_execute(r->primitive, NULL, 4, good));
    neo_memory_set_handle(scratch.memory, buffer + 64); /* aligned to 64, not to 128 */
    INVALID(neo_primitive_execute(r->primitive, stream, 4, good));
    assert_memory_equal(before, r->dst.data, sizeof before);
    neo_memory_set_handle(scratch.memory, buffer);
    assert_int_equal(neo_primitive_execute(r->primitive, stream, 4, good), NEO_OK);
    assert_memory_not_equal(before, r->dst.data, sizeof before);
    tensor_free(&foreign);
    neo_engine_destroy(other);
    tensor_free(&scratch);
    tensor_free(&small);
}

enum { ADDEND = NEO_ARG_ATTR_MULTIPLE_POST_OP(0) | NEO_ARG_SRC_1 };

/* A product in one thread, which is executed without a closer look if nothing is wrong, and one
 * that another matrix is added to. */
static neo_primitive *make_small(bool adds)
{
    neo_matmul_desc desc = {.src = tensor_matrix(4, 4, "ab"),
                            .weights = tensor_matrix(4, 4, "ab"),
                            .dst = tensor_matrix(4, 4, "ab")};
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    if (adds)
        assert_int_equal(neo_attributes_append_binary(attributes, NEO_BINARY_ADD, &desc.dst),
                         NEO_OK);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_attributes_destroy(attributes);
    neo_primitive_desc_destroy(pd);
    return primitive;
}

static void every_argument_is_given_exactly_once(void **state)
{
    (void)state;
    neo_memory_desc desc = tensor_matrix(4, 4, "ab");
    struct tensor tensor = tensor_make(engine, &desc, 1), dst = tensor_make(engine, &desc, 0);
    neo_exec_arg args[] = {{NEO_ARG_SRC, tensor.memory},
                           {NEO_ARG_WEIGHTS, tensor.memory},
                           {NEO_ARG_DST, dst.memory},
                           {ADDEND, tensor.memory},
                           {NEO_ARG_UNDEF, tensor.memory}};
    for (int adds = 0; adds < 2; adds++) {
        neo_primitive *primitive = make_small(adds);
        int count = 3 + adds;
        assert_int_equal(neo_primitive_execute(primitive, stream, count, args), NEO_OK);
        INVALID(neo_primitive_execute(primitive, stream, count - 1, args));
        for (int twice = 0; twice < count; twice++) {
            neo_exec_arg more[count_of(args)];
            memcpy(more, args, sizeof more);
            more[count] = args[twice];
            INVALID(neo_primitive_execute(primitive, stream, count + 1, more));
        }
        neo_primitive_destroy(primitive);
    }
    tensor_free(&tensor);
    tensor_free(&dst);
}

static void expect_refusals_of(neo_engine *other)
{
    neo_memory_desc desc = tensor_matrix(4, 4, "ab");
    struct tensor own = tensor_make(engine, &desc, 1), foreign = tensor_make(other, &desc, 1);
    struct tensor own_dst = tensor_make(engine, &desc, 0),
                  foreign_dst = tensor_make(other, &desc, 0);
    neo_primitive *primitive = make_small(true), *plain = make_small(false);
    static const int names[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST, ADDEND};
    neo_memory *right[] = {own.memory, own.memory, own_dst.memory, own.memory};
    neo_memory *wrong_one[] = {foreign.memory, foreign.memory, foreign_dst.memory, foreign.memory};
    for (int wrong = 0; wrong <= 4; wrong++) {
        neo_exec_arg args[4];
        for (int i = 0; i < 4; i++)
            args[i] = (neo_exec_arg){names[i], i == wrong ? wrong_one[i] : right[i]};
        assert_int_equal(neo_primitive_execute(primitive, stream, 4, args),
                         wrong < 4 ? NEO_INVALID_ARGUMENT : NEO_OK);
        assert_int_equal(neo_primitive_execute(plain, stream, 3, args),
                         wrong < 3 ? NEO_INVALID_ARGUMENT : NEO_OK);
    }
    neo_primitive_destroy(primitive);
    neo_primitive_destroy(plain);
    tensor_free(&own), tensor_free(&own_dst);
    tensor_free(&foreign), tensor_free(&foreign_dst);
}

static void no_argument_may_belong_to_another_engine(void **state)
{
    (void)state;
    neo_engine *other;
    assert_int_equal(neo_engine_create(&other), NEO_OK);
    expect_refusals_of(other);
    neo_engine_destroy(other);
}

/* More of them than have numbers by which memory is told from other engines' memory. */
static void nor_to_one_of_very_many_engines(void **state)
{
    (void)state;
    enum { MANY = 66 };
    static const int pairs[][2] = {{0, MANY - 1}, {MANY - 1, 0}, {MANY - 2, MANY - 1}};
    neo_engine *many[MANY], *usual = engine;
    neo_stream *usual_stream = stream;
    for (int i = 0; i < MANY; i++)
        assert_int_equal(neo_engine_create(&many[i]), NEO_OK);
    for (size_t i = 0; i < count_of(pairs); i++) {
        engine = many[pairs[i][0]];
        assert_int_equal(neo_stream_create(&stream, engine, NULL), NEO_OK);
        expect_refusals_of(many[pairs[i][1]]);
        neo_stream_destroy(stream);
    }
    engine = usual, stream = usual_stream;
    for (int i = 0; i < MANY; i++)
        neo_engine_destroy(many[i]);
}

static void numbers_of_engines_that_are_gone_are_given_again(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        neo_engine *one;
        assert_int_equal(neo_engine_create(&one), NEO_OK);
        assert_int_not_equal(one->number, 0);
        neo_engine_destroy(one);
    }
}

static void no_stream_may_belong_to_another_engine(void **state)
{
    (void)state;
    neo_engine *other;
    neo_stream *foreign;
    assert_int_equal(neo_engine_create(&other), NEO_OK);
    assert_int_equal(neo_stream_create(&foreign, other, NULL), NEO_OK);
    neo_memory_desc desc = tensor_matrix(4, 4, "ab");
    struct tensor tensor = tensor_make(engine, &desc, 1), dst = tensor_make(engine, &desc, 0);
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, tensor.memory}, {NEO_ARG_WEIGHTS, tensor.memory}, {NEO_ARG_DST, dst.memory}};
    neo_primitive *primitive = make_small(false);
    INVALID(neo_primitive_execute(primitive, foreign, 3, args));
    assert_int_equal(neo_primitive_execute(primitive, stream, 3, args), NEO_OK);
    neo_primitive_destroy(primitive);
    tensor_free(&tensor);
    tensor_free(&dst);
    neo_stream_destroy(foreign);
    neo_engine_destroy(other);
}

/* Each differs in one thing: sizes, distances, where it begins, the type, the number of dimensions.
 */
static void no_argument_may_have_another_description(void **state)
{
    (void)state;
    const neo_dim sizes[] = {4, 4}, apart[] = {5, 1};
    neo_memory_desc good = tensor_matrix(4, 4, "ab"), strided, typed, shifted = good;
    shifted.offset = 1;
    neo_memory_desc_init_strides(&strided, 2, sizes, NEO_F32, apart);
    neo_memory_desc_init_tag(&typed, 2, sizes, NEO_S32, "ab");
    const neo_memory_desc wrong[] = {tensor_matrix(5, 4, "ab"),
                                     tensor_matrix(4, 5, "ab"),
                                     tensor_matrix(4, 4, "ba"),
                                     strided,
                                     shifted,
                                     typed,
                                     tensor_desc(3, (neo_dim[]){4, 4, 1}, "abc")};
    static const int arguments[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST};
    static float values[3][32], others[32];
    neo_primitive *primitive = make_small(false);
    neo_memory *right[3];
    for (int k = 0; k < 3; k++)
        assert_int_equal(neo_memory_create(&right[k], &good, engine, values[k]), NEO_OK);
    for (size_t i = 0; i < count_of(wrong); i++) {
        neo_memory *memory;
        assert_int_equal(neo_memory_create(&memory, &wrong[i], engine, others), NEO_OK);
        for (int at = 0; at < 3; at++) {
            neo_exec_arg args[3];
            for (int k = 0; k < 3; k++)
                args[k] = (neo_exec_arg){arguments[k], k == at ? memory : right[k]};
            INVALID(neo_primitive_execute(primitive, stream, 3, args));
        }
        neo_memory_destroy(memory);
    }
    for (int k = 0; k < 3; k++)
        neo_memory_destroy(right[k]);
    neo_primitive_destroy(primitive);
}

static void arguments_may_begin_within_their_buffers(void **state)
{
    (void)state;
    enum { ROW = 7, COUNT = 6 * ROW, FIRST = ROW + 2 };
    float src[COUNT], weights[COUNT], dst[COUNT];
    const neo_dim sizes[] = {4, 4}, begin[] = {1, 2};
    neo_memory_desc whole = tensor_matrix(6, ROW, "ab"), part;
    assert_int_equal(neo_memory_desc_init_submemory(&part, &whole, sizes, begin), NEO_OK);
    for (int i = 0; i < COUNT; i++)
        src[i] = (float)(i % 5), weights[i] = (float)(i % 3), dst[i] = -1;
    neo_matmul_desc desc = {.src = part, .weights = part, .dst = part};
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_exec_arg args[] = {{.arg = NEO_ARG_SRC}, {.arg = NEO_ARG_WEIGHTS}, {.arg = NEO_ARG_DST}};
    float *const buffers[] = {src, weights, dst};
    for (int i = 0; i < 3; i++)
        assert_int_equal(neo_memory_create(&args[i].memory, &part, engine, buffers[i]), NEO_OK);
    assert_int_equal(neo_primitive_execute(primitive, stream, 3, args), NEO_OK);
    for (int i = 0; i < COUNT; i++) {
        int y = i / ROW - 1, x = i % ROW - 2;
        float want = y >= 0 && y < 4 && x >= 0 && x < 4 ? 0 : -1;
        for (int p = 0; want >= 0 && p < 4; p++)
            want += src[FIRST + y * ROW + p] * weights[FIRST + p * ROW + x];
        assert_true(dst[i] == want);
    }
    for (int i = 0; i < 3; i++)
        neo_memory_destroy(args[i].memory);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

/* A small product with no scratchpad: bias, and sizes of three dimensions, of which src's rows
 * are too far apart for short numbers. */
enum { PLAIN_ARGUMENTS = 4 };
struct plain {
    neo_primitive *primitive;
    struct tensor src, weights, bias, dst;
    neo_exec_arg arguments[PLAIN_ARGUMENTS];
};

static void make_plain(struct plain *plain)
{
    neo_matmul_desc desc = {.bias = tensor_desc(3, (neo_dim[]){1, 1, 6}, "abc"),
                            .dst = tensor_desc(3, (neo_dim[]){2, 4, 6}, "abc")};
    neo_dim src[] = {2, 4, 5}, apart[] = {280000, 70000, 1};
    neo_memory_desc_init_strides(&desc.src, 3, src, NEO_F32, apart);
    desc.weights = tensor_desc(3, (neo_dim[]){2, 5, 6}, "any");
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    while (neo_primitive_desc_scratchpad_size(pd, 1))
        assert_int_equal(neo_primitive_desc_next(pd), NEO_OK);
    desc.weights = *neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    assert_int_equal(neo_primitive_create(&plain->primitive, pd), NEO_OK);
    neo_primitive_desc_destroy(pd);
    plain->src = tensor_make(engine, &desc.src, 1);
    plain->weights = tensor_make(engine, &desc.weights, 2);
    plain->bias = tensor_make(engine, &desc.bias, 3);
    plain->dst = tensor_make(engine, &desc.dst, 4);
    neo_exec_arg arguments[] = {{NEO_ARG_SRC, plain->src.memory},
                                {NEO_ARG_WEIGHTS, plain->weights.memory},
                                {NEO_ARG_BIAS, plain->bias.memory},
                                {NEO_ARG_DST, plain->dst.memory}};
    memcpy(plain->arguments, arguments, sizeof arguments);
}

static void free_plain(struct plain *plain)
{
    struct tensor *all[] = {&plain->src, &plain->weights, &plain->bias, &plain->dst};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
    neo_primitive_destroy(plain->primitive);
}

static void arguments_come_in_any_order(void **state)
{
    (void)state;
    struct plain plain;
    float first[48];
    make_plain(&plain);
    for (int turn = 0; turn < PLAIN_ARGUMENTS; turn++) {
        neo_exec_arg turned[PLAIN_ARGUMENTS];
        for (int i = 0; i < PLAIN_ARGUMENTS; i++)
            turned[i] = plain.arguments[(i + turn) % PLAIN_ARGUMENTS];
        memset(plain.dst.data, 0xff, sizeof first);
        assert_int_equal(neo_primitive_execute(plain.primitive, stream, PLAIN_ARGUMENTS, turned),
                         NEO_OK);
        if (turn == 0)
            memcpy(first, plain.dst.data, sizeof first);
        assert_memory_equal(first, plain.dst.data, sizeof first);
    }
    free_plain(&plain);
}

/* What is checked at a glance is checked as well. */
static void wrong_arguments_of_a_small_product_change_nothing(void **state)
{
    (void)state;
    struct plain plain;
    make_plain(&plain);
    float before[48];
    memcpy(before, plain.dst.data, sizeof before);
    neo_memory_desc desc;
    neo_engine *other;
    assert_int_equal(neo_engine_create(&other), NEO_OK);
    neo_dim sizes[] = {2, 4, 5}, apart[] = {280000, 70001, 1};
    neo_memory_desc_init_strides(&desc, 3, sizes, NEO_F32, apart);
    struct tensor close = tensor_make(engine, &desc, 1);
    struct tensor foreign = tensor_make(other, &plain.dst.desc, 1);
    neo_memory *empty;
    assert_int_equal(neo_memory_create(&empty, &plain.dst.desc, engine, NULL), NEO_OK);
    const struct {
        int index;
        neo_exec_arg arg;
    } wrong[] = {
        {0, {NEO_ARG_SRC, close.memory}},
        {0, {NEO_ARG_SRC, plain.weights.memory}},
        {0, {NEO_ARG_SRC + 64, plain.src.memory}},
        {0, {NEO_ARG_UNDEF, plain.src.memory}},
        {0, {-63, plain.src.memory}},
        {1, {NEO_ARG_WEIGHTS, plain.src.memory}},
        {1, {NEO_ARG_SRC, plain.src.memory}}, /* twice */
        {2, {NEO_ARG_DST, plain.dst.memory}}, /* twice, and no bias */
        {2, {NEO_ARG_BIAS, NULL}},
        {3, {NEO_ARG_DST, foreign.memory}},
        {3, {NEO_ARG_DST, empty}},
    };
    for (size_t i = 0; i < count_of(wrong); i++) {
        neo_exec_arg args[PLAIN_ARGUMENTS];
        memcpy(args, plain.arguments, sizeof args);
        args[wrong[i].index] = wrong[i].arg;
        INVALID(neo_primitive_execute(plain.primitive, stream, PLAIN_ARGUMENTS, args));
    }
    INVALID(neo_primitive_execute(plain.primitive, stream, 0, plain.arguments));
    INVALID(neo_primitive_execute(plain.primitive, stream, 3, plain.arguments));
    INVALID(neo_primitive_execute(plain.primitive, stream, PLAIN_ARGUMENTS, NULL));
    assert_memory_equal(before, plain.dst.data, sizeof before);
    neo_memory_destroy(empty);
    tensor_free(&close);
    tensor_free(&foreign);
    neo_engine_destroy(other);
    free_plain(&plain);
}

static void run_time_sizes_that_disagree_are_refused(void **state)
{
    (void)state;
    neo_dim unknown[] = {NEO_RUNTIME_DIM, NEO_RUNTIME_DIM};
    neo_memory_desc any_size;
    assert_int_equal(neo_memory_desc_init_strides(&any_size, 2, unknown, NEO_F32, unknown), NEO_OK);
    neo_matmul_desc desc = {.src = any_size, .weights = any_size, .dst = any_size};
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_memory_desc good_src = tensor_matrix(4, 5, "ab"), bad_weights = tensor_matrix(6, 7, "ab");
    neo_memory_desc dst_desc = tensor_matrix(4, 7, "ab"), good_weights = tensor_matrix(5, 7, "ba");
    struct tensor src = tensor_make(engine, &good_src, 1),
                  bad = tensor_make(engine, &bad_weights, 2);
    struct tensor good = tensor_make(engine, &good_weights, 3),
                  dst = tensor_make(engine, &dst_desc, 0);
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, src.memory}, {NEO_ARG_WEIGHTS, bad.memory}, {NEO_ARG_DST, dst.memory}};
    INVALID(neo_primitive_execute(primitive, stream, 3, args));
    args[1].memory = good.memory;
    assert_int_equal(neo_primitive_execute(primitive, stream, 3, args), NEO_OK);
    struct tensor *all[] = {&src, &bad, &good, &dst};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

/* Rows are contiguous, and begin with the buffer. */
static void what_is_known_of_late_tensors_must_hold(void **state)
{
    (void)state;
    neo_dim unknown[] = {NEO_RUNTIME_DIM, NEO_RUNTIME_DIM}, rows[] = {NEO_RUNTIME_DIM, 1};
    neo_memory_desc late;
    assert_int_equal(neo_memory_desc_init_strides(&late, 2, unknown, NEO_F32, rows), NEO_OK);
    neo_matmul_desc desc = {.src = late, .weights = late, .dst = late};
    neo_memory_desc good = tensor_matrix(4, 4, "ab"), shifted = good;
    shifted.offset = 1;
    const neo_memory_desc wrong[] = {tensor_matrix(4, 4, "ba"), shifted};
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    struct tensor src = tensor_make(engine, &good, 1), dst = tensor_make(engine, &good, 0);
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, src.memory}, {NEO_ARG_WEIGHTS, src.memory}, {NEO_ARG_DST, dst.memory}};
    assert_int_equal(neo_primitive_execute(primitive, stream, 3, args), NEO_OK);
    for (size_t i = 0; i < count_of(wrong); i++) {
        struct tensor other = tensor_make(engine, &wrong[i], 2);
        args[0].memory = other.memory;
        INVALID(neo_primitive_execute(primitive, stream, 3, args));
        tensor_free(&other);
    }
    tensor_free(&dst);
    tensor_free(&src);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

/* A square product of run-time sizes and strides. */
static neo_primitive *make_late(const neo_attributes *attributes)
{
    neo_dim unknown[] = {NEO_RUNTIME_DIM, NEO_RUNTIME_DIM};
    neo_memory_desc late;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_memory_desc_init_strides(&late, 2, unknown, NEO_F32, unknown), NEO_OK);
    neo_matmul_desc desc = {.src = late, .weights = late, .dst = late};
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_primitive_desc_destroy(pd);
    return primitive;
}

static void elements_of_a_late_dst_do_not_share_places(void **state)
{
    (void)state;
    neo_primitive *primitive = make_late(NULL);
    neo_memory_desc good = tensor_matrix(4, 4, "ab"), shared = good;
    shared.strides[0] = 3; /* a row's last element is the next one's first */
    struct tensor src = tensor_make(engine, &good, 1), dst = tensor_make(engine, &good, 2);
    neo_memory *overlapping;
    assert_int_equal(neo_memory_create(&overlapping, &shared, engine, dst.data), NEO_OK);
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, src.memory}, {NEO_ARG_WEIGHTS, src.memory}, {NEO_ARG_DST, overlapping}};
    INVALID(neo_primitive_execute(primitive, stream, 3, args));
    args[2].memory = dst.memory;
    assert_int_equal(neo_primitive_execute(primitive, stream, 3, args), NEO_OK);
    neo_memory_destroy(overlapping);
    tensor_free(&dst);
    tensor_free(&src);
    neo_primitive_destroy(primitive);
}

static void slopes_of_a_late_dst_are_counted(void **state)
{
    (void)state;
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_int_equal(neo_attributes_append_prelu(attributes, 1 << 1), NEO_OK);
    neo_primitive *primitive = make_late(attributes);
    neo_attributes_destroy(attributes);
    neo_memory_desc square = tensor_matrix(4, 4, "ab"), enough = tensor_matrix(1, 4, "ab"),
                    few = tensor_matrix(1, 3, "ab");
    struct tensor src = tensor_make(engine, &square, 1), dst = tensor_make(engine, &square, 2);
    struct tensor four = tensor_make(engine, &enough, 3), three = tensor_make(engine, &few, 3);
    neo_exec_arg args[] = {{NEO_ARG_SRC, src.memory},
                           {NEO_ARG_WEIGHTS, src.memory},
                           {NEO_ARG_DST, dst.memory},
                           {NEO_ARG_ATTR_MULTIPLE_POST_OP(0) | NEO_ARG_WEIGHTS, three.memory}};
    INVALID(neo_primitive_execute(primitive, stream, 4, args));
    args[3].memory = four.memory;
    assert_int_equal(neo_primitive_execute(primitive, stream, 4, args), NEO_OK);
    struct tensor *all[] = {&src, &dst, &four, &three};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
    neo_primitive_destroy(primitive);
}

/* An object that is given its own buffer keeps it: it is still counted as the engine's. */
static void a_memory_may_be_given_its_own_buffer(void **state)
{
    (void)state;
    neo_memory_desc desc = tensor_matrix(64, 64, "ab");
    neo_memory *memory;
    neo_memory_usage before, after;
    assert_int_equal(neo_memory_create(&memory, &desc, engine, NEO_MEMORY_ALLOCATE), NEO_OK);
    void *own = neo_memory_get_handle(memory);
    assert_int_equal(neo_engine_get_memory_usage(engine, NEO_KIND_HEAP, &before), NEO_OK);
    assert_int_equal(neo_memory_set_handle(memory, own), NEO_OK);
    assert_int_equal(neo_engine_get_memory_usage(engine, NEO_KIND_HEAP, &after), NEO_OK);
    assert_ptr_equal(neo_memory_get_handle(memory), own);
    assert_int_equal(after.current, before.current);
    neo_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wrong_arguments_change_nothing, make_ready, free_ready),
        cmocka_unit_test(every_argument_is_given_exactly_once),
        cmocka_unit_test(no_argument_may_belong_to_another_engine),
        cmocka_unit_test(nor_to_one_of_very_many_engines),
        cmocka_unit_test(numbers_of_engines_that_are_gone_are_given_again),
        cmocka_unit_test(no_stream_may_belong_to_another_engine),
        cmocka_unit_test(no_argument_may_have_another_description),
        cmocka_unit_test(arguments_may_begin_within_their_buffers),
        cmocka_unit_test(arguments_come_in_any_order),
        cmocka_unit_test(wrong_arguments_of_a_small_product_change_nothing),
        cmocka_unit_test(run_time_sizes_that_disagree_are_refused),
        cmocka_unit_test(what_is_known_of_late_tensors_must_hold),
        cmocka_unit_test(elements_of_a_late_dst_do_not_share_places),
        cmocka_unit_test(slopes_of_a_late_dst_are_counted),
        cmocka_unit_test(a_memory_may_be_given_its_own_buffer),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("api_arguments", tests, session_setup, session_teardown);
}
