/* benchdnn's parts by themselves: above all, that its checks can fail. */
#include "benchdnn/compare.h"
#include "benchdnn/driver.h"
#include "benchdnn/drivers/conv.h"
#include "benchdnn/element.h"
#include "benchdnn/fill.h"
#include "benchdnn/globals.h"
#include "benchdnn/reference.h"
#include "benchdnn/session.h"
#include "benchdnn/tensor.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int begin(void **state)
{
    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    globals_init();
    return 0;
}

static int finish(void **state)
{
    (void)state;
    session_end();
    globals_deinit();
    return 0;
}

/* ---- texts ---- */

static void distances_count_letters(void **state)
{
    (void)state;
    assert_int_equal(text_distance("stag", "stag"), 0);
    assert_int_equal(text_distance("stag", "sttag"), 1);
    assert_int_equal(text_distance("stag", "dtags"), 2);
    assert_int_equal(text_distance("", "abc"), 3);
}

static void x_in_a_tag_stands_for_the_other_dimensions(void **state)
{
    (void)state;
    static const struct {
        const char *tag, *expanded;
        int ndims;
    } tags[] = {{"abx", "abcd", 4}, {"axb", "acdb", 4},  {"axb", "ab", 2},    {"xba", "cdba", 4},
                {"xa", "bca", 3},   {"nhwc", "nhwc", 4}, {"abdc", "abdc", 4}, {"abc", NULL, 4},
                {"abcx", "ab", 2},  {"abx", "a", 1}};
    for (size_t i = 0; i < count_of(tags); i++) {
        struct tag tag;
        char out[32];
        assert_true(tag_parse(&tag, tags[i].tag));
        bool fits = tag_expand(out, sizeof out, &tag, tags[i].ndims);
        assert_int_equal(fits, tags[i].expanded != NULL);
        if (fits)
            assert_string_equal(out, tags[i].expanded);
    }
}

/* ---- elements ---- */

static void every_16_bit_pattern_survives(void **state)
{
    (void)state;
    const enum type types[] = {TYPE_F16, TYPE_BF16};
    for (size_t t = 0; t < count_of(types); t++) {
        for (uint32_t bits = 0; bits < 65536; bits++) {
            uint16_t in = (uint16_t)bits, out = 0;
            double value = element_load(types[t], &in, 0);
            element_store(types[t], &out, 0, value);
            if (isnan(value))
                assert_true(isnan(element_load(types[t], &out, 0)));
            else
                assert_int_equal(in, out);
        }
    }
}

static void stores_round_to_even_and_saturate(void **state)
{
    (void)state;
    static const struct {
        enum type type;
        double value, stored;
    } cases[] = {
        {TYPE_S8, 2.5, 2},
        {TYPE_S8, 3.5, 4},
        {TYPE_S8, 1000, 127},
        {TYPE_S8, -1000, -128},
        {TYPE_U8, -1, 0},
        {TYPE_U8, 300, 255},
        {TYPE_S4, 9, 7},
        {TYPE_S4, -9, -8},
        {TYPE_U4, 16, 15},
        {TYPE_F16, 2049, 2048},
        {TYPE_F16, 2051, 2052},
        {TYPE_F16, 1e9, HUGE_VAL},
        {TYPE_F16, 65519, 65504},
        {TYPE_F16, 1e-9, 0},
        {TYPE_BF16, 257, 256},
        {TYPE_BF16, 259, 260},
        {TYPE_S32, 1e12, 2147483647},
    };
    for (size_t i = 0; i < count_of(cases); i++)
        assert_true(element_round(cases[i].type, cases[i].value) == cases[i].stored);
}

/* ---- comparing ---- */

enum { POINTS = 20 };

struct check {
    struct problem problem;
    double expected[POINTS], got[POINTS], slack[POINTS];
};

static void check_begin(struct check *c, enum type type)
{
    memset(c, 0, sizeof *c);
    c->problem.driver = &driver_matmul;
    c->problem.operands[DST].type = type;
    c->problem.operands[DST].dims = (struct dims){2, {4, POINTS / 4}};
    for (int i = 0; i < POINTS; i++)
        c->expected[i] = c->got[i] = 3 * i + 1;
}

static struct outcome check_run(const struct check *c, bool with_slack)
{
    struct comparison comparison = {
        .problem = &c->problem,
        .expected = c->expected,
        .got = c->got,
        .slack = with_slack ? c->slack : NULL,
    };
    struct outcome outcome = {STATE_UNTESTED, NULL, 0, 0, 0};
    compare_results(&comparison, &outcome);
    return outcome;
}

static void one_wrong_bit_fails(void **state)
{
    (void)state;
    struct check c;
    check_begin(&c, TYPE_F32);
    assert_int_equal(check_run(&c, false).state, STATE_PASSED);
    c.got[7] = (double)nextafterf((float)c.got[7], 1e9f);
    struct outcome outcome = check_run(&c, false);
    assert_int_equal(outcome.state, STATE_FAILED);
    assert_int_equal(outcome.errors, 1);
    assert_int_equal(outcome.total, POINTS);
}

static void not_a_number_fails_where_a_number_is_due(void **state)
{
    (void)state;
    struct check c;
    check_begin(&c, TYPE_F32);
    c.got[3] = (double)NAN;
    assert_int_equal(check_run(&c, false).state, STATE_FAILED);
    assert_int_equal(check_run(&c, true).state, STATE_FAILED);
    c.expected[3] = (double)NAN; /* only operations that may yield it excuse it */
    assert_int_equal(check_run(&c, false).state, STATE_FAILED);
    assert_true(post_ops_parse(&c.problem.attr.post_ops, "sqrt"));
    assert_int_equal(check_run(&c, false).state, STATE_PASSED);
}

static void post_operations_excuse_rounding_but_no_errors(void **state)
{
    (void)state;
    struct check c;
    check_begin(&c, TYPE_F32);
    assert_true(post_ops_parse(&c.problem.attr.post_ops, "tanh"));
    c.got[5] += 1e-5;
    assert_int_equal(check_run(&c, false).state, STATE_PASSED);
    c.got[5] += 1e-2;
    assert_int_equal(check_run(&c, false).state, STATE_FAILED);
}

static void integers_may_be_off_by_one_at_halves_only(void **state)
{
    (void)state;
    struct check c;
    check_begin(&c, TYPE_S8);
    c.expected[5] = 2.5;
    c.got[5] = 3;
    assert_int_equal(check_run(&c, false).state, STATE_PASSED);
    c.expected[5] = 2.4;
    assert_int_equal(check_run(&c, false).state, STATE_FAILED);
}

static void zeros_are_mistrusted(void **state)
{
    (void)state;
    struct check c;
    check_begin(&c, TYPE_F32);
    memset(c.got, 0, sizeof c.got);
    memset(c.expected, 0, sizeof c.expected);
    assert_int_equal(check_run(&c, false).state, STATE_MISTRUSTED);
}

static void real_results_must_be_within_their_bound(void **state)
{
    (void)state;
    struct check c;
    check_begin(&c, TYPE_F32);
    c.slack[2] = 0.5;
    c.got[2] += 0.25;
    assert_int_equal(check_run(&c, true).state, STATE_PASSED);
    c.got[2] += 0.5;
    assert_int_equal(check_run(&c, true).state, STATE_FAILED);
}

/* ---- tensors ---- */

/* 3 x 5 elements with gaps between rows and columns. */
static void tensor_begin(struct tensor *t, enum type type)
{
    struct dims dims = {2, {3, 5}};
    const neo_dim strides[] = {16, 2};
    neo_memory_desc desc;
    neo_data_type neo = type_to_neo(type);
    assert_int_equal(neo_memory_desc_init_strides(&desc, 2, dims.at, neo, strides), NEO_OK);
    assert_int_equal(tensor_init(t, NEO_ARG_SRC, type, &dims, &desc, session_engine()), NEO_OK);
    tensor_alloc_values(t);
    for (int i = 0; i < 15; i++)
        t->values[i] = (float)(i % 8);
    assert_int_equal(tensor_store(t, session_engine(), session_stream(1, 0)), NEO_OK);
}

static void values_come_back_from_every_type(void **state)
{
    (void)state;
    const enum type types[] = {TYPE_F32, TYPE_F16, TYPE_BF16, TYPE_S32,
                               TYPE_S8,  TYPE_U8,  TYPE_S4,   TYPE_U4};
    for (size_t i = 0; i < count_of(types); i++) {
        struct tensor t;
        double out[15];
        tensor_begin(&t, types[i]);
        assert_int_equal(tensor_load(&t, out, session_engine(), session_stream(1, 0)), NEO_OK);
        for (int e = 0; e < 15; e++)
            assert_true(out[e] == element_round(types[i], e % 8));
        assert_true(tensor_is_intact(&t));
        tensor_deinit(&t);
    }
}

static void writes_between_and_around_elements_are_found(void **state)
{
    (void)state;
    static const ptrdiff_t offsets[] = {1, 11, -1, -16};
    for (size_t i = 0; i < count_of(offsets); i++) {
        struct tensor t;
        tensor_begin(&t, TYPE_F32);
        ((float *)(void *)t.buffer)[offsets[i]] = 1;
        assert_false(tensor_is_intact(&t));
        tensor_deinit(&t);
    }
}

/* ---- filling and references ---- */

static struct problem *parse_problem(const struct driver *driver, const char *descriptor)
{
    struct problem *p = bench_alloc(sizeof *p);
    p->driver = driver;
    options_init(driver->outer, p);
    options_init(driver_shared, p);
    options_init(driver->inner, p);
    assert_true(driver->parse(p, descriptor));
    assert_true(driver->complete(p));
    return p;
}

static struct tensor filled(const struct problem *p, int operand)
{
    struct tensor t = {.type = p->operands[operand].type, .dims = p->operands[operand].dims};
    tensor_alloc_values(&t);
    fill_operand(&t, p, operand, false);
    return t;
}

static void fills_keep_every_partial_sum_exact(void **state)
{
    (void)state;
    static const char *const descriptors[] = {"7x64:64x9", "5x5000:5000x6", "3x60000:60000x2"};
    for (size_t d = 0; d < count_of(descriptors); d++) {
        struct problem *p = parse_problem(&driver_matmul, descriptors[d]);
        struct tensor src = filled(p, SRC), weights = filled(p, WEI);
        int64_t m = p->matmul.src.at[0], n = p->matmul.dst.at[1], k = p->matmul.src.at[1];
        assert_true(src.values[0] > 0);
        for (int64_t i = 0; i < m * n; i++) {
            double sum = 0;
            for (int64_t j = 0; j < k; j++)
                sum += fabs((double)(src.values[i / n * k + j] * weights.values[j * n + i % n]));
            assert_true(sum < 16777216);
        }
        tensor_deinit(&src);
        tensor_deinit(&weights);
        free(p);
    }
}

/* The largest difference of the fast and the plain reference. */
static double reference_difference(const char *descriptor, bool is_exact)
{
    struct problem *p = parse_problem(&driver_conv, descriptor);
    struct tensor src = filled(p, SRC), weights = filled(p, WEI);
    size_t count = (size_t)dims_elements(&p->operands[DST].dims);
    double *out = bench_alloc(4 * count * sizeof *out), difference = 0;
    for (int fast = 0; fast < 2; fast++) {
        double *result = out + (size_t)fast * 2 * count;
        const struct reference r = {.src = src.values,
                                    .weights = weights.values,
                                    .result = result,
                                    .magnitude = is_exact ? NULL : result + count,
                                    .fast = fast,
                                    .is_exact = is_exact};
        conv_reference(p, &r);
    }
    for (size_t i = 0; i < 2 * count; i++)
        difference = fmax(difference, fabs(out[i] - out[2 * count + i]));
    free(out);
    tensor_deinit(&src);
    tensor_deinit(&weights);
    free(p);
    return difference;
}

static void both_references_say_the_same(void **state)
{
    (void)state;
    static const char *const descriptors[] = {
        "ic6oc8ih7kh3ph1",       "g3ic6oc9ih8kh3sh2ph1",
        "g5ic5oc5ih9kh5ph2",     "ic3oc4ih9iw7kh3kw2sw3",
        "ic3oc2ih12kh3dh2ph2",   "ic4oc3iw20kw7pw6",
        "ic3oc4id5kd3pd1",       "ic3oc4id4ih5iw6kd2kh3kw1pd1sd2",
        "ic16ih14oc4oh10kh3ph0", "ic3oc4ih3oh9kh2ph4dh1",
    };
    for (size_t i = 0; i < count_of(descriptors); i++) {
        assert_true(reference_difference(descriptors[i], true) == 0);
        assert_true(reference_difference(descriptors[i], false) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_count_letters),
        cmocka_unit_test(x_in_a_tag_stands_for_the_other_dimensions),
        cmocka_unit_test(every_16_bit_pattern_survives),
        cmocka_unit_test(stores_round_to_even_and_saturate),
        cmocka_unit_test(one_wrong_bit_fails),
        cmocka_unit_test(not_a_number_fails_where_a_number_is_due),
        cmocka_unit_test(post_operations_excuse_rounding_but_no_errors),
        cmocka_unit_test(integers_may_be_off_by_one_at_halves_only),
        cmocka_unit_test(zeros_are_mistrusted),
        cmocka_unit_test(real_results_must_be_within_their_bound),
        cmocka_unit_test(values_come_back_from_every_type),
        cmocka_unit_test(writes_between_and_around_elements_are_found),
        cmocka_unit_test(fills_keep_every_partial_sum_exact),
        cmocka_unit_test(both_references_say_the_same),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
