/* What was set is what is told. */
#include "tests/support/test.h"

#include <string.h>

#include "neoprene/inspect.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

static neo_attributes *attributes_new(void)
{
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    return attributes;
}

static void modes_are_told(void **state)
{
    (void)state;
    neo_attributes *a = attributes_new();
    neo_fpmath_mode fpmath;
    neo_accumulation_mode accumulation;
    neo_data_type type;
    int apply, deterministic;
    assert_int_equal(neo_attributes_get_fpmath_mode(a, &fpmath, &apply), NEO_OK);
    assert_true(fpmath == NEO_FPMATH_STRICT && !apply);
    assert_int_equal(neo_attributes_set_fpmath_mode(a, NEO_FPMATH_BF16, 1), NEO_OK);
    assert_int_equal(neo_attributes_set_accumulation_mode(a, NEO_ACCUMULATION_F16), NEO_OK);
    assert_int_equal(neo_attributes_set_deterministic(a, 1), NEO_OK);
    assert_int_equal(neo_attributes_set_dynamic_src(a, NEO_S8), NEO_OK);
    assert_int_equal(neo_attributes_get_fpmath_mode(a, &fpmath, &apply), NEO_OK);
    assert_int_equal(neo_attributes_get_accumulation_mode(a, &accumulation), NEO_OK);
    assert_int_equal(neo_attributes_get_deterministic(a, &deterministic), NEO_OK);
    assert_int_equal(neo_attributes_get_dynamic_src(a, &type), NEO_OK);
    assert_true(fpmath == NEO_FPMATH_BF16 && apply == 1 && deterministic == 1);
    assert_true(accumulation == NEO_ACCUMULATION_F16 && type == NEO_S8);
    assert_int_equal(neo_attributes_get_fpmath_mode(a, NULL, NULL), NEO_OK);
    assert_int_equal(neo_attributes_get_fpmath_mode(NULL, &fpmath, &apply), NEO_INVALID_ARGUMENT);
    neo_attributes_destroy(a);
}

static void scales_and_zero_points_are_told(void **state)
{
    (void)state;
    neo_attributes *a = attributes_new();
    const neo_dim groups[] = {32, 1};
    neo_dim told[2] = {0, 0};
    int mask, count;
    neo_data_type type;
    assert_int_equal(neo_attributes_set_scales(a, NEO_ARG_WEIGHTS, 3, 2, groups, NEO_F16), NEO_OK);
    assert_int_equal(neo_attributes_set_zero_points(a, NEO_ARG_SRC, 0, 0, NULL, NEO_S32), NEO_OK);
    assert_int_equal(neo_attributes_get_scales(a, NEO_ARG_WEIGHTS, &mask, &count, told, &type),
                     NEO_OK);
    assert_true(mask == 3 && count == 2 && told[0] == 32 && told[1] == 1 && type == NEO_F16);
    assert_int_equal(neo_attributes_get_zero_points(a, NEO_ARG_SRC, &mask, &count, told, &type),
                     NEO_OK);
    assert_true(mask == 0 && count == 0 && type == NEO_S32);
    assert_int_equal(neo_attributes_get_scales(a, NEO_ARG_SRC, &mask, &count, told, &type),
                     NEO_NOT_FOUND);
    assert_int_equal(neo_attributes_get_zero_points(a, NEO_ARG_WEIGHTS, NULL, NULL, NULL, NULL),
                     NEO_NOT_FOUND);
    neo_attributes_destroy(a);
}

static void post_operations_are_told(void **state)
{
    (void)state;
    neo_attributes *a = attributes_new();
    neo_memory_desc src1 = tensor_matrix(3, 4, "ba"), told;
    assert_int_equal(neo_attributes_append_sum(a, 0.5f, 7, NEO_S8), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(a, NEO_ELTWISE_CLIP, -1, 6), NEO_OK);
    assert_int_equal(neo_attributes_append_binary(a, NEO_BINARY_MUL, &src1), NEO_OK);
    assert_int_equal(neo_attributes_append_prelu(a, 2), NEO_OK);
    float x, y;
    int32_t zero_point;
    int mask;
    neo_data_type type;
    neo_eltwise eltwise;
    neo_binary binary;
    assert_int_equal(neo_attributes_get_sum(a, 0, &x, &zero_point, &type), NEO_OK);
    assert_true(x == 0.5f && zero_point == 7 && type == NEO_S8);
    assert_int_equal(neo_attributes_get_eltwise(a, 1, &eltwise, &x, &y), NEO_OK);
    assert_true(eltwise == NEO_ELTWISE_CLIP && x == -1 && y == 6);
    assert_int_equal(neo_attributes_get_binary(a, 2, &binary, &told), NEO_OK);
    assert_true(binary == NEO_BINARY_MUL && neo_memory_desc_equal(&told, &src1));
    assert_int_equal(neo_attributes_get_prelu(a, 3, &mask), NEO_OK);
    assert_int_equal(mask, 2);
    assert_int_equal(neo_attributes_get_condition(a, 2, &told), NEO_NOT_FOUND);
    assert_int_equal(neo_attributes_append_select(a, &src1, &src1), NEO_OK);
    assert_int_equal(neo_attributes_get_binary(a, 4, &binary, NULL), NEO_OK);
    assert_int_equal(neo_attributes_get_condition(a, 4, &told), NEO_OK);
    assert_true(binary == NEO_BINARY_SELECT && neo_memory_desc_equal(&told, &src1));
    static const int none[] = {-1, 1, 2, 3, 4, 5};
    for (size_t i = 0; i < count_of(none); i++)
        assert_int_equal(neo_attributes_get_sum(a, none[i], &x, &zero_point, &type), NEO_NOT_FOUND);
    assert_int_equal(neo_attributes_get_eltwise(a, 0, &eltwise, &x, &y), NEO_NOT_FOUND);
    assert_int_equal(neo_attributes_get_binary(a, 3, &binary, &told), NEO_NOT_FOUND);
    assert_int_equal(neo_attributes_get_prelu(a, 2, &mask), NEO_NOT_FOUND);
    neo_attributes_destroy(a);
}

static void engines_tell_what_they_work_with(void **state)
{
    (void)state;
    static const char *const sets[] = {"neon", "fp16", "fhm", "dotprod", "bf16", "i8mm"};
    const struct cpu *cpu = cpu_get();
    for (size_t i = 0; i < count_of(sets); i++) {
        const char *unknown;
        uint32_t bit = cpu_parse_features(sets[i], &unknown);
        assert_int_equal(neo_engine_has_isa(engine, sets[i]), (cpu->features & bit) != 0);
    }
    assert_int_equal(neo_engine_has_isa(engine, "neon"), !NEO_PORTABLE);
    assert_int_equal(neo_engine_has_isa(engine, "sse"), 0);
    assert_int_equal(neo_engine_has_isa(engine, ""), 0);
    assert_int_equal(neo_engine_has_isa(engine, "neon,fp16"), 0);
    assert_int_equal(neo_engine_has_isa(NULL, "neon"), 0);
    assert_string_equal(neo_engine_core(engine), cpu->core->name);
    assert_string_equal(neo_engine_core(NULL), "");
    assert_true(neo_engine_num_threads(engine) >= neo_stream_num_threads(stream));
    assert_int_equal(neo_engine_num_threads(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_are_told),
        cmocka_unit_test(scales_and_zero_points_are_told),
        cmocka_unit_test(post_operations_are_told),
        cmocka_unit_test(engines_tell_what_they_work_with),
    };
    return cmocka_run_group_tests_name("inspect", tests, session_setup, session_teardown);
}
