/* Packed layouts: what is where, how many bytes, and what a descriptor says. */
#include "tests/support/test.h"

#include <string.h>

#include "arch/cpu.h"
#include "src/core/checked.h"
#include "src/packed/pack.h"
#include "src/tensor/typed_layout.h"
#include "tests/support/cases/layout_case.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/tensor.h"

enum { MOST_PADDING = 3, MOST_BYTES = 1 << 20, MOST_PLAIN = 64 * 64 * 9 };

static struct guard guard_packed;

/* ---- panels ---- */

static void panels_follow_one_another(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 300; n++) {
        size_t columns = 0, padded = 0, count = layout_panel_count(n);
        for (size_t i = 0; i < count; i++) {
            struct layout_panel panel = layout_panel(n, i);
            assert_int_equal(panel.first, columns);
            assert_int_equal(layout_panel_offset(n, i), padded);
            assert_true(panel.valid >= 1 && panel.valid <= panel.width);
            assert_true(panel.width <= LAYOUT_PANEL);
            assert_true(panel.valid == panel.width || i + 1 == count);
            assert_int_equal(i < layout_full_panels(n), panel.valid == LAYOUT_PANEL);
            columns += panel.valid;
            padded += panel.width;
        }
        assert_int_equal(columns, n);
        assert_int_equal(layout_panel_offset(n, count), padded);
        assert_true(padded - n <= MOST_PADDING);
    }
}

/* Whole panels, then what is left: kernels for one to three columns are worth it where the rest of
 * the matrix is large. */
static void many_columns_end_in_panels_of_their_own_size(void **state)
{
    static const struct {
        size_t n, count;
        struct layout_panel last;
    } few_and_many[] = {
        {12, 1, {0, 12, 12}}, {13, 2, {8, 5, 8}},     {16, 2, {8, 8, 8}},  {23, 2, {12, 11, 12}},
        {49, 5, {48, 1, 4}},  {50, 5, {48, 2, 4}},    {51, 5, {48, 3, 4}}, {52, 5, {44, 8, 8}},
        {53, 6, {52, 1, 4}},  {56, 5, {48, 8, 8}},    {57, 6, {56, 1, 4}}, {59, 5, {48, 11, 12}},
        {64, 6, {56, 8, 8}},  {196, 17, {188, 8, 8}},
    };
    (void)state;
    for (size_t i = 0; i < count_of(few_and_many); i++) {
        struct layout_panel last = layout_panel(few_and_many[i].n, few_and_many[i].count - 1);
        assert_int_equal(layout_panel_count(few_and_many[i].n), few_and_many[i].count);
        assert_int_equal(last.first, few_and_many[i].last.first);
        assert_int_equal(last.valid, few_and_many[i].last.valid);
        assert_int_equal(last.width, few_and_many[i].last.width);
    }
}

/* Without panels of one vector, but where there are no others. */
static void wide_panels_follow_one_another(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 300; n++) {
        size_t columns = 0, count = layout_wide_panel_count(n);
        for (size_t i = 0; i < count; i++) {
            struct layout_panel panel = layout_wide_panel(n, i);
            assert_int_equal(panel.first, columns);
            assert_true(panel.valid == panel.width || i + 1 == count);
            assert_true(panel.width - panel.valid <= MOST_PADDING);
            assert_true(panel.width == 8 || panel.width == LAYOUT_PANEL || n <= 4);
            assert_int_equal(i < layout_wide_full_panels(n), panel.valid == LAYOUT_PANEL);
            columns += panel.valid;
        }
        assert_int_equal(columns, n);
        assert_true(layout_wide_panel_count(n) <= layout_panel_count(n));
    }
}

/* Of whole vectors of each type, of which the last one may have padding. */
static void panels_of_types_follow_one_another(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 300; n++)
        for (size_t t = 0; t < gemm_type_count; t++) {
            const struct gemm_type *type = &gemm_types[t];
            size_t columns = 0, padded = 0, count = typed_layout_panel_count(type, n);
            for (size_t i = 0; i < count; i++) {
                struct layout_panel panel = typed_layout_panel(type, n, i);
                assert_int_equal(panel.first, columns);
                assert_true(panel.valid >= 1 && panel.valid <= panel.width);
                assert_true(panel.valid == panel.width || i + 1 == count);
                assert_int_equal(panel.width % type->vector, 0);
                assert_true(panel.width <= (size_t)GEMM_VECTORS * type->vector);
                columns += panel.valid;
                padded += panel.width;
            }
            assert_int_equal(columns, n);
            assert_int_equal(padded, typed_layout_columns(type, n));
        }
}

/* ---- bytes ---- */

static const struct layout_case cases[] = {
    {LAYOUT_MATMUL_F32, false, "ab", 2, {1, 1}},
    {LAYOUT_MATMUL_F32, false, "ab", 2, {9, 31}},
    {LAYOUT_MATMUL_F32, false, "ba", 2, {70, 26}},
    {LAYOUT_MATMUL_F32, false, "acb", 3, {3, 5, 14}},
    {LAYOUT_CONVOLUTION_F32, false, "oihw", 4, {29, 6, 3, 3}},
    {LAYOUT_CONVOLUTION_F32, false, "ohwi", 4, {13, 7, 2, 3}},
    {LAYOUT_CONVOLUTION_F32, false, "hwio", 4, {15, 70, 1, 2}},
    {LAYOUT_CONVOLUTION_F32, true, "goihw", 5, {3, 4, 2, 3, 5}},
    {LAYOUT_DEPTHWISE_F32, true, "goihw", 5, {21, 1, 1, 3, 3}},
    {LAYOUT_WINOGRAD_2_F32, false, "oihw", 4, {13, 5, 3, 3}},
    {LAYOUT_WINOGRAD_2_F32, false, "oihw", 4, {64, 64, 3, 3}}, /* with gaps */
    {LAYOUT_WINOGRAD_4_F32, false, "oihw", 4, {13, 5, 3, 3}},
    {LAYOUT_WINOGRAD_6_F32, false, "oihw", 4, {13, 5, 3, 3}},
};

static void matrices_that_would_collide_have_gaps(void **state)
{
    (void)state;
    const struct {
        neo_dim oc, ic;
        size_t step;
    } sizes[] = {{64, 64, 64 * 64 + 512}, {96, 64, 96 * 64 + 512}, {128, 128, 128 * 128},
                 {60, 64, 60 * 64},       {32, 64, 32 * 64},       {13, 5, 16 * 5}};
    for (size_t i = 0; i < count_of(sizes); i++) {
        struct layout_case c = {
            LAYOUT_WINOGRAD_6_F32, false, "oihw", 4, {sizes[i].oc, sizes[i].ic, 3, 3}};
        neo_memory_desc packed = layout_case_desc(&c);
        assert_int_equal(layout_shape(&packed).step, sizes[i].step);
    }
}

/* The buffer ends at a guard page; a byte that packing leaves out keeps its marker. */
static void packing_writes_exactly_the_layouts_bytes(void **state)
{
    (void)state;
    static float plain_data[MOST_PLAIN];
    uint32_t seed = fill_seed();
    struct parallel parallel;
    parallel_init(&parallel, NULL, NULL, 0);
    fill_reals(plain_data, count_of(plain_data), &seed);
    for (size_t i = 0; i < count_of(cases); i++) {
        neo_memory_desc plain = tensor_desc(cases[i].ndims, cases[i].dims, cases[i].tag);
        neo_memory_desc packed = layout_case_desc(&cases[i]);
        struct layout_shape shape = layout_shape(&packed);
        size_t elements = shape.matrices * shape.step;
        assert_int_equal(layout_bytes(&packed), elements * sizeof(float));
        assert_int_equal(neo_memory_desc_size(&packed), layout_bytes(&packed));
        assert_true(neo_memory_desc_size(&plain) <= sizeof plain_data);
        for (int end = 0; end < 2; end++) {
            float *data = guard_at(&guard_packed, layout_bytes(&packed), end);
            fill_marker(data, elements);
            const struct weights_transfer transfer = {.plain = &plain,
                                                      .packed = &packed,
                                                      .plain_data = plain_data,
                                                      .packed_data = data,
                                                      .cpu = cpu_get()};
            weights_pack(&transfer, &parallel, 1);
            for (size_t e = 0; e < elements; e++)
                assert_false(fill_is_marker(data[e]));
        }
    }
}

/* The last columns of three matrices, one by one behind their panels. */
static void the_last_columns_come_once_more(void **state)
{
    (void)state;
    enum { MATRICES = 3, K = 5, N = 14, COLUMNS = 16, STEP = 92 };
    const struct layout_case c = {LAYOUT_MATMUL_F32, false, "abc", 3, {MATRICES, K, N}};
    neo_memory_desc plain = tensor_desc(c.ndims, c.dims, c.tag), packed = layout_case_desc(&c);
    static float plain_data[MATRICES * K * N], data[MATRICES * STEP];
    struct parallel parallel;
    parallel_init(&parallel, NULL, NULL, 0);
    for (size_t i = 0; i < count_of(plain_data); i++)
        plain_data[i] = (float)i;
    assert_int_equal(layout_shape(&packed).columns, COLUMNS);
    assert_int_equal(layout_shape(&packed).step, STEP);
    assert_int_equal(layout_all_columns(N), COLUMNS + 2);
    const struct weights_transfer transfer = {&plain, &packed, plain_data, data, cpu_get()};
    weights_pack(&transfer, &parallel, 1);
    for (size_t i = 0; i < MATRICES; i++)
        for (size_t j = 0; j < 2; j++)
            for (size_t p = 0; p < K; p++)
                assert_true(data[i * STEP + (COLUMNS + j) * K + p] ==
                            plain_data[(i * K + p) * N + 12 + j]);
}

/* ---- descriptors ---- */

static void a_descriptor_says_which_layout_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(cases); i++) {
        neo_memory_desc desc = layout_case_desc(&cases[i]), other = desc;
        assert_int_equal(desc.format_kind, NEO_FORMAT_PACKED);
        assert_int_equal(desc.packed.id, cases[i].id);
        assert_true(desc.packed.version >= 1);
        assert_true(desc.packed.panel >= 1);
        assert_int_equal(desc.packed.grouped, cases[i].grouped);
        assert_null(layout_wrong(&desc));
        other.packed.version++;
        assert_false(neo_memory_desc_equal(&desc, &other));
    }
}

static void other_layouts_and_versions_are_refused(void **state)
{
    (void)state;
    neo_memory_desc good = layout_case_desc(&cases[1]), bad;
    bad = good, bad.packed.version++;
    assert_non_null(layout_wrong(&bad));
    bad = good, bad.packed.version = 0;
    assert_non_null(layout_wrong(&bad));
    bad = good, bad.packed.panel++;
    assert_non_null(layout_wrong(&bad));
    bad = good, bad.packed.grouped = 1;
    assert_non_null(layout_wrong(&bad));
    bad = layout_case_desc(&cases[7]), bad.packed.grouped = 2; /* is counted, not only looked at */
    assert_non_null(layout_wrong(&bad));
    bad = good, bad.packed.id = 0;
    assert_non_null(layout_wrong(&bad));
    bad = good, bad.packed.id = 999;
    assert_non_null(layout_wrong(&bad));
    bad = good, bad.dims[0] = (neo_dim)1 << 62;
    assert_non_null(layout_wrong(&bad));
    assert_null(layout_wrong(&good));
}

int main(void)
{
    guard_init(&guard_packed, MOST_BYTES);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_follow_one_another),
        cmocka_unit_test(many_columns_end_in_panels_of_their_own_size),
        cmocka_unit_test(wide_panels_follow_one_another),
        cmocka_unit_test(panels_of_types_follow_one_another),
        cmocka_unit_test(matrices_that_would_collide_have_gaps),
        cmocka_unit_test(packing_writes_exactly_the_layouts_bytes),
        cmocka_unit_test(the_last_columns_come_once_more),
        cmocka_unit_test(a_descriptor_says_which_layout_it_is),
        cmocka_unit_test(other_layouts_and_versions_are_refused),
    };
    return cmocka_run_group_tests_name("weights_layout", tests, NULL, NULL);
}
