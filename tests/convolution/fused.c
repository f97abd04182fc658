/* Convolutions with a depthwise post-operation: the bits of two convolutions, one after the other.
 */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fault.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

enum { DW = NEO_ARG_ATTR_POST_OP_DW, MOST_ARGS = 16 };

enum { F32, F16, BF16, U8, S8_TO_S32, S8_TO_F32 };
static const struct {
    neo_data_type src, weights, between, dst;
} types[] = {
    [F32] = {NEO_F32, NEO_F32, NEO_F32, NEO_F32},
    [F16] = {NEO_F16, NEO_F16, NEO_F16, NEO_F16},
    [BF16] = {NEO_BF16, NEO_BF16, NEO_BF16, NEO_F32},
    [U8] = {NEO_U8, NEO_S8, NEO_U8, NEO_S8},
    [S8_TO_S32] = {NEO_S8, NEO_S8, NEO_S8, NEO_S32},
    [S8_TO_F32] = {NEO_S8, NEO_S8, NEO_S8, NEO_F32},
};

enum { ANY, LAST, LINES, PLANES, PLANES_TO_LAST };
static const struct {
    const char *src, *dst;
} layouts[] = {
    [ANY] = {"any", "any"},
    [LAST] = {"acdb", "any"},
    [LINES] = {"acb", "any"},
    [PLANES] = {"abcd", "abcd"},
    [PLANES_TO_LAST] = {"abcd", "acdb"},
};

enum { BIAS = 1, CHAIN = 2, SCALES = 4, ALL = BIAS | CHAIN | SCALES }; /* of both convolutions */

struct row {
    const char *name;
    int space;
    struct {
        neo_dim batch, ic, oc, in[3], taps;
    } base; /* padded to the same size */
    struct {
        neo_dim kernel, stride, padding;
    } depthwise;
    int types, layouts, has;
};

static const struct row rows[] = {
    {"mobile", 2, {1, 8, 24, {9, 7}, 1}, {3, 1, 1}, F32, ANY, BIAS},
    {"planes", 2, {2, 5, 6, {6, 11}, 1}, {3, 2, 0}, F32, PLANES, BIAS | CHAIN},
    {"turned", 2, {2, 4, 9, {8, 8}, 3}, {5, 2, 1}, F32, PLANES_TO_LAST, CHAIN},
    {"1d", 1, {3, 3, 5, {13}, 3}, {4, 1, 3}, F32, LINES, BIAS | CHAIN},
    {"3d", 3, {1, 3, 4, {4, 5, 3}, 1}, {3, 2, 1}, F32, ANY, BIAS},
    {"one pixel", 2, {2, 7, 8, {1, 1}, 1}, {1, 1, 0}, F32, ANY, 0},
    {"u8", 2, {1, 16, 20, {7, 9}, 1}, {3, 1, 1}, U8, ANY, ALL},
    {"s8 to s32", 2, {2, 6, 12, {5, 5}, 1}, {3, 2, 1}, S8_TO_S32, LAST, SCALES},
    {"s8 to f32", 2, {1, 6, 8, {6, 5}, 3}, {3, 1, 1}, S8_TO_F32, PLANES, ALL},
    {"bf16", 2, {1, 8, 16, {6, 6}, 1}, {3, 2, 1}, BF16, ANY, BIAS | CHAIN},
    {"f16", 2, {1, 8, 10, {6, 6}, 1}, {3, 1, 1}, F16, ANY, BIAS},
};

/* ---- descriptions ---- */

static neo_memory_desc image(const struct row *row, neo_dim channels, const neo_dim *sizes,
                             neo_data_type type, const char *tag)
{
    neo_dim dims[5] = {row->base.batch, channels};
    memcpy(dims + 2, sizes, (size_t)row->space * sizeof *sizes);
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 2 + row->space, dims, type, tag), NEO_OK);
    return desc;
}

static neo_memory_desc taps_desc(const struct row *row, int grouped, neo_dim taps)
{
    neo_dim dims[6] = {row->base.oc, grouped ? 1 : row->base.ic, 1};
    for (int i = 0; i < row->space; i++)
        dims[2 + grouped + i] = taps;
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 2 + grouped + row->space, dims,
                                              types[row->types].weights, "any"),
                     NEO_OK);
    return desc;
}

static neo_memory_desc bias_desc(const struct row *row)
{
    neo_memory_desc desc = {0};
    if (row->has & BIAS)
        assert_int_equal(neo_memory_desc_init_tag(&desc, 1, &row->base.oc, NEO_F32, "a"), NEO_OK);
    return desc;
}

static neo_convolution_desc base_desc(const struct row *row)
{
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = image(row, row->base.ic, row->base.in, types[row->types].src,
                     layouts[row->layouts].src),
        .weights = taps_desc(row, 0, row->base.taps),
        .bias = bias_desc(row),
        .dst = image(row, row->base.oc, row->base.in, types[row->types].between,
                     layouts[row->layouts].dst),
    };
    for (int i = 0; i < row->space; i++) {
        desc.strides[i] = 1;
        desc.padding_left[i] = desc.padding_right[i] = row->base.taps / 2;
    }
    return desc;
}

/* Of what has been made of the image in between. */
static neo_convolution_desc second_desc(const struct row *row, const neo_memory_desc *between,
                                        const neo_memory_desc *dst)
{
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .src = *between,
                                 .weights = taps_desc(row, 1, row->depthwise.kernel),
                                 .bias = bias_desc(row),
                                 .dst = *dst};
    for (int i = 0; i < row->space; i++) {
        desc.strides[i] = row->depthwise.stride;
        desc.padding_left[i] = row->depthwise.padding;
        desc.padding_right[i] = (dst->dims[2 + i] - 1) * row->depthwise.stride +
                                row->depthwise.kernel - row->base.in[i] - row->depthwise.padding;
    }
    return desc;
}

static void append_depthwise(neo_attributes *a, const struct row *row)
{
    assert_int_equal(neo_attributes_append_depthwise(
                         a, types[row->types].weights,
                         (row->has & BIAS) ? NEO_F32 : NEO_DATA_TYPE_UNDEF, types[row->types].dst,
                         row->depthwise.kernel, row->depthwise.stride, row->depthwise.padding),
                     NEO_OK);
}

/* What is done to an image of so many channels. */
static void append_chain(neo_attributes *a, const struct row *row)
{
    neo_dim dims[5] = {1, row->base.oc, 1, 1, 1};
    neo_memory_desc operand;
    if (!(row->has & CHAIN))
        return;
    assert_int_equal(neo_memory_desc_init_tag(&operand, 2 + row->space, dims, NEO_F32, "any"),
                     NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(a, NEO_ELTWISE_LINEAR, .5F, 1), NEO_OK);
    assert_int_equal(neo_attributes_append_binary(a, NEO_BINARY_ADD, &operand), NEO_OK);
}

static void set_scale(neo_attributes *a, const struct row *row, int arg, int mask)
{
    if (row->has & SCALES)
        assert_int_equal(neo_attributes_set_scales(a, arg, mask, 0, NULL, NEO_F32), NEO_OK);
}

static void set_zero_point(neo_attributes *a, const struct row *row, int arg)
{
    if (row->has & SCALES)
        assert_int_equal(neo_attributes_set_zero_points(a, arg, 0, 0, NULL, NEO_S32), NEO_OK);
}

static neo_attributes *attributes_of(const struct row *row)
{
    neo_attributes *a;
    assert_int_equal(neo_attributes_create(&a), NEO_OK);
    append_chain(a, row);
    append_depthwise(a, row);
    append_chain(a, row);
    set_scale(a, row, NEO_ARG_SRC, 0);
    set_scale(a, row, NEO_ARG_WEIGHTS, 1);
    set_scale(a, row, NEO_ARG_DST, 0);
    set_scale(a, row, DW | NEO_ARG_WEIGHTS, 1);
    set_scale(a, row, DW | NEO_ARG_DST, 0);
    set_zero_point(a, row, NEO_ARG_DST);
    set_zero_point(a, row, DW | NEO_ARG_DST);
    return a;
}

/* The second one's src has a zero point. */
static neo_attributes *attributes_alone(const struct row *row, bool is_second)
{
    neo_attributes *a;
    assert_int_equal(neo_attributes_create(&a), NEO_OK);
    append_chain(a, row);
    set_scale(a, row, NEO_ARG_SRC, 0);
    set_scale(a, row, NEO_ARG_WEIGHTS, 1);
    set_scale(a, row, NEO_ARG_DST, 0);
    set_zero_point(a, row, NEO_ARG_DST);
    if (is_second)
        set_zero_point(a, row, NEO_ARG_SRC);
    return a;
}

/* ---- arguments ---- */

struct call {
    neo_primitive *primitive;
    int count;
    neo_exec_arg args[MOST_ARGS];
};

static neo_memory *add(struct call *call, int arg, const neo_memory_desc *desc)
{
    neo_memory *memory;
    assert_true(call->count < MOST_ARGS);
    assert_int_equal(neo_memory_create(&memory, desc, engine, NEO_MEMORY_ALLOCATE), NEO_OK);
    call->args[call->count++] = (neo_exec_arg){arg, memory};
    return memory;
}

static void reorder(neo_memory *from, neo_memory *to)
{
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_reorder_primitive_desc_create(&pd, engine, neo_memory_get_desc(from),
                                                       neo_memory_get_desc(to), NULL),
                     NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_exec_arg args[] = {{NEO_ARG_SRC, from}, {NEO_ARG_DST, to}};
    assert_int_equal(neo_primitive_execute(primitive, stream, 2, args), NEO_OK);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

/* Small integers that depend on seed and place in natural order, whatever type and layout. */
static void fill(neo_memory *memory, unsigned seed)
{
    static const char *const tags[] = {"", "a", "ab", "abc", "abcd", "abcde", "abcdef"};
    const neo_memory_desc *desc = neo_memory_get_desc(memory);
    bool is_unsigned = desc->data_type == NEO_U8;
    neo_memory_desc plain = tensor_desc(desc->ndims, desc->dims, tags[desc->ndims]);
    struct tensor values = tensor_make(engine, &plain, 0);
    for (size_t i = 0; i < neo_memory_desc_size(&plain) / sizeof(float); i++) {
        unsigned hash = (unsigned)(i + 1) * 2654435761U ^ seed * 40503U;
        values.data[i] = (float)((int)(hash >> 20 & 7) - (is_unsigned ? 0 : 4));
    }
    neo_memory *typed;
    plain.data_type = desc->data_type;
    assert_int_equal(neo_memory_create(&typed, &plain, engine, NEO_MEMORY_ALLOCATE), NEO_OK);
    reorder(values.memory, typed); /* layouts of weights take their own type alone */
    reorder(typed, memory);
    neo_memory_destroy(typed);
    tensor_free(&values);
}

static void add_filled(struct call *call, int arg, unsigned seed)
{
    const neo_memory_desc *desc =
        neo_primitive_desc_query(neo_primitive_get_desc(call->primitive), arg);
    assert_non_null(desc);
    fill(add(call, arg, desc), seed);
}

static void add_scale(struct call *call, int arg, neo_dim count, unsigned seed)
{
    neo_memory_desc desc = tensor_desc(1, &count, "a");
    float *values = neo_memory_get_handle(add(call, NEO_ARG_ATTR_SCALES | arg, &desc));
    for (neo_dim i = 0; i < count; i++)
        values[i] = (i + seed) % 3 ? .5F : .25F;
}

static void add_zero_point(struct call *call, int arg, int32_t value)
{
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 1, (neo_dim[]){1}, NEO_S32, "a"), NEO_OK);
    *(int32_t *)neo_memory_get_handle(add(call, NEO_ARG_ATTR_ZERO_POINTS | arg, &desc)) = value;
}

static neo_memory *of(const struct call *call, int arg)
{
    for (int i = 0; i < call->count; i++)
        if (call->args[i].arg == arg)
            return call->args[i].memory;
    fail_msg("no argument %d", arg);
    return NULL;
}

static void call_init(struct call *call, const neo_convolution_desc *desc,
                      const neo_attributes *attributes)
{
    neo_primitive_desc *pd;
    *call = (struct call){.count = 0};
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, desc, attributes), NEO_OK);
    assert_int_equal(neo_primitive_create(&call->primitive, pd), NEO_OK);
    neo_primitive_desc_destroy(pd);
}

static void run(struct call *call)
{
    assert_int_equal(neo_primitive_execute(call->primitive, stream, call->count, call->args),
                     NEO_OK);
}

static void call_deinit(struct call *call)
{
    for (int i = 0; i < call->count; i++)
        neo_memory_destroy(call->args[i].memory);
    neo_primitive_destroy(call->primitive);
}

/* The arguments that each of the two convolutions has: weights, bias, operand, two scales, a zero
 * point. */
static void add_own(struct call *call, const struct row *row, int flag, int post_op, unsigned seed)
{
    add_filled(call, flag | NEO_ARG_WEIGHTS, seed);
    if (row->has & BIAS)
        add_filled(call, flag | NEO_ARG_BIAS, seed + 1);
    if (row->has & CHAIN)
        add_filled(call, NEO_ARG_ATTR_MULTIPLE_POST_OP(post_op) | NEO_ARG_SRC_1, seed + 2);
    if (!(row->has & SCALES))
        return;
    add_scale(call, flag | NEO_ARG_WEIGHTS, row->base.oc, seed);
    add_scale(call, flag | NEO_ARG_DST, 1, seed + 1);
    add_zero_point(call, flag | NEO_ARG_DST, (int32_t)seed / 5);
}

/* ---- results ---- */

static void run_fused(struct call *call, const struct row *row)
{
    neo_convolution_desc desc = base_desc(row);
    neo_attributes *attributes = attributes_of(row);
    call_init(call, &desc, attributes);
    add_filled(call, NEO_ARG_SRC, 1);
    if (row->has & SCALES)
        add_scale(call, NEO_ARG_SRC, 1, 9);
    add_own(call, row, 0, 1, 10);
    add_own(call, row, DW, (row->has & CHAIN) ? 4 : 2, 20);
    add_filled(call, NEO_ARG_DST, 2);
    run(call);
    neo_attributes_destroy(attributes);
}

static void run_alone(struct call *call, const struct row *row, const neo_convolution_desc *desc,
                      neo_memory *src, unsigned seed)
{
    neo_attributes *attributes = attributes_alone(row, src != NULL);
    call_init(call, desc, attributes);
    if (src)
        reorder(src, add(call, NEO_ARG_SRC, &desc->src));
    else
        add_filled(call, NEO_ARG_SRC, 1);
    if (row->has & SCALES) /* the second one's is the first one's of dst */
        add_scale(call, NEO_ARG_SRC, 1, src ? 11 : 9);
    if ((row->has & SCALES) && src)
        add_zero_point(call, NEO_ARG_SRC, 2);
    add_own(call, row, 0, 1, seed);
    add_filled(call, NEO_ARG_DST, 2);
    run(call);
    neo_attributes_destroy(attributes);
}

static void check_row(const struct row *row)
{
    struct call fused, first, second;
    run_fused(&fused, row);
    neo_memory *got = of(&fused, NEO_ARG_DST);
    const neo_memory_desc *dst = neo_memory_get_desc(got);
    for (int i = 0; i < row->space; i++)
        assert_int_equal(dst->dims[2 + i],
                         (row->base.in[i] + row->depthwise.stride - 1) / row->depthwise.stride);
    neo_convolution_desc desc = base_desc(row);
    run_alone(&first, row, &desc, NULL, 10);
    neo_memory *between = of(&first, NEO_ARG_DST);
    desc = second_desc(row, neo_memory_get_desc(between), dst);
    run_alone(&second, row, &desc, between, 20);
    size_t bytes = neo_memory_desc_size(dst);
    const void *wanted = neo_memory_get_handle(of(&second, NEO_ARG_DST));
    if (memcmp(neo_memory_get_handle(got), wanted, bytes) != 0)
        fail_msg("%s: other bits than of two convolutions", row->name);
    call_deinit(&second);
    call_deinit(&first);
    call_deinit(&fused);
}

static void results_are_those_of_two_convolutions(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(rows); i++)
        check_row(&rows[i]);
}

/* Is the second convolution there at all? All weights 1: each pixel is a sum of nine, fewer at the
 * edges. */
static void each_pixel_is_the_sum_of_its_neighbours(void **state)
{
    (void)state;
    static const struct row row = {"ones", 2, {1, 1, 1, {4, 4}, 1}, {3, 1, 1}, F32, PLANES, 0};
    static const float wanted[] = {4, 6, 6, 4, 6, 9, 9, 6, 6, 9, 9, 6, 4, 6, 6, 4};
    struct call call;
    run_fused(&call, &row);
    static const int ones[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, DW | NEO_ARG_WEIGHTS};
    for (size_t i = 0; i < count_of(ones); i++) {
        neo_memory *memory = of(&call, ones[i]);
        neo_memory_desc plain = *neo_memory_get_desc(memory);
        plain = tensor_desc(plain.ndims, plain.dims, plain.ndims == 4 ? "abcd" : "abcde");
        struct tensor values = tensor_make(engine, &plain, 0);
        for (size_t j = 0; j < neo_memory_desc_size(&plain) / sizeof(float); j++)
            values.data[j] = 1;
        reorder(values.memory, memory);
        tensor_free(&values);
    }
    run(&call);
    assert_memory_equal(neo_memory_get_handle(of(&call, NEO_ARG_DST)), wanted, sizeof wanted);
    call_deinit(&call);
}

/* ---- refusals ---- */

static neo_status create(const neo_convolution_desc *desc, const neo_attributes *attributes)
{
    neo_primitive_desc *pd;
    neo_status status = neo_convolution_primitive_desc_create(&pd, engine, desc, attributes);
    assert_true((status == NEO_OK) == (pd != NULL));
    neo_primitive_desc_destroy(pd);
    return status;
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    neo_set_verbose(0);
    neo_convolution_desc desc = base_desc(&rows[0]);
    neo_attributes *twice = attributes_of(&rows[0]), *sum, *late = attributes_of(&rows[0]);
    append_depthwise(twice, &rows[0]);
    assert_int_equal(create(&desc, twice), NEO_INVALID_ARGUMENT);

    assert_int_equal(neo_attributes_create(&sum), NEO_OK);
    assert_int_equal(neo_attributes_append_sum(sum, 1, 0, NEO_DATA_TYPE_UNDEF), NEO_OK);
    append_depthwise(sum, &rows[0]);
    assert_int_equal(create(&desc, sum), NEO_INVALID_ARGUMENT);

    neo_convolution_desc other = desc;
    other.dst.dims[2]++;
    assert_int_equal(create(&other, late), NEO_INVALID_ARGUMENT);
    other = desc;
    other.dst.ndims = 2;
    assert_int_equal(create(&other, late), NEO_INVALID_ARGUMENT);
    other = desc;
    other.src.dims[0] = other.dst.dims[0] = NEO_RUNTIME_DIM;
    assert_int_equal(create(&other, late), NEO_UNSUPPORTED);
    assert_int_equal(create(&desc, late), NEO_OK);

    neo_attributes_destroy(late);
    neo_attributes_destroy(sum);
    neo_attributes_destroy(twice);
}

static void other_operations_do_not_take_it(void **state)
{
    (void)state;
    neo_set_verbose(0);
    neo_matmul_desc desc = {.src = tensor_matrix(4, 5, "ab"),
                            .weights = tensor_matrix(5, 6, "ab"),
                            .dst = tensor_matrix(4, 6, "ab")};
    neo_attributes *attributes = attributes_of(&rows[0]);
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes),
                     NEO_UNSUPPORTED);
    assert_null(pd);
    neo_attributes_destroy(attributes);
}

static void parameters_are_checked_and_told(void **state)
{
    (void)state;
    neo_attributes *a;
    neo_data_type weights, bias, dst;
    neo_dim kernel, stride, padding;
    neo_set_verbose(0);
    assert_int_equal(neo_attributes_create(&a), NEO_OK);
    static const neo_dim wrong[][3] = {{0, 1, 0}, {3, 0, 0}, {3, 1, -1}, {(neo_dim)1 << 40, 1, 0}};
    for (size_t i = 0; i < count_of(wrong); i++)
        assert_int_equal(neo_attributes_append_depthwise(a, NEO_F32, NEO_F32, NEO_F32, wrong[i][0],
                                                         wrong[i][1], wrong[i][2]),
                         NEO_INVALID_ARGUMENT);
    assert_int_equal(
        neo_attributes_append_depthwise(a, NEO_DATA_TYPE_UNDEF, NEO_F32, NEO_F32, 3, 1, 1),
        NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_attributes_post_op_count(a), 0);
    assert_int_equal(neo_attributes_append_depthwise(a, NEO_S8, NEO_F32, NEO_U8, 5, 2, 1), NEO_OK);
    assert_int_equal(neo_attributes_post_op_kind(a, 0), NEO_POST_OP_DEPTHWISE);
    assert_int_equal(
        neo_attributes_get_depthwise(a, 0, &weights, &bias, &dst, &kernel, &stride, &padding),
        NEO_OK);
    assert_true(weights == NEO_S8 && bias == NEO_F32 && dst == NEO_U8);
    assert_true(kernel == 5 && stride == 2 && padding == 1);
    assert_int_equal(neo_attributes_get_depthwise(a, 1, NULL, NULL, NULL, NULL, NULL, NULL),
                     NEO_NOT_FOUND);
    neo_attributes_destroy(a);
}

/* ---- the cache, and memory ---- */

static void a_second_one_is_found_in_the_cache(void **state)
{
    (void)state;
    neo_convolution_desc desc = base_desc(&rows[1]);
    neo_attributes *attributes = attributes_of(&rows[1]);
    neo_primitive_desc *a, *b, *c;
    assert_int_equal(neo_convolution_primitive_desc_create(&a, engine, &desc, attributes), NEO_OK);
    assert_int_equal(neo_convolution_primitive_desc_create(&b, engine, &desc, attributes), NEO_OK);
    assert_true(neo_primitive_desc_cache_hit(b));
    assert_int_equal(neo_primitive_desc_next(b), NEO_LAST_IMPLEMENTATION);
    desc.dst.data_type = NEO_BF16; /* only the image in between is another */
    assert_int_equal(neo_convolution_primitive_desc_create(&c, engine, &desc, attributes), NEO_OK);
    assert_false(neo_primitive_desc_cache_hit(c));
    neo_primitive_desc_destroy(c);
    neo_primitive_desc_destroy(b);
    neo_primitive_desc_destroy(a);
    neo_attributes_destroy(attributes);
}

/* In an engine whose cache is empty; false: there were fewer. */
static bool survives(size_t n)
{
    neo_convolution_desc desc = base_desc(&rows[6]);
    neo_attributes *attributes = attributes_of(&rows[6]);
    neo_primitive_desc *pd = NULL;
    neo_primitive *primitive = NULL;
    neo_engine *own;
    assert_int_equal(neo_engine_create(&own), NEO_OK);
    fault_arm(n);
    neo_status status = neo_convolution_primitive_desc_create(&pd, own, &desc, attributes);
    if (status == NEO_OK)
        status = neo_primitive_create(&primitive, pd);
    bool delivered = fault_disarm();
    assert_true(status == NEO_OK || (delivered && status == NEO_OUT_OF_MEMORY));
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_engine_destroy(own);
    neo_attributes_destroy(attributes);
    return delivered;
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    size_t n = 1;
    while (survives(n))
        n++;
    assert_true(n > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_two_convolutions),
        cmocka_unit_test(each_pixel_is_the_sum_of_its_neighbours),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(other_operations_do_not_take_it),
        cmocka_unit_test(parameters_are_checked_and_told),
        cmocka_unit_test(a_second_one_is_found_in_the_cache),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, session_setup, session_teardown);
}
