/* Packed weights of depthwise convolutions of other types than f32: what is where in them, which
 * descriptors are right, and which primitives ask for them. */
#include "tests/support/test.h"

#include <string.h>

#include "neoprene/packed_weights.h"
#include "src/packed/depthwise.h"
#include "src/primitive/engine.h"
#include "src/tensor/depthwise_layout.h"
#include "src/tensor/element.h"
#include "tests/support/cases/typed.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/session.h"

enum { BLOCK = DEPTHWISE_BLOCK, MOST_BYTES = 1 << 16, MOST_TAPS = 49 };

static struct guard guard_packed;

/* Ids, which files have, and what is multiplied. */
static const struct form {
    uint16_t id;
    enum element element;
    size_t group;
} forms[] = {
    {193, ELEMENT_F32, 1}, {194, ELEMENT_F16, 1}, {195, ELEMENT_S8, 1},
    {196, ELEMENT_S8, 3},  {197, ELEMENT_S8, 4},
};

static const neo_data_type types[] = {NEO_F32, NEO_F16, NEO_BF16, NEO_S8, NEO_U8};

/* Plain weights, with or without groups, in any order. */
static const struct shape {
    bool grouped;
    int ndims;
    neo_dim dims[6];
    const char *tag;
} shapes[] = {
    {true, 5, {21, 1, 1, 3, 3}, "abcde"}, {true, 5, {21, 1, 1, 3, 3}, "deabc"},
    {true, 5, {16, 1, 1, 5, 5}, "edabc"}, {true, 5, {20, 2, 1, 2, 3}, "dbace"},
    {true, 4, {3, 1, 1, 4}, "abcd"},      {true, 6, {33, 1, 1, 2, 3, 2}, "defabc"},
    {false, 4, {1, 1, 7, 7}, "abcd"},     {false, 3, {1, 1, 1}, "abc"},
};

static neo_memory_desc packed_desc(const struct shape *s, neo_data_type type, uint16_t id)
{
    neo_memory_desc desc = typed_desc(s->ndims, s->dims, type, s->tag);
    layout_set(&desc, (enum layout_id)id, s->grouped);
    return desc;
}

/* ---- what is where ---- */

static void fill(const struct typed *plain, uint32_t *seed)
{
    const neo_memory_desc *desc = &plain->desc;
    neo_dim at[NEO_MAX_NDIMS] = {0};
    bool is_byte = desc->data_type >= NEO_S8;
    int unsigned_byte = desc->data_type == NEO_U8;
    do
        typed_put(plain, at,
                  is_byte ? (double)(fill_next(seed) >> 24) - (unsigned_byte ? 0 : 128)
                          : (double)(fill_next(seed) >> 24) / 64 - 2);
    while (typed_next(desc->ndims, desc->dims, at));
}

static size_t channel_of(const struct shape *s, const neo_dim *at)
{
    return (size_t)(s->grouped ? at[0] * s->dims[1] + at[1] : at[0]);
}

/* By the definition: the last dimension's taps are columns, all others rows. */
static double packed_value(const struct form *form, const struct shape *s, const void *packed,
                           size_t channels, const neo_dim *at, size_t block)
{
    size_t first = channels < BLOCK                  ? 0
                   : (block + 1) * BLOCK <= channels ? block * BLOCK
                                                     : channels - BLOCK;
    size_t columns = (size_t)s->dims[s->ndims - 1], row = 0, rows = 1, group = form->group;
    for (int i = s->grouped + 2; i < s->ndims - 1; i++) {
        row = row * (size_t)s->dims[i] + (size_t)at[i];
        rows *= (size_t)s->dims[i];
    }
    size_t c = channel_of(s, at) - first, r = row % group, groups = (rows + group - 1) / group;
    size_t unit = row / group * columns + (size_t)at[s->ndims - 1];
    size_t place = group == 4 ? 4 * c + r : BLOCK * r + c;
    return (double)element_read_f32(
        form->element, packed,
        (ptrdiff_t)((block * groups * columns + unit) * group * BLOCK + place));
}

static void check_weights(const struct form *form, const struct shape *s, const struct typed *plain,
                          const void *packed, size_t channels)
{
    neo_dim at[NEO_MAX_NDIMS] = {0};
    do {
        size_t channel = channel_of(s, at), block = channel / BLOCK;
        double want = typed_get(plain, at);
        assert_true(packed_value(form, s, packed, channels, at, block) == want);
        size_t last = (channels + BLOCK - 1) / BLOCK - 1;
        if (channels >= BLOCK && channel >= channels - BLOCK)
            assert_true(packed_value(form, s, packed, channels, at, last) == want);
    } while (typed_next(s->ndims, s->dims, at));
}

/* Sums of channels, and whether a block has a weight of -128. */
static void check_ends(const struct shape *s, const struct typed *plain,
                       const struct depthwise_layout *layout, const unsigned char *packed)
{
    int32_t sums[BLOCK * 4] = {0};
    bool has_lowest[4] = {false};
    neo_dim at[NEO_MAX_NDIMS] = {0};
    do {
        size_t channel = channel_of(s, at);
        int32_t weight = (int32_t)typed_get(plain, at);
        sums[channel] += weight;
        for (size_t b = 0; b < layout->blocks; b++) {
            size_t first = depthwise_layout_first(layout, b);
            has_lowest[b] |= weight == -128 && channel >= first && channel < first + BLOCK;
        }
    } while (typed_next(s->ndims, s->dims, at));
    assert_memory_equal(packed + layout->sums_at, sums, layout->padded * sizeof *sums);
    for (size_t b = 0; b < layout->blocks; b++)
        assert_int_equal(packed[layout->flags_at + b], has_lowest[b]);
}

/* Once over bytes of 0x5a, and once over others on all threads; the buffer ends at a page that may
 * not be touched.
 */
static void check_form(const struct form *form, const struct shape *s, neo_data_type type,
                       uint32_t *seed)
{
    static unsigned char before[MOST_BYTES];
    neo_memory_desc desc = packed_desc(s, type, form->id);
    struct typed plain = typed_make_tag(engine, type, s->ndims, s->dims, s->tag);
    struct typed back = typed_make_tag(engine, type, s->ndims, s->dims, s->tag);
    struct depthwise_layout layout = depthwise_layout_read(&desc);
    size_t bytes = neo_memory_desc_size(&desc);
    unsigned char *packed = guard_at(&guard_packed, bytes, 1);
    struct depthwise_transfer pack = {&plain.desc, &desc, plain.data, packed};
    struct depthwise_transfer unpack = {&back.desc, &desc, back.data, packed};
    int threads = neo_stream_num_threads(stream);
    fill(&plain, seed);
    assert_int_equal(bytes % LAYOUT_ALIGNMENT, 0);
    for (int round = 0; round < 2; round++) {
        memcpy(before, packed, bytes);
        memset(packed, round ? 0xa5 : 0x5a, bytes);
        depthwise_pack(&pack, &stream->parallel, round ? threads : 1);
    }
    assert_memory_equal(before, packed, bytes);
    check_weights(form, s, &plain, packed, layout.channels);
    if (form->element == ELEMENT_S8)
        check_ends(s, &plain, &layout, packed);
    depthwise_unpack(&unpack, &stream->parallel, threads);
    assert_memory_equal(back.data, plain.data, neo_memory_desc_size(&plain.desc));
    typed_free(&plain);
    typed_free(&back);
}

static void blocks_hold_weights(void **state)
{
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t f = 0; f < count_of(forms); f++)
        for (size_t t = 0; t < count_of(types); t++)
            for (size_t i = 0; i < count_of(shapes); i++)
                if (depthwise_layout_holds(forms[f].element, element_of(types[t])))
                    check_form(&forms[f], &shapes[i], types[t], &seed);
}

/* As if they had been rounded before. */
static void floats_are_rounded(void **state)
{
    static const neo_data_type to[] = {NEO_F16, NEO_BF16, NEO_F16};
    static const uint16_t ids[] = {193, 193, 194};
    const struct shape *s = &shapes[0];
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t i = 0; i < count_of(to); i++) {
        neo_memory_desc desc = packed_desc(s, to[i], ids[i]);
        struct typed plain = typed_make_tag(engine, NEO_F32, s->ndims, s->dims, s->tag);
        struct typed rounded = typed_make_tag(engine, to[i], s->ndims, s->dims, s->tag);
        struct typed packed = typed_make(engine, &desc), want = typed_make(engine, &desc);
        fill_reals(plain.data, neo_memory_desc_size(&plain.desc) / sizeof(float), &seed);
        typed_reorder(engine, stream, &plain, &rounded);
        typed_reorder(engine, stream, &rounded, &want);
        typed_reorder(engine, stream, &plain, &packed);
        assert_memory_equal(packed.data, want.data, neo_memory_desc_size(&desc));
        struct typed *all[] = {&plain, &rounded, &packed, &want};
        for (size_t j = 0; j < count_of(all); j++)
            typed_free(all[j]);
    }
}

/* ---- descriptors ---- */

static void kernels_have_layouts(void **state)
{
    (void)state;
    for (size_t i = 0; i < depthwise_taps_kernel_count; i++) {
        const struct depthwise_taps_kernel *kernel = depthwise_taps_kernels[i];
        neo_data_type type = kernel->weights == ELEMENT_S8 ? NEO_S8 : NEO_F16;
        uint16_t id = (uint16_t)depthwise_layout_of(kernel->weights, kernel->group);
        neo_memory_desc desc = packed_desc(&shapes[0], type, id);
        assert_null(layout_wrong(&desc));
        assert_int_equal(depthwise_layout_read(&desc).element, kernel->weights);
        assert_int_equal(depthwise_layout_read(&desc).group, kernel->group);
    }
}

static void check_refused(neo_memory_desc good, const neo_memory_desc *bad)
{
    assert_null(layout_wrong(&good));
    assert_non_null(layout_wrong(bad));
    assert_int_equal(neo_memory_desc_size(bad), 0);
}

static void other_descriptors_are_refused(void **state)
{
    const neo_memory_desc good = packed_desc(&shapes[0], NEO_S8, 197);
    neo_memory_desc bad;
    (void)state;
    bad = good, bad.packed.version++, check_refused(good, &bad);
    bad = good, bad.packed.panel++, check_refused(good, &bad);
    bad = good, bad.packed.grouped = 2, check_refused(good, &bad);
    bad = good, bad.packed.id = 192, check_refused(good, &bad);
    bad = good, bad.packed.id = 198, check_refused(good, &bad);
    bad = good, bad.packed.id = 193, check_refused(good, &bad);
    bad = good, bad.data_type = NEO_U8, check_refused(good, &bad);
    bad = good, bad.dims[2] = 2, check_refused(good, &bad);
    bad = good, bad.dims[3] = NEO_RUNTIME_DIM, check_refused(good, &bad);
    bad = good, bad.ndims = 3, check_refused(good, &bad);
    bad = good, bad.dims[0] = (neo_dim)1 << 61, check_refused(good, &bad);
    bad = good, bad.dims[0] = bad.dims[3] = (neo_dim)1 << 31, check_refused(good, &bad);
    bad = good, bad.dims[4] = INT64_MAX, check_refused(good, &bad);
}

/* ---- primitives ---- */

static neo_convolution_desc describe(neo_data_type type, neo_dim groups,
                                     const neo_memory_desc *weights)
{
    static const neo_dim space = 6;
    neo_dim image[] = {1, groups, space, space};
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .algorithm = NEO_CONVOLUTION_DIRECT,
                                 .src = typed_desc(4, image, type, "acdb"),
                                 .dst = typed_desc(4, image, type, "acdb"),
                                 .strides = {1, 1},
                                 .padding_left = {1, 1},
                                 .padding_right = {1, 1}};
    desc.weights =
        weights ? *weights : typed_desc(5, (neo_dim[]){groups, 1, 1, 3, 3}, type, "abcde");
    if (!weights)
        desc.weights.format_kind = NEO_FORMAT_ANY;
    return desc;
}

/* The weights of the best implementation. */
static neo_memory_desc chosen(const neo_convolution_desc *desc, const neo_attributes *attributes)
{
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, desc, attributes), NEO_OK);
    neo_memory_desc weights = *neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    neo_primitive_desc_destroy(pd);
    return weights;
}

/* Without zero points, of which one may leave weights that no s8 holds. */
static void weights_are_packed_unless_they_have_zero_points(void **state)
{
    neo_attributes *zero_points;
    neo_primitive_desc *pd;
    (void)state;
    assert_int_equal(neo_attributes_create(&zero_points), NEO_OK);
    assert_int_equal(
        neo_attributes_set_zero_points(zero_points, NEO_ARG_WEIGHTS, 0, 0, NULL, NEO_S8), NEO_OK);
    for (size_t t = 1; t < count_of(types); t++) {
        neo_convolution_desc desc = describe(types[t], 40, NULL);
        neo_memory_desc weights = chosen(&desc, NULL);
        assert_int_equal(weights.format_kind,
                         types[t] == NEO_U8 ? NEO_FORMAT_STRIDED : NEO_FORMAT_PACKED);
        assert_int_equal(chosen(&desc, zero_points).format_kind, NEO_FORMAT_STRIDED);
        desc = describe(types[t], 40, &weights);
        assert_true(neo_memory_desc_equal(&weights, &(neo_memory_desc){0}) ||
                    chosen(&desc, NULL).format_kind == weights.format_kind);
        if (types[t] != NEO_U8)
            assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, zero_points),
                             NEO_UNSUPPORTED);
    }
    neo_attributes_destroy(zero_points);
}

/* The same content is packed once, whatever it is found for. */
static void packed_weights_are_shared(void **state)
{
    uint32_t seed = fill_seed();
    neo_convolution_desc desc = describe(NEO_S8, 40, NULL);
    neo_weights_statistics statistics;
    neo_primitive_desc *pd;
    neo_packed_weights *weights[2];
    size_t differing = 1;
    (void)state;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    struct typed plain = typed_make_tag(engine, NEO_S8, 5, desc.weights.dims, "abcde");
    fill(&plain, &seed);
    for (int i = 0; i < 2; i++)
        assert_int_equal(neo_weights_pack(&weights[i], pd, stream, plain.memory), NEO_OK);
    assert_int_equal(neo_engine_get_weights_statistics(engine, &statistics), NEO_OK);
    assert_int_equal(statistics.inserts, 1);
    assert_int_equal(statistics.hits, 1);
    assert_int_equal(neo_weights_compare(&differing, stream, neo_packed_weights_memory(weights[0]),
                                         plain.memory),
                     NEO_OK);
    assert_int_equal(differing, 0);
    for (int i = 0; i < 2; i++)
        neo_packed_weights_destroy(weights[i]);
    neo_primitive_desc_destroy(pd);
    typed_free(&plain);
}

int main(void)
{
    guard_init(&guard_packed, MOST_BYTES);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_hold_weights, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(floats_are_rounded, session_setup, session_teardown),
        cmocka_unit_test(kernels_have_layouts),
        cmocka_unit_test(other_descriptors_are_refused),
        cmocka_unit_test_setup_teardown(weights_are_packed_unless_they_have_zero_points,
                                        session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(packed_weights_are_shared, session_setup, session_teardown),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("packed_depthwise", tests, NULL, NULL);
}
