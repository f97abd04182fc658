/* Layer, batch and group normalisation: types, flags, statistics made and given, layouts. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

enum kind { LAYER, BATCH, GROUP };

struct normalization {
    enum kind kind;
    neo_prop_kind prop_kind;
    unsigned flags;
    neo_dim groups;
};

static const float epsilon = 0.25f;

static const struct normalization *normalization_of(const struct operation_case *row)
{
    return row->context;
}

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    const struct normalization *n = normalization_of(row);
    const neo_memory_desc *src = &row->tensors[0].desc, *dst = &row->tensors[1].desc;
    if (n->kind == LAYER)
        return neo_layer_normalization_primitive_desc_create(
            out, on, n->prop_kind, src, dst, NULL, NEO_F32, epsilon, n->flags, attributes);
    if (n->kind == BATCH)
        return neo_batch_normalization_primitive_desc_create(out, on, n->prop_kind, src, dst,
                                                             epsilon, n->flags, attributes);
    return neo_group_normalization_primitive_desc_create(out, on, n->prop_kind, src, dst, n->groups,
                                                         epsilon, n->flags, attributes);
}

/* ---- the definition ---- */

/* Where the statistics of an element of src are, and its scale and shift. */
static neo_dim statistics_position(const struct normalization *n, int ndims, const neo_dim *dims,
                                   const neo_dim *position, neo_dim *at)
{
    if (n->kind == LAYER) {
        for (int i = 0; i < ndims - 1; i++)
            at[i] = position[i];
        return position[ndims - 1];
    }
    at[0] = n->kind == BATCH ? position[1] : position[0];
    at[1] = n->kind == BATCH ? 0 : position[1] / (dims[1] / n->groups);
    return position[1];
}

static bool is_together(const struct normalization *n, int ndims, const neo_dim *dims,
                        const neo_dim *position, const neo_dim *at)
{
    neo_dim other[NEO_MAX_NDIMS];
    statistics_position(n, ndims, dims, position, other);
    int count = n->kind == LAYER ? ndims - 1 : n->kind == BATCH ? 1 : 2;
    for (int i = 0; i < count; i++)
        if (other[i] != at[i])
            return false;
    return true;
}

/* Sum of (x - about)^power over the elements that have these statistics, and how many they are. */
static double sum_about(const struct normalization *n, const struct typed *src, const neo_dim *at,
                        double about, int power, double *count)
{
    neo_dim position[NEO_MAX_NDIMS];
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < neo_memory_desc_elements(&src->desc); i++) {
        neo_dim rest = (neo_dim)i;
        for (int d = src->desc.ndims - 1; d >= 0; d--) {
            position[d] = rest % src->desc.dims[d];
            rest /= src->desc.dims[d];
        }
        if (!is_together(n, src->desc.ndims, src->desc.dims, position, at))
            continue;
        double x = typed_get(src, position) - about;
        sum += power == 2 ? x * x : x;
        *count += 1;
    }
    return sum;
}

struct values {
    double mean, variance;
};

static struct values computed_statistics(const struct operation_case *row, const struct typed *t,
                                         const neo_dim *at)
{
    const struct normalization *n = normalization_of(row);
    bool is_rms = n->flags & NEO_NORMALIZATION_RMS;
    struct values v = {0, 0};
    double count;
    if (n->flags & NEO_NORMALIZATION_USE_GLOBAL_STATS) {
        if (!is_rms)
            v.mean = typed_get(&t[operation_tensor_index(row, NEO_ARG_MEAN)], at);
        v.variance = typed_get(&t[operation_tensor_index(row, NEO_ARG_VARIANCE)], at);
        return v;
    }
    if (!is_rms) {
        v.mean = sum_about(n, &t[0], at, 0, 1, &count);
        v.mean /= count;
    }
    v.variance = sum_about(n, &t[0], at, v.mean, 2, &count);
    v.variance /= count;
    return v;
}

/* Those of the region that was asked for last, which is that of the next element as a rule. */
static struct {
    bool is_known;
    neo_dim at[NEO_MAX_NDIMS];
    struct values values;
} last;

static struct values statistics_of(const struct operation_case *row, const struct typed *t,
                                   const neo_dim *at)
{
    if (!last.is_known || memcmp(last.at, at, sizeof last.at)) {
        last.values = computed_statistics(row, t, at);
        memcpy(last.at, at, sizeof last.at);
        last.is_known = true;
    }
    return last.values;
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    const struct normalization *n = normalization_of(row);
    neo_dim at[NEO_MAX_NDIMS] = {0};
    int of_output = row->tensors[output].arg;
    if (of_output == NEO_ARG_MEAN || of_output == NEO_ARG_VARIANCE) {
        memcpy(at, position, (size_t)row->tensors[output].desc.ndims * sizeof *at);
        struct values v = statistics_of(row, t, at);
        return of_output == NEO_ARG_MEAN ? v.mean : v.variance;
    }
    neo_dim c = statistics_position(n, t[0].desc.ndims, t[0].desc.dims, position, at);
    struct values v = statistics_of(row, t, at);
    double y = (typed_get(&t[0], position) - v.mean) / sqrt(v.variance + (double)epsilon);
    if (n->flags & NEO_NORMALIZATION_USE_SCALE)
        y *= typed_get(&t[operation_tensor_index(row, NEO_ARG_SCALE)], &c);
    if (n->flags & NEO_NORMALIZATION_USE_SHIFT)
        y += typed_get(&t[operation_tensor_index(row, NEO_ARG_SHIFT)], &c);
    if (of_output == NEO_ARG_WORKSPACE)
        return y > 0;
    return n->flags & NEO_NORMALIZATION_FUSE_RELU && y < 0 ? 0 : y;
}

/* New contents have other statistics; a variance is positive. */
static void fill_variance(const struct operation_case *row, struct typed *t)
{
    last.is_known = false;
    if (!(normalization_of(row)->flags & NEO_NORMALIZATION_USE_GLOBAL_STATS))
        return;
    struct typed *variance = &t[operation_tensor_index(row, NEO_ARG_VARIANCE)];
    float *values = variance->data;
    for (size_t i = 0; i < neo_memory_desc_elements(&variance->desc); i++)
        values[i] = fabsf(values[i]) + 0.5f;
}

/* ---- cases ---- */

static void add(struct operation_case *row, int arg, int ndims, const neo_dim *dims, bool is_output)
{
    static const char *const tags[] = {"", "a", "ab", "abc", "abcd"};
    row->tensors[row->count++] =
        (struct operation_tensor){arg, typed_desc(ndims, dims, NEO_F32, tags[ndims]), is_output};
}

static void check(const struct normalization *n, int ndims, const neo_dim *dims,
                  const neo_data_type types[2], const char *const tags[2], neo_dim gap)
{
    struct operation_case row = {.name = "normalization",
                                 .create = create,
                                 .want = want,
                                 .fill = fill_variance,
                                 .context = n,
                                 .count = 2,
                                 .error = 1e-5,
                                 .scales_result = true,
                                 .in_place =
                                     types[0] == types[1] && !gap && tags[0] == tags[1] ? 0 : -1};
    bool gives = n->flags & NEO_NORMALIZATION_USE_GLOBAL_STATS;
    neo_dim channels = n->kind == LAYER ? dims[ndims - 1] : dims[1];
    const neo_dim regions[] = {dims[0], n->groups};
    const neo_dim *sizes = n->kind == LAYER ? dims : n->kind == BATCH ? &channels : regions;
    int statistics = n->kind == LAYER ? ndims - 1 : n->kind == BATCH ? 1 : 2;
    row.tensors[0] = (struct operation_tensor){
        NEO_ARG_SRC, typed_gaps(ndims, dims, types[0], tags[0], gap), false};
    row.tensors[1] =
        (struct operation_tensor){NEO_ARG_DST, typed_desc(ndims, dims, types[1], tags[1]), true};
    row.scales[0] = 0.5f;
    row.scales[1] = 0.25f;
    if (n->flags & NEO_NORMALIZATION_USE_SCALE)
        add(&row, NEO_ARG_SCALE, 1, &channels, false);
    if (n->flags & NEO_NORMALIZATION_USE_SHIFT)
        add(&row, NEO_ARG_SHIFT, 1, &channels, false);
    if (gives || n->prop_kind == NEO_FORWARD_TRAINING) {
        if (!(n->flags & NEO_NORMALIZATION_RMS))
            add(&row, NEO_ARG_MEAN, statistics, sizes, !gives);
        add(&row, NEO_ARG_VARIANCE, statistics, sizes, !gives);
    }
    if (n->prop_kind == NEO_FORWARD_TRAINING && n->flags & NEO_NORMALIZATION_FUSE_RELU)
        row.tensors[row.count++] = (struct operation_tensor){
            NEO_ARG_WORKSPACE, typed_desc(ndims, dims, NEO_U8, tags[1]), true};
    operation_case_check(&row);
}

enum {
    GLOBAL = NEO_NORMALIZATION_USE_GLOBAL_STATS,
    SCALE = NEO_NORMALIZATION_USE_SCALE,
    SHIFT = NEO_NORMALIZATION_USE_SHIFT,
    RMS = NEO_NORMALIZATION_RMS,
    FUSED = NEO_NORMALIZATION_FUSE_RELU,
};

static const struct normalization cases[] = {
    {LAYER, NEO_FORWARD_INFERENCE, SCALE | SHIFT, 0},
    {LAYER, NEO_FORWARD_TRAINING, SHIFT, 0},
    {LAYER, NEO_FORWARD_INFERENCE, GLOBAL | SCALE, 0},
    {LAYER, NEO_FORWARD_TRAINING, RMS | SCALE, 0},
    {BATCH, NEO_FORWARD_INFERENCE, GLOBAL | SCALE | SHIFT | FUSED, 0},
    {BATCH, NEO_FORWARD_TRAINING, SCALE, 0},
    {BATCH, NEO_FORWARD_INFERENCE, FUSED, 0},
    {BATCH, NEO_FORWARD_TRAINING, SHIFT | FUSED, 0},
    {BATCH, NEO_FORWARD_TRAINING, GLOBAL | FUSED, 0},
    {GROUP, NEO_FORWARD_INFERENCE, SCALE | SHIFT, 2},
    {GROUP, NEO_FORWARD_TRAINING, 0, 3},
    {GROUP, NEO_FORWARD_INFERENCE, GLOBAL, 6},
};

static void every_case_type_and_layout(void **state)
{
    static const neo_data_type types[][2] = {{NEO_F32, NEO_F32},
                                             {NEO_BF16, NEO_BF16},
                                             {NEO_F16, NEO_F32},
                                             {NEO_S8, NEO_F16},
                                             {NEO_U8, NEO_S8}};
    static const char *const tags[][2] = {
        {"abcd", "abcd"}, {"acdb", "acdb"}, {"abcd", "acdb"}, {"dcba", "abcd"}, {"abcd", "bcda"}};
    (void)state;
    for (size_t i = 0; i < count_of(cases); i++)
        for (size_t j = 0; j < count_of(tags); j++)
            check(&cases[i], 4, (neo_dim[]){2, 6, 3, 5}, types[(i + j) % count_of(types)], tags[j],
                  j == 2 ? 2 : 0);
}

static void long_rows_and_two_dimensions(void **state)
{
    static const neo_data_type types[] = {NEO_F32, NEO_F32};
    static const char *const tags[] = {"ab", "ab"};
    (void)state;
    check(&cases[0], 2, (neo_dim[]){1, 1030}, types, tags, 0);
    check(&cases[4], 2, (neo_dim[]){2, 1030}, types, tags, 0);
    check(&cases[5], 2, (neo_dim[]){5, 7}, types, tags, 1);
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    neo_memory_desc a = typed_desc(3, (neo_dim[]){2, 6, 3}, NEO_F32, "abc");
    neo_memory_desc b = typed_desc(3, (neo_dim[]){2, 6, 4}, NEO_F32, "abc");
    (void)state;
    assert_int_equal(neo_layer_normalization_primitive_desc_create(
                         &pd, engine, NEO_FORWARD_INFERENCE, &a, &b, NULL, NEO_F32, 0, 0, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_layer_normalization_primitive_desc_create(
                         &pd, engine, NEO_FORWARD_INFERENCE, &a, &a, NULL, NEO_F32, 0, FUSED, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(
        neo_layer_normalization_primitive_desc_create(&pd, engine, NEO_FORWARD_INFERENCE, &a, &a,
                                                      NULL, NEO_DATA_TYPE_UNDEF, 0, SCALE, NULL),
        NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_layer_normalization_primitive_desc_create(
                         &pd, engine, NEO_FORWARD_TRAINING, &a, &a, &b, NEO_F32, 0, 0, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_group_normalization_primitive_desc_create(
                         &pd, engine, NEO_FORWARD_INFERENCE, &a, &a, 4, 0, 0, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_group_normalization_primitive_desc_create(
                         &pd, engine, NEO_FORWARD_INFERENCE, &a, &a, 0, 0, 0, NULL),
                     NEO_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_type_and_layout),
        cmocka_unit_test(long_rows_and_two_dimensions),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("normalization", tests, session_setup, session_teardown);
}
