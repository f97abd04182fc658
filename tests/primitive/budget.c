/* Memory budgets of algorithms. */
#include "tests/support/test.h"

#include <stdlib.h>

#include "neoprene/convolution.h"
#include "src/core/checked.h"
#include "src/primitive/engine.h"
#include "tests/support/fault.h"
#include "tests/support/stated_cpu.h"

/* Memory is so fast that Winograd's algorithm is chosen, which packs several values for each. */
static neo_engine *engine_of(struct cpu *cpu)
{
    neo_engine *engine;
    assert_int_equal(neo_engine_create(&engine), NEO_OK);
    *cpu = stated_cpu("neoverse-n1", 65536);
    cpu->features |= CPU_NEON; /* portable builds choose otherwise */
    cpu->l2_bytes = 1 << 20;
    cpu->bandwidth = 1000;
    engine->cpu = cpu;
    return engine;
}

/* Of 3x3, 64 to 64 channels at 28, with this budget; 0: the engine's. */
static neo_status create(neo_primitive_desc **pd, neo_engine *engine, size_t budget)
{
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .strides = {1, 1},
                                 .padding_left = {1, 1},
                                 .padding_right = {1, 1}};
    neo_dim image[] = {1, 64, 28, 28}, kernel[] = {64, 64, 3, 3};
    neo_memory_desc_init_tag(&desc.src, 4, image, NEO_F32, "nhwc");
    neo_memory_desc_init_tag(&desc.dst, 4, image, NEO_F32, "nhwc");
    neo_memory_desc_init_tag(&desc.weights, 4, kernel, NEO_F32, "any");
    neo_attributes *attributes;
    neo_status status = neo_attributes_create(&attributes);
    if (status != NEO_OK)
        return status;
    assert_int_equal(neo_attributes_set_memory_budget(attributes, budget), NEO_OK);
    assert_int_equal(neo_attributes_get_memory_budget(attributes), budget);
    status = neo_convolution_primitive_desc_create(pd, engine, &desc, attributes);
    neo_attributes_destroy(attributes);
    return status;
}

static neo_primitive_desc *describe(neo_engine *engine, size_t budget)
{
    neo_primitive_desc *pd = NULL;
    assert_int_equal(create(&pd, engine, budget), NEO_OK);
    return pd;
}

/* What it takes: packed weights, and a scratchpad. */
static size_t bytes_of(neo_engine *engine, const neo_primitive_desc *pd)
{
    int threads = default_pool_threads(engine->threads);
    return neo_memory_desc_size(neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS)) +
           neo_primitive_desc_scratchpad_size(pd, threads);
}

static size_t bytes_with(neo_engine *engine, size_t budget)
{
    neo_primitive_desc *pd = describe(engine, budget);
    size_t bytes = bytes_of(engine, pd);
    neo_primitive_desc_destroy(pd);
    return bytes;
}

/* Of all implementations. */
static size_t least_bytes(neo_engine *engine)
{
    neo_primitive_desc *pd = describe(engine, 0);
    size_t least = bytes_of(engine, pd);
    while (neo_primitive_desc_next(pd) == NEO_OK)
        least = min_size(least, bytes_of(engine, pd));
    neo_primitive_desc_destroy(pd);
    return least;
}

static void the_fastest_within_a_budget_is_chosen(void **state)
{
    (void)state;
    struct cpu cpu;
    neo_engine *engine = engine_of(&cpu);
    size_t free = bytes_with(engine, 0), plain = 64 * 64 * 9 * sizeof(float);
    assert_true(free > 4 * plain);
    assert_int_equal(bytes_with(engine, free), free);
    size_t less = bytes_with(engine, free - 1);
    assert_true(less < free);
    assert_int_equal(bytes_with(engine, less), less);
    neo_engine_destroy(engine);
}

static void the_smallest_is_chosen_if_none_is_within(void **state)
{
    (void)state;
    struct cpu cpu;
    neo_engine *engine = engine_of(&cpu);
    assert_int_equal(bytes_with(engine, 1), least_bytes(engine));
    neo_primitive_desc *pd = describe(engine, 1);
    assert_int_equal(neo_primitive_desc_next(pd), NEO_LAST_IMPLEMENTATION);
    neo_primitive_desc_destroy(pd);
    neo_engine_destroy(engine);
}

static void a_variable_is_for_all_that_have_none(void **state)
{
    (void)state;
    struct cpu cpu;
    neo_engine *engine = engine_of(&cpu);
    size_t least = bytes_with(engine, 1), free = bytes_with(engine, 0);
    neo_engine_destroy(engine);
    setenv("NEOPRENE_ALGORITHM_BUDGET", "1K", 1);
    engine = engine_of(&cpu);
    unsetenv("NEOPRENE_ALGORITHM_BUDGET");
    assert_int_equal(bytes_with(engine, 0), least);
    assert_int_equal(bytes_with(engine, free), free);
    neo_engine_destroy(engine);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct cpu cpu;
    neo_engine *engine = engine_of(&cpu);
    neo_primitive_desc *pd = NULL;
    size_t failures = 0;
    bool failed = true;
    for (size_t n = 1; failed; n++) { /* what was made is kept, and found again */
        fault_arm(n);
        neo_status status = create(&pd, engine, (1 << 20) + n);
        failed = fault_disarm();
        assert_true(status == NEO_OK || (failed && status == NEO_OUT_OF_MEMORY));
        assert_true((status == NEO_OK) == (pd != NULL));
        failures += status != NEO_OK;
        neo_primitive_desc_destroy(pd);
    }
    assert_true(failures > 2);
    neo_engine_destroy(engine);
}

static void attributes_are_checked(void **state)
{
    (void)state;
    assert_int_equal(neo_attributes_set_memory_budget(NULL, 1), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_attributes_get_memory_budget(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_within_a_budget_is_chosen),
        cmocka_unit_test(the_smallest_is_chosen_if_none_is_within),
        cmocka_unit_test(a_variable_is_for_all_that_have_none),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(attributes_are_checked),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
