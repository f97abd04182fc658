/* Attention over keys and values that grow by a row a step: primitives of run-time sizes and
 * memories that are told their lengths create no primitives, and a second sequence no memory. And
 * sizes that take turns, which are planned once. */
#include "tests/support/test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/support/fault.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

enum { HEADS = 2, HEAD = 8, WIDTH = HEADS * HEAD, MOST = 70 };

static neo_memory_desc desc_of(const neo_dim *dims, const neo_dim *strides)
{
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_strides(&desc, 3, dims, NEO_F32, strides), NEO_OK);
    return desc;
}

static neo_memory_desc heads_desc(void)
{
    return desc_of((neo_dim[]){HEADS, 1, HEAD}, (neo_dim[]){HEAD, WIDTH, 1});
}

static neo_memory_desc keys_desc(neo_dim length)
{
    return desc_of((neo_dim[]){HEADS, HEAD, length}, (neo_dim[]){HEAD, 1, WIDTH});
}

static neo_memory_desc values_desc(neo_dim length)
{
    return desc_of((neo_dim[]){HEADS, length, HEAD}, (neo_dim[]){HEAD, WIDTH, 1});
}

static neo_memory_desc scores_desc(neo_dim length)
{
    return desc_of((neo_dim[]){HEADS, 1, length}, (neo_dim[]){MOST, MOST, 1});
}

struct attention {
    neo_primitive *score, *softmax, *mix;
    neo_memory *query, *keys, *scores, *values, *out;
    float q[WIDTH], k[MOST * WIDTH], v[MOST * WIDTH], s[HEADS * MOST], y[WIDTH];
};

static neo_primitive *primitive_of(neo_primitive_desc *pd)
{
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_primitive_desc_destroy(pd);
    return primitive;
}

static neo_primitive *product(neo_memory_desc src, neo_memory_desc weights, neo_memory_desc dst)
{
    const neo_matmul_desc desc = {.src = src, .weights = weights, .dst = dst};
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    return primitive_of(pd);
}

static neo_memory *memory_of(neo_memory_desc desc, float *values)
{
    neo_memory *memory;
    assert_int_equal(neo_memory_create(&memory, &desc, engine, values), NEO_OK);
    return memory;
}

static void attention_init(struct attention *a)
{
    neo_memory_desc rows = scores_desc(NEO_RUNTIME_DIM);
    neo_primitive_desc *pd;
    for (size_t i = 0; i < count_of(a->q); i++)
        a->q[i] = (float)(i * 7 % 5) / 4 - 0.5f;
    for (size_t i = 0; i < count_of(a->k); i++) {
        a->k[i] = (float)(i * 11 % 13) / 8 - 0.75f;
        a->v[i] = (float)(i * 5 % 17) / 8 - 1;
    }
    a->score = product(heads_desc(), keys_desc(NEO_RUNTIME_DIM), rows);
    a->mix = product(rows, values_desc(NEO_RUNTIME_DIM), heads_desc());
    assert_int_equal(neo_softmax_primitive_desc_create(&pd, engine, NEO_FORWARD_INFERENCE,
                                                       NEO_SOFTMAX_ACCURATE, &rows, &rows, 2, NULL),
                     NEO_OK);
    a->softmax = primitive_of(pd);
    a->query = memory_of(heads_desc(), a->q);
    a->keys = memory_of(keys_desc(MOST), a->k);
    a->values = memory_of(values_desc(MOST), a->v);
    a->scores = memory_of(scores_desc(MOST), a->s);
    a->out = memory_of(heads_desc(), a->y);
}

static void attention_deinit(struct attention *a)
{
    neo_primitive *primitives[] = {a->score, a->softmax, a->mix};
    neo_memory *memories[] = {a->query, a->keys, a->scores, a->values, a->out};
    for (size_t i = 0; i < count_of(primitives); i++)
        neo_primitive_destroy(primitives[i]);
    for (size_t i = 0; i < count_of(memories); i++)
        neo_memory_destroy(memories[i]);
}

static neo_status run(const neo_primitive *primitive, neo_memory *src, neo_memory *weights,
                      neo_memory *dst)
{
    const neo_exec_arg args[] = {
        {NEO_ARG_SRC, src}, {NEO_ARG_DST, dst}, {NEO_ARG_WEIGHTS, weights}};
    return neo_primitive_execute(primitive, stream, weights ? 3 : 2, args);
}

/* A step with so many rows: no call fails where this is 0. */
static int step(struct attention *a, neo_dim length)
{
    neo_memory_desc keys = keys_desc(length), values = values_desc(length);
    neo_memory_desc scores = scores_desc(length);
    return neo_memory_set_desc(a->keys, &keys) || neo_memory_set_desc(a->values, &values) ||
           neo_memory_set_desc(a->scores, &scores) || run(a->score, a->query, a->keys, a->scores) ||
           run(a->softmax, a->scores, NULL, a->scores) || run(a->mix, a->scores, a->values, a->out);
}

static double want(const struct attention *a, neo_dim length, int column)
{
    const int first = column / HEAD * HEAD;
    double sum = 0, all = 0;
    for (neo_dim t = 0; t < length; t++) {
        double score = 0;
        for (int i = first; i < first + HEAD; i++)
            score += (double)a->q[i] * (double)a->k[t * WIDTH + i];
        all += exp(score);
        sum += exp(score) * (double)a->v[t * WIDTH + column];
    }
    return sum / all;
}

static uint64_t lookups(void)
{
    neo_cache_statistics statistics;
    assert_int_equal(neo_engine_get_cache_statistics(engine, &statistics), NEO_OK);
    return statistics.hits + statistics.misses;
}

/* One sequence. Blocks for scratchpads are of so many sizes, which only the first one makes. */
static void decode(struct attention *a, bool is_first)
{
    for (neo_dim length = 1; length <= MOST; length++) {
        uint64_t asked = lookups();
        size_t before = fault_allocations();
        int failed = step(a, length);
        size_t made = fault_allocations() - before;
        if (failed || (made && !is_first) || lookups() != asked)
            fail_msg("%d rows: failed %d, %zu allocations, %d look-ups in the cache", (int)length,
                     failed, made, (int)(lookups() - asked));
        for (int i = 0; i < WIDTH; i++)
            assert_true(fabs((double)a->y[i] - want(a, length, i)) < 1e-5);
    }
}

static void steps_create_nothing(void **state)
{
    struct attention *a = calloc(1, sizeof *a);
    (void)state;
    assert_non_null(a);
    attention_init(a);
    decode(a, true);
    decode(a, false);
    attention_deinit(a);
    free(a);
}

/* ---- sizes that take turns ---- */

static neo_primitive *late_inner_product(void)
{
    const neo_inner_product_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                         .src = tensor_matrix(NEO_RUNTIME_DIM, HEAD, "ab"),
                                         .weights = tensor_matrix(HEAD, HEAD, "ab"),
                                         .dst = tensor_matrix(NEO_RUNTIME_DIM, HEAD, "ab")};
    neo_primitive_desc *pd;
    assert_int_equal(neo_inner_product_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    return primitive_of(pd);
}

/* Each of so few sizes is looked up in the cache when it is first there, and never again. */
static void sizes_that_take_turns_are_planned_once(void **state)
{
    enum { BATCHES = 4, TURNS = 3 };
    static float x[BATCHES * HEAD], w[HEAD * HEAD], y[BATCHES * HEAD];
    neo_primitive *primitive = late_inner_product();
    neo_memory *weights = memory_of(tensor_matrix(HEAD, HEAD, "ab"), w), *src[BATCHES];
    neo_memory *dst[BATCHES];
    uint64_t asked[TURNS];
    (void)state;
    for (int i = 0; i < BATCHES; i++) {
        src[i] = memory_of(tensor_matrix(i + 1, HEAD, "ab"), x);
        dst[i] = memory_of(tensor_matrix(i + 1, HEAD, "ab"), y);
    }
    for (int turn = 0; turn < TURNS; turn++) {
        asked[turn] = lookups();
        for (int i = 0; i < BATCHES; i++)
            assert_int_equal(run(primitive, src[i], weights, dst[i]), NEO_OK);
        asked[turn] = lookups() - asked[turn];
    }
    assert_true(asked[0] >= BATCHES);
    assert_int_equal(asked[1] + asked[2], 0);
    for (int i = 0; i < BATCHES; i++) {
        neo_memory_destroy(src[i]);
        neo_memory_destroy(dst[i]);
    }
    neo_memory_destroy(weights);
    neo_primitive_destroy(primitive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_create_nothing),
        cmocka_unit_test(sizes_that_take_turns_are_planned_once),
    };
    return cmocka_run_group_tests_name("primitive_growing", tests, session_setup, session_teardown);
}
