/* Settings of the shape predictor, and what comes of them in simulated decoding. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/log.h"
#include "src/memory/shapes/settings.h"
#include "tests/support/cases/shapes.h"

/* ---- settings ---- */

static void settings_texts_are_validated(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid;
        int64_t iterations, bytes, step;
        double ratio;
    } rows[] = {
        {"10 16384 2 1.1", true, 10, 16384, 2, 1.1},
        {"0 0 0 1.0", true, 0, 0, 0, 1.0},
        {"5 100 1 2", true, 5, 100, 1, 2},
        {" 1  2\t3 1.5 ", true, 1, 2, 3, 1.5},
        {"1 2 3 1.000000001", true, 1, 2, 3, 1.000000001},
        {"1 9223372036854775807 3 1000", true, 1, INT64_MAX, 3, 1000},
        {"", false, 0, 0, 0, 0},
        {"10", false, 0, 0, 0, 0},
        {"10 16384 2", false, 0, 0, 0, 0},
        {"10 16384 2 1.1 7", false, 0, 0, 0, 0},
        {"10,16384,2,1.1", false, 0, 0, 0, 0},
        {"-1 16384 2 1.1", false, 0, 0, 0, 0},
        {"10 -16384 2 1.1", false, 0, 0, 0, 0},
        {"10 16384 -2 1.1", false, 0, 0, 0, 0},
        {"10 16384 2 -1.1", false, 0, 0, 0, 0},
        {"10 16384 2 nan", false, 0, 0, 0, 0},
        {"10 16384 2 inf", false, 0, 0, 0, 0},
        {"10 16384 2 1e3", false, 0, 0, 0, 0},
        {"10 16384 2 1.1x", false, 0, 0, 0, 0},
        {"10 16384 2 1.", false, 0, 0, 0, 0},
        {"10 16384 2 .5", false, 0, 0, 0, 0},
        {"10 16384 2 0.5", false, 0, 0, 0, 0},
        {"10 16384 2 1001", false, 0, 0, 0, 0},
        {"10 16384 2 1000.5", false, 0, 0, 0, 0},
        {"10 16384 2 1.0000000001", false, 0, 0, 0, 0},
        {"10 16384 2 1.1.1", false, 0, 0, 0, 0},
        {"10.5 16384 2 1.1", false, 0, 0, 0, 0},
        {"a b c d", false, 0, 0, 0, 0},
        {"10 0x40 2 1.1", false, 0, 0, 0, 0},
        {"99999999999999999999 1 1 1.1", false, 0, 0, 0, 0},
        {"10 9223372036854775808 2 1.1", false, 0, 0, 0, 0},
        {"2147483648 1 1 1.1", false, 0, 0, 0, 0},
        {"10 16384 2 1.10000000000000000000000000000000000001", false, 0, 0, 0, 0},
        {"0000000000000000000000000000000010 16384 2 1.1", false, 0, 0, 0, 0}, /* 34 digits */
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        neo_shape_predictor_settings s = {.iterations = 77};
        assert_int_equal(shape_settings_parse(rows[i].text, &s), rows[i].valid);
        assert_int_equal(s.iterations, rows[i].valid ? rows[i].iterations : 77);
        assert_int_equal(s.max_iteration_bytes, rows[i].bytes);
        assert_int_equal(s.max_dim_step, rows[i].step);
        assert_true(s.ratio == rows[i].ratio);
    }
}

static void the_environment_sets_the_defaults_and_the_caller_overrides_it(void **state)
{
    (void)state;
    neo_shape_predictor *p;
    neo_shape_predictor_settings settings;
    neo_shape got;
    setenv("NEOPRENE_MEM_PREALLOCATION", "5 16384 2 1.1", 1);
    assert_int_equal(neo_shape_predictor_create(&p, NULL), NEO_OK);
    for (neo_dim size = 1; size <= 3; size++)
        shapes_ask(p, "a", size, 0, &got);
    assert_int_equal(got.dims[1], 8);
    neo_shape_predictor_destroy(p);

    setenv("NEOPRENE_MEM_PREALLOCATION", "0 0 0 1.0", 1); /* off */
    assert_int_equal(neo_shape_predictor_create(&p, NULL), NEO_OK);
    for (neo_dim size = 1; size <= 50; size += size)
        assert_int_equal(
            shapes_ask(p, "a", size, 0, &got) + shapes_ask(p, "b", 1 + size % 3, 0, &got), 0);
    neo_shape_predictor_destroy(p);

    neo_shape_predictor_get_default_settings(&settings);
    settings.iterations = 7;
    settings.max_iteration_bytes = 100;
    settings.max_dim_step = 1;
    assert_int_equal(neo_shape_predictor_create(&p, &settings), NEO_OK);
    for (neo_dim size = 1; size <= 3; size++)
        shapes_ask(p, "a", size, 0, &got);
    assert_int_equal(got.dims[1], 10);
    neo_shape_predictor_destroy(p);

    neo_set_verbose(0);
    setenv("NEOPRENE_MEM_PREALLOCATION", "5 many", 1);
    neo_shape_predictor_get_default_settings(&settings);
    assert_int_equal(settings.iterations, 10);
    assert_true(settings.ratio == 1.1);
    unsetenv("NEOPRENE_MEM_PREALLOCATION");
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    neo_set_verbose(0);
    for (int what = 0; what < 13; what++) {
        neo_shape_predictor *p = (neo_shape_predictor *)&what;
        neo_shape_predictor_settings s;
        neo_shape_predictor_get_default_settings(&s);
        volatile double zero = 0;
        s.iterations = what == 0 ? -1 : s.iterations;
        s.max_iteration_bytes = what == 1 ? -1 : s.max_iteration_bytes;
        s.max_dim_step = what == 2 ? -1 : s.max_dim_step;
        s.ratio = what == 3 ? zero / zero : what == 4 ? 0.99 : what == 5 ? 1000.1 : s.ratio;
        s.growth = what == 6 ? 1 / zero : what == 7 ? -2 : s.growth;
        s.max_slack_bytes = what == 8 ? -1 : s.max_slack_bytes;
        s.reclaim_factor = what == 9 ? -1 : s.reclaim_factor;
        s.max_ids = what == 10 ? 0 : s.max_ids;
        s.memory_percent = what == 11 ? 101 : s.memory_percent;
        s.iterations = what == 12 ? INT64_MAX : s.iterations;
        assert_int_equal(neo_shape_predictor_create(&p, &s), NEO_INVALID_ARGUMENT);
        assert_null(p);
    }
    assert_int_equal(neo_shape_predictor_create(NULL, NULL), NEO_INVALID_ARGUMENT);
}

static void no_iterations_leave_the_ratio(void **state)
{
    (void)state;
    neo_shape_predictor *p;
    neo_shape_predictor_settings s;
    neo_shape got, want = S2(33, 1);
    neo_shape_predictor_get_default_settings(&s);
    s.iterations = 0;
    assert_int_equal(neo_shape_predictor_create(&p, &s), NEO_OK);
    for (neo_dim size = 28; size <= 30; size++)
        shapes_ask(p, "a", size, 0, &got);
    shapes_assert(&got, &want, "ratio", 0);
    neo_shape_predictor_destroy(p);
}

/* ---- memory limits ---- */

static uint64_t used(void *context)
{
    return *(uint64_t *)context;
}

static void a_preallocation_stays_within_the_limits(void **state)
{
    (void)state;
    neo_shape_predictor *p;
    neo_shape_predictor_settings s;
    uint64_t in_use = 0;
    neo_shape_predictor_get_default_settings(&s);
    s.max_object_bytes = 500;
    s.max_total_bytes = 1000;
    s.used_bytes = used;
    s.context = &in_use;
    assert_int_equal(neo_shape_predictor_create(&p, &s), NEO_OK);
    assert_int_equal(neo_shape_predictor_can_preallocate(p, 500), 1); /* the object: inclusive */
    assert_int_equal(neo_shape_predictor_can_preallocate(p, 501), 0);
    in_use = 500;
    assert_int_equal(neo_shape_predictor_can_preallocate(p, 399), 1);
    assert_int_equal(neo_shape_predictor_can_preallocate(p, 400), 0); /* 90 %: exclusive */
    in_use = UINT64_MAX;
    assert_int_equal(neo_shape_predictor_can_preallocate(p, UINT64_MAX), 0);
    neo_shape_predictor_destroy(p);
    assert_int_equal(neo_shape_predictor_create(&p, NULL), NEO_OK);
    assert_int_equal(neo_shape_predictor_can_preallocate(p, 1 << 20), 1); /* the machine's */
    assert_int_equal(neo_shape_predictor_can_preallocate(p, UINT64_MAX / 2), 0);
    neo_shape_predictor_destroy(p);
}

/* ---- what it is for ---- */

typedef struct buffer {
    uint64_t capacity, reallocations;
    double worst_slack; /* after the first hundred steps: capacity / needed - 1 */
} buffer;

static uint64_t bytes_of(const neo_shape *shape)
{
    uint64_t bytes = 4;
    for (int32_t d = 0; d < shape->ndims; d++)
        bytes *= (uint64_t)shape->dims[d];
    return bytes;
}

static void step(neo_shape_predictor *p, buffer *b, neo_dim size, neo_dim row)
{
    neo_shape shape = S2(size, row), predicted;
    uint64_t needed = bytes_of(&shape);
    int reuse = neo_shape_predictor_can_reuse_buffer(p, "out", 0, b->capacity, needed);
    int found =
        neo_shape_predictor_predict_preallocation_shape(p, "out", &shape, 32, reuse, &predicted);
    if (!reuse) {
        b->capacity = needed;
        if (found && bytes_of(&predicted) > needed &&
            neo_shape_predictor_can_preallocate(p, bytes_of(&predicted)))
            b->capacity = bytes_of(&predicted);
        b->reallocations++;
    }
    assert_true(b->capacity >= needed);
    double slack = (double)b->capacity / (double)needed - 1;
    b->worst_slack = slack > b->worst_slack ? slack : b->worst_slack;
}

static buffer decode(neo_shape_predictor *p, neo_dim by, neo_dim row)
{
    buffer b = {0, 0, 0};
    for (neo_dim i = 0; i < 1000; i++)
        step(p, &b, 1 + i * by, row);
    neo_shape_predictor_destroy(p);
    return b;
}

static void decoding_needs_few_reallocations(void **state)
{
    (void)state;
    neo_shape_predictor_settings s;
    neo_shape_predictor *p;
    neo_shape_predictor_get_default_settings(&s);
    s.iterations = 0;
    s.ratio = 1.0;
    assert_int_equal(neo_shape_predictor_create(&p, &s), NEO_OK);
    assert_int_equal(decode(p, 1, 64).reallocations, 1000); /* off */
    assert_int_equal(decode(shapes_make(1.1, SHAPES_LOOSE), 1, 64).reallocations, 93);
    assert_int_equal(decode(shapes_make(1.1, SHAPES_LOOSE), 2, 64).reallocations, 93);
    assert_int_equal(decode(shapes_make(1.1, SHAPES_LOOSE), 3, 64).reallocations, 54);
    assert_int_equal(decode(shapes_make(1.1, SHAPES_LOOSE), 1, 8192).reallocations,
                     53); /* rows over the limit */
    assert_true(decode(shapes_make(1.1, 0), 1, 64).reallocations <= 93);
    assert_true(decode(shapes_make(1.1, 0), 2, 64).reallocations <= 93);
    for (neo_dim by = 1; by < 4; by++) {
        buffer b = decode(shapes_make(1.1, NEO_PREDICTOR_GEOMETRIC), by, 64);
        print_message("by %lld: %llu reallocations, at most %.0f %% slack\n", (long long)by,
                      (unsigned long long)b.reallocations, 100 * b.worst_slack);
        assert_true(b.reallocations <= 20);
        assert_true(b.worst_slack <= 0.5);
    }
}

static void geometric_growth_keeps_the_other_dimensions_and_its_limit(void **state)
{
    (void)state;
    neo_shape_predictor *p = shapes_make(1.1, NEO_PREDICTOR_GEOMETRIC);
    neo_shape_query query = {.id = "a", .bits = 32};
    neo_shape got, want = S3(2, 45, 7), flat = S3(1800, 1, 1);
    for (neo_dim n = 10; n <= 30; n += 10) {
        query.shape = (neo_shape)S3(2, n, 7);
        neo_shape_predictor_predict(p, &query, &got);
    }
    shapes_assert(&got, &want, "one dimension", 0);
    query.shape = (neo_shape)S3(4, 50, 6); /* 1200, one of them shrank */
    neo_shape_predictor_predict(p, &query, &got);
    shapes_assert(&got, &flat, "flattened", 0);
    query.shape = (neo_shape)S3(1, 100, 1 << 24); /* + 64 MiB is one more row */
    neo_shape_predictor_predict(p, &query, &got);
    query.shape = (neo_shape)S3(1, 110, 1 << 24);
    assert_int_equal(neo_shape_predictor_predict(p, &query, &got), 1);
    assert_int_equal(got.dims[1], 111);
    query.shape = (neo_shape)S3(1, 110, 1 << 24);
    assert_int_equal(neo_shape_predictor_predict(p, &query, &got), 0); /* it did not grow */
    neo_shape_predictor_destroy(p);
}

static void geometric_growth_decays_when_growth_is_rare(void **state)
{
    (void)state;
    neo_shape_predictor *p = shapes_make(1.1, NEO_PREDICTOR_GEOMETRIC);
    neo_shape got;
    for (neo_dim size = 980; size <= 1000; size += 10)
        shapes_ask(p, "a", size, 0, &got);
    assert_int_equal(got.dims[1], 1500);
    for (int k = 0; k < 8; k++)
        shapes_ask(p, "a", 1000, 1, &got);
    shapes_ask(p, "a", 2000, 0, &got);
    assert_int_equal(got.dims[1], 2500); /* 1.25 */
    for (int k = 0; k < 80; k++)
        shapes_ask(p, "a", 2000, 1, &got);
    shapes_ask(p, "a", 3000, 0, &got);
    assert_int_equal(got.dims[1], 3300); /* the plain ratio */
    neo_shape_predictor_destroy(p);
}

static void a_much_too_large_buffer_is_given_up_at_once(void **state)
{
    (void)state;
    neo_shape_predictor *p = shapes_make(1.1, 0);
    assert_int_equal(neo_shape_predictor_can_reuse_buffer(p, "a", 0, 1000, 1000), 1);
    assert_int_equal(neo_shape_predictor_can_reuse_buffer(p, "a", 0, 1000, 1001), 0);
    assert_int_equal(neo_shape_predictor_can_reuse_buffer(p, "a", 0, 1000, 100), 1); /* 10 times */
    assert_int_equal(neo_shape_predictor_can_reuse_buffer(p, "a", 0, 1000, 99), 0);
    assert_int_equal(neo_shape_predictor_can_reuse_buffer(p, "b", 0, UINT64_MAX, UINT64_MAX / 2),
                     1);
    assert_int_equal(neo_shape_predictor_can_reuse_buffer(p, NULL, 0, 10, 9), 1);
    neo_shape_predictor_destroy(p);
}

static void alternating_sizes_do_not_thrash(void **state)
{
    (void)state;
    neo_shape_predictor *p = shapes_make(1.1, 0);
    buffer b = {0, 0, 0};
    for (int i = 0; i < 1000; i++)
        step(p, &b, i % 2 ? 99 : 1000, 1);
    print_message("1000 alternations: %llu reallocations\n", (unsigned long long)b.reallocations);
    assert_true(b.reallocations <= 1000 / 8);
    buffer early = {0, 0, 0};
    neo_shape_predictor_clear(p);
    for (int i = 0; i < 80; i++)
        step(p, &early, i % 2 ? 99 : 1000, 1);
    assert_true(early.reallocations <= 80 / 8);
    for (int i = 0; i < 1100; i++) /* in the end a small need wins */
        step(p, &b, 99, 1);
    assert_true(b.capacity < 1000);
    neo_shape_predictor_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_texts_are_validated),
        cmocka_unit_test(the_environment_sets_the_defaults_and_the_caller_overrides_it),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(no_iterations_leave_the_ratio),
        cmocka_unit_test(a_preallocation_stays_within_the_limits),
        cmocka_unit_test(decoding_needs_few_reallocations),
        cmocka_unit_test(geometric_growth_keeps_the_other_dimensions_and_its_limit),
        cmocka_unit_test(geometric_growth_decays_when_growth_is_rare),
        cmocka_unit_test(a_much_too_large_buffer_is_given_up_at_once),
        cmocka_unit_test(alternating_sizes_do_not_thrash),
    };
    return cmocka_run_group_tests_name("shape_settings", tests, NULL, NULL);
}
