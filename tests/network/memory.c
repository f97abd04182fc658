/* The memory of networks: plans, arenas, allocations, shapes that change. */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cases/graph.h"
#include "tests/support/fault.h"
#include "tests/support/temporary.h"

/* ---- plans and arenas ---- */

static void a_chain_needs_two_tensors_and_a_workspace(void **state)
{
    fixture *f = *state;
    for (int order = 0; order < 2; order++) {
        neo_network *net = graph_chain(f, 20, 1024, (neo_network_order)order);
        neo_network_report report;
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        assert_int_equal(neo_network_get_report(net, &report), NEO_OK);
        assert_int_equal(report.planned_bytes, 2 * 4096 + 256);
        assert_int_equal(report.lower_bound_bytes, report.planned_bytes);
        assert_int_equal(report.no_reuse_bytes, 20 * (4096 + 256));
        assert_true(report.optimal);
        neo_network_destroy(net);
    }
}

static void a_warm_execution_allocates_nothing(void **state)
{
    fixture *f = *state;
    uint32_t values[64] = {1};
    for (int order = 0; order < 2; order++) {
        neo_network *net = graph_chain(f, 20, 64, (neo_network_order)order);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        neo_network_bind(net, 0, values);
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        size_t allocations = fault_allocations();
        for (int i = 0; i < 10; i++)
            assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        assert_int_equal(fault_allocations(), allocations);
        neo_network_destroy(net);
    }
}

static void the_plan_is_dumped_as_a_table(void **state)
{
    fixture *f = *state;
    neo_network *net = graph_chain(f, 2, 32, NEO_NETWORK_IN_ORDER);
    const char *path = temporary_file("plan");
    char line[128];
    assert_int_equal(neo_network_dump_plan(net, path), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    assert_int_equal(neo_network_dump_plan(net, path), NEO_OK);
    assert_int_equal(neo_network_dump_plan(net, "/nonexistent/plan"), NEO_IO_ERROR);
    FILE *file = fopen(path, "r");
    int lines = 0;
    bool has_workspace = false;
    while (fgets(line, sizeof line, file)) {
        if (lines++ == 0)
            assert_string_equal(line, "name,start,finish,offset,size\n");
        has_workspace |= strncmp(line, "t2.workspace,1,1,", 17) == 0 ||
                         strncmp(line, "t2.workspace,1,-1,", 18) == 0;
    }
    assert_int_equal(lines, 5); /* t1, t2 and two workspaces */
    assert_true(has_workspace);
    fclose(file);
    neo_network_destroy(net);
}

static void read_file(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, room - 1, file)] = 0;
    fclose(file);
}

static void the_arena_is_dumped_with_its_users(void **state)
{
    fixture *f = *state;
    neo_network *net = graph_chain(f, 2, 32, NEO_NETWORK_IN_ORDER);
    const char *path = temporary_file("pool");
    char text[1024], expected[1024];
    assert_int_equal(neo_network_dump_pool(net, path, NEO_DUMP_CSV), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    assert_int_equal(neo_network_dump_pool(net, path, NEO_DUMP_CSV), NEO_OK);
    read_file(path, text, sizeof text);
    char where[32] = "";
    assert_int_equal(sscanf(strchr(text, '\n'), "\narena,,%31[^,]", where), 1);
    snprintf(expected, sizeof expected,
             "pool_type,layout,mem_ptr,mem_type,mem_pool_size,prim_id,unique_id,mem_size\n"
             "arena,,%s,heap,512,t1,1,128\n"
             "arena,,%s,heap,512,t2,2,128\n"
             "arena,,%s,heap,512,t1,3,256\n"
             "arena,,%s,heap,512,t2,4,256\n",
             where, where, where, where);
    assert_string_equal(text, expected);
    assert_int_equal(neo_network_dump_pool(net, path, NEO_DUMP_TEXT), NEO_OK);
    read_file(path, text, sizeof text);
    assert_non_null(strstr(text, "efficiency 150.0 %, lower bound 512 bytes"));
    neo_network_destroy(net);
}

/* The arena is the sum of what a plan has at once, so a budget that is smaller by a byte moves all
 * of it to the next kind. */
static void an_arena_beyond_the_budget_of_its_kind_is_on_the_heap(void **state)
{
    fixture *f = *state;
    /* Whole pages, of any size: those of a kind are counted so. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), arena = page > 16384 ? page : 16384;
    const neo_dim values = (neo_dim)arena / 8;
    for (int i = -1; i <= 1; i++) {
        neo_engine_set_memory_budget(f->engine, NEO_KIND_SHARED, arena + (size_t)i);
        neo_network *net;
        neo_network_options options = {.kind = NEO_KIND_SHARED};
        assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
        int in = graph_tensor(net, "in", NEO_TENSOR_INPUT, values);
        int a = graph_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, values);
        int out = graph_tensor(net, "out", NEO_TENSOR_OUTPUT, values);
        graph_node(net, "n0", graph_mix, NULL, in, -1, a, 0);
        graph_node(net, "n1", graph_mix, NULL, a, -1, out, 0);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        neo_memory_usage usage;
        neo_engine_get_memory_usage(f->engine, NEO_KIND_SHARED, &usage);
        assert_int_equal(usage.current, i < 0 ? 0 : arena);
        neo_network_report report;
        neo_network_get_report(net, &report);
        assert_int_equal(report.arena_bytes, arena);
        neo_network_destroy(net);
    }
}

typedef struct runner {
    neo_engine *engine;
    neo_network *net;
    uint32_t values[1000], faults;
} runner;

static void *run_often(void *argument)
{
    runner *r = argument;
    neo_stream *stream;
    if (neo_stream_create(&stream, r->engine, NULL) != NEO_OK)
        return NULL;
    for (uint32_t round = 0; round < 40; round++) {
        for (size_t i = 0; i < count_of(r->values); i++)
            r->values[i] += 7 * round;
        r->faults += neo_network_execute(r->net, stream) != NEO_OK;
        const uint32_t *got = neo_network_data(r->net, 6);
        for (size_t i = 0; i < count_of(r->values); i++) {
            uint32_t x = r->values[i];
            for (int k = 0; k < 6; k++)
                x = 3 * x + 1;
            r->faults += got[i] != x;
        }
    }
    neo_stream_destroy(stream);
    return r;
}

static void networks_of_one_engine_run_at_once_in_arenas_of_their_own(void **state)
{
    fixture *f = *state;
    static runner runners[2];
    pthread_t threads[2];
    for (uint32_t i = 0; i < 2; i++) {
        runners[i] = (runner){.engine = f->engine, .values = {i}};
        runners[i].net = graph_chain(f, 6, 1000, (neo_network_order)i);
        assert_int_equal(neo_network_finalize(runners[i].net), NEO_OK);
        neo_network_bind(runners[i].net, 0, runners[i].values);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, &runners[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_non_null(result);
        assert_int_equal(runners[i].faults, 0);
        neo_network_destroy(runners[i].net);
    }
}

/* ---- shapes that change ---- */

static void growing_shapes_need_few_allocations(void **state)
{
    fixture *f = *state;
    static uint32_t values[2048];
    neo_network *net = graph_chain(f, 4, 1, NEO_NETWORK_IN_ORDER);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    neo_network_bind(net, 0, values);
    for (neo_dim n = 2; n <= 1000; n++) {
        graph_reshape_chain(net, 4, n);
        values[n - 1] = (uint32_t)n;
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        uint32_t x = (uint32_t)n;
        for (int i = 0; i < 4; i++)
            x = 3 * x + 1;
        assert_int_equal(((uint32_t *)neo_network_data(net, 4))[n - 1], x);
    }
    neo_network_report report;
    neo_network_get_report(net, &report);
    print_message("1000 shapes: %llu plans, %llu allocations\n",
                  (unsigned long long)report.plans_made,
                  (unsigned long long)report.arena_allocations);
    assert_true(report.plans_made <= 94);
    assert_true(report.arena_allocations <= 94);
    assert_int_equal(report.plans_made + report.plans_kept + report.plans_reused, 1000);
    neo_network_destroy(net);
}

static void a_shape_that_comes_again_finds_its_plan(void **state)
{
    fixture *f = *state;
    neo_network *net = graph_chain(f, 4, 100000, NEO_NETWORK_IN_ORDER);
    neo_network_report report;
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    graph_reshape_chain(net, 4, 100); /* a thousandth: another plan */
    graph_reshape_chain(net, 4, 100000);
    neo_network_get_report(net, &report);
    assert_int_equal(report.plans_made, 2);
    assert_int_equal(report.plans_reused, 1);
    assert_true(report.arena_bytes >= 800000);
    size_t allocations = fault_allocations();
    graph_reshape_chain(net, 4, 90000); /* fits: nothing happens */
    assert_int_equal(fault_allocations(), allocations);
    neo_network_get_report(net, &report);
    assert_int_equal(report.plans_kept, 1);
    neo_network_destroy(net);
}

/* Each size is less than a tenth of the one before, so that it gets a plan of its own. */
static void the_plan_that_was_not_used_for_longest_makes_room(void **state)
{
    fixture *f = *state;
    neo_network *net = graph_chain_with(f, 4, 1000000, &(neo_network_options){.max_plans = 2});
    neo_network_report report;
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    graph_reshape_chain(net, 4, 90000);
    graph_reshape_chain(net, 4, 8000); /* instead of the first one */
    neo_network_get_report(net, &report);
    assert_int_equal(report.plans_made, 3);
    graph_reshape_chain(net, 4, 90000);
    neo_network_get_report(net, &report);
    assert_int_equal(report.plans_reused, 1);
    graph_reshape_chain(net, 4, 1000000);
    neo_network_get_report(net, &report);
    assert_int_equal(report.plans_made, 4);
    neo_network_destroy(net);
}

static void a_failed_reshape_can_be_repeated(void **state)
{
    fixture *f = *state;
    uint32_t *values = calloc(4000, sizeof *values);
    neo_tensor_shape shapes[4];
    for (int i = 0; i < 4; i++)
        shapes[i] = (neo_tensor_shape){i, graph_vector(4000)};
    neo_status status = NEO_OUT_OF_MEMORY;
    for (size_t n = 1; status != NEO_OK; n++) {
        neo_network *net = graph_chain(f, 3, 10, NEO_NETWORK_OUT_OF_ORDER);
        assert_int_equal(neo_network_finalize(net), NEO_OK);
        neo_network_bind(net, 0, values);
        fault_arm(n);
        status = neo_network_reshape(net, 4, shapes);
        bool delivered = fault_disarm();
        if (status != NEO_OK) {
            assert_true(delivered);
            assert_int_equal(neo_network_execute(net, f->stream), NEO_INVALID_ARGUMENT);
            assert_int_equal(neo_network_reshape(net, 4, shapes), NEO_OK);
        }
        assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
        assert_int_equal(((uint32_t *)neo_network_data(net, 3))[3999], 13);
        neo_network_destroy(net);
        assert_true(n < 200);
    }
    free(values);
}

static void no_failed_allocation_leaks_or_crashes(void **state)
{
    fixture *f = *state;
    for (int order = 0; order < 2; order++) {
        bool delivered = true;
        for (size_t n = 1; delivered; n++) {
            fault_arm(n);
            neo_network *net = graph_chain(f, 3, 10, (neo_network_order)order);
            neo_status status = net ? neo_network_finalize(net) : NEO_OUT_OF_MEMORY;
            delivered = fault_disarm();
            assert_true(delivered || status == NEO_OK);
            if (net && status != NEO_OK) {
                assert_int_equal(status, NEO_OUT_OF_MEMORY);
                assert_int_equal(neo_network_finalize(net), NEO_OK); /* the next call works */
            }
            neo_network_destroy(net);
            assert_true(n < 500);
        }
    }
}

static void destroying_a_network_returns_its_memory(void **state)
{
    fixture *f = *state;
    neo_memory_usage before, during, after;
    neo_engine_get_memory_usage(f->engine, NEO_KIND_ALL, &before);
    neo_network *net = graph_chain(f, 5, 5000, NEO_NETWORK_IN_ORDER);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    neo_engine_get_memory_usage(f->engine, NEO_KIND_ALL, &during);
    assert_true(during.current >= before.current + 40000);
    neo_network_destroy(net);
    neo_engine_get_memory_usage(f->engine, NEO_KIND_ALL, &after);
    assert_int_equal(after.current, before.current);
}

static void geometric_growth_needs_a_handful_of_allocations(void **state)
{
    fixture *f = *state;
    neo_shape_predictor_settings settings;
    neo_shape_predictor_get_default_settings(&settings);
    settings.flags = NEO_PREDICTOR_GEOMETRIC;
    neo_network_options options = {.prediction = &settings};
    neo_network *net;
    assert_int_equal(neo_network_create(&net, f->engine, &options), NEO_OK);
    int in = graph_tensor(net, "in", NEO_TENSOR_INPUT, 64);
    int a = graph_tensor(net, "a", NEO_TENSOR_INTERMEDIATE, 64);
    int out = graph_tensor(net, "out", NEO_TENSOR_OUTPUT, 64);
    graph_node(net, "n0", graph_mix, NULL, in, -1, a, 0);
    graph_node(net, "n1", graph_mix, NULL, a, -1, out, 0);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    neo_network_report report;
    for (neo_dim n = 2; n <= 1000; n++) {
        neo_tensor_shape shapes[3] = {
            {in, graph_vector(64 * n)}, {a, graph_vector(64 * n)}, {out, graph_vector(64 * n)}};
        assert_int_equal(neo_network_reshape(net, 3, shapes), NEO_OK);
        neo_network_get_report(net, &report);
        assert_true(report.arena_bytes <= (size_t)(2 * 64 * 4 * n) * 3 / 2 + 256);
    }
    assert_true(report.arena_allocations <= 20);
    neo_network_destroy(net);
}

static void a_reshape_beyond_the_limit_fails_and_the_next_one_works(void **state)
{
    fixture *f = *state;
    uint32_t *values = calloc(1000, sizeof *values);
    neo_engine_set_memory_limits(f->engine, 0, (size_t)1 << 20);
    neo_network *net = graph_chain(f, 3, 1000, NEO_NETWORK_IN_ORDER);
    assert_int_equal(neo_network_finalize(net), NEO_OK);
    neo_tensor_shape shapes[4];
    for (int i = 0; i < 4; i++)
        shapes[i] = (neo_tensor_shape){i, graph_vector(1 << 20)};
    assert_int_equal(neo_network_reshape(net, 4, shapes), NEO_OUT_OF_MEMORY);
    graph_reshape_chain(net, 3, 900);
    neo_network_bind(net, 0, values);
    assert_int_equal(neo_network_execute(net, f->stream), NEO_OK);
    neo_network_destroy(net);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GRAPH_TEST(a_chain_needs_two_tensors_and_a_workspace),
        GRAPH_TEST(a_warm_execution_allocates_nothing),
        GRAPH_TEST(the_plan_is_dumped_as_a_table),
        GRAPH_TEST(the_arena_is_dumped_with_its_users),
        GRAPH_TEST(an_arena_beyond_the_budget_of_its_kind_is_on_the_heap),
        GRAPH_TEST(networks_of_one_engine_run_at_once_in_arenas_of_their_own),
        GRAPH_TEST(growing_shapes_need_few_allocations),
        GRAPH_TEST(a_shape_that_comes_again_finds_its_plan),
        GRAPH_TEST(the_plan_that_was_not_used_for_longest_makes_room),
        GRAPH_TEST(a_failed_reshape_can_be_repeated),
        GRAPH_TEST(no_failed_allocation_leaks_or_crashes),
        GRAPH_TEST(destroying_a_network_returns_its_memory),
        GRAPH_TEST(geometric_growth_needs_a_handful_of_allocations),
        GRAPH_TEST(a_reshape_beyond_the_limit_fails_and_the_next_one_works),
    };
    return cmocka_run_group_tests_name("network memory", tests, NULL, NULL);
}
