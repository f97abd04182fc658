/* Reductions: every algorithm, set of dimensions, type and layout. */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

struct reduction {
    neo_reduction algorithm;
    float p, epsilon;
};

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    const struct reduction *r = row->context;
    return neo_reduction_primitive_desc_create(out, on, r->algorithm, &row->tensors[0].desc,
                                               &row->tensors[1].desc, r->p, r->epsilon, attributes);
}

static double finish(const struct reduction *r, double sum, double product, double low, double high,
                     double norm, double count)
{
    double root = 1 / (double)r->p, e = (double)r->epsilon;
    const double all[] = {high,
                          low,
                          sum,
                          product,
                          sum / count,
                          pow(fmax(norm, e), root),
                          pow(norm + e, root),
                          fmax(norm, e),
                          norm + e};
    return all[r->algorithm];
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    const struct reduction *r = row->context;
    const neo_memory_desc *src = &t[0].desc, *dst = &t[output].desc;
    double sum = 0, product = 1, low = HUGE_VAL, high = -HUGE_VAL, norm = 0, count = 0;
    for (size_t i = 0; i < neo_memory_desc_elements(src); i++) {
        neo_dim rest = (neo_dim)i, at[NEO_MAX_NDIMS];
        bool belongs = true;
        for (int d = src->ndims - 1; d >= 0; d--) {
            at[d] = rest % src->dims[d];
            rest /= src->dims[d];
            belongs = belongs && (dst->dims[d] == 1 || at[d] == position[d]);
        }
        if (!belongs)
            continue;
        double x = typed_get(&t[0], at);
        sum += x, product *= x, norm += pow(fabs(x), (double)r->p), count += 1;
        low = fmin(low, x), high = fmax(high, x);
    }
    return finish(r, sum, product, low, high, norm, count);
}

/* Products of more than a few would leave the types' range. */
static void fill_ones(const struct operation_case *row, struct typed *t)
{
    const struct reduction *r = row->context;
    const neo_memory_desc *desc = &t[0].desc;
    if (r->algorithm != NEO_REDUCTION_MUL)
        return;
    for (size_t i = 0; i < neo_memory_desc_elements(desc); i++) {
        neo_dim rest = (neo_dim)i, at[NEO_MAX_NDIMS];
        for (int d = desc->ndims - 1; d >= 0; d--) {
            at[d] = rest % desc->dims[d];
            rest /= desc->dims[d];
        }
        typed_put(&t[0], at, i % 23 == 0 ? 2 : i % 7 == 3 && desc->data_type != NEO_U8 ? -1 : 1);
    }
}

static void check(const struct reduction *r, const neo_dim *dims, unsigned reduced,
                  neo_data_type from, neo_data_type to, const char *src, const char *dst)
{
    struct operation_case row = {.name = "reduction",
                                 .create = create,
                                 .want = want,
                                 .fill = fill_ones,
                                 .context = r,
                                 .count = 2,
                                 .error = 2e-6,
                                 .in_place = -1};
    neo_dim sizes[3];
    for (int i = 0; i < 3; i++)
        sizes[i] = reduced >> i & 1 ? 1 : dims[i];
    row.tensors[0] =
        (struct operation_tensor){NEO_ARG_SRC, typed_gaps(3, dims, from, src, 1), false};
    row.tensors[1] = (struct operation_tensor){NEO_ARG_DST, typed_gaps(3, sizes, to, dst, 1), true};
    operation_case_check(&row);
}

static void every_algorithm_and_set_of_dimensions(void **state)
{
    static const char *const tags[] = {"abc", "acb", "cab"};
    (void)state;
    for (int a = 0; a <= NEO_REDUCTION_NORM_LP_POWER_P_SUM; a++)
        for (unsigned reduced = 0; reduced < 8; reduced++) {
            struct reduction r = {(neo_reduction)a, reduced % 2 ? 1 : 2.5f, 0.5f};
            check(&r, (neo_dim[]){3, 5, 7}, reduced, NEO_F32, NEO_F32, tags[(unsigned)a % 3],
                  tags[reduced % 3]);
        }
}

static void every_type(void **state)
{
    (void)state;
    for (neo_data_type type = NEO_F32; type <= NEO_U8; type++)
        for (int a = 0; a <= NEO_REDUCTION_NORM_LP_MAX; a++) {
            struct reduction r = {(neo_reduction)a, 2, 0.5f};
            check(&r, (neo_dim[]){2, 6, 5}, a % 2 ? 2 : 5, type, a % 3 ? type : NEO_F32, "abc",
                  "acb");
        }
}

static void long_lines(void **state)
{
    static const struct reduction r = {NEO_REDUCTION_MEAN, 0, 0};
    (void)state;
    check(&r, (neo_dim[]){1, 2, 1030}, 4, NEO_F32, NEO_F32, "abc", "abc");
    check(&r, (neo_dim[]){1, 2, 1030}, 2, NEO_F32, NEO_F32, "abc", "abc");
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    neo_memory_desc a = typed_desc(2, (neo_dim[]){2, 6}, NEO_F32, "ab");
    neo_memory_desc b = typed_desc(2, (neo_dim[]){2, 3}, NEO_F32, "ab");
    neo_memory_desc c = typed_desc(1, (neo_dim[]){1}, NEO_F32, "a");
    const struct {
        struct reduction r;
        const neo_memory_desc *dst;
    } wrong[] = {{{NEO_REDUCTION_SUM, 0, 0}, &b},
                 {{NEO_REDUCTION_SUM, 0, 0}, &c},
                 {{NEO_REDUCTION_NORM_LP_SUM, 0.5f, 0}, &a},
                 {{(neo_reduction)9, 0, 0}, &a}};
    (void)state;
    for (size_t i = 0; i < count_of(wrong); i++)
        assert_int_equal(neo_reduction_primitive_desc_create(&pd, engine, wrong[i].r.algorithm, &a,
                                                             wrong[i].dst, wrong[i].r.p, 0, NULL),
                         NEO_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_and_set_of_dimensions),
        cmocka_unit_test(every_type),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("reduction", tests, session_setup, session_teardown);
}
