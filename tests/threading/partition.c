/* Splitting work: disjoint, complete, balanced, and the same for the same arguments. */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arch/cores.h"
#include "src/threading/partition.h"

static const size_t counts[] = {0, 1, 2, 3, 7, 8, 13, 64, 97, 128, 1000, 4099};

/* Consecutive parts must join without gap or overlap and differ by one tile at most. */
static void spans_are_complete_and_balanced(void **state)
{
    (void)state;
    for (size_t c = 0; c < count_of(counts); c++)
        for (size_t parts = 1; parts <= 128; parts++) {
            size_t at = 0, least = SIZE_MAX, most = 0;
            for (size_t i = 0; i < parts; i++) {
                struct span s = partition_span(counts[c], parts, i);
                assert_int_equal(s.begin, at);
                assert_true(s.end >= s.begin);
                at = s.end;
                least = min_size(least, s.end - s.begin);
                most = max_size(most, s.end - s.begin);
            }
            assert_int_equal(at, counts[c]);
            assert_true(most - least <= 1);
        }
}

static void spans_of_huge_counts_do_not_wrap(void **state)
{
    (void)state;
    size_t at = 0;
    for (size_t i = 0; i < 127; i++) {
        struct span s = partition_span(SIZE_MAX, 127, i);
        assert_int_equal(s.begin, at);
        at = s.end;
    }
    assert_int_equal(at, SIZE_MAX);
}

static void weighted_spans_of_counts_beyond_a_double_s_digits_are_complete(void **state)
{
    (void)state;
    static const double weights[] = {1, 1};
    const size_t count = ((size_t)1 << 60) + 1;
    struct span first = partition_weighted(count, weights, 2, 0);
    struct span last = partition_weighted(count, weights, 2, 1);
    assert_int_equal(first.begin, 0);
    assert_int_equal(first.end, last.begin);
    assert_int_equal(last.end, count);
}

static void weighted_spans_follow_their_weights(void **state)
{
    (void)state;
    static const double weights[] = {1024, 1024, 512, 0, 160, 160, 160.5};
    size_t parts = count_of(weights);
    double total = 0;
    for (size_t i = 0; i < parts; i++)
        total += weights[i];
    for (size_t c = 0; c < count_of(counts); c++) {
        size_t at = 0;
        for (size_t i = 0; i < parts; i++) {
            struct span s = partition_weighted(counts[c], weights, parts, i);
            assert_int_equal(s.begin, at);
            at = s.end;
            double share = (double)counts[c] * weights[i] / total;
            assert_true(fabs((double)(s.end - s.begin) - share) <= 1);
        }
        assert_int_equal(at, counts[c]);
    }
}

static void slices_have_a_static_part_and_a_tail(void **state)
{
    (void)state;
    static const double big_little[128] = {1024, 1024, 1024, 1024, 300, 300, 300, 300};
    static const double tails[] = {0, 0.2, 1};
    for (size_t c = 0; c < count_of(counts); c++)
        for (int threads = 1; threads <= 128; threads++)
            for (size_t t = 0; t < count_of(tails); t++)
                for (int weighted = 0; weighted < 2; weighted++) {
                    struct partition_slices s = partition_slices(
                        counts[c], threads, weighted ? big_little : NULL, tails[t]);
                    size_t at = 0;
                    for (int i = 0; i < s.tasks; i++) {
                        struct span span = partition_slice(&s, i);
                        assert_int_equal(span.begin, at);
                        at = span.end;
                        if (i >= threads) {
                            size_t size = span.end - span.begin;
                            assert_in_range(size, 1, counts[c] / (8 * (size_t)threads) + 1);
                        }
                    }
                    assert_int_equal(at, counts[c]);
                }
    struct partition_slices s = partition_slices(1000, 8, big_little, 0.2);
    struct span big = partition_slice(&s, 0), little = partition_slice(&s, 7);
    assert_true(big.end - big.begin > 3 * (little.end - little.begin));
    assert_int_equal(s.static_count, 800);
}

/* Marks every tile of every rectangle; a tile may be marked once only. */
static void check_grid(size_t rows, size_t columns, int max_tasks,
                       const struct partition_costs *costs)
{
    static unsigned char seen[128 * 128];
    memset(seen, 0, rows * columns);
    struct partition_grid g = partition_grid(rows, columns, max_tasks, costs);
    assert_in_range(g.tasks, 1, max_tasks);
    double most = 0;
    for (int i = 0; i < g.tasks; i++) {
        struct partition_rect r = partition_rect(&g, i);
        double height = (double)(r.rows.end - r.rows.begin);
        double width = (double)(r.columns.end - r.columns.begin);
        assert_true(height > 0 && width > 0);
        most =
            fmax(most, height * width * costs->tile + height * costs->row + width * costs->column);
        for (size_t y = r.rows.begin; y < r.rows.end; y++)
            for (size_t x = r.columns.begin; x < r.columns.end; x++)
                assert_int_equal(seen[y * columns + x]++, 0);
    }
    assert_null(memchr(seen, 0, rows * columns));
    assert_true(fabs(most - g.cost) <= 1e-9 * most);
}

static void grids_are_disjoint_and_complete(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 5, 8, 13, 31, 100};
    static const struct partition_costs costs[] = {{1, 0, 0}, {1, 0.5, 0.01}, {1, 0.01, 4}};
    static const int tasks[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 23, 48, 64, 127, 128};
    for (size_t r = 0; r < count_of(sizes); r++)
        for (size_t c = 0; c < count_of(sizes); c++)
            for (size_t k = 0; k < count_of(costs); k++)
                for (size_t t = 0; t < count_of(tasks); t++)
                    check_grid(sizes[r], sizes[c], tasks[t], &costs[k]);
}

static void mark_run(unsigned char *seen, size_t columns, const struct partition_rect *r)
{
    assert_true(r->rows.end > r->rows.begin && r->columns.end > r->columns.begin);
    for (size_t y = r->rows.begin; y < r->rows.end; y++)
        for (size_t x = r->columns.begin; x < r->columns.end; x++)
            assert_int_equal(seen[y * columns + x]++, 0);
}

static size_t tiles_of(const struct partition_rect *r)
{
    return (r->rows.end - r->rows.begin) * (r->columns.end - r->columns.begin);
}

/* All tiles once, as many for each task as for others, and few columns in two of them. */
static void check_runs(size_t rows, size_t columns, int tasks)
{
    static unsigned char seen[128 * 128];
    size_t touched = 0, all = rows * columns;
    memset(seen, 0, all);
    for (int i = 0; i < tasks; i++) {
        struct partition_rect rects[PARTITION_RUN_RECTS];
        size_t count = partition_run(rows, columns, tasks, i, rects), tiles = 0;
        assert_in_range(count, all < (size_t)tasks ? 0 : 1, PARTITION_RUN_RECTS);
        for (size_t r = 0; r < count; r++) {
            mark_run(seen, columns, &rects[r]);
            tiles += tiles_of(&rects[r]);
        }
        assert_in_range(tiles, all / (size_t)tasks, div_up(all, (size_t)tasks));
        if (count > 0)
            touched += rects[count - 1].columns.end - rects[0].columns.begin;
    }
    assert_null(memchr(seen, 0, all));
    assert_true(touched <= columns + (size_t)tasks - 1);
}

static void runs_are_disjoint_and_complete(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 5, 8, 13, 31, 100};
    for (size_t r = 0; r < count_of(sizes); r++)
        for (size_t c = 0; c < count_of(sizes); c++)
            for (int tasks = 1; tasks <= 128; tasks = tasks * 3 / 2 + 1)
                check_runs(sizes[r], sizes[c], tasks);
}

/* One row or one column of tiles, or one dimension that packing makes cheap: one tile at most. */
static void a_grid_of_one_row_is_balanced_to_one_tile(void **state)
{
    (void)state;
    static const struct partition_costs costs = {.tile = 1};
    for (size_t c = 1; c < count_of(counts); c++)
        for (int tasks = 1; tasks <= 128; tasks++) {
            size_t best = div_up(counts[c], (size_t)tasks);
            struct partition_grid row = partition_grid(1, counts[c], tasks, &costs);
            struct partition_grid column = partition_grid(counts[c], 1, tasks, &costs);
            assert_true(row.cost <= (double)best && column.cost <= (double)best);
        }
}

/* The largest task of a grid against the mean over the tasks that the grid has. */
static double imbalance(size_t rows, size_t columns, int tasks)
{
    struct partition_grid g =
        partition_grid(rows, columns, tasks, &(struct partition_costs){.tile = 1});
    return g.cost * g.tasks / (double)(rows * columns);
}

static void grids_are_balanced_for_awkward_thread_counts(void **state)
{
    (void)state;
    double sum = 0;
    int cases = 0;
    for (size_t rows = 4; rows <= 64; rows += 5)
        for (size_t columns = 4; columns <= 64; columns += 7)
            for (int tasks = 3; tasks <= 64; tasks += 4) {
                double ratio = imbalance(rows, columns, tasks);
                assert_true(ratio < 2);
                sum += log(ratio);
                cases++;
            }
    assert_true(exp(sum / cases) <= 1.12);
}

static void expensive_rows_are_not_repeated(void **state)
{
    (void)state;
    struct partition_grid g =
        partition_grid(32, 32, 8, &(struct partition_costs){.tile = 1, .row = 1000});
    for (int i = 0; i < g.tasks; i++) {
        struct partition_rect r = partition_rect(&g, i);
        assert_int_equal(r.columns.end - r.columns.begin, 32);
    }
}

/* Four threads for six tiles take as long as three. */
static void threads_that_do_not_help_are_left_out(void **state)
{
    (void)state;
    static const struct partition_costs costs = {.tile = 1};
    assert_int_equal(partition_grid(6, 1, 4, &costs).tasks, 3);
    assert_int_equal(partition_grid(1, 6, 4, &costs).tasks, 3);
    assert_int_equal(partition_grid(6, 1, 6, &costs).tasks, 6);
}

static void a_gain_below_a_tenth_is_not_worth_a_thread(void **state)
{
    (void)state;
    struct core core = {.thread_cycles = 450};
    assert_int_equal(partition_threads(1000, 2, &core), 1); /* 950 */
    core.thread_cycles = 390;
    assert_int_equal(partition_threads(1000, 2, &core), 2); /* 890 */
}

static void small_problems_use_fewer_threads(void **state)
{
    (void)state;
    for (size_t c = 0; c < core_count; c++) {
        const struct core *core = &cores[c];
        assert_int_equal(partition_threads(0, 64, core), 1);
        assert_int_equal(partition_threads(-1, 64, core), 1);
        assert_int_equal(partition_threads(1000, 64, core), 1);
        assert_int_equal(partition_threads(1e12, 64, core), 64);
        assert_int_equal(partition_threads(1e12, 1, core), 1);
        int before = 1;
        for (double cycles = 100; cycles < 1e9; cycles *= 1.1) {
            int threads = partition_threads(cycles, 64, core);
            assert_true(threads >= before); /* more work never uses fewer */
            before = threads;
            assert_true(partition_time(cycles, threads, core) <= cycles);
        }
    }
}

/* TP9: with the choice made of 1, 2, … N threads, more available ones are never slower by more than
 * a twentieth, and of all numbers the chosen one is within a tenth of the best. */
static void more_threads_are_never_slower_with_the_choice(void **state)
{
    (void)state;
    for (size_t c = 0; c < core_count; c++)
        for (double cycles = 100; cycles < 1e9; cycles *= 1.3) {
            double before = cycles, best = cycles;
            for (int available = 1; available <= 128; available++) {
                int threads = partition_threads(cycles, available, &cores[c]);
                double time = partition_time(cycles, threads, &cores[c]);
                best = fmin(best, partition_time(cycles, available, &cores[c]));
                assert_true(time <= 1.05 * before);
                assert_true(0.9 * time <= best);
                before = time;
            }
        }
}

/* Handing work over costs more where a core issues in order, and where others are far away. */
static void what_threads_cost_is_a_fact_of_the_core(void **state)
{
    (void)state;
    const double cycles = 20000;
    int little = partition_threads(cycles, 8, core_named("cortex-a53"));
    int big = partition_threads(cycles, 8, core_named("cortex-a78"));
    assert_true(little < big);
    assert_true(partition_threads(1e6, 64, core_named("neoverse-v2")) <
                partition_threads(1e6, 64, core_named("cortex-x2")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_complete_and_balanced),
        cmocka_unit_test(spans_of_huge_counts_do_not_wrap),
        cmocka_unit_test(weighted_spans_of_counts_beyond_a_double_s_digits_are_complete),
        cmocka_unit_test(weighted_spans_follow_their_weights),
        cmocka_unit_test(slices_have_a_static_part_and_a_tail),
        cmocka_unit_test(grids_are_disjoint_and_complete),
        cmocka_unit_test(runs_are_disjoint_and_complete),
        cmocka_unit_test(a_grid_of_one_row_is_balanced_to_one_tile),
        cmocka_unit_test(grids_are_balanced_for_awkward_thread_counts),
        cmocka_unit_test(expensive_rows_are_not_repeated),
        cmocka_unit_test(threads_that_do_not_help_are_left_out),
        cmocka_unit_test(a_gain_below_a_tenth_is_not_worth_a_thread),
        cmocka_unit_test(small_problems_use_fewer_threads),
        cmocka_unit_test(more_threads_are_never_slower_with_the_choice),
        cmocka_unit_test(what_threads_cost_is_a_fact_of_the_core),
    };
    return cmocka_run_group_tests_name("threads_partition", tests, NULL, NULL);
}
