/* Keys of descriptions: the same exactly if the descriptions say the same. Whatever the key leaves
 * out would bring another description's plan out of the cache. */
#include "tests/support/test.h"

#include <string.h>

#include "src/primitive/key.h"

enum { POST_OPS = 4 };

/* A description with all that it points to. */
struct described {
    const struct operation *operation;
    neo_memory_desc tensors[TENSOR_COUNT];
    neo_attributes attributes;
    struct post_op post_ops[POST_OPS];
    neo_prop_kind prop_kind;
    neo_convolution_algorithm algorithm;
    struct window window;
    int index;
};

static neo_memory_desc tagged(int ndims, const neo_dim *dims, const char *tag)
{
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, ndims, dims, NEO_F32, tag), NEO_OK);
    return desc;
}

/* With at least one of everything; images are two-dimensional. */
static struct described full(void)
{
    struct described d = {
        .tensors = {[SRC] = tagged(4, (neo_dim[]){2, 6, 8, 9}, "nhwc"),
                    [WEIGHTS] = tagged(5, (neo_dim[]){3, 4, 2, 3, 3}, "any"),
                    [BIAS] = tagged(1, (neo_dim[]){12}, "a"),
                    [DST] = tagged(4, (neo_dim[]){2, 12, 6, 7}, "nchw")},
        .attributes = {.quantization_count = 2, .post_op_count = POST_OPS},
        .prop_kind = NEO_FORWARD_INFERENCE,
        .window = {.strides = {1, 1}},
    };
    d.tensors[WEIGHTS].format_kind = NEO_FORMAT_PACKED;
    d.tensors[WEIGHTS].packed = (neo_packed_layout){.id = 2, .version = 1, .panel = 12};
    for (int i = 0; i < 2; i++)
        d.attributes.quantizations[i] = (struct quantization){
            .arg = NEO_ARG_SRC + i, .mask = 1, .group_ndims = 2, .group_dims = {32, 16}};
    d.post_ops[0] = (struct post_op){.kind = NEO_POST_OP_SUM, .sum = {.scale = 1}};
    d.post_ops[1] = (struct post_op){.kind = NEO_POST_OP_ELTWISE, .eltwise = {.alpha = 1}};
    d.post_ops[2] = (struct post_op){.kind = NEO_POST_OP_BINARY};
    d.post_ops[2].binary.src1 = tagged(4, (neo_dim[]){1, 12, 1, 1}, "nchw");
    d.post_ops[3] = (struct post_op){.kind = NEO_POST_OP_PRELU, .prelu = {.mask = 2}};
    return d;
}

struct key {
    uint64_t pairs[KEY_MAX_PAIRS];
    size_t count;
};

static void make_key(struct key *key, struct described *d)
{
    d->attributes.post_ops = d->post_ops;
    struct description description = {
        .operation = d->operation,
        .attributes = &d->attributes,
        .prop_kind = d->prop_kind,
        .convolution_algorithm = d->algorithm,
        .window = &d->window,
    };
    for (int t = 0; t < TENSOR_COUNT; t++)
        description.tensors[t] = &d->tensors[t];
    key->count = key_write(key->pairs, &description, d->index);
    assert_in_range(key->count, 1, key_bound(&description));
    assert_in_range(key_bound(&description), 1, KEY_MAX_PAIRS);
}

static bool are_equal(const struct key *a, const struct key *b)
{
    return a->count == b->count && !memcmp(a->pairs, b->pairs, a->count * sizeof *a->pairs);
}

/* A field and another value for it, which is what its first bytes say on a little-endian machine.
 */
struct change {
    const char *what;
    size_t offset, size;
    uint64_t value;
};

#define CHANGE(field, value)                                          \
    {                                                                 \
#field " = " #value, offsetof(struct described, field),       \
            sizeof(((struct described *)0)->field), (uint64_t)(value) \
    }
#define TENSOR_CHANGES(tensor)                                                           \
    CHANGE(tensor.ndims, 0), CHANGE(tensor.ndims, 3), CHANGE(tensor.data_type, NEO_F16), \
        CHANGE(tensor.data_type, 1 << 24), CHANGE(tensor.format_kind, 1 << 24),          \
        CHANGE(tensor.dims[0], 77), CHANGE(tensor.dims[0], NEO_RUNTIME_DIM),             \
        CHANGE(tensor.dims[0], (uint64_t)1 << 32), CHANGE(tensor.dims[0], (uint64_t)1 << 33)
#define STRIDED_CHANGES(tensor)                                                                   \
    TENSOR_CHANGES(tensor), CHANGE(tensor.format_kind, NEO_FORMAT_ANY), CHANGE(tensor.offset, 1), \
        CHANGE(tensor.offset, 2), CHANGE(tensor.strides[0], 78),                                  \
        CHANGE(tensor.strides[0], NEO_RUNTIME_DIM)

#define WINDOW_CHANGES(list) \
    CHANGE(list[0], 5), CHANGE(list[1], 5), CHANGE(list[0], -1), CHANGE(list[1], (uint64_t)1 << 32)

static const struct operation some_operation;

static const struct change differing[] = {
    STRIDED_CHANGES(tensors[SRC]),
    STRIDED_CHANGES(tensors[BIAS]),
    STRIDED_CHANGES(tensors[DST]),
    STRIDED_CHANGES(post_ops[2].binary.src1),
    TENSOR_CHANGES(tensors[WEIGHTS]),
    CHANGE(tensors[WEIGHTS].packed.id, 3),
    CHANGE(tensors[WEIGHTS].packed.version, 2),
    CHANGE(tensors[WEIGHTS].packed.panel, 8),
    CHANGE(tensors[WEIGHTS].packed.grouped, 1),
    CHANGE(attributes.scratchpad, NEO_SCRATCHPAD_USER),
    CHANGE(attributes.fpmath, 1),
    CHANGE(attributes.fpmath_for_int, 1),
    CHANGE(attributes.deterministic, 1),
    CHANGE(attributes.accumulation, 1),
    CHANGE(attributes.accumulation, 2),
    CHANGE(attributes.quantization_count, 1),
    CHANGE(attributes.quantizations[1].arg, 0x7fff),
    CHANGE(attributes.quantizations[1].mask, 2),
    CHANGE(attributes.quantizations[1].group_ndims, 1),
    CHANGE(attributes.quantizations[1].group_dims[0], 8),
    CHANGE(attributes.quantizations[1].group_dims[1], 8),
    CHANGE(attributes.quantizations[1].type, NEO_S8),
    CHANGE(attributes.post_op_count, 3),
    CHANGE(post_ops[0].kind, NEO_POST_OP_UNDEF),
    CHANGE(post_ops[0].sum.scale, 0x80000000), /* minus 0 */
    CHANGE(post_ops[0].sum.zero_point, 1),
    CHANGE(post_ops[0].sum.type, NEO_S8),
    CHANGE(post_ops[1].eltwise.algorithm, 3),
    CHANGE(post_ops[1].eltwise.alpha, 0),
    CHANGE(post_ops[1].eltwise.alpha, 0x80000000),
    CHANGE(post_ops[1].eltwise.beta, 0x80000000),
    CHANGE(post_ops[2].binary.algorithm, 3),
    CHANGE(post_ops[3].prelu.mask, 1),
    CHANGE(prop_kind, 77),
    CHANGE(algorithm, 1),
    WINDOW_CHANGES(window.strides),
    WINDOW_CHANGES(window.dilations),
    WINDOW_CHANGES(window.left),
    WINDOW_CHANGES(window.right),
    CHANGE(index, 1),
};

/* What is beyond a count, belongs to another kind, or is found out later. */
static const struct change idle[] = {
    CHANGE(tensors[SRC].dims[4], 5),    CHANGE(tensors[SRC].strides[4], 5),
    CHANGE(tensors[SRC].packed.id, 5),  CHANGE(tensors[WEIGHTS].strides[0], 5),
    CHANGE(tensors[WEIGHTS].offset, 5), CHANGE(attributes.quantizations[2].arg, 5),
    CHANGE(post_ops[1].eltwise.run, 5), CHANGE(post_ops[3].prelu.weights.ndims, 5),
    CHANGE(window.strides[2], 5),       CHANGE(window.right[2], 5),
};

static void key_with(struct key *key, const struct change *change)
{
    struct described d = full();
    unsigned char *field = (unsigned char *)&d + change->offset;
    for (size_t i = 0; i < change->size; i++)
        field[i] = (unsigned char)(change->value >> 8 * i);
    make_key(key, &d);
}

static void every_field_that_counts_makes_another_key(void **state)
{
    (void)state;
    static struct key base, keys[count_of(differing)];
    struct described d = full();
    make_key(&base, &d);
    for (size_t i = 0; i < count_of(differing); i++) {
        key_with(&keys[i], &differing[i]);
        if (are_equal(&keys[i], &base))
            fail_msg("the key does not tell %s", differing[i].what);
        for (size_t j = 0; j < i; j++)
            if (are_equal(&keys[i], &keys[j]))
                fail_msg("%s and %s have one key", differing[i].what, differing[j].what);
    }
    d.operation = &some_operation;
    make_key(&keys[0], &d);
    assert_false(are_equal(&keys[0], &base));
}

static void what_does_not_count_makes_no_other_key(void **state)
{
    (void)state;
    static struct key base, other;
    struct described d = full();
    make_key(&base, &d);
    for (size_t i = 0; i < count_of(idle); i++) {
        key_with(&other, &idle[i]);
        if (!are_equal(&other, &base))
            fail_msg("another key because of %s", idle[i].what);
    }
}

/* Operations with parameters may have any number of other tensors. */
static void make_key_of_extras(struct key *key, const struct extra *extras, int count)
{
    static const struct operation operation = {.parameter_bytes = sizeof(uint64_t)};
    static const uint64_t parameters = 5;
    static const neo_memory_desc none;
    const neo_attributes attributes = {0};
    struct description description = {.operation = &operation,
                                      .attributes = &attributes,
                                      .extras = extras,
                                      .extra_count = count,
                                      .parameters = &parameters};
    for (int t = 0; t < TENSOR_COUNT; t++)
        description.tensors[t] = &none;
    key->count = key_write(key->pairs, &description, 0);
}

static void each_other_tensor_makes_another_key(void **state)
{
    (void)state;
    static struct key keys[6];
    const neo_memory_desc small = tagged(1, (neo_dim[]){5}, "a"),
                          large = tagged(1, (neo_dim[]){6}, "a");
    const struct extra lists[][2] = {
        {{NEO_ARG_MEAN, small}, {NEO_ARG_VARIANCE, small}},
        {{NEO_ARG_MEAN, large}, {NEO_ARG_VARIANCE, small}},
        {{NEO_ARG_MEAN, small}, {NEO_ARG_VARIANCE, large}},
        {{NEO_ARG_SCALE, small}, {NEO_ARG_VARIANCE, small}},
        {{NEO_ARG_MEAN, small}, {NEO_ARG_SCALE, small}},
    };
    for (size_t i = 0; i < count_of(keys); i++)
        make_key_of_extras(&keys[i], lists[i % count_of(lists)], i < count_of(lists) ? 2 : 1);
    for (size_t i = 0; i < count_of(keys); i++)
        for (size_t j = 0; j < i; j++)
            if (are_equal(&keys[i], &keys[j]))
                fail_msg("lists %zu and %zu have one key", j, i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_that_counts_makes_another_key),
        cmocka_unit_test(what_does_not_count_makes_no_other_key),
        cmocka_unit_test(each_other_tensor_makes_another_key),
    };
    return cmocka_run_group_tests_name("key", tests, NULL, NULL);
}
