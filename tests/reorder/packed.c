/* Reorders that convert into packed layouts and out of them, against the two reorders that they
 * stand for: all layouts, all types, with scales, zero points and post-operations. */
#include "tests/support/test.h"

#include <string.h>

#include "src/tensor/block_layout.h"
#include "src/tensor/depthwise_layout.h"
#include "src/tensor/typed_layout.h"
#include "tests/support/cases/typed.h"
#include "tests/support/fault.h"
#include "tests/support/fill.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

/* Weights of one shape, and the layouts that it can have. */
static const struct shape {
    bool grouped;
    int lane; /* the dimension of output channels */
    int ndims;
    neo_dim dims[5];
    const char *tags[2];
    int first, count; /* of the layouts */
} shapes[] = {
    {false, 1, 2, {37, 29}, {"ab", "ba"}, LAYOUT_MATMUL_F32, 1},
    {false, 2, 3, {2, 18, 21}, {"abc", "acb"}, LAYOUT_MATMUL_TYPED + 1, GEMM_TYPES - 1},
    {false, 0, 4, {19, 7, 3, 3}, {"abcd", "cdba"}, LAYOUT_CONVOLUTION_TYPED + 1, GEMM_TYPES - 1},
    {true, 1, 4, {2, 13, 5, 3}, {"abcd", "dacb"}, LAYOUT_CONVOLUTION_TYPED + 1, GEMM_TYPES - 1},
    {false, 0, 4, {13, 5, 3, 3}, {"abcd", "cdba"}, LAYOUT_CONVOLUTION_F32, 1},
    {false, 0, 4, {13, 5, 3, 3}, {"abcd", "cdba"}, LAYOUT_WINOGRAD_2_F32, 3},
    {true, 0, 5, {21, 1, 1, 3, 3}, {"abcde", "deabc"}, LAYOUT_DEPTHWISE_F32, 1},
    {true, 0, 5, {21, 1, 1, 3, 3}, {"abcde", "deabc"}, LAYOUT_DEPTHWISE_TYPED + 1, 5},
};

/* ---- attributes ---- */

enum { NOTHING, SCALED, SHIFTED, FINISHED, KINDS };

struct extras {
    neo_attributes *attributes;
    struct typed scales, dst_scale, zero_point, operand;
};

static void append(neo_attributes *attributes, const struct extras *extras)
{
    require(neo_attributes_append_eltwise(attributes, NEO_ELTWISE_ABS, 0, 0) == NEO_OK);
    require(neo_attributes_append_binary(attributes, NEO_BINARY_ADD, &extras->operand.desc) ==
            NEO_OK);
}

/* Sources have a scale for each output channel, the result one for all. */
static struct extras make_extras(int kind, const struct shape *s, uint32_t *seed)
{
    neo_dim one = 1, lanes[5] = {1, 1, 1, 1, 1};
    struct extras extras = {NULL};
    char tag[6] = "";
    lanes[s->lane] = s->dims[s->lane];
    extras.scales = typed_make_tag(engine, NEO_F32, 1, &lanes[s->lane], "a");
    extras.dst_scale = typed_make_tag(engine, NEO_F32, 1, &one, "a");
    extras.zero_point = typed_make_tag(engine, NEO_S32, 1, &one, "a");
    memcpy(tag, "abcde", (size_t)s->ndims);
    extras.operand = typed_make_tag(engine, NEO_F32, s->ndims, lanes, tag);
    for (neo_dim i = 0; i < lanes[s->lane]; i++)
        typed_put(&extras.scales, &i, (double)(1 + (fill_next(seed) >> 29)) / 8);
    typed_put(&extras.dst_scale, &(neo_dim){0}, .75);
    typed_put(&extras.zero_point, &(neo_dim){0}, 3);
    typed_fill(&extras.operand, -5, 5, seed);
    if (kind == NOTHING)
        return extras;
    require(neo_attributes_create(&extras.attributes) == NEO_OK);
    neo_attributes *to = extras.attributes;
    require(neo_attributes_set_scales(to, NEO_ARG_SRC, 1 << s->lane, 0, NULL, NEO_F32) == NEO_OK);
    require(neo_attributes_set_scales(to, NEO_ARG_DST, 0, 0, NULL, NEO_F32) == NEO_OK);
    require(neo_attributes_set_zero_points(to, kind == SHIFTED ? NEO_ARG_DST : NEO_ARG_SRC, 0, 0,
                                           NULL, NEO_S32) == NEO_OK);
    if (kind == FINISHED)
        append(to, &extras);
    return extras;
}

static void free_extras(struct extras *extras)
{
    neo_attributes_destroy(extras->attributes);
    struct typed *all[] = {&extras->scales, &extras->dst_scale, &extras->zero_point,
                           &extras->operand};
    for (size_t i = 0; i < count_of(all); i++)
        typed_free(all[i]);
}

/* ---- reorders ---- */

static neo_status describe(neo_primitive_desc **pd, const struct typed *from,
                           const struct typed *to, const struct extras *extras)
{
    return neo_reorder_primitive_desc_create(pd, engine, &from->desc, &to->desc,
                                             extras->attributes);
}

static neo_status execute(const neo_primitive_desc *pd, neo_stream *in, const struct typed *from,
                          const struct typed *to, int kind, const struct extras *extras)
{
    int shifted = kind == SHIFTED ? NEO_ARG_DST : NEO_ARG_SRC;
    const neo_exec_arg args[] = {
        {NEO_ARG_SRC, from->memory},
        {NEO_ARG_DST, to->memory},
        {NEO_ARG_ATTR_SCALES | NEO_ARG_SRC, extras->scales.memory},
        {NEO_ARG_ATTR_SCALES | NEO_ARG_DST, extras->dst_scale.memory},
        {NEO_ARG_ATTR_ZERO_POINTS | shifted, extras->zero_point.memory},
        {NEO_ARG_ATTR_MULTIPLE_POST_OP(1) | NEO_ARG_SRC_1, extras->operand.memory},
    };
    static const int counts[KINDS] = {2, 5, 5, 6};
    neo_primitive *primitive;
    neo_status status = neo_primitive_create(&primitive, pd);
    if (status == NEO_OK)
        status = neo_primitive_execute(primitive, in, counts[kind], args);
    neo_primitive_destroy(primitive);
    return status;
}

/* False: it is not served. */
static bool reorder(const struct typed *from, const struct typed *to, int kind,
                    const struct extras *extras)
{
    neo_primitive_desc *pd;
    neo_status status = describe(&pd, from, to, extras);
    if (status == NEO_UNSUPPORTED)
        return false;
    require(status == NEO_OK);
    require(execute(pd, stream, from, to, kind, extras) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    return true;
}

/* ---- in two steps and in one ---- */

/* Weights of one layout and type. */
struct packed {
    const struct shape *shape;
    struct typed plain, packed;
    bool unpacks;
};

static struct typed make_like(const struct typed *other, neo_data_type type)
{
    neo_memory_desc desc = other->desc;
    desc.data_type = type;
    return typed_make(engine, &desc);
}

static void assert_same(const struct typed *got, const struct typed *want, neo_data_type from,
                        const struct packed *packed)
{
    if (memcmp(got->data, want->data, neo_memory_desc_size(&got->desc)) != 0)
        fail_msg("layout %d of %s, from %s to %s", packed->packed.desc.packed.id,
                 neo_data_type_name(packed->plain.desc.data_type), neo_data_type_name(from),
                 neo_data_type_name(got->desc.data_type));
}

static void check_packing(const struct packed *packed, neo_data_type from, int kind, int tag,
                          uint32_t *seed)
{
    const struct shape *s = packed->shape;
    struct extras extras = make_extras(kind, s, seed);
    struct extras none = {NULL};
    struct typed src = typed_make_tag(engine, from, s->ndims, s->dims, s->tags[tag]);
    struct typed step = make_like(&packed->plain, packed->plain.desc.data_type);
    struct typed want = typed_make(engine, &packed->packed.desc);
    struct typed got = typed_make(engine, &packed->packed.desc);
    typed_fill(&src, -1000, 1000, seed);
    typed_mark(&got);
    assert_true(reorder(&src, &step, kind, &extras));
    assert_true(reorder(&step, &want, NOTHING, &none));
    assert_true(reorder(&src, &got, kind, &extras));
    assert_same(&got, &want, from, packed);
    free_extras(&extras);
    struct typed *all[] = {&src, &step, &want, &got};
    for (size_t i = 0; i < count_of(all); i++)
        typed_free(all[i]);
}

static bool is_half(const struct packed *packed)
{
    return neo_data_type_bits(packed->plain.desc.data_type) < 8;
}

/* plain is what packed has been made of, and, unless it was halves of bytes, what it was unpacked
 * to. */
static void check_unpacking(const struct packed *packed, neo_data_type to, int kind, int tag,
                            uint32_t *seed)
{
    const struct shape *s = packed->shape;
    struct extras extras = make_extras(kind, s, seed);
    struct typed want = typed_make_tag(engine, to, s->ndims, s->dims, s->tags[tag]);
    struct typed got = typed_make(engine, &want.desc);
    typed_mark(&want);
    typed_mark(&got); /* behind the last one of an odd number of halves, too */
    assert_true(reorder(&packed->plain, &want, kind, &extras));
    bool served = reorder(&packed->packed, &got, kind, &extras);
    assert_int_equal(served, packed->unpacks);
    if (served)
        assert_same(&got, &want, packed->plain.desc.data_type, packed);
    free_extras(&extras);
    typed_free(&want);
    typed_free(&got);
}

/* One kind of attributes for each pair of types: there are many layouts. */
static void check_types(const struct packed *packed, uint32_t *seed)
{
    for (int type = NEO_F32; type <= NEO_U4; type++) {
        int kind = (int)((fill_next(seed) >> 4) % KINDS), tag = (int)(fill_next(seed) >> 31);
        check_packing(packed, (neo_data_type)type, kind, tag, seed);
        check_unpacking(packed, (neo_data_type)type, kind, !tag, seed);
    }
}

/* What is packed, and given back: floats may have been rounded by the layout. */
static void check_layout(const struct shape *s, uint16_t id, neo_data_type type, uint32_t *seed)
{
    neo_memory_desc desc = typed_desc(s->ndims, s->dims, type, s->tags[0]);
    struct packed packed = {.shape = s};
    struct extras none = {NULL};
    packed.plain = typed_make(engine, &desc);
    desc.format_kind = NEO_FORMAT_ANY;
    layout_set(&desc, (enum layout_id)id, s->grouped);
    packed.packed = typed_make(engine, &desc);
    typed_fill(&packed.plain, -1000, 1000, seed);
    assert_true(reorder(&packed.plain, &packed.packed, NOTHING, &none));
    packed.unpacks = !layout_winograd_points((enum layout_id)id);
    if (packed.unpacks && !is_half(&packed))
        assert_true(reorder(&packed.packed, &packed.plain, NOTHING, &none));
    check_types(&packed, seed);
    typed_free(&packed.plain);
    typed_free(&packed.packed);
}

static bool is_right(const struct shape *s, uint16_t id, neo_data_type type)
{
    neo_memory_desc desc = typed_desc(s->ndims, s->dims, type, s->tags[0]);
    desc.format_kind = NEO_FORMAT_ANY;
    layout_set(&desc, (enum layout_id)id, s->grouped);
    return !layout_wrong(&desc);
}

static void every_layout_has_the_bits_of_two_steps(void **state)
{
    uint32_t seed = fill_seed();
    (void)state;
    int checked = 0;
    for (size_t i = 0; i < count_of(shapes); i++)
        for (int id = shapes[i].first; id < shapes[i].first + shapes[i].count; id++)
            for (int type = NEO_F32; type <= NEO_U4; type++)
                if (is_right(&shapes[i], (uint16_t)id, (neo_data_type)type)) {
                    check_layout(&shapes[i], (uint16_t)id, (neo_data_type)type, &seed);
                    checked++;
                }
    assert_true(checked > 40);
}

/* ---- memory, threads ---- */

/* f32 to packed s8 for the product that this processor would make of it. */
struct quantising {
    struct typed src, packed;
    struct extras extras;
};

static neo_memory_desc weights_for_bytes(const struct shape *s)
{
    neo_dim rows[] = {8, s->dims[0]}, results[] = {8, s->dims[1]};
    neo_matmul_desc desc = {.src = typed_desc(2, rows, NEO_U8, "ab"),
                            .dst = typed_desc(2, results, NEO_F32, "ab")};
    neo_primitive_desc *pd;
    require(neo_memory_desc_init_tag(&desc.weights, 2, s->dims, NEO_S8, "any") == NEO_OK);
    require(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL) == NEO_OK);
    neo_memory_desc chosen = *neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    neo_primitive_desc_destroy(pd);
    require(chosen.format_kind == NEO_FORMAT_PACKED);
    return chosen;
}

static struct quantising make_quantising(const struct shape *s)
{
    uint32_t seed = fill_seed();
    neo_memory_desc packed = weights_for_bytes(s);
    struct quantising q = {.src = typed_make_tag(engine, NEO_F32, 2, s->dims, "ab"),
                           .packed = typed_make(engine, &packed),
                           .extras = make_extras(SCALED, s, &seed)};
    typed_fill(&q.src, -1000, 1000, &seed);
    return q;
}

static void free_quantising(struct quantising *q)
{
    free_extras(&q->extras);
    typed_free(&q->src);
    typed_free(&q->packed);
}

/* In the scratchpad are the plain bytes, and no more. */
static void the_scratchpad_has_the_plain_weights(void **state)
{
    static const struct shape large = {false, 1, 2, {300, 200}, {"ab", "ba"}, 0, 0};
    struct quantising q = make_quantising(&large);
    neo_primitive_desc *pd;
    (void)state;
    require(describe(&pd, &q.src, &q.packed, &q.extras) == NEO_OK);
    size_t bytes = neo_primitive_desc_scratchpad_size(pd, 4);
    assert_true(bytes >= 300 * 200);
    assert_true(bytes < 300 * 200 + 4096);
    neo_primitive_desc_destroy(pd);
    free_quantising(&q);
}

static void threads_change_nothing(void **state)
{
    static const struct shape large = {false, 1, 2, {517, 389}, {"ab", "ba"}, 0, 0};
    static const neo_stream_options one = {.max_threads = 1};
    struct quantising q = make_quantising(&large);
    struct typed alone = typed_make(engine, &q.packed.desc);
    neo_primitive_desc *pd;
    neo_stream *single;
    (void)state;
    typed_mark(&alone);
    require(neo_stream_create(&single, engine, &one) == NEO_OK);
    require(describe(&pd, &q.src, &q.packed, &q.extras) == NEO_OK);
    require(execute(pd, stream, &q.src, &q.packed, SCALED, &q.extras) == NEO_OK);
    require(execute(pd, single, &q.src, &alone, SCALED, &q.extras) == NEO_OK);
    assert_memory_equal(alone.data, q.packed.data, neo_memory_desc_size(&q.packed.desc));
    neo_primitive_desc_destroy(pd);
    neo_stream_destroy(single);
    typed_free(&alone);
    free_quantising(&q);
}

static void a_lack_of_memory_is_survived(void **state)
{
    struct quantising q = make_quantising(&shapes[0]);
    bool failed = true;
    (void)state;
    for (size_t n = 1; failed; n++) {
        neo_primitive_desc *pd = NULL;
        neo_engine_clear_cache(engine);
        fault_arm(n);
        neo_status status = describe(&pd, &q.src, &q.packed, &q.extras);
        if (status == NEO_OK)
            status = execute(pd, stream, &q.src, &q.packed, SCALED, &q.extras);
        failed = fault_disarm();
        assert_true(status == NEO_OK || (failed && status == NEO_OUT_OF_MEMORY));
        neo_primitive_desc_destroy(pd);
        assert_true(n < 100);
    }
    free_quantising(&q);
}

/* ---- refusals ---- */

static void assert_refused(const neo_memory_desc *from, const neo_memory_desc *to,
                           const neo_attributes *attributes)
{
    neo_primitive_desc *pd;
    assert_int_equal(neo_reorder_primitive_desc_create(&pd, engine, from, to, attributes),
                     NEO_UNSUPPORTED);
    assert_null(pd);
}

static void nothing_is_added_to_packed_weights(void **state)
{
    struct quantising q = make_quantising(&shapes[0]);
    neo_attributes *sum;
    (void)state;
    require(neo_attributes_create(&sum) == NEO_OK);
    require(neo_attributes_append_sum(sum, 1, 0, NEO_DATA_TYPE_UNDEF) == NEO_OK);
    assert_refused(&q.src.desc, &q.packed.desc, sum);
    neo_attributes_destroy(sum);
    free_quantising(&q);
}

static void blocks_are_not_made_of_plain_weights(void **state)
{
    const neo_dim dims[] = {64, 24};
    neo_memory_desc plain = typed_desc(2, dims, NEO_F32, "ab");
    neo_block_source source = {.format = NEO_BLOCKS_GGUF_Q8_0, .k = 64, .n = 24};
    neo_memory_desc packed;
    (void)state;
    require(neo_block_weights_describe(&packed, &source) == NEO_OK);
    assert_refused(&plain, &packed, NULL);
    assert_refused(&packed, &plain, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_has_the_bits_of_two_steps),
        cmocka_unit_test(the_scratchpad_has_the_plain_weights),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_lack_of_memory_is_survived),
        cmocka_unit_test(nothing_is_added_to_packed_weights),
        cmocka_unit_test(blocks_are_not_made_of_plain_weights),
    };
    return cmocka_run_group_tests_name("packed", tests, session_setup, session_teardown);
}
