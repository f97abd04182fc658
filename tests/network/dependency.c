/* Dependency sets against their definition, by brute force on random graphs. */
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "src/memory/plan/bitset.h"
#include "src/memory/plan/check.h"
#include "src/memory/plan/interval_plan.h"
#include "src/network/dependency.h"
#include "tests/support/fault.h"
#include "tests/support/random.h"
#include "tests/support/rounds.h"

#define NONE DEPENDENCY_NONE
#define MAX_NODES 64

/* A graph in which node i writes buffer i. */
typedef struct fixture {
    dependency_graph graph;
    dependency_buffer buffers[MAX_NODES];
    dependency_read reads[MAX_NODES * MAX_NODES];
    dependency_edge edges[MAX_NODES];
    uint64_t rows[MAX_NODES];
} fixture;

static void begin(fixture *f, size_t nodes)
{
    memset(&f->graph, 0, sizeof f->graph);
    f->graph.node_count = f->graph.buffer_count = nodes;
    f->graph.buffers = f->buffers;
    f->graph.reads = f->reads;
    f->graph.edges = f->edges;
    for (uint32_t i = 0; i < nodes; i++)
        f->buffers[i] = (dependency_buffer){i, 0, NONE, NONE};
}

static void read_by(fixture *f, uint32_t buffer, uint32_t node)
{
    f->reads[f->graph.read_count++] = (dependency_read){buffer, node};
}

static bool conflict(fixture *f, dependency_order order, size_t a, size_t b)
{
    assert_int_equal(dependency_conflicts(&f->graph, order, f->rows), NEO_OK);
    assert_int_equal(bitset_has(f->rows + a, b), bitset_has(f->rows + b, a));
    return bitset_has(f->rows + a, b);
}

/* ---- the definition, word by word ---- */

typedef struct truth {
    bool before[MAX_NODES][MAX_NODES]; /* before[r][b]: node r happens before node b */
    bool conflict[MAX_NODES][MAX_NODES];
} truth;

static void find_order(const dependency_graph *graph, dependency_order order, truth *t)
{
    size_t n = graph->node_count;
    memset(t, 0, sizeof *t);
    for (size_t r = 0; r < n && order == DEPENDENCY_IN_ORDER; r++)
        for (size_t b = r + 1; b < n; b++)
            t->before[r][b] = true;
    for (size_t i = 0; i < graph->read_count; i++)
        t->before[graph->buffers[graph->reads[i].buffer].writer][graph->reads[i].node] = true;
    for (size_t i = 0; i < graph->edge_count; i++)
        t->before[graph->edges[i].before][graph->edges[i].after] = true;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; t->before[i][k] && j < n; j++)
                t->before[i][j] |= t->before[k][j];
}

/* Whose bytes a reader of buffer i gets when the writers in skipped are skipped. */
static uint32_t source_of(const dependency_graph *graph, uint64_t skipped, uint32_t i)
{
    while (skipped >> i & 1)
        i = graph->buffers[i].stands_in;
    return i;
}

static bool reuse_is_safe(const dependency_graph *graph, const truth *t, uint64_t skipped,
                          uint32_t a, uint32_t b)
{
    if (graph->buffers[a].flags & DEPENDENCY_OUTPUT || !t->before[a][b])
        return false;
    for (size_t i = 0; i < graph->read_count; i++) {
        const dependency_read *read = &graph->reads[i];
        bool ran = !(skipped >> read->node & 1); /* a skipped node reads nothing itself */
        if (ran && source_of(graph, skipped, read->buffer) == a && !t->before[read->node][b])
            return false;
    }
    for (uint32_t i = 0; i < graph->buffer_count; i++)
        if (graph->buffers[i].flags & DEPENDENCY_OUTPUT && source_of(graph, skipped, i) == a)
            return false;
    return true;
}

static void find_truth(const dependency_graph *graph, dependency_order order, truth *t)
{
    uint64_t skippable = 0;
    find_order(graph, order, t);
    for (uint32_t i = 0; i < graph->buffer_count; i++)
        skippable |= (uint64_t)(graph->buffers[i].stands_in != NONE) << i;
    uint64_t skipped = 0;
    do { /* all subsets of skippable */
        for (uint32_t a = 0; a < graph->buffer_count; a++)
            for (uint32_t b = 0; b < a; b++)
                if (!(skipped >> a & 1) && !(skipped >> b & 1) &&
                    !reuse_is_safe(graph, t, skipped, a, b) &&
                    !reuse_is_safe(graph, t, skipped, b, a))
                    t->conflict[a][b] = t->conflict[b][a] = true;
        skipped = (skipped - skippable) & skippable;
    } while (skipped);
}

/* Half of the graphs have nodes that may be skipped, at most four. */
static void fill_random(fixture *f, uint64_t *seed)
{
    size_t most = random_below(seed, 8) ? 16 : MAX_NODES;
    begin(f, 2 + random_below(seed, most - 1));
    size_t skips = random_below(seed, 2) ? 4 : 0, density = 1 + random_below(seed, 3);
    for (uint32_t node = 0; node < f->graph.node_count; node++) {
        uint32_t source = NONE;
        for (size_t k = random_below(seed, density + 1); node && k; k--) {
            source = (uint32_t)random_below(seed, node);
            read_by(f, source, node);
        }
        if (source != NONE && skips && random_below(seed, 3) == 0) {
            f->buffers[node].stands_in = source;
            skips--;
        }
        if (random_below(seed, 12) == 0)
            f->buffers[node].flags = DEPENDENCY_OUTPUT;
        if (node && random_below(seed, 16) == 0)
            f->edges[f->graph.edge_count++] =
                (dependency_edge){(uint32_t)random_below(seed, node), node};
    }
}

static void compare_with_truth(fixture *f, dependency_order order, uint64_t seed)
{
    static truth t;
    size_t n = f->graph.buffer_count;
    find_truth(&f->graph, order, &t);
    assert_int_equal(dependency_conflicts(&f->graph, order, f->rows), NEO_OK);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            if (bitset_has(f->rows + a, b) != t.conflict[a][b])
                fail_msg("seed %llu, order %d, buffers %zu and %zu: conflict %d, should be %d",
                         (unsigned long long)seed, order, a, b, !t.conflict[a][b],
                         t.conflict[a][b]);
}

static void random_graphs_match_the_definition(void **state)
{
    (void)state;
    static fixture f;
    size_t rounds = rounds_count(2000, 100000);
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        uint64_t random = seed;
        fill_random(&f, &random);
        compare_with_truth(&f, DEPENDENCY_IN_ORDER, seed);
        compare_with_truth(&f, DEPENDENCY_OUT_OF_ORDER, seed);
    }
}

static void in_order_conflicts_are_overlaps_of_lives(void **state)
{
    (void)state;
    static fixture f;
    int64_t starts[MAX_NODES], finishes[MAX_NODES];
    for (uint64_t seed = 1; seed <= 500; seed++) {
        uint64_t random = seed;
        fill_random(&f, &random);
        assert_int_equal(dependency_conflicts(&f.graph, DEPENDENCY_IN_ORDER, f.rows), NEO_OK);
        assert_int_equal(dependency_lives(&f.graph, starts, finishes), NEO_OK);
        for (size_t a = 0; a < f.graph.buffer_count; a++)
            for (size_t b = 0; b < a; b++) {
                bool overlap = (finishes[a] < 0 || starts[b] <= finishes[a]) &&
                               (finishes[b] < 0 || starts[a] <= finishes[b]);
                assert_int_equal(bitset_has(f.rows + a, b), overlap);
            }
    }
}

static void what_is_safe_out_of_order_is_safe_in_order(void **state)
{
    (void)state;
    static fixture f;
    uint64_t in_order[MAX_NODES];
    for (uint64_t seed = 1; seed <= 500; seed++) {
        uint64_t random = seed;
        fill_random(&f, &random);
        assert_int_equal(dependency_conflicts(&f.graph, DEPENDENCY_IN_ORDER, in_order), NEO_OK);
        assert_int_equal(dependency_conflicts(&f.graph, DEPENDENCY_OUT_OF_ORDER, f.rows), NEO_OK);
        for (size_t i = 0; i < f.graph.buffer_count; i++)
            assert_int_equal(in_order[i] & ~f.rows[i], 0);
    }
}

/* ---- by hand ---- */

static void two_branches_that_meet_keep_apart_out_of_order(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 5);
    read_by(&f, 0, 2);
    read_by(&f, 1, 3);
    read_by(&f, 2, 4);
    read_by(&f, 3, 4);
    assert_true(conflict(&f, DEPENDENCY_OUT_OF_ORDER, 0, 3)); /* 3 may run before 2 has read 0 */
    assert_true(conflict(&f, DEPENDENCY_OUT_OF_ORDER, 1, 2));
    assert_false(conflict(&f, DEPENDENCY_IN_ORDER, 0, 3));
    assert_true(conflict(&f, DEPENDENCY_IN_ORDER, 1, 2));
    assert_false(conflict(&f, DEPENDENCY_OUT_OF_ORDER, 0, 4));
    assert_true(conflict(&f, DEPENDENCY_OUT_OF_ORDER, 2, 4)); /* 4 reads 2 while it writes */
}

static void outputs_are_kept_to_the_end(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 4);
    for (uint32_t i = 0; i < 3; i++)
        read_by(&f, i, i + 1);
    assert_false(conflict(&f, DEPENDENCY_IN_ORDER, 1, 3));
    f.buffers[1].flags = DEPENDENCY_OUTPUT;
    assert_true(conflict(&f, DEPENDENCY_IN_ORDER, 1, 3));
    assert_true(conflict(&f, DEPENDENCY_OUT_OF_ORDER, 1, 3));
    f.buffers[1].flags |= DEPENDENCY_EXTERNAL;
    assert_false(conflict(&f, DEPENDENCY_IN_ORDER, 1, 3));
}

static void what_is_there_from_the_start_reuses_nothing(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 4);
    f.buffers[3].writer = NONE; /* an input that is read late */
    read_by(&f, 0, 1);
    read_by(&f, 1, 2);
    read_by(&f, 3, 3);
    assert_true(conflict(&f, DEPENDENCY_IN_ORDER, 0, 3));
    assert_true(conflict(&f, DEPENDENCY_IN_ORDER, 2, 3));
}

static void a_chain_of_aliases_is_one_box_used_by_all_its_readers(void **state)
{
    (void)state;
    fixture f;
    /* 0 → view 1 → view 2 → 3 (reads 2) → 4; node 4 still reads 0: a sum */
    begin(&f, 6);
    f.buffers[1].alias_of = 0;
    f.buffers[2].alias_of = 1;
    for (uint32_t i = 0; i < 5; i++)
        read_by(&f, i, i + 1);
    assert_false(conflict(&f, DEPENDENCY_OUT_OF_ORDER, 1, 4));
    read_by(&f, 0, 4);
    for (size_t i = 0; i < 3; i++) {
        assert_true(conflict(&f, DEPENDENCY_OUT_OF_ORDER, i, 3));
        assert_true(conflict(&f, DEPENDENCY_OUT_OF_ORDER, i, 4));
        assert_false(conflict(&f, DEPENDENCY_OUT_OF_ORDER, i, 5));
        assert_false(conflict(&f, DEPENDENCY_OUT_OF_ORDER, i, (i + 1) % 3));
    }
}

static void an_in_place_write_needs_a_dead_value(void **state)
{
    (void)state;
    fixture f;
    size_t at = 99;
    begin(&f, 5);
    read_by(&f, 0, 1);
    read_by(&f, 0, 2);
    read_by(&f, 1, 3);
    f.buffers[2].alias_of = 0;
    f.buffers[2].flags = DEPENDENCY_IN_PLACE;
    assert_int_equal(dependency_check_in_place(&f.graph, DEPENDENCY_IN_ORDER, &at), NEO_OK);
    /* out of order node 1 may still be reading 0 */
    assert_int_equal(dependency_check_in_place(&f.graph, DEPENDENCY_OUT_OF_ORDER, &at),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(at, 2);
    f.edges[f.graph.edge_count++] = (dependency_edge){1, 2};
    assert_int_equal(dependency_check_in_place(&f.graph, DEPENDENCY_OUT_OF_ORDER, &at), NEO_OK);
    f.buffers[1].alias_of = 0; /* now node 3 reads 0 through a view, too late */
    assert_int_equal(dependency_check_in_place(&f.graph, DEPENDENCY_IN_ORDER, &at),
                     NEO_INVALID_ARGUMENT);
    f.buffers[1].alias_of = NONE;
    f.buffers[1].stands_in = 0; /* or because node 1 was skipped */
    assert_int_equal(dependency_check_in_place(&f.graph, DEPENDENCY_IN_ORDER, &at),
                     NEO_INVALID_ARGUMENT);
    f.buffers[1].stands_in = NONE;
    f.buffers[0].flags = DEPENDENCY_OUTPUT;
    assert_int_equal(dependency_check_in_place(&f.graph, DEPENDENCY_IN_ORDER, &at),
                     NEO_INVALID_ARGUMENT);
}

static void two_overwriters_of_one_value_are_refused(void **state)
{
    (void)state;
    fixture f;
    size_t at;
    begin(&f, 3);
    for (uint32_t i = 1; i < 3; i++) {
        read_by(&f, 0, i);
        f.buffers[i].alias_of = 0;
        f.buffers[i].flags = DEPENDENCY_IN_PLACE;
    }
    assert_int_equal(dependency_check_in_place(&f.graph, DEPENDENCY_IN_ORDER, &at),
                     NEO_INVALID_ARGUMENT);
}

static void loops_keep_what_they_need_for_another_round(void **state)
{
    (void)state;
    fixture f;
    dependency_loop loop = {1, 3};
    /* 0 before the loop, read by node 1 only; 1 → 2 → 3 inside; 4 and 5 after it */
    begin(&f, 6);
    for (uint32_t i = 0; i < 5; i++)
        read_by(&f, i, i + 1);
    assert_false(conflict(&f, DEPENDENCY_IN_ORDER, 0, 3));
    static const dependency_loop wrong[] = {{1, 6}, {3, 2}, {6, 6}};
    f.graph.loop_count = 1;
    for (size_t i = 0; i < count_of(wrong); i++) {
        f.graph.loops = &wrong[i];
        assert_int_equal(dependency_conflicts(&f.graph, DEPENDENCY_IN_ORDER, f.rows),
                         NEO_INVALID_ARGUMENT);
    }
    f.graph.loops = &loop;
    assert_true(conflict(&f, DEPENDENCY_IN_ORDER, 0, 3)); /* the next round reads 0 again */
    assert_true(conflict(&f, DEPENDENCY_OUT_OF_ORDER, 0, 3));
    assert_false(conflict(&f, DEPENDENCY_IN_ORDER, 0, 4));
    assert_false(conflict(&f, DEPENDENCY_OUT_OF_ORDER, 0, 4));
    assert_false(conflict(&f, DEPENDENCY_IN_ORDER, 1, 3)); /* both belong to one round */
    f.buffers[3].alias_of = 0; /* the back edge: what 3 writes is 0 in the next round */
    assert_true(conflict(&f, DEPENDENCY_IN_ORDER, 1, 3));
    assert_true(conflict(&f, DEPENDENCY_IN_ORDER, 2, 0));
    assert_false(conflict(&f, DEPENDENCY_IN_ORDER, 3, 5));
}

static void a_loop_is_a_barrier_out_of_order(void **state)
{
    (void)state;
    fixture f;
    dependency_loop loop = {1, 2};
    begin(&f, 4); /* no reads at all: only the loop orders these nodes */
    assert_true(conflict(&f, DEPENDENCY_OUT_OF_ORDER, 0, 3));
    f.graph.loops = &loop;
    f.graph.loop_count = 1;
    assert_false(conflict(&f, DEPENDENCY_OUT_OF_ORDER, 0, 3));
    assert_false(conflict(&f, DEPENDENCY_OUT_OF_ORDER, 0, 1));
    assert_true(conflict(&f, DEPENDENCY_OUT_OF_ORDER, 1, 2));
}

static void skipped_nodes_restrict_for_both_outcomes(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 5); /* 0 → 1 → 2 → 3 → 4, where 1 and 2 may be skipped */
    for (uint32_t i = 0; i < 4; i++)
        read_by(&f, i, i + 1);
    assert_false(conflict(&f, DEPENDENCY_IN_ORDER, 0, 3));
    f.buffers[1].stands_in = 0;
    assert_false(conflict(&f, DEPENDENCY_IN_ORDER, 0, 3));
    assert_true(conflict(&f, DEPENDENCY_IN_ORDER, 0, 2));
    f.buffers[2].stands_in = 1; /* both skipped: node 3 reads 0 */
    assert_true(conflict(&f, DEPENDENCY_IN_ORDER, 0, 3));
    assert_true(conflict(&f, DEPENDENCY_IN_ORDER, 1, 3));
    assert_false(conflict(&f, DEPENDENCY_IN_ORDER, 0, 4));
}

static void long_chains_of_skippable_nodes_take_linear_time(void **state)
{
    (void)state;
    enum { N = 400 };
    static dependency_buffer buffers[N];
    static dependency_read reads[2 * N];
    static uint64_t rows[N * (N / 64 + 1)];
    for (uint32_t i = 0; i < N; i++) { /* views as well, so that there are two ways back */
        buffers[i] = (dependency_buffer){i, 0, i ? i - 1 : NONE, i ? i - 1 : NONE};
        reads[i] = (dependency_read){i, i + 1};
    }
    buffers[N - 1].flags = DEPENDENCY_IN_PLACE;
    dependency_graph graph = {.node_count = N,
                              .buffer_count = N,
                              .buffers = buffers,
                              .read_count = N - 1,
                              .reads = reads};
    clock_t begun = clock(); /* other programs may be busy */
    size_t at;
    assert_int_equal(dependency_conflicts(&graph, DEPENDENCY_IN_ORDER, rows), NEO_OK);
    assert_int_equal(dependency_conflicts(&graph, DEPENDENCY_OUT_OF_ORDER, rows), NEO_OK);
    assert_int_equal(dependency_check_in_place(&graph, DEPENDENCY_OUT_OF_ORDER, &at), NEO_OK);
    for (uint32_t i = 0; i < N; i++)
        buffers[i].alias_of = NONE;
    assert_int_equal(dependency_conflicts(&graph, DEPENDENCY_OUT_OF_ORDER, rows), NEO_OK);
    double ms = (double)(clock() - begun) * 1000 / CLOCKS_PER_SEC;
    print_message("%d skippable nodes: %.2f ms\n", N, ms);
    assert_true(ms < 200); /* 10 ms natively; emulators and sanitizers run this too */
    assert_true(bitset_has(rows, N - 1)); /* all skipped: the last reads the first */
}

static void wrong_graphs_are_refused(void **state)
{
    (void)state;
    fixture f;
    uint64_t rows[4];
    neo_set_verbose(0);
    for (int what = 0; what < 8; what++) {
        dependency_loop loop = {2, 1};
        begin(&f, 3);
        f.graph.loops = &loop;
        read_by(&f, 0, 1);
        f.edges[0] = (dependency_edge){2, 1};
        f.buffers[1].writer = what == 0 ? 3 : 1;
        f.buffers[1].alias_of = what == 1 ? 1 : NONE;
        f.buffers[1].stands_in = what == 2 ? 3 : NONE;
        f.reads[0].node = what == 3 ? 0 : what == 4 ? 3 : 1;
        f.reads[0].buffer = what == 5 ? 3 : 0;
        f.graph.edge_count = what == 6;
        f.graph.loop_count = what == 7;
        assert_int_equal(dependency_conflicts(&f.graph, DEPENDENCY_OUT_OF_ORDER, rows),
                         NEO_INVALID_ARGUMENT);
    }
}

static void plans_from_conflicts_pass_the_check(void **state)
{
    (void)state;
    static fixture f;
    double sum[2] = {0, 0};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t random = seed;
        plan_box boxes[MAX_NODES];
        size_t offsets[MAX_NODES];
        fill_random(&f, &random);
        for (size_t i = 0; i < f.graph.buffer_count; i++)
            boxes[i] = (plan_box){.size = 1 + random_below(&random, 1000), .alignment = 8};
        for (int order = 0; order < 2; order++) {
            plan_report report;
            plan_fault fault;
            assert_int_equal(dependency_conflicts(&f.graph, (dependency_order)order, f.rows),
                             NEO_OK);
            assert_int_equal(plan_conflicts(boxes, f.graph.buffer_count, f.rows, offsets, &report),
                             NEO_OK);
            assert_int_equal(plan_check_conflicts(boxes, f.graph.buffer_count, f.rows, offsets,
                                                  report.bytes, &fault),
                             NEO_OK);
            sum[order] += (double)report.bytes / (double)report.lower_bound / 200;
        }
    }
    print_message("random graphs: in order %.4f of the bound, out of order %.4f\n", sum[0], sum[1]);
}

static void no_failed_allocation_leaks_or_crashes(void **state)
{
    (void)state;
    static fixture f;
    uint64_t random = 5;
    size_t at;
    int64_t starts[MAX_NODES], finishes[MAX_NODES];
    fill_random(&f, &random);
    for (int what = 0; what < 3; what++) {
        neo_status status = NEO_OUT_OF_MEMORY;
        for (size_t n = 1; status != NEO_OK; n++) {
            fault_arm(n);
            status = what == 0   ? dependency_conflicts(&f.graph, DEPENDENCY_OUT_OF_ORDER, f.rows)
                     : what == 1 ? dependency_check_in_place(&f.graph, DEPENDENCY_OUT_OF_ORDER, &at)
                                 : dependency_lives(&f.graph, starts, finishes);
            assert_int_equal(status, fault_disarm() ? NEO_OUT_OF_MEMORY : NEO_OK);
            assert_true(n < 20);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_match_the_definition),
        cmocka_unit_test(in_order_conflicts_are_overlaps_of_lives),
        cmocka_unit_test(what_is_safe_out_of_order_is_safe_in_order),
        cmocka_unit_test(two_branches_that_meet_keep_apart_out_of_order),
        cmocka_unit_test(outputs_are_kept_to_the_end),
        cmocka_unit_test(what_is_there_from_the_start_reuses_nothing),
        cmocka_unit_test(a_chain_of_aliases_is_one_box_used_by_all_its_readers),
        cmocka_unit_test(an_in_place_write_needs_a_dead_value),
        cmocka_unit_test(two_overwriters_of_one_value_are_refused),
        cmocka_unit_test(loops_keep_what_they_need_for_another_round),
        cmocka_unit_test(a_loop_is_a_barrier_out_of_order),
        cmocka_unit_test(skipped_nodes_restrict_for_both_outcomes),
        cmocka_unit_test(long_chains_of_skippable_nodes_take_linear_time),
        cmocka_unit_test(wrong_graphs_are_refused),
        cmocka_unit_test(plans_from_conflicts_pass_the_check),
        cmocka_unit_test(no_failed_allocation_leaks_or_crashes),
    };
    return cmocka_run_group_tests_name("dependency", tests, NULL, NULL);
}
