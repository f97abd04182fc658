/* Resources of handles: created and destroyed symmetrically, on every path, also for
 * implementations that are nested in another one's. The operations are the test's own. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "neoprene/neoprene.h"
#include "src/primitive/primitive.h"
#include "src/primitive/resource.h"
#include "tests/support/fault.h"
#include "tests/support/session.h"

/* ---- an operation that adds 1 to every element, in its scratchpad, and may have hooks ---- */

enum { INNER_BYTES = 1000, OUTER_BYTES = 5000 };

static int created, destroyed;
static int failing_create; /* the so-many-th create_resource() from now fails; 0: none */

static neo_status counting_create(struct implementation *implementation,
                                  struct reservation *resource)
{
    if (failing_create && --failing_create == 0)
        return NEO_OUT_OF_MEMORY;
    neo_status status = block_manager_reserve(&implementation->blocks, 64, resource);
    created += status == NEO_OK;
    return status;
}

static void counting_destroy(struct implementation *implementation, struct reservation *resource)
{
    assert_int_equal(block_manager_unreserve(&implementation->blocks, resource), NEO_OK);
    destroyed++;
}

static const char *check_anything(struct problem *problem, bool *unsupported)
{
    (void)problem, (void)unsupported;
    return NULL;
}

static void describe_nothing(const struct problem *problem, char *out, size_t size)
{
    (void)problem;
    if (size)
        *out = 0;
}

static const char *accept(const struct algorithm *self, const struct problem *problem,
                          const struct cpu *cpu)
{
    (void)self, (void)problem, (void)cpu;
    return NULL;
}

static void choose_nothing(const struct algorithm *self, struct problem *problem,
                           const struct cpu *cpu)
{
    (void)self, (void)problem, (void)cpu;
}

static double estimate_nothing(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self, (void)problem, (void)cpu;
    return 1;
}

static void plan_nothing(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    (void)plan, (void)problem, (void)cpu;
}

static size_t inner_scratch(const void *plan, int threads)
{
    (void)plan;
    return INNER_BYTES * (size_t)threads;
}

static size_t outer_scratch(const void *plan, int threads)
{
    (void)plan;
    return OUTER_BYTES * (size_t)threads;
}

static const char *no_kernel(const void *plan)
{
    (void)plan;
    return "none";
}

static size_t elements(const struct execution *execution)
{
    return neo_memory_desc_elements(&execution->problem->tensors[DST]);
}

/* Leaves its mark all over its part of the scratchpad. */
static void run_inner(const void *plan, const struct execution *execution)
{
    const float *src = execution->buffers[SRC];
    float *dst = execution->buffers[DST];
    memset(execution->scratch, 0x11, inner_scratch(plan, execution->threads));
    for (size_t i = 0; i < elements(execution); i++)
        dst[i] = src[i] + 1;
}

#define ALGORITHM(text, scratch, run_it, nest_it)                                               \
    {                                                                                           \
        .name = text, .refuse = accept, .choose = choose_nothing, .estimate = estimate_nothing, \
        .plan = plan_nothing, .scratch_bytes = scratch, .kernel = no_kernel, .run = run_it,     \
        .nest = nest_it                                                                         \
    }

static const struct algorithm inner_algorithm = ALGORITHM("inner", inner_scratch, run_inner, NULL);
static const struct algorithm *const inner_algorithms[] = {&inner_algorithm};

static const struct operation plain_inner = {.name = "plain_inner",
                                             .check = check_anything,
                                             .algorithms = inner_algorithms,
                                             .algorithm_count = 1,
                                             .describe = describe_nothing};
static const struct operation counting_inner = {.name = "counting_inner",
                                                .check = check_anything,
                                                .create_resource = counting_create,
                                                .destroy_resource = counting_destroy,
                                                .algorithms = inner_algorithms,
                                                .algorithm_count = 1,
                                                .describe = describe_nothing};

/* ---- one that runs an inner one with hooks, and one without, between its own steps ---- */

static neo_status nest_two(struct implementation *implementation)
{
    struct description inner = problem_describe(&implementation->described);
    inner.operation = &plain_inner;
    neo_status status = implementation_nest(implementation, &inner);
    inner.operation = &counting_inner;
    return status == NEO_OK ? implementation_nest(implementation, &inner) : status;
}

static void run_outer(const void *plan, const struct execution *execution)
{
    size_t bytes = outer_scratch(plan, execution->threads);
    unsigned char *scratch = execution->scratch;
    void *dst = execution->buffers[DST];
    memset(scratch, 0x22, bytes);
    implementation_run_nested(execution, 0, execution->buffers);
    implementation_run_nested(execution, 1, (void *[TENSOR_COUNT]){[SRC] = dst, [DST] = dst});
    for (size_t i = 0; i < bytes; i++)
        if (scratch[i] != 0x22)
            ((float *)dst)[0] = -1; /* the nested ones wrote into the holder's part */
}

static const struct algorithm outer_algorithm =
    ALGORITHM("outer", outer_scratch, run_outer, nest_two);
static const struct algorithm *const outer_algorithms[] = {&outer_algorithm};

static const struct operation outer = {.name = "outer",
                                       .check = check_anything,
                                       .algorithms = outer_algorithms,
                                       .algorithm_count = 1,
                                       .describe = describe_nothing};

/* ---- one whose nested ones both have hooks ---- */

static neo_status nest_hooks(struct implementation *implementation)
{
    struct description inner = problem_describe(&implementation->described);
    inner.operation = &counting_inner;
    neo_status status = implementation_nest(implementation, &inner);
    return status == NEO_OK ? implementation_nest(implementation, &inner) : status;
}

static const struct algorithm hooked_algorithm =
    ALGORITHM("hooked", outer_scratch, run_outer, nest_hooks);
static const struct algorithm *const hooked_algorithms[] = {&hooked_algorithm};

static const struct operation hooked = {.name = "hooked",
                                        .check = check_anything,
                                        .algorithms = hooked_algorithms,
                                        .algorithm_count = 1,
                                        .describe = describe_nothing};

/* ---- one that nests as much as is allowed, in two equal ways ---- */

static neo_status nest_most(struct implementation *implementation)
{
    struct description inner = problem_describe(&implementation->described);
    inner.operation = &counting_inner; /* each has a token */
    neo_status status = NEO_OK;
    for (int i = 0; i < MAX_NESTED && status == NEO_OK; i++)
        status = implementation_nest(implementation, &inner);
    return status;
}

static const struct algorithm first_algorithm =
    ALGORITHM("first", outer_scratch, run_outer, nest_most);
static const struct algorithm second_algorithm =
    ALGORITHM("second", outer_scratch, run_outer, nest_most);
static const struct algorithm *const equal_algorithms[] = {&first_algorithm, &second_algorithm};

static const struct operation equal = {.name = "equal",
                                       .check = check_anything,
                                       .algorithms = equal_algorithms,
                                       .algorithm_count = 2,
                                       .describe = describe_nothing};

/* One that nests too much. */
static neo_status nest_outers(struct implementation *implementation)
{
    struct description inner = problem_describe(&implementation->described);
    inner.operation = &outer;
    neo_status status = NEO_OK;
    for (int i = 0; i < MAX_NESTED + 1 && status == NEO_OK; i++)
        status = implementation_nest(implementation, &inner);
    return status;
}

static const struct algorithm greedy_algorithm =
    ALGORITHM("greedy", outer_scratch, run_outer, nest_outers);
static const struct algorithm *const greedy_algorithms[] = {&greedy_algorithm};

static const struct operation greedy = {.name = "greedy",
                                        .check = check_anything,
                                        .algorithms = greedy_algorithms,
                                        .algorithm_count = 1,
                                        .describe = describe_nothing};

/* ---- tests ---- */

static neo_status describe(neo_primitive_desc **out, const struct operation *operation,
                           neo_scratchpad_mode mode)
{
    neo_memory_desc desc;
    neo_attributes *attributes;
    *out = NULL;
    neo_status status = neo_attributes_create(&attributes);
    if (status != NEO_OK)
        return status;
    neo_memory_desc_init_tag(&desc, 1, (neo_dim[]){10}, NEO_F32, "a");
    neo_attributes_set_scratchpad_mode(attributes, mode);
    struct description description = {.operation = operation,
                                      .tensors = {[SRC] = &desc, [DST] = &desc},
                                      .attributes = attributes};
    status = primitive_desc_create(out, engine, &description);
    neo_attributes_destroy(attributes);
    return status;
}

static neo_primitive_desc *describe_outer(void)
{
    neo_primitive_desc *pd;
    assert_int_equal(describe(&pd, &outer, NEO_SCRATCHPAD_LIBRARY), NEO_OK);
    return pd;
}

static neo_cache_statistics statistics(void)
{
    neo_cache_statistics stats;
    assert_int_equal(neo_engine_get_cache_statistics(engine, &stats), NEO_OK);
    return stats;
}

static void check_execution(const neo_primitive *primitive, neo_stream *where)
{
    neo_memory *memories[2];
    neo_memory_desc desc;
    neo_memory_desc_init_tag(&desc, 1, (neo_dim[]){10}, NEO_F32, "a");
    float src[10], dst[10];
    for (int i = 0; i < 10; i++)
        src[i] = (float)i;
    assert_int_equal(neo_memory_create(&memories[0], &desc, engine, src), NEO_OK);
    assert_int_equal(neo_memory_create(&memories[1], &desc, engine, dst), NEO_OK);
    const neo_exec_arg args[] = {{NEO_ARG_SRC, memories[0]}, {NEO_ARG_DST, memories[1]}};
    assert_int_equal(neo_primitive_execute(primitive, where, 2, args), NEO_OK);
    for (int i = 0; i < 10; i++)
        assert_true(dst[i] == (float)i + 2);
    neo_memory_destroy(memories[0]);
    neo_memory_destroy(memories[1]);
}

static void a_holder_computes_with_what_it_nests(void **state)
{
    (void)state;
    neo_primitive_desc *pd = describe_outer();
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    check_execution(primitive, stream);
    neo_engine_clear_cache(engine); /* the nested ones are evicted before their holder goes */
    check_execution(primitive, stream);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    assert_int_equal(statistics().blocks_held, 0);
}

static void nested_ones_come_from_the_cache(void **state)
{
    (void)state;
    neo_primitive_desc *inner, *pd = describe_outer();
    assert_int_equal(statistics().misses, 3);
    assert_int_equal(statistics().entries, 3);
    assert_int_equal(describe(&inner, &plain_inner, NEO_SCRATCHPAD_LIBRARY), NEO_OK);
    assert_true(neo_primitive_desc_cache_hit(inner));
    assert_ptr_equal(inner->implementation, pd->implementation->nested[0]);
    neo_primitive_desc_destroy(inner);
    neo_primitive_desc_destroy(pd);
}

static void the_scratchpad_is_that_of_the_whole_tree(void **state)
{
    (void)state;
    neo_primitive_desc *pd = describe_outer(), *user;
    size_t own = round_up(OUTER_BYTES, SCRATCH_ALIGNMENT);
    size_t nested = 2 * round_up(INNER_BYTES, SCRATCH_ALIGNMENT);
    assert_int_equal(neo_primitive_desc_scratchpad_size(pd, 1), own + nested);
    assert_int_equal(describe(&user, &outer, NEO_SCRATCHPAD_USER), NEO_OK);
    assert_int_equal(neo_primitive_desc_scratchpad_size(user, 1), own + nested);
    neo_primitive_desc_destroy(user);
    neo_primitive_desc_destroy(pd);
}

static void each_create_is_destroyed_once(void **state)
{
    (void)state;
    neo_primitive_desc *pd = describe_outer();
    neo_primitive *primitives[5];
    created = destroyed = 0;
    for (int i = 0; i < 5; i++)
        assert_int_equal(neo_primitive_create(&primitives[i], pd), NEO_OK);
    assert_int_equal(created, 5);
    assert_int_equal(statistics().blocks_held, 10); /* one of the holder, one of the hook */
    for (int i = 0; i < 5; i++)
        neo_primitive_destroy(primitives[i]);
    assert_int_equal(destroyed, 5);
    assert_int_equal(statistics().blocks_held, 0);
    neo_primitive_desc_destroy(pd);
}

static void a_create_that_fails_in_a_nested_one_takes_everything_back(void **state)
{
    (void)state;
    neo_primitive_desc *pd = describe_outer();
    neo_primitive *primitive;
    created = destroyed = 0;
    failing_create = 1;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OUT_OF_MEMORY);
    assert_null(primitive);
    assert_int_equal(created, 0);
    assert_int_equal(destroyed, 0);
    assert_int_equal(statistics().blocks_held, 0);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK); /* and the next one works */
    check_execution(primitive, stream);
    neo_primitive_destroy(primitive);
    assert_int_equal(destroyed, created);
    neo_primitive_desc_destroy(pd);
}

static void a_create_that_fails_in_the_second_takes_the_first_back(void **state)
{
    (void)state;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(describe(&pd, &hooked, NEO_SCRATCHPAD_LIBRARY), NEO_OK);
    created = destroyed = 0;
    failing_create = 2;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OUT_OF_MEMORY);
    assert_int_equal(created, 1);
    assert_int_equal(destroyed, 1);
    assert_int_equal(statistics().blocks_held, 0);
    neo_primitive_desc_destroy(pd);
}

static void no_failing_allocation_unbalances_create_and_destroy(void **state)
{
    (void)state;
    bool delivered = true;
    for (size_t n = 1; delivered; n++) {
        neo_primitive_desc *pd;
        neo_primitive *primitive = NULL;
        session_teardown(NULL);
        assert_int_equal(session_setup_single(NULL), 0);
        created = destroyed = 0;
        fault_arm(n);
        neo_status status = describe(&pd, &outer, NEO_SCRATCHPAD_LIBRARY);
        if (status == NEO_OK)
            status = neo_primitive_create(&primitive, pd);
        delivered = fault_disarm();
        assert_true(status == NEO_OK || (delivered && status == NEO_OUT_OF_MEMORY));
        neo_primitive_destroy(primitive);
        neo_primitive_desc_destroy(pd);
        assert_int_equal(destroyed, created);
        assert_int_equal(statistics().blocks_held, 0);
    }
}

static void a_tree_that_grows_too_large_is_refused(void **state)
{
    (void)state;
    neo_primitive_desc *pd;
    neo_set_verbose(0);
    assert_int_equal(describe(&pd, &greedy, NEO_SCRATCHPAD_LIBRARY), NEO_UNSUPPORTED);
    assert_null(pd);
}

static void a_tree_of_the_largest_size_is_accepted(void **state)
{
    (void)state;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(describe(&pd, &equal, NEO_SCRATCHPAD_LIBRARY), NEO_OK);
    assert_int_equal(pd->implementation->token_count, MAX_TOKENS);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    check_execution(primitive, stream);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

static void equal_estimates_keep_the_operation_s_order(void **state)
{
    (void)state;
    neo_primitive_desc *pd;
    assert_int_equal(describe(&pd, &equal, NEO_SCRATCHPAD_LIBRARY), NEO_OK);
    assert_string_equal(neo_primitive_desc_algorithm(pd), "first");
    assert_int_equal(neo_primitive_desc_next(pd), NEO_OK);
    assert_string_equal(neo_primitive_desc_algorithm(pd), "second");
    assert_int_equal(neo_primitive_desc_next(pd), NEO_LAST_IMPLEMENTATION);
    neo_primitive_desc_destroy(pd);
}

static void nested_ones_work_with_the_cache_off_and_full(void **state)
{
    (void)state;
    for (size_t entries = 0; entries < 3; entries++) {
        neo_engine_set_cache_capacity(engine, (neo_cache_capacity){entries, SIZE_MAX});
        neo_primitive_desc *pd = describe_outer();
        neo_primitive *primitive;
        assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
        check_execution(primitive, stream);
        neo_primitive_destroy(primitive);
        neo_primitive_desc_destroy(pd);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup_single, session_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_holder_computes_with_what_it_nests),
        TEST(nested_ones_come_from_the_cache),
        TEST(the_scratchpad_is_that_of_the_whole_tree),
        TEST(each_create_is_destroyed_once),
        TEST(a_create_that_fails_in_a_nested_one_takes_everything_back),
        TEST(a_create_that_fails_in_the_second_takes_the_first_back),
        TEST(no_failing_allocation_unbalances_create_and_destroy),
        TEST(a_tree_that_grows_too_large_is_refused),
        TEST(a_tree_of_the_largest_size_is_accepted),
        TEST(equal_estimates_keep_the_operation_s_order),
        TEST(nested_ones_work_with_the_cache_off_and_full),
    };
    return cmocka_run_group_tests_name("primitive_nested", tests, NULL, NULL);
}
