/* Convolutions whose batch, height and width are known at execution: for every size, the bits that
 * a convolution of this size gives. */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cases/convolution_case.h"
#include "tests/support/fault.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

#define LAST "nhwc", "any", "nhwc"

/* batch and in[] are not used: sizes come from below. */
static const struct convolution_case rows[] = {
    {"3x3", 2, 0, 0, 5, 9, {0}, {3, 3}, {1, 1}, {0}, {1, 1}, {1, 1}, LAST},
    {"deep", 2, 0, 0, 32, 48, {0}, {3, 3}, {1, 1}, {0}, {1, 1}, {1, 1}, LAST},
    {"1x1", 2, 0, 0, 16, 24, {0}, {1, 1}, {1, 1}, {0}, {0}, {0}, LAST},
    {"plain", 2, 0, 0, 8, 12, {0}, {3, 3}, {2, 1}, {0}, {1, 0}, {0, 2}, "nhwc", "oihw", "nhwc"},
    {"planes", 2, 0, 0, 6, 10, {0}, {3, 3}, {2, 2}, {0}, {1, 1}, {1, 1}, "nchw", "any", "nchw"},
    {"depthwise", 2, 0, 12, 12, 12, {0}, {3, 3}, {1, 1}, {0}, {1, 1}, {1, 1}, LAST},
    {"groups", 2, 0, 2, 8, 6, {0}, {3, 2}, {1, 2}, {1, 0}, {2, 1}, {2, 0}, "nhwc", "any", "nhwc"},
    {"images", 2, 0, 0, 4, 8, {0}, {5, 5}, {1, 1}, {0}, {2, 2}, {2, 2}, "any", "any", "any"},
    {"1d", 1, 0, 0, 7, 5, {0}, {4}, {2}, {0}, {1}, {2}, "nwc", "any", "nwc"},
    {"3d", 3, 0, 0, 3, 4, {0}, {2, 3, 3}, {1, 1, 1}, {0}, {0, 1}, {1, 1}, "ndhwc", "any", "ndhwc"},
};

/* Batch and two or three sizes: more of them than are kept, and one of them again. */
static const neo_dim sizes[][4] = {{1, 7, 9, 3},  {2, 5, 4, 4}, {1, 20, 17, 2}, {3, 8, 8, 5},
                                   {1, 4, 30, 2}, {1, 6, 6, 2}, {5, 5, 5, 3},   {2, 12, 3, 2},
                                   {1, 33, 5, 6}, {1, 7, 9, 3}, {0, 7, 9, 3},   {1, 9, 7, 3}};

static struct convolution_case row_of_size(const struct convolution_case *row, const neo_dim *size)
{
    struct convolution_case sized = *row;
    sized.batch = size[0];
    memcpy(sized.in, size + 1, sizeof sized.in);
    return sized;
}

static neo_memory_desc forget_sizes(const neo_memory_desc *desc, const char *tag)
{
    neo_dim dims[NEO_MAX_NDIMS];
    for (int i = 0; i < desc->ndims; i++)
        dims[i] = i == 1 ? desc->dims[i] : NEO_RUNTIME_DIM;
    return tensor_desc(desc->ndims, dims, tag);
}

static neo_convolution_desc late_desc(const struct convolution_case *row)
{
    static const struct convolution_variant variant = {.bias_step = 1};
    struct convolution_case sized = row_of_size(row, sizes[0]);
    neo_convolution_desc desc = convolution_case_desc(&sized, &variant);
    desc.algorithm = NEO_CONVOLUTION_AUTO;
    desc.src = forget_sizes(&desc.src, row->src_tag);
    desc.dst = forget_sizes(&desc.dst, row->dst_tag);
    return desc;
}

static neo_primitive *create(const neo_convolution_desc *desc, const neo_attributes *attributes)
{
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, desc, attributes), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_primitive_desc_destroy(pd);
    return primitive;
}

static const neo_memory_desc *query(const neo_primitive *primitive, int arg)
{
    return neo_primitive_desc_query(neo_primitive_get_desc(primitive), arg);
}

/* The late one's answers, with sizes. */
static neo_convolution_desc sized_desc(const neo_primitive *late,
                                       const struct convolution_case *row, const neo_dim *size)
{
    static const struct convolution_variant variant = {.bias_step = 1};
    struct convolution_case sized = row_of_size(row, size);
    if (!strcmp(sized.src_tag, "any"))
        sized.src_tag = sized.dst_tag = "nhwc"; /* what is chosen */
    neo_convolution_desc desc = convolution_case_desc(&sized, &variant);
    desc.algorithm = NEO_CONVOLUTION_AUTO;
    desc.weights = *query(late, NEO_ARG_WEIGHTS);
    return desc;
}

struct tensors {
    struct tensor src, weights, packed, bias, dst;
};

static struct tensors tensors_make(const neo_convolution_desc *desc)
{
    static const char tags[][7] = {"", "a", "ab", "abc", "abcd", "abcde", "abcdef"};
    neo_memory_desc plain = desc->weights;
    if (plain.format_kind == NEO_FORMAT_PACKED)
        plain = tensor_desc(plain.ndims, plain.dims, tags[plain.ndims]);
    struct tensors t = {.src = tensor_make(engine, &desc->src, 3),
                        .weights = tensor_make(engine, &plain, 7),
                        .bias = tensor_make(engine, &desc->bias, 5),
                        .dst = tensor_make(engine, &desc->dst, 0)};
    if (!neo_memory_desc_equal(&plain, &desc->weights))
        t.packed = tensor_reordered(engine, stream, &t.weights, &desc->weights);
    return t;
}

static void tensors_free(struct tensors *t)
{
    struct tensor *all[] = {&t->dst, &t->bias, &t->packed, &t->weights, &t->src};
    for (size_t i = 0; i < count_of(all); i++)
        if (all[i]->memory)
            tensor_free(all[i]);
}

static neo_status execute(const neo_primitive *primitive, neo_stream *by, const struct tensors *t,
                          neo_memory *scratchpad)
{
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, t->src.memory},
        {NEO_ARG_WEIGHTS, t->packed.memory ? t->packed.memory : t->weights.memory},
        {NEO_ARG_BIAS, t->bias.memory},
        {NEO_ARG_DST, t->dst.memory},
        {NEO_ARG_SCRATCHPAD, scratchpad}};
    return neo_primitive_execute(primitive, by, scratchpad ? 5 : 4, args);
}

static void check_size(const neo_primitive *late, const struct convolution_case *row,
                       const neo_dim *size)
{
    neo_convolution_desc desc = sized_desc(late, row, size);
    struct tensors given = tensors_make(&desc), wanted = tensors_make(&desc);
    neo_primitive *fixed = create(&desc, NULL);
    assert_int_equal(execute(fixed, stream, &wanted, NULL), NEO_OK);
    assert_int_equal(execute(late, stream, &given, NULL), NEO_OK);
    size_t bytes = neo_memory_desc_size(&desc.dst);
    if (bytes && memcmp(given.dst.data, wanted.dst.data, bytes) != 0)
        fail_msg("%s: batch %d, %d x %d: other results than of fixed sizes", row->name,
                 (int)size[0], (int)size[1], (int)size[2]);
    neo_primitive_destroy(fixed);
    tensors_free(&wanted), tensors_free(&given);
}

static void each_size_gives_what_fixed_sizes_give(void **state)
{
    (void)state;
    for (size_t r = 0; r < count_of(rows); r++) {
        neo_convolution_desc desc = late_desc(&rows[r]);
        neo_primitive *late = create(&desc, NULL);
        for (size_t i = 0; i < count_of(sizes); i++)
            check_size(late, &rows[r], sizes[i]);
        neo_primitive_destroy(late);
    }
}

/* ---- refusals ---- */

static void sizes_that_contradict_each_other_are_refused_at_execution(void **state)
{
    (void)state;
    neo_convolution_desc late = late_desc(&rows[0]);
    neo_primitive *primitive = create(&late, NULL);
    neo_convolution_desc right = sized_desc(primitive, &rows[0], sizes[0]), wrong = right;
    wrong.dst = tensor_desc(4, (neo_dim[]){1, 9, 7, 8}, "nhwc");
    struct tensors given = tensors_make(&wrong);
    assert_int_equal(execute(primitive, stream, &given, NULL), NEO_INVALID_ARGUMENT);
    for (size_t i = 0; i < (size_t)9 * 7 * 8; i++)
        assert_int_equal(((unsigned char *)given.dst.data)[i],
                         ((unsigned char *)given.dst.data)[0]);
    tensors_free(&given);
    check_size(primitive, &rows[0], sizes[0]);
    neo_primitive_destroy(primitive);
}

static void expect(neo_status status, const neo_convolution_desc *desc)
{
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, desc, NULL), status);
    assert_null(pd);
}

static void only_batch_and_space_may_be_known_late(void **state)
{
    (void)state;
    neo_convolution_desc good = late_desc(&rows[0]), bad = good;
    bad.src.dims[1] = NEO_RUNTIME_DIM;
    expect(NEO_UNSUPPORTED, &bad);
    bad = good;
    bad.weights.dims[2] = NEO_RUNTIME_DIM;
    expect(NEO_UNSUPPORTED, &bad);
    bad = good;
    bad.bias.dims[0] = NEO_RUNTIME_DIM;
    expect(NEO_UNSUPPORTED, &bad);
    bad = good; /* what is known has to fit all the same */
    bad.src.dims[1] = 6;
    expect(NEO_INVALID_ARGUMENT, &bad);
    bad = good;
    bad.src.dims[0] = 2, bad.dst.dims[0] = 3;
    expect(NEO_INVALID_ARGUMENT, &bad);
    bad = good;
    bad.src.dims[2] = 7, bad.dst.dims[2] = 8;
    expect(NEO_INVALID_ARGUMENT, &bad);
}

/* ---- scratchpads ---- */

/* Results are exact with direct sums, whatever algorithm has to make do with the scratchpad. */
static void a_scratchpad_of_the_size_asked_for_suffices(void **state)
{
    (void)state;
    static const neo_dim more[][4] = {{1, 64, 70, 2}, {9, 9, 9, 9}, {1, 2, 3, 2}, {4, 31, 33, 3}};
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    neo_attributes_set_scratchpad_mode(attributes, NEO_SCRATCHPAD_USER);
    for (size_t r = 0; r < count_of(rows); r++) {
        neo_convolution_desc desc = late_desc(&rows[r]);
        desc.algorithm = NEO_CONVOLUTION_DIRECT;
        neo_primitive *late = create(&desc, attributes);
        neo_dim bytes = (neo_dim)neo_primitive_desc_scratchpad_size(neo_primitive_get_desc(late),
                                                                    neo_stream_num_threads(stream));
        neo_memory_desc scratch_desc;
        neo_memory *scratchpad;
        assert_int_equal(neo_memory_desc_init_tag(&scratch_desc, 1, &bytes, NEO_U8, "a"), NEO_OK);
        void *buffer = aligned_alloc(128, (size_t)(bytes + 127) / 128 * 128);
        assert_int_equal(neo_memory_create(&scratchpad, &scratch_desc, engine, buffer), NEO_OK);
        for (size_t i = 0; i < count_of(more); i++) {
            neo_convolution_desc fixed_desc = sized_desc(late, &rows[r], more[i]);
            fixed_desc.algorithm = NEO_CONVOLUTION_DIRECT;
            struct tensors given = tensors_make(&fixed_desc), wanted = tensors_make(&fixed_desc);
            neo_primitive *fixed = create(&fixed_desc, NULL);
            assert_int_equal(execute(fixed, stream, &wanted, NULL), NEO_OK);
            assert_int_equal(execute(late, stream, &given, scratchpad), NEO_OK);
            assert_memory_equal(given.dst.data, wanted.dst.data,
                                neo_memory_desc_size(&fixed_desc.dst));
            neo_primitive_destroy(fixed);
            tensors_free(&wanted), tensors_free(&given);
        }
        neo_memory_destroy(scratchpad);
        free(buffer);
        neo_primitive_destroy(late);
    }
    neo_attributes_destroy(attributes);
}

/* ---- post-operations ---- */

static void operands_of_post_operations_have_their_sizes_late(void **state)
{
    (void)state;
    neo_convolution_desc desc = late_desc(&rows[1]);
    desc.algorithm = NEO_CONVOLUTION_DIRECT; /* exact */
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_int_equal(neo_attributes_append_binary(attributes, NEO_BINARY_ADD, &desc.dst), NEO_OK);
    neo_primitive *late = create(&desc, attributes), *alone = create(&desc, NULL);
    for (size_t i = 0; i < 3; i++) {
        neo_convolution_desc fixed = sized_desc(late, &rows[1], sizes[i]);
        struct tensors given = tensors_make(&fixed), wanted = tensors_make(&fixed);
        struct tensor operand = tensor_make(engine, &fixed.dst, 11);
        neo_exec_arg args[] = {{NEO_ARG_SRC, given.src.memory},
                               {NEO_ARG_WEIGHTS, given.packed.memory},
                               {NEO_ARG_BIAS, given.bias.memory},
                               {NEO_ARG_DST, given.dst.memory},
                               {NEO_ARG_ATTR_MULTIPLE_POST_OP(0) | NEO_ARG_SRC_1, operand.memory}};
        assert_int_equal(execute(alone, stream, &wanted, NULL), NEO_OK);
        assert_int_equal(neo_primitive_execute(late, stream, count_of(args), args), NEO_OK);
        size_t elements = neo_memory_desc_elements(&fixed.dst);
        for (size_t e = 0; e < elements; e++)
            assert_true(given.dst.data[e] == wanted.dst.data[e] + operand.data[e]);
        tensor_free(&operand);
        tensors_free(&wanted), tensors_free(&given);
    }
    neo_primitive_destroy(alone), neo_primitive_destroy(late);
    neo_attributes_destroy(attributes);
}

/* ---- threads, and no memory ---- */

struct caller {
    const neo_primitive *late;
    const struct tensors *tensors; /* of each size */
    size_t first;
    neo_status status;
};

enum { CALLERS = 4, CALLS = 24, USED = 9 };

static void *call(void *argument)
{
    struct caller *caller = argument;
    neo_stream *own;
    caller->status = neo_stream_create(&own, engine, NULL);
    for (size_t i = 0; i < CALLS && caller->status == NEO_OK; i++)
        caller->status =
            execute(caller->late, own, &caller->tensors[(caller->first + i) % USED], NULL);
    neo_stream_destroy(own);
    return NULL;
}

/* Each has tensors of its own; together they use more sizes than are kept. */
static void callers_of_different_sizes_do_not_disturb_each_other(void **state)
{
    (void)state;
    neo_convolution_desc desc = late_desc(&rows[0]);
    neo_primitive *late = create(&desc, NULL);
    struct tensors given[CALLERS][USED], wanted[USED];
    struct caller callers[CALLERS];
    pthread_t threads[CALLERS];
    for (size_t i = 0; i < USED; i++) {
        neo_convolution_desc fixed = sized_desc(late, &rows[0], sizes[i]);
        wanted[i] = tensors_make(&fixed);
        assert_int_equal(execute(late, stream, &wanted[i], NULL), NEO_OK);
        for (size_t c = 0; c < CALLERS; c++)
            given[c][i] = tensors_make(&fixed);
    }
    for (size_t c = 0; c < CALLERS; c++) {
        callers[c] = (struct caller){late, given[c], 3 * c, NEO_OK};
        assert_int_equal(pthread_create(&threads[c], NULL, call, &callers[c]), 0);
    }
    for (size_t c = 0; c < CALLERS; c++) {
        pthread_join(threads[c], NULL);
        assert_int_equal(callers[c].status, NEO_OK);
        for (size_t i = 0; i < USED; i++)
            assert_memory_equal(given[c][i].dst.data, wanted[i].dst.data,
                                neo_memory_desc_size(&wanted[i].dst.desc));
    }
    for (size_t i = 0; i < USED; i++) {
        for (size_t c = 0; c < CALLERS; c++)
            tensors_free(&given[c][i]);
        tensors_free(&wanted[i]);
    }
    neo_primitive_destroy(late);
}

static neo_status create_and_execute(neo_engine *own, const neo_convolution_desc *desc,
                                     neo_exec_arg *args, int count)
{
    neo_primitive_desc *pd;
    neo_primitive *primitive = NULL;
    neo_stream *by = NULL;
    neo_status status = neo_convolution_primitive_desc_create(&pd, own, desc, NULL);
    if (status == NEO_OK)
        status = neo_primitive_create(&primitive, pd);
    if (status == NEO_OK)
        status = neo_stream_create(&by, own, NULL);
    if (status == NEO_OK)
        status = neo_primitive_execute(primitive, by, count, args);
    neo_stream_destroy(by);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    return status;
}

/* With the n-th allocation failing, in an engine whose cache is empty; false: there were fewer. */
static bool survives(size_t n, const neo_convolution_desc *late, const neo_convolution_desc *fixed)
{
    const neo_memory_desc *descs[] = {&fixed->src, &fixed->weights, &fixed->bias, &fixed->dst};
    static const int names[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST};
    neo_exec_arg args[4];
    neo_engine *own;
    assert_int_equal(neo_engine_create(&own), NEO_OK);
    for (int i = 0; i < 4; i++) {
        args[i].arg = names[i];
        assert_int_equal(neo_memory_create(&args[i].memory, descs[i], own, NEO_MEMORY_ALLOCATE),
                         NEO_OK);
        memset(neo_memory_get_handle(args[i].memory), 0, neo_memory_desc_size(descs[i]));
    }
    fault_arm(n);
    neo_status status = create_and_execute(own, late, args, 4);
    bool delivered = fault_disarm();
    assert_true(status == NEO_OK || (delivered && status == NEO_OUT_OF_MEMORY));
    for (int i = 0; i < 4; i++)
        neo_memory_destroy(args[i].memory);
    neo_engine_destroy(own);
    return delivered;
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    static const struct convolution_variant variant = {.bias_step = 1};
    neo_convolution_desc late = late_desc(&rows[3]);
    struct convolution_case sized = row_of_size(&rows[3], sizes[0]);
    neo_convolution_desc fixed = convolution_case_desc(&sized, &variant);
    size_t n = 1;
    while (survives(n, &late, &fixed))
        n++;
    assert_true(n > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_size_gives_what_fixed_sizes_give),
        cmocka_unit_test(sizes_that_contradict_each_other_are_refused_at_execution),
        cmocka_unit_test(only_batch_and_space_may_be_known_late),
        cmocka_unit_test(a_scratchpad_of_the_size_asked_for_suffices),
        cmocka_unit_test(operands_of_post_operations_have_their_sizes_late),
        cmocka_unit_test(callers_of_different_sizes_do_not_disturb_each_other),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, session_setup, session_teardown);
}
