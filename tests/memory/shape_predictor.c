/* The shape predictor: vectors worked out by hand, its history, what a call costs, threads. */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "tests/support/cases/shapes.h"
#include "tests/support/fault.h"

#define BIG INT64_MAX

/* ---- vectors: shapes in order → prediction after the last one ---- */

typedef struct vector {
    neo_shape shapes[6]; /* up to the first of -1 dimensions, or all six */
    double ratio;
    neo_shape tight, loose; /* as by default, and with both compatibility flags; ndims 0: none */
    size_t bits;            /* 0: 32 */
    uint32_t flags;         /* of every query */
    int64_t iterations;
} vector;

/* clang-format off */
#define STOP {-1, {0}}
#define SAME(...) __VA_ARGS__, __VA_ARGS__

static const vector vectors[] = {
    /* growth by equal steps gets room for ten more */
    {{S2(1, 1), S2(1, 1), S2(1, 1), STOP}, 1.0, SAME(S0), .bits = 0},
    {{S2(1, 1), S2(1, 21), S2(1, 31), STOP}, 1.0, SAME(S0), .bits = 0},
    {{S2(1, 3), S2(1, 2), S2(1, 1), STOP}, 1.0, SAME(S0), .bits = 0},
    {{S2(1, 1), S2(1, 2), S2(1, 3), STOP}, 1.0, SAME(S2(1, 13)), .bits = 0},
    {{S2(1, 99), S2(2, 98), S2(3, 97), STOP}, 1.0, SAME(S0), .bits = 0},
    {{S2(1, 1), S2(1, 2), S2(1, 3), STOP}, 1.1, SAME(S2(1, 13)), .bits = 0},
    {{S3(1, 1, 1), S3(1, 2, 2), S3(1, 3, 3), STOP}, 1.0, SAME(S3(1, 13, 13)), .bits = 0},
    {{S3(1, 1, 1), S3(1, 2, 2), S3(1, 3, 3), STOP}, 1.1, SAME(S3(1, 13, 13)), .bits = 0},
    {{S3(1, 1, 1), S3(1, 3, 2), S3(1, 7, 3), STOP}, 1.0, SAME(S0), .bits = 0},
    {{S3(1, 1, 1), S3(1, 1, 3), S3(1, 1, 5), STOP}, 1.0, SAME(S3(1, 1, 25)), .bits = 0},
    {{S3(1, 1, 1), S3(1, 1, 3), S3(1, 1, 5), STOP}, 1.1, SAME(S3(1, 1, 25)), .bits = 0},
    {{S2(1, 1), S2(1, 1), S2(1, 1), S2(1, 1), S2(1, 1), S2(1, 1)}, 1.0, SAME(S0), .bits = 0},
    {{S2(1, 10), S2(1, 1), S2(1, 2), S2(1, 3), STOP}, 1.0, SAME(S2(1, 13)), .bits = 0},
    {{S2(1, 10), S2(1, 1), S2(1, 2), S2(1, 3), STOP}, 1.1, SAME(S2(1, 13)), .bits = 0},
    {{S4(1, 3, 480, 720), S4(3, 3, 480, 720), S4(5, 3, 480, 720), STOP}, 1.0, SAME(S0), .bits = 0},
    {{S1(5), S1(6), S1(7), STOP}, 1.0, SAME(S1(17)), .bits = 0},
    {{S1(5), S1(7), S1(9), STOP}, 1.0, SAME(S1(29)), .bits = 0},
    {{S1(5), S1(8), S1(11), STOP}, 1.0, SAME(S0), .bits = 0}, /* a step of 3 is too much */
    {{S1(5), S1(8), S1(11), STOP}, 1.1, SAME(S1(12)), .bits = 0}, /* 12.1 */
    {{S2(1, 5), S2(1, 1), S2(1, 2), S2(1, 3), S2(1, 4), STOP}, 1.0, SAME(S2(1, 14)), .bits = 0},
    {{S4(1, 1, 1, 1), S4(1, 1, 1, 2), S4(1, 1, 1, 3), STOP}, 1.0, SAME(S4(1, 1, 1, 13)), .bits = 0},
    {{S2(0, 8), S2(1, 8), S2(2, 8), STOP}, 1.0, SAME(S2(12, 8)), .bits = 0},
    {{S2(1, 1), S2(1, 2), STOP}, 1.1, SAME(S0), .bits = 0},
    {{S2(1, 9), STOP}, 1.1, SAME(S0), .bits = 0},
    {{S2(4, 10), S2(5, 9), S2(6, 8), STOP}, 1.0, SAME(S0), .bits = 0},
    {{S2(4, 10), S2(5, 9), S2(6, 8), STOP}, 1.1, SAME(S2(52, 1)), .bits = 0}, /* 48 * 1.1 = 52.8 */

    /* the limits are inclusive: 16384 bytes a step, 2 a dimension */
    {{S2(2, 4096), S2(3, 4096), S2(4, 4096), STOP}, 1.0, SAME(S2(14, 4096)), .bits = 0},
    {{S2(2, 4097), S2(3, 4097), S2(4, 4097), STOP}, 1.0, SAME(S0), .bits = 0},
    {{S2(2, 4097), S2(3, 4097), S2(4, 4097), STOP}, 1.1, SAME(S2(18026, 1)), .bits = 0},
    {{S2(1, 32768), S2(2, 32768), S2(3, 32768), STOP}, 1.0, SAME(S2(13, 32768)), .bits = 4},
    {{S2(1, 32770), S2(2, 32770), S2(3, 32770), STOP}, 1.0, SAME(S0), .bits = 4},
    {{S2(1, 131072), S2(2, 131072), S2(3, 131072), STOP}, 1.0, SAME(S2(13, 131072)), .bits = 1},
    {{S2(1, 131080), S2(2, 131080), S2(3, 131080), STOP}, 1.0, SAME(S0), .bits = 1},
    {{S2(1, 8192), S2(2, 8192), S2(3, 8192), STOP}, 1.0, SAME(S2(13, 8192)), .bits = 16},
    {{S2(1, 8193), S2(2, 8193), S2(3, 8193), STOP}, 1.0, SAME(S0), .bits = 16},
    {{S2(1, 16384), S2(2, 16384), S2(3, 16384), STOP}, 1.0, SAME(S2(13, 16384)), .bits = 8},
    {{S2(1, 16385), S2(2, 16385), S2(3, 16385), STOP}, 1.0, SAME(S0), .bits = 8},

    /* a row may be small although a step adds much */
    {{S2(2, 4096), S2(4, 4096), S2(6, 4096), STOP}, 1.0, S0, S2(26, 4096), .bits = 0},
    {{S2(2, 4096), S2(4, 4096), S2(6, 4096), STOP}, 1.1, S2(27033, 1), S2(26, 4096), .bits = 0},
    {{S2(2, 2048), S2(4, 2048), S2(6, 2048), STOP}, 1.0, SAME(S2(26, 2048)), .bits = 0},
    {{S3(2000, 2000, 2000), S3(2002, 2002, 2002), S3(2004, 2004, 2004), STOP}, 1.0,
     S0, S3(2024, 2024, 2024), .bits = 0},
    {{S2(4000, 4000), S2(4001, 4001), S2(4002, 4002), STOP}, 1.0, S0, S2(4012, 4012), .bits = 0},
    /* 10 * (2n + 10) elements: 4096 * 10 of them is the limit, n = 2043 */
    {{S2(2041, 2041), S2(2042, 2042), S2(2043, 2043), STOP}, 1.0, SAME(S2(2053, 2053)), .bits = 0},
    {{S2(2042, 2042), S2(2043, 2043), S2(2044, 2044), STOP}, 1.0, S0, S2(2054, 2054), .bits = 0},

    /* the ratio rounds down, exactly */
    {{S2(1, 1), S2(1, 128), S2(1, 256), STOP}, 1.1, SAME(S2(281, 1)), .bits = 0},
    {{S3(1, 3, 128), S3(1, 3, 112), S3(1, 3, 418), S3(1, 3, 512), STOP}, 1.1,
     SAME(S3(1689, 1, 1)), .bits = 0},
    {{S1(1), S1(20000000), S1(20000001), STOP}, 1.1, SAME(S1(22000001)), .bits = 8},
    {{S1(1), S1(2), S1(4611686018427387904), STOP}, 1.1, SAME(S1(5072854620270126694)), .bits = 8},
    {{S1(1), S1(2), S1(10), STOP}, 1.1, SAME(S1(11)), .bits = 0},
    {{S1(1), S1(2), S1(30), STOP}, 1.25, SAME(S1(37)), .bits = 0},
    {{S1(1), S1(2), S1(3000000000), STOP}, 1.000000001, SAME(S1(3000000003)), .bits = 0},
    {{S1(1), S1(2), S1(8), STOP}, 1000, SAME(S1(8000)), .bits = 0},

    /* what does not grow gets nothing, unless asked for */
    {{S2(1, 1), S2(1, 1), S2(1, 1), STOP}, 1.1, S0, S2(1, 1), .bits = 0},
    {{S2(1, 99), S2(1, 99), S2(1, 99), STOP}, 1.1, S0, S2(108, 1), .bits = 0},
    {{S2(1, 10), S2(1, 9), S2(1, 8), STOP}, 1.1, S0, S2(8, 1), .bits = 0},
    {{S2(1, 1), S2(1, 1), S2(1, 2), STOP}, 1.1, S0, S2(2, 1), .bits = 0},
    {{S1(10), S1(50), S1(40), STOP}, 1.1, S0, S1(44), .bits = 0},
    {{S2(0, 8), S2(0, 8), S2(0, 8), STOP}, 1.1, S0, S2(0, 1), .bits = 0},

    /* a reused buffer: nothing is needed */
    {{S2(1, 1), S2(1, 1), S2(1, 1), STOP}, 1.0, SAME(S0), .flags = NEO_SHAPE_REUSED},
    {{S2(1, 1), S2(1, 2), S2(1, 3), STOP}, 1.0, SAME(S0), .flags = NEO_SHAPE_REUSED},
    {{S2(1, 1), S2(1, 1), S2(1, 1), STOP}, 1.1, SAME(S0), .flags = NEO_SHAPE_REUSED},
    {{S2(1, 1), S2(1, 128), S2(1, 256), STOP}, 1.1, SAME(S0), .flags = NEO_SHAPE_REUSED},

    /* a blocked layout can be extended, but not flattened */
    {{S2(1, 1), S2(1, 2), S2(1, 3), STOP}, 1.1, SAME(S2(1, 13)), .flags = NEO_SHAPE_BLOCKED},
    {{S3(1, 1, 1), S3(1, 2, 2), S3(1, 3, 3), STOP}, 1.0, SAME(S3(1, 13, 13)), .flags = NEO_SHAPE_BLOCKED},
    {{S2(1, 1), S2(1, 1), S2(1, 1), STOP}, 1.1, SAME(S0), .flags = NEO_SHAPE_BLOCKED},
    {{S2(1, 1), S2(1, 128), S2(1, 256), STOP}, 1.1, SAME(S0), .flags = NEO_SHAPE_BLOCKED},
    {{S3(1, 3, 128), S3(1, 3, 112), S3(1, 3, 418), S3(1, 3, 512), STOP}, 1.1, SAME(S0), .flags = NEO_SHAPE_BLOCKED},

    /* another number of dimensions begins again; none are fine */
    {{S2(1, 1), S2(1, 2), S1(3), STOP}, 1.1, SAME(S0), .bits = 0},
    {{S2(1, 1), S2(1, 2), S1(3), S1(4), STOP}, 1.1, SAME(S0), .bits = 0},
    {{S2(1, 1), S2(1, 2), S1(3), S1(4), S1(5), STOP}, 1.1, SAME(S1(15)), .bits = 0},
    {{S0, S0, S0, STOP}, 1.1, SAME(S0), .bits = 0},
    {{S0, S0, S0, S1(1), S1(2), S1(3)}, 1.1, SAME(S1(13)), .bits = 0},

    /* what does not fit is not predicted */
    {{S1(BIG - 2), S1(BIG - 1), S1(BIG), STOP}, 1.1, SAME(S0), .bits = 8},
    {{S1(BIG - 30), S1(BIG - 29), S1(BIG - 28), STOP}, 1.1, SAME(S1(BIG - 18)), .bits = 8},
    {{S1(BIG / 4), S1(BIG / 4 + 1), S1(BIG / 4 + 2), STOP}, 1.0, SAME(S0), .bits = 32},
    {{S2(BIG, 1), S2(BIG, 2), S2(BIG, 3), STOP}, 1.1, SAME(S0), .bits = 8},

    /* iterations of one's own */
    {{S2(1, 1), S2(1, 2), S2(1, 3), STOP}, 1.0, SAME(S2(1, 131)), .iterations = 128},
    {{S2(1, 1), S2(1, 3), S2(1, 5), STOP}, 1.0, SAME(S2(1, 7)), .iterations = 1},
    {{S2(1, 1), S2(1, 2), S2(1, 3), STOP}, 1.0, SAME(S2(1, 13)), .iterations = -1},
};
/* clang-format on */

static void run_vector(size_t row, bool loose)
{
    const vector *v = &vectors[row];
    neo_shape_predictor *p = shapes_make(v->ratio, loose ? SHAPES_LOOSE : 0);
    neo_shape got = {7, {0}};
    int found = 0;
    for (size_t i = 0; i < count_of(v->shapes) && v->shapes[i].ndims >= 0; i++) {
        neo_shape_query query = {.id = "layer",
                                 .shape = v->shapes[i],
                                 .bits = v->bits ? v->bits : 32,
                                 .flags = v->flags,
                                 .iterations = v->iterations};
        found = neo_shape_predictor_predict(p, &query, &got);
    }
    shapes_assert(&got, loose ? &v->loose : &v->tight, loose ? "loose" : "tight", row);
    assert_int_equal(found, got.ndims != 0);
    neo_shape_predictor_destroy(p);
}

static void vectors_get_their_predictions(void **state)
{
    (void)state;
    for (size_t row = 0; row < count_of(vectors); row++) {
        run_vector(row, false);
        run_vector(row, true);
    }
}

/* ---- history ---- */

static void shapes_of_reused_buffers_count(void **state)
{
    (void)state;
    neo_shape_predictor *p = shapes_make(1.0, 0);
    neo_shape got, want = S2(1, 13);
    assert_int_equal(shapes_ask(p, "a", 1, 1, &got), 0);
    assert_int_equal(shapes_ask(p, "a", 2, 1, &got), 0);
    assert_int_equal(got.ndims, 0);
    assert_int_equal(shapes_ask(p, "a", 3, 0, &got), 1);
    shapes_assert(&got, &want, "after reuse", 0);
    neo_shape_predictor_destroy(p);
}

static void ids_outputs_and_predictors_are_apart(void **state)
{
    (void)state;
    neo_shape_predictor *p = shapes_make(1.0, 0), *q = shapes_make(1.0, 0);
    neo_shape got;
    neo_shape_query query = {.id = "a", .shape = S1(3), .bits = 32, .output = 1};
    shapes_ask(p, "a", 1, 0, &got);
    shapes_ask(p, "a", 2, 0, &got);
    assert_int_equal(shapes_ask(p, "b", 3, 0, &got), 0);
    assert_int_equal(shapes_ask(q, "a", 3, 0, &got), 0);
    assert_int_equal(neo_shape_predictor_predict(p, &query, &got), 0);
    assert_int_equal(shapes_ask(p, "a", 3, 0, &got), 1);
    neo_shape_predictor_clear(p);
    assert_int_equal(shapes_ask(p, "a", 4, 0, &got), 0);
    neo_shape_predictor_destroy(p);
    neo_shape_predictor_destroy(q);
    neo_shape_predictor_destroy(NULL);
}

static void a_cache_grows_from_its_first_shape(void **state)
{
    (void)state;
    neo_shape_predictor *p = shapes_make(1.0, 0);
    neo_shape got, want = S3(1, 135, 8);
    neo_shape_query query = {.id = "kv",
                             .shape = S3(1, 7, 8),
                             .bits = 16,
                             .flags = NEO_SHAPE_GROWS,
                             .iterations = 128,
                             .grow_dim = 1};
    assert_int_equal(neo_shape_predictor_predict(p, &query, &got), 1);
    shapes_assert(&got, &want, "cache", 0);
    query.flags |= NEO_SHAPE_REUSED;
    assert_int_equal(neo_shape_predictor_predict(p, &query, &got), 0);
    query.flags = NEO_SHAPE_GROWS;
    query.iterations = INT64_MAX;
    assert_int_equal(neo_shape_predictor_predict(p, &query, &got), 0);
    query.iterations = 0; /* not so many: by its history */
    assert_int_equal(neo_shape_predictor_predict(p, &query, &got), 0);
    neo_shape_predictor_destroy(p);
}

static void wrong_queries_predict_nothing(void **state)
{
    (void)state;
    neo_shape_predictor *p = shapes_make(1.1, SHAPES_LOOSE);
    neo_shape got;
    neo_set_verbose(0);
    static const neo_shape_query wrong[] = {
        {.id = NULL, .shape = S1(1), .bits = 32},
        {.id = "a", .shape = {-1, {0}}, .bits = 32},
        {.id = "a", .shape = {NEO_MAX_NDIMS + 1, {0}}, .bits = 32},
        {.id = "a", .shape = S2(4, -4), .bits = 32},
        {.id = "a", .shape = S1(1), .bits = 0},
        {.id = "a", .shape = S1(1), .bits = SIZE_MAX},
        {.id = "a", .shape = S1(1), .bits = 8, .flags = NEO_SHAPE_GROWS, .grow_dim = 1},
        {.id = "a", .shape = S1(1), .bits = 8, .flags = NEO_SHAPE_GROWS, .grow_dim = -1},
    };
    for (size_t i = 0; i < count_of(wrong); i++) {
        for (int k = 0; k < 4; k++) {
            got.ndims = 5;
            assert_int_equal(neo_shape_predictor_predict(p, &wrong[i], &got), 0);
            assert_int_equal(got.ndims, 0);
        }
    }
    neo_shape_predictor_destroy(p);
}

static void the_id_that_was_not_used_for_longest_is_forgotten(void **state)
{
    (void)state;
    neo_shape_predictor *p;
    neo_shape_predictor_settings settings;
    neo_shape got;
    neo_shape_predictor_get_default_settings(&settings);
    settings.max_ids = 3;
    assert_int_equal(neo_shape_predictor_create(&p, &settings), NEO_OK);
    static const char *const ids[] = {"a", "b", "c"};
    for (neo_dim size = 1; size <= 2; size++)
        for (size_t i = 0; i < 3; i++)
            shapes_ask(p, ids[i], size, 0, &got);
    shapes_ask(p, "d", 1, 0, &got); /* a goes */
    assert_int_equal(shapes_ask(p, "b", 3, 0, &got), 1);
    assert_int_equal(shapes_ask(p, "c", 3, 0, &got), 1);
    assert_int_equal(shapes_ask(p, "a", 3, 0, &got), 0); /* d goes */
    assert_int_equal(shapes_ask(p, "b", 4, 0, &got), 1);
    neo_shape_predictor_destroy(p);
}

static void memory_is_full_at_exactly_the_percentage(void **state)
{
    (void)state;
    neo_shape_predictor *p;
    neo_shape_predictor_settings settings;
    neo_shape_predictor_get_default_settings(&settings);
    settings.max_object_bytes = settings.max_total_bytes = 1000;
    settings.memory_percent = 90;
    assert_int_equal(neo_shape_predictor_create(&p, &settings), NEO_OK);
    assert_int_equal(neo_shape_predictor_can_preallocate(p, 899), 1);
    assert_int_equal(neo_shape_predictor_can_preallocate(p, 900), 0);
    neo_shape_predictor_destroy(p);
}

/* Is a buffer kept that is far too large, where one was given up so many calls before it grew? */
static int is_kept_after(int calls)
{
    neo_shape_predictor *p;
    neo_shape_predictor_settings settings;
    neo_shape_predictor_get_default_settings(&settings);
    settings.reclaim_factor = 2;
    assert_int_equal(neo_shape_predictor_create(&p, &settings), NEO_OK);
    assert_int_equal(neo_shape_predictor_can_reuse_buffer(p, "a", 0, 100, 1), 0); /* given up */
    for (int i = 0; i < calls; i++)
        assert_int_equal(neo_shape_predictor_can_reuse_buffer(p, "a", 0, 10, 10), 1);
    assert_int_equal(neo_shape_predictor_can_reuse_buffer(p, "a", 0, 10, 100), 0); /* it grows */
    int kept = neo_shape_predictor_can_reuse_buffer(p, "a", 0, 100, 1);
    neo_shape_predictor_destroy(p);
    return kept;
}

static void giving_up_was_wrong_within_63_calls(void **state)
{
    (void)state;
    assert_int_equal(is_kept_after(62), 1); /* the growth is call 63 */
    assert_int_equal(is_kept_after(63), 0);
}

static void an_id_may_have_settings_of_its_own(void **state)
{
    (void)state;
    neo_shape_predictor *p;
    neo_shape_predictor_settings settings, own;
    neo_shape got, want = S2(1, 8);
    neo_shape_predictor_get_default_settings(&settings);
    settings.max_ids = 2;
    assert_int_equal(neo_shape_predictor_create(&p, &settings), NEO_OK);
    own = settings;
    own.iterations = 5;
    assert_int_equal(neo_shape_predictor_set_id_settings(p, "a", 0, &own), NEO_OK);
    for (neo_dim size = 1; size <= 3; size++) {
        shapes_ask(p, "x", 1, 0, &got); /* x and y push each other out, never a */
        shapes_ask(p, "y", 1, 0, &got);
        shapes_ask(p, "a", size, 0, &got);
    }
    shapes_assert(&got, &want, "own settings", 0);
    neo_shape_predictor_clear(p);
    for (neo_dim size = 1; size <= 3; size++)
        assert_int_equal(shapes_ask(p, "a", size, 0, &got), size == 3);
    shapes_assert(&got, &want, "own settings, after all shapes are forgotten", 0);
    assert_int_equal(neo_shape_predictor_set_id_settings(p, "b", 0, &own), NEO_OK);
    assert_int_equal(neo_shape_predictor_set_id_settings(p, "c", 0, &own), NEO_OUT_OF_MEMORY);
    assert_int_equal(shapes_ask(p, "c", 1, 0, &got), 0);
    own.ratio = 0;
    neo_set_verbose(0);
    assert_int_equal(neo_shape_predictor_set_id_settings(p, "a", 0, &own), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_shape_predictor_set_id_settings(p, "a", 0, NULL), NEO_OK);
    assert_int_equal(shapes_ask(p, "a", 4, 0, &got), 1);
    assert_int_equal(got.dims[1], 14);
    neo_shape_predictor_destroy(p);
}

/* ---- cost ---- */

/* The thread's own time, which other programs do not make longer. */
static uint64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void a_known_id_costs_little_and_allocates_nothing(void **state)
{
    (void)state;
    enum { IDS = 200, ROUNDS = 500 };
    static char ids[IDS][40];
    neo_shape_predictor *p = shapes_make(1.1, 0);
    neo_shape got;
    for (int i = 0; i < IDS; i++) {
        snprintf(ids[i], sizeof ids[i], "transformer.layer.%d.attention", i);
        shapes_ask(p, ids[i], 1, 0, &got);
    }
    size_t allocations = fault_allocations();
    uint64_t begin = thread_ns();
    for (neo_dim round = 0; round < ROUNDS; round++)
        for (int i = 0; i < IDS; i++)
            shapes_ask(p, ids[i], round, round % 11 != 0, &got);
    double ns = (double)(thread_ns() - begin) / (ROUNDS * IDS);
    assert_int_equal(fault_allocations(), allocations);
    print_message("a prediction takes %.0f ns\n", ns);
    assert_true(ns < 20000); /* emulators and sanitizers run this too */
    neo_shape_predictor_destroy(p);
}

static void no_failed_allocation_leaks_or_crashes(void **state)
{
    (void)state;
    neo_shape_predictor_settings s;
    neo_shape_predictor_get_default_settings(&s);
    bool delivered = true;
    for (size_t n = 1; delivered; n++) {
        neo_shape_predictor *p = NULL;
        neo_shape got;
        fault_arm(n);
        neo_status status = neo_shape_predictor_create(&p, &s);
        if (status == NEO_OK) {
            shapes_ask(p, "a", 1, 0, &got);
            neo_status own = neo_shape_predictor_set_id_settings(p, "b", 0, &s);
            assert_true(own == NEO_OK || own == NEO_OUT_OF_MEMORY);
            neo_shape_predictor_can_reuse_buffer(p, "c", 0, 1, 2);
        } else {
            assert_int_equal(status, NEO_OUT_OF_MEMORY);
            assert_null(p);
        }
        neo_shape_predictor_destroy(p);
        delivered = fault_disarm();
        assert_true(n < 50);
    }
}

/* ---- threads ---- */

static void *ask_often(void *argument)
{
    neo_shape_predictor *p = argument;
    neo_shape got;
    char id[8] = "a";
    for (neo_dim i = 0; i < 2000; i++) {
        id[0] = (char)('a' + i % 5);
        shapes_ask(p, id, i, i % 3 == 0, &got);
        neo_shape_predictor_can_reuse_buffer(p, id, 0, (uint64_t)i * 3 % 1000, (uint64_t)i);
    }
    return NULL;
}

static void threads_may_share_a_predictor(void **state)
{
    (void)state;
    neo_shape_predictor *p;
    neo_shape_predictor_settings s;
    neo_shape_predictor_get_default_settings(&s);
    s.max_ids = 4; /* so that ids are forgotten all the time */
    assert_int_equal(neo_shape_predictor_create(&p, &s), NEO_OK);
    pthread_t threads[4];
    for (size_t i = 0; i < count_of(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, p), 0);
    for (size_t i = 0; i < count_of(threads); i++)
        pthread_join(threads[i], NULL);
    neo_shape_predictor_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_get_their_predictions),
        cmocka_unit_test(shapes_of_reused_buffers_count),
        cmocka_unit_test(ids_outputs_and_predictors_are_apart),
        cmocka_unit_test(a_cache_grows_from_its_first_shape),
        cmocka_unit_test(wrong_queries_predict_nothing),
        cmocka_unit_test(the_id_that_was_not_used_for_longest_is_forgotten),
        cmocka_unit_test(memory_is_full_at_exactly_the_percentage),
        cmocka_unit_test(giving_up_was_wrong_within_63_calls),
        cmocka_unit_test(an_id_may_have_settings_of_its_own),
        cmocka_unit_test(a_known_id_costs_little_and_allocates_nothing),
        cmocka_unit_test(no_failed_allocation_leaks_or_crashes),
        cmocka_unit_test(threads_may_share_a_predictor),
    };
    return cmocka_run_group_tests_name("shape predictor", tests, NULL, NULL);
}
