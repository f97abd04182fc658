/* What a warm primitive costs: no allocation and no system call, for every algorithm of every
 * operation, whoever brings the scratchpad. */
#include "tests/support/test.h"

#include <stdio.h>

#include "tests/support/cases/primitives.h"
#include "tests/support/fault.h"
#include "tests/support/rounds.h"
#include "tests/support/sandbox.h"

enum { ALGORITHMS = 20 /* at least */ };

/* One implementation of one problem, and what its executions need. */
struct subject {
    struct primitive_problem problem;
    int index;
    bool user_scratchpad;
    int cycles;
    neo_engine *engine;
    neo_stream *stream;
    struct primitive_args args;
};

static void subject_init(struct subject *s, size_t number, bool user_scratchpad)
{
    const neo_stream_options one = {.max_threads = 1};
    *s = (struct subject){.user_scratchpad = user_scratchpad,
                          .cycles = (int)rounds_count(100, 10000)};
    assert_int_equal(neo_engine_create(&s->engine), NEO_OK);
    assert_int_equal(neo_stream_create(&s->stream, s->engine, &one), NEO_OK);
    primitive_problem_init(&s->problem, s->engine, number, user_scratchpad);
}

static void subject_deinit(struct subject *s)
{
    primitive_problem_deinit(&s->problem);
    neo_stream_destroy(s->stream);
    neo_engine_destroy(s->engine);
}

static neo_primitive_desc *describe(const struct subject *s)
{
    neo_primitive_desc *pd;
    neo_status status = primitive_problem_describe(&pd, s->engine, &s->problem, s->index);
    if (status != NEO_OK && status != NEO_LAST_IMPLEMENTATION)
        fail_msg("%s: status %d", s->problem.name, (int)status);
    return pd;
}

/* Calls visit for every algorithm of every operation, each in a new engine. */
static void for_each_algorithm(bool user_scratchpad, void (*visit)(struct subject *s))
{
    int visits = 0;
    for (size_t i = 0; i < primitive_problem_count; i++) {
        bool is_there = true;
        for (int index = 0; is_there; index++) {
            struct subject s;
            subject_init(&s, i, user_scratchpad);
            s.index = index;
            neo_primitive_desc *pd = describe(&s);
            is_there = pd != NULL;
            if (is_there) {
                s.args = primitive_args_make(s.engine, pd, 1, 1);
                neo_primitive_desc_destroy(pd);
                visit(&s);
                primitive_args_free(&s.args);
                visits++;
            }
            subject_deinit(&s);
        }
    }
    assert_true(visits >= ALGORITHMS);
}

/* The whole life of a handle, from its description on. */
static int live_once(void *context)
{
    const struct subject *s = context;
    neo_primitive_desc *pd;
    neo_primitive *primitive = NULL;
    neo_status status = primitive_problem_describe(&pd, s->engine, &s->problem, s->index);
    if (status == NEO_OK)
        status = neo_primitive_create(&primitive, pd);
    if (status == NEO_OK)
        status = neo_primitive_execute(primitive, s->stream, s->args.count, s->args.list);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    return status != NEO_OK;
}

static int live_often(void *context)
{
    const struct subject *s = context;
    int failures = 0;
    for (int i = 0; i < s->cycles; i++)
        failures += live_once(context);
    return failures;
}

static void count_allocations(struct subject *s)
{
    assert_int_equal(live_once(s), 0);
    size_t before = fault_allocations();
    int failures = live_often(s);
    size_t made = fault_allocations() - before;
    if (failures || made)
        fail_msg("%s, implementation %d: %d failures, %zu allocations", s->problem.name, s->index,
                 failures, made);
}

static void warm_primitives_allocate_nothing(void **state)
{
    (void)state;
    for_each_algorithm(false, count_allocations);
    for_each_algorithm(true, count_allocations);
}

static void watch_system_calls(struct subject *s)
{
    int call = sandbox_run(live_once, live_often, s);
    if (call)
        fail_msg("%s, implementation %d: system call %d", s->problem.name, s->index, call);
}

static void warm_primitives_make_no_system_call(void **state)
{
    (void)state;
    if (!sandbox_is_possible()) {
        print_message("system calls cannot be watched in an emulator or a sanitizer\n");
        skip();
    }
    for_each_algorithm(false, watch_system_calls);
    for_each_algorithm(true, watch_system_calls);
}

/* The filter works: it sees what is there. */
static int do_nothing(void *context)
{
    (void)context;
    return 0;
}

static int call_the_system(void *context)
{
    (void)context;
    FILE *file = fopen("/dev/null", "r");
    return file == NULL;
}

static void the_sandbox_sees_a_system_call(void **state)
{
    (void)state;
    if (!sandbox_is_possible())
        skip();
    assert_int_equal(sandbox_run(do_nothing, do_nothing, NULL), 0);
    assert_true(sandbox_run(do_nothing, call_the_system, NULL) > 0);
}

static void execute_at_once(struct subject *s)
{
    neo_primitive_desc *pd = describe(s);
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    size_t before = fault_allocations();
    neo_status status = neo_primitive_execute(primitive, s->stream, s->args.count, s->args.list);
    size_t made = fault_allocations() - before;
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    if (status != NEO_OK || made)
        fail_msg("%s, implementation %d: status %d, %zu allocations", s->problem.name, s->index,
                 (int)status, made);
}

static void the_first_execution_allocates_nothing(void **state)
{
    (void)state;
    for_each_algorithm(true, execute_at_once);
    for_each_algorithm(false, execute_at_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sandbox_sees_a_system_call),
        cmocka_unit_test(warm_primitives_make_no_system_call),
        cmocka_unit_test(warm_primitives_allocate_nothing),
        cmocka_unit_test(the_first_execution_allocates_nothing),
    };
    return cmocka_run_group_tests_name("primitive_warm", tests, NULL, NULL);
}
