/* Pooling: windows of one to three dimensions, padding, dilation, types, layouts, workspace. */
#include "tests/support/test.h"

#include <float.h>
#include <math.h>

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

static const neo_pooling_desc *pooling_of(const struct operation_case *row)
{
    return row->context;
}

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    neo_pooling_desc desc = *pooling_of(row);
    desc.src = row->tensors[0].desc; /* whose sizes may be known later */
    desc.dst = row->tensors[1].desc;
    return neo_pooling_primitive_desc_create(out, on, &desc, attributes);
}

/* The position in src of a tap, or false if it is outside. */
static bool locate(const neo_pooling_desc *p, const neo_dim *position, neo_dim tap, neo_dim *at)
{
    bool is_inside = true;
    at[0] = position[0];
    at[1] = position[1];
    for (int i = p->src.ndims - 3; i >= 0; i--) {
        at[2 + i] = position[2 + i] * p->strides[i] - p->padding_left[i] +
                    tap % p->kernel[i] * (p->dilations[i] + 1);
        tap /= p->kernel[i];
        is_inside = is_inside && at[2 + i] >= 0 && at[2 + i] < p->src.dims[2 + i];
    }
    return is_inside;
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    const neo_pooling_desc *p = pooling_of(row);
    neo_dim taps = 1, at[5], winner = 0;
    static const double lowest[] = {
        [NEO_F32] = -FLT_MAX,  [NEO_F16] = -65504,  [NEO_BF16] = -0x1.fep127,
        [NEO_S32] = INT32_MIN, [NEO_S8] = INT8_MIN, [NEO_U8] = 0};
    double max = lowest[p->src.data_type], sum = 0, count = 0;
    for (int i = 0; i < p->src.ndims - 2; i++)
        taps *= p->kernel[i];
    for (neo_dim tap = 0; tap < taps; tap++) {
        if (!locate(p, position, tap, at))
            continue;
        double x = typed_get(&t[0], at);
        winner = x > max || count == 0 ? tap : winner;
        max = x > max ? x : max;
        sum += x;
        count += 1;
    }
    if (row->tensors[output].arg == NEO_ARG_WORKSPACE)
        return (double)winner;
    if (p->algorithm == NEO_POOLING_MAX)
        return max;
    return p->algorithm == NEO_POOLING_AVERAGE_INCLUDE_PADDING ? sum / (double)taps
                                                               : sum / (count > 0 ? count : 1);
}

struct window {
    int space;
    neo_dim in[3], out[3], kernel[3], stride[3], dilation[3], left[3], right[3];
};

static const struct window windows[] = {
    {2, {7, 9}, {3, 4}, {3, 3}, {2, 2}, {0}, {0, 0}, {0, 0}},
    {2, {7, 8}, {4, 4}, {3, 3}, {2, 2}, {0}, {1, 1}, {1, 0}},
    {1, {13}, {6}, {3}, {2}, {1}, {2}, {0}},
    {3, {4, 5, 6}, {3, 4, 5}, {2, 2, 2}, {1, 1, 1}, {0}, {0}, {0}},
    {2, {6, 5}, {1, 1}, {6, 5}, {1, 1}, {0}, {0}, {0}},
    {2, {5, 5}, {6, 4}, {2, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 0}},
    {1, {5}, {2}, {2}, {2}, {0}, {0}, {-1}},
    {1, {4}, {10}, {3}, {1}, {0}, {4}, {4}},
    {1, {300}, {2}, {280}, {19}, {0}, {0}, {0}},
    {2, {2, 3}, {6, 3}, {2, 1}, {1, 1}, {0}, {2, 0}, {3, 0}},    /* some wholly outside */
    {2, {9, 6}, {7, 6}, {3, 2}, {1, 1}, {1, 2}, {1, 1}, {1, 2}}, /* taps skip the edge */
};

static void check(const struct window *w, neo_pooling algorithm, neo_prop_kind prop_kind,
                  const neo_data_type types[2], const char *const tags[2], neo_dim channels)
{
    neo_pooling_desc p = {.prop_kind = prop_kind, .algorithm = algorithm};
    neo_dim src[5] = {2, channels}, dst[5] = {2, channels};
    for (int i = 0; i < w->space; i++) {
        src[2 + i] = w->in[i];
        dst[2 + i] = w->out[i];
        p.kernel[i] = w->kernel[i];
        p.strides[i] = w->stride[i];
        p.dilations[i] = w->dilation[i];
        p.padding_left[i] = w->left[i];
        p.padding_right[i] = w->right[i];
    }
    p.src = typed_gaps(2 + w->space, src, types[0], tags[0], 1);
    p.dst = typed_desc(2 + w->space, dst, types[1], tags[1]);
    struct operation_case row = {.name = "pooling",
                                 .create = create,
                                 .want = want,
                                 .context = &p,
                                 .count = 2,
                                 .error = 1e-6,
                                 .in_place = -1};
    row.tensors[0] = (struct operation_tensor){NEO_ARG_SRC, p.src, false};
    row.tensors[1] = (struct operation_tensor){NEO_ARG_DST, p.dst, true};
    if (prop_kind == NEO_FORWARD_TRAINING && algorithm == NEO_POOLING_MAX)
        row.tensors[row.count++] = (struct operation_tensor){NEO_ARG_WORKSPACE, {0}, true};
    operation_case_check(&row);
}

static void every_window_type_and_layout(void **state)
{
    static const neo_data_type types[][2] = {{NEO_F32, NEO_F32},   {NEO_S8, NEO_S8},
                                             {NEO_BF16, NEO_BF16}, {NEO_U8, NEO_F32},
                                             {NEO_F16, NEO_F16},   {NEO_S32, NEO_S32}};
    static const char *const rows[] = {"abc", "abcd", "abcde"};
    static const char *const last[] = {"acb", "acdb", "acdeb"};
    (void)state;
    for (size_t i = 0; i < count_of(windows); i++)
        for (int a = 0; a < 6; a++) {
            int space = windows[i].space - 1;
            const char *const tags[] = {a % 2 ? last[space] : rows[space],
                                        (i + (size_t)a) % 3 ? last[space] : rows[space]};
            check(&windows[i], (neo_pooling)(a % 3),
                  a < 3 ? NEO_FORWARD_INFERENCE : NEO_FORWARD_TRAINING,
                  types[(i + (size_t)a) % count_of(types)], tags, a % 2 ? 5 : 3);
        }
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    const neo_pooling_desc right = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = typed_desc(3, (neo_dim[]){1, 2, 7}, NEO_F32, "abc"),
        .dst = typed_desc(3, (neo_dim[]){1, 2, 3}, NEO_F32, "abc"),
        .kernel = {3},
        .strides = {2},
    };
    neo_pooling_desc wrong[5];
    (void)state;
    for (size_t i = 0; i < count_of(wrong); i++)
        wrong[i] = right;
    wrong[0].strides[0] = 0;
    wrong[1].kernel[0] = 8;
    wrong[2].dst.dims[2] = 4;
    wrong[3].algorithm = (neo_pooling)3;
    wrong[4].dilations[0] = -1;
    for (size_t i = 0; i < count_of(wrong); i++)
        assert_int_equal(neo_pooling_primitive_desc_create(&pd, engine, &wrong[i], NULL),
                         NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_pooling_primitive_desc_create(&pd, engine, &right, NULL), NEO_OK);
    neo_primitive_desc_destroy(pd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_window_type_and_layout),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("pooling", tests, session_setup, session_teardown);
}
