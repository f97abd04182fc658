/* Scratchpads: how large they must be, and whose. */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/guard.h"
#include "tests/support/random.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

/* ---- sizes that are known late ---- */

/* A round's sizes, and which of them the description leaves open. */
struct late_round {
    neo_dim m, n, k;
    bool late_m, late_n, late_k, packed, transposed;
    bool turned, late_step; /* src: columns contiguous; the distance of columns is open */
};

static neo_memory_desc late_desc(neo_dim rows, neo_dim columns, bool late_rows, bool late_columns,
                                 const char *tag)
{
    neo_dim dims[] = {late_rows ? NEO_RUNTIME_DIM : rows, late_columns ? NEO_RUNTIME_DIM : columns};
    return tensor_desc(2, dims, tag);
}

static neo_memory_desc late_src(const struct late_round *r, const neo_memory_desc *actual)
{
    if (!r->late_step)
        return late_desc(r->m, r->k, r->late_m, r->late_k, r->turned ? "ba" : "ab");
    neo_memory_desc desc = *actual;
    desc.strides[1] = NEO_RUNTIME_DIM;
    return desc;
}

static void check_product(const struct late_round *r, const struct tensor *src,
                          const float *weights, const struct tensor *dst)
{
    for (neo_dim m = 0; m < r->m; m++)
        for (neo_dim n = 0; n < r->n; n++) {
            float sum = 0;
            for (neo_dim k = 0; k < r->k; k++)
                sum += *tensor_at(src, (neo_dim[]){m, k}) * weights[k * r->n + n];
            assert_true(*tensor_at(dst, (neo_dim[]){m, n}) == sum);
        }
}

/* The scratchpad has exactly the bytes that the descriptor asks for, before a forbidden page. */
static void run_late_round(const struct late_round *r, const struct guard *guard)
{
    const char *dst_tag = r->transposed ? "ba" : "ab";
    neo_memory_desc src_desc = tensor_desc(2, (neo_dim[]){r->m, r->k}, r->turned ? "ba" : "ab");
    neo_matmul_desc desc = {
        .src = late_src(r, &src_desc),
        .weights = late_desc(r->k, r->n, r->late_k, r->late_n, r->packed ? "any" : "ab"),
        .dst = late_desc(r->m, r->n, r->late_m, r->late_n, dst_tag)};
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    neo_attributes_set_scratchpad_mode(attributes, NEO_SCRATCHPAD_USER);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_memory_desc plain = tensor_desc(2, (neo_dim[]){r->k, r->n}, "ab");
    neo_memory_desc dst_desc = tensor_desc(2, (neo_dim[]){r->m, r->n}, dst_tag);
    struct tensor src = tensor_make(engine, &src_desc, 7);
    struct tensor weights = tensor_make(engine, &plain, 8), packed = {0};
    struct tensor dst = tensor_make(engine, &dst_desc, 0);
    if (r->packed)
        packed = tensor_reordered(engine, stream, &weights,
                                  neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    size_t bytes = neo_primitive_desc_scratchpad_size(pd, neo_stream_num_threads(stream));
    neo_memory_desc scratch_desc;
    neo_memory *scratch;
    assert_int_equal(
        neo_memory_desc_init_tag(&scratch_desc, 1, (neo_dim[]){(neo_dim)bytes}, NEO_U8, "a"),
        NEO_OK);
    assert_int_equal(neo_memory_create(&scratch, &scratch_desc, engine, guard_end(guard, bytes)),
                     NEO_OK);
    neo_exec_arg args[] = {{NEO_ARG_SRC, src.memory},
                           {NEO_ARG_WEIGHTS, r->packed ? packed.memory : weights.memory},
                           {NEO_ARG_DST, dst.memory},
                           {NEO_ARG_SCRATCHPAD, scratch}};
    assert_int_equal(neo_primitive_execute(primitive, stream, 4, args), NEO_OK);
    check_product(r, &src, weights.data, &dst);
    neo_memory_destroy(scratch);
    tensor_free(&dst), tensor_free(&packed), tensor_free(&weights), tensor_free(&src);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
}

static void a_scratchpad_for_late_sizes_suffices_for_all_of_them(void **state)
{
    (void)state;
    struct guard guard;
    uint64_t random = 1;
    guard_init(&guard, (size_t)64 << 20);
    for (int i = 0; i < 90; i++) {
        unsigned late = (unsigned)random_below(&random, 16),
                 form = (unsigned)random_below(&random, 4), step = (unsigned)i % 4;
        late = step < 2 ? late : 0; /* nothing else is open */
        struct late_round r = {.m = 1 + (neo_dim)random_below(&random, i % 3 == 0 ? 700 : 40),
                               .n = 1 + (neo_dim)random_below(&random, i % 3 == 1 ? 1400 : 40),
                               .k = 1 + (neo_dim)random_below(&random, i % 3 == 2 ? 1400 : 40),
                               .late_m = late & 1,
                               .late_n = late & 2,
                               .late_k = late & 4,
                               .transposed = form & 1,
                               .turned = step == 1 || step == 3,
                               .late_step = step >= 2};
        r.packed = form & 2 && !r.late_n && !r.late_k;
        run_late_round(&r, &guard);
    }
    guard_deinit(&guard);
}

/* ---- no sizes, and another's memory ---- */

static void empty_products_cost_nothing_and_need_none(void **state)
{
    (void)state;
    double whole = 0;
    for (int empty = 0; empty < 8; empty++) {
        neo_dim m = empty & 1 ? 0 : 40, n = empty & 2 ? 0 : 50, k = empty & 4 ? 0 : 60;
        neo_matmul_desc desc = {.src = tensor_desc(2, (neo_dim[]){m, k}, "ba"),
                                .weights = tensor_desc(2, (neo_dim[]){k, n}, "ba"),
                                .dst = tensor_desc(2, (neo_dim[]){m, n}, "ab")};
        neo_primitive_desc *pd;
        assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
        if (empty)
            assert_true(neo_primitive_desc_estimate(pd) < whole / 4);
        else
            whole = neo_primitive_desc_estimate(pd);
        do {
            assert_true(isfinite(neo_primitive_desc_estimate(pd)));
            if (m == 0 || n == 0)
                assert_int_equal(neo_primitive_desc_scratchpad_size(pd, 4), 0);
        } while (neo_primitive_desc_next(pd) == NEO_OK);
        neo_primitive_desc_destroy(pd);
    }
}

static void a_scratchpad_of_another_engine_is_refused(void **state)
{
    (void)state;
    const neo_dim bytes = 1 << 20;
    neo_memory_desc scratch;
    neo_engine *other;
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_memory *theirs, *ours;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    neo_attributes_set_scratchpad_mode(attributes, NEO_SCRATCHPAD_USER);
    neo_memory_desc src_desc = tensor_matrix(40, 60, "ba"),
                    weights_desc = tensor_matrix(60, 50, "ba");
    neo_memory_desc dst_desc = tensor_matrix(40, 50, "ab");
    neo_matmul_desc desc = {.src = src_desc, .weights = weights_desc, .dst = dst_desc};
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    while (neo_primitive_desc_scratchpad_size(pd, 1) == 0)
        assert_int_equal(neo_primitive_desc_next(pd), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    assert_int_equal(neo_engine_create(&other), NEO_OK);
    assert_int_equal(neo_memory_desc_init_tag(&scratch, 1, &bytes, NEO_U8, "a"), NEO_OK);
    assert_int_equal(neo_memory_create(&theirs, &scratch, other, NEO_MEMORY_ALLOCATE), NEO_OK);
    struct guard guard;
    guard_init(&guard, (size_t)bytes);
    assert_int_equal(neo_memory_create(&ours, &scratch, engine, guard_begin(&guard, 1)), NEO_OK);
    struct tensor src = tensor_make(engine, &src_desc, 1);
    struct tensor weights = tensor_make(engine, &weights_desc, 2);
    struct tensor dst = tensor_make(engine, &dst_desc, 0);
    neo_exec_arg args[] = {{NEO_ARG_SRC, src.memory},
                           {NEO_ARG_WEIGHTS, weights.memory},
                           {NEO_ARG_DST, dst.memory},
                           {NEO_ARG_SCRATCHPAD, theirs}};
    assert_int_equal(neo_primitive_execute(primitive, stream, 4, args), NEO_INVALID_ARGUMENT);
    args[3].memory = ours;
    assert_int_equal(neo_primitive_execute(primitive, stream, 4, args), NEO_OK);
    tensor_free(&dst), tensor_free(&weights), tensor_free(&src);
    neo_memory_destroy(theirs), neo_memory_destroy(ours);
    guard_deinit(&guard);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_engine_destroy(other);
    neo_attributes_destroy(attributes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scratchpad_for_late_sizes_suffices_for_all_of_them),
        cmocka_unit_test(empty_products_cost_nothing_and_need_none),
        cmocka_unit_test(a_scratchpad_of_another_engine_is_refused),
    };
    return cmocka_run_group_tests_name("api_scratchpad", tests, session_setup, session_teardown);
}
