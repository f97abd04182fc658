/* The interval planner against its checker, brute force, known totals and lower bounds. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/memory/plan/bitset.h"
#include "src/memory/plan/check.h"
#include "src/memory/plan/interval_plan.h"
#include "tests/support/cases/networks.h"
#include "tests/support/fault.h"
#include "tests/support/random.h"
#include "tests/support/rounds.h"

#define END PLAN_TO_THE_END

/* Plans, checks the plan, returns its report; offsets may be NULL. */
static plan_report plan_checked(const plan_box *boxes, size_t count, size_t *offsets)
{
    size_t *mine = offsets ? offsets : malloc((count + 1) * sizeof *mine);
    plan_report report;
    plan_fault fault = {"", 0, 0};
    assert_int_equal(plan_intervals(boxes, count, mine, &report), NEO_OK);
    if (plan_check_intervals(boxes, count, mine, report.bytes, &fault) != NEO_OK)
        fail_msg("%s: %zu and %zu", fault.text, fault.first, fault.second);
    assert_true(report.lower_bound <= report.bytes);
    assert_true(report.bytes <= report.no_reuse_bytes);
    if (!offsets)
        free(mine);
    return report;
}

static void known_sets_of_boxes_get_their_known_totals(void **state)
{
    (void)state;
    static const struct {
        size_t bytes, lower_bound, count;
        plan_box boxes[5];
    } rows[] = {
        {4, 4, 3, {{0, 1, 2, 0, 0}, {1, 2, 2, 0, 0}, {2, 3, 2, 0, 0}}},
        {5, 5, 3, {{2, 4, 2, 0, 0}, {4, 6, 2, 0, 0}, {6, 8, 3, 0, 0}}},
        {8,
         8,
         5,
         {{0, 1, 2, 0, 0}, {1, END, 2, 0, 0}, {3, 3, 2, 0, 0}, {3, END, 2, 0, 0}, {3, 4, 2, 0, 0}}},
        /* placing the largest first, ties in the order given, needs 6 for the next two */
        {5, 5, 4, {{6, 7, 3, 0, 0}, {2, 5, 2, 0, 0}, {5, 8, 2, 0, 0}, {2, 3, 2, 0, 0}}},
        {5, 5, 4, {{4, 8, 1, 0, 0}, {6, 7, 3, 0, 0}, {2, 3, 3, 0, 0}, {2, 4, 2, 0, 0}}},
        {7, 7, 1, {{3, 3, 7, 0, 0}}},
        {7, 7, 2, {{3, 3, 7, 0, 0}, {4, 4, 7, 0, 0}}},
        {14, 14, 2, {{3, END, 7, 0, 0}, {9, 9, 7, 0, 0}}},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        plan_report report = plan_checked(rows[i].boxes, rows[i].count, NULL);
        assert_int_equal(report.bytes, rows[i].bytes);
        assert_int_equal(report.lower_bound, rows[i].lower_bound);
        assert_true(report.optimal);
    }
}

static void nothing_to_place_is_a_plan_of_no_bytes(void **state)
{
    (void)state;
    plan_report report = plan_checked(NULL, 0, NULL);
    assert_int_equal(report.bytes + report.lower_bound + report.no_reuse_bytes, 0);
    plan_box empty[3] = {{0, END, 0, 64, 0}, {2, 2, 0, 0, 0}, {2, 2, 0, 0, 5}};
    size_t offsets[3] = {9, 9, 9};
    report = plan_checked(empty, 3, offsets);
    assert_int_equal(report.bytes, 0);
    assert_int_equal(offsets[0] + offsets[1] + offsets[2], 0);
}

static void an_empty_box_among_others_takes_no_room(void **state)
{
    (void)state;
    plan_box boxes[3] = {{0, 5, 10, 0, 0}, {1, 4, 0, 0, 0}, {2, 3, 6, 0, 0}};
    assert_int_equal(plan_checked(boxes, 3, NULL).bytes, 16);
}

static void wrong_boxes_are_refused(void **state)
{
    (void)state;
    static const plan_box wrong[] = {
        {-1, 4, 8, 0, 0},
        {3, 2, 8, 0, 0},
        {3, -2, 8, 0, 0},
        {0, 4, 8, 48, 0},
        {0, 4, SIZE_MAX, 2, 0},
        {0, 4, SIZE_MAX - 3, 0, 0},
        {0, 4, 8, SIZE_MAX / 2 + 1, 0},
    };
    size_t offsets[2];
    plan_report report;
    neo_set_verbose(0);
    for (size_t i = 0; i < count_of(wrong); i++) {
        plan_box boxes[2] = {{0, 1, 4, 0, 0}, wrong[i]};
        assert_int_equal(plan_intervals(boxes, 2, offsets, &report), NEO_INVALID_ARGUMENT);
    }
    assert_int_equal(plan_intervals(wrong, PLAN_MAX_BOXES + 1, offsets, &report), NEO_UNSUPPORTED);
}

static void offsets_are_aligned_and_the_bound_counts_the_padding(void **state)
{
    (void)state;
    plan_box boxes[4] = {{0, 2, 65, 64, 0}, {1, 3, 1, 64, 0}, {2, 4, 100, 64, 0}, {4, 6, 7, 64, 0}};
    size_t offsets[4];
    plan_report report = plan_checked(boxes, 4, offsets);
    /* at step 2: 128 + 64 + 100, or 128 + 128 + 1 with the smallest on top */
    assert_int_equal(report.lower_bound, 257);
    assert_int_equal(report.bytes, 257);
    assert_int_equal(report.no_reuse_bytes, 128 + 64 + 128 + 64);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(offsets[i] % 64, 0);
}

static void a_cluster_is_one_box(void **state)
{
    (void)state;
    /* 1 and 3 are the same bytes: alive 1..6, size 9, although 3 alone would not reach step 2 */
    plan_box boxes[4] = {{0, 1, 4, 0, 0}, {1, 2, 5, 0, 7}, {3, 4, 6, 0, 0}, {5, 6, 9, 32, 7}};
    size_t offsets[4];
    plan_report report = plan_checked(boxes, 4, offsets);
    assert_int_equal(offsets[1], offsets[3]);
    assert_int_equal(offsets[1] % 32, 0);
    assert_int_equal(report.bytes, 15);
    assert_int_equal(report.no_reuse_bytes, 4 + 6 + 32);
}

static void the_checker_sees_every_kind_of_fault(void **state)
{
    (void)state;
    plan_box boxes[3] = {{0, 2, 64, 64, 0}, {2, 3, 64, 64, 4}, {3, END, 64, 64, 4}};
    uint64_t conflicts[3] = {2, 0, 0};
    static const struct {
        neo_status timed, untimed;
        size_t offsets[3], bytes;
    } rows[] = {
        {NEO_OK, NEO_OK, {0, 64, 64}, 128},           {NEO_CORRUPT, NEO_CORRUPT, {0, 64, 64}, 127},
        {NEO_CORRUPT, NEO_CORRUPT, {0, 96, 96}, 160}, {NEO_CORRUPT, NEO_CORRUPT, {0, 64, 128}, 256},
        {NEO_CORRUPT, NEO_CORRUPT, {0, 0, 0}, 128},   {NEO_CORRUPT, NEO_CORRUPT, {64, 64, 64}, 128},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        plan_fault fault;
        assert_int_equal(plan_check_intervals(boxes, 3, rows[i].offsets, rows[i].bytes, &fault),
                         rows[i].timed);
        assert_int_equal(
            plan_check_conflicts(boxes, 3, conflicts, rows[i].offsets, rows[i].bytes, &fault),
            rows[i].untimed);
    }
    /* the life of a cluster is that of all its members: 0 touches it at step 3 through box 2 */
    plan_box later[3] = {{3, 4, 64, 64, 0}, {1, 2, 64, 64, 4}, {5, END, 64, 64, 4}};
    size_t same[3] = {0, 0, 0};
    plan_fault fault;
    assert_int_equal(plan_check_intervals(later, 3, same, 64, &fault), NEO_CORRUPT);
}

/* ---- the least possible, by trying every order of at most 7 boxes ---- */

static bool alive_together(const plan_box *a, const plan_box *b)
{
    int64_t a_end = a->finish < 0 ? INT64_MAX : a->finish;
    int64_t b_end = b->finish < 0 ? INT64_MAX : b->finish;
    return a->start <= b_end && b->start <= a_end;
}

/* Every box on top of all those before it that it conflicts with. */
static size_t pile(const plan_box *boxes, const uint64_t *rows, const size_t *order, size_t count)
{
    size_t offset[8], bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const plan_box *box = &boxes[order[i]];
        size_t align = box->alignment ? box->alignment : 1, at = 0;
        for (size_t j = 0; j < i; j++) {
            size_t end = offset[order[j]] + boxes[order[j]].size;
            bool conflict = rows ? bitset_has(rows + order[i], order[j])
                                 : alive_together(box, &boxes[order[j]]);
            if (conflict && end > at)
                at = end;
        }
        offset[order[i]] = round_up(at, align);
        bytes = max_size(bytes, offset[order[i]] + box->size);
    }
    return bytes;
}

static size_t least(const plan_box *boxes, const uint64_t *rows, size_t *order, size_t from,
                    size_t count)
{
    if (from == count)
        return pile(boxes, rows, order, count);
    size_t best = SIZE_MAX;
    for (size_t i = from; i < count; i++) {
        size_t swap = order[from];
        order[from] = order[i];
        order[i] = swap;
        best = min_size(best, least(boxes, rows, order, from + 1, count));
        order[i] = order[from];
        order[from] = swap;
    }
    return best;
}

static void plans_of_few_boxes_are_the_least_possible(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 300; round++) {
        plan_box boxes[6];
        size_t order[6] = {0, 1, 2, 3, 4, 5};
        for (size_t i = 0; i < 6; i++) {
            int64_t start = (int64_t)random_below(&seed, 8);
            int64_t life = (int64_t)random_below(&seed, 5);
            size_t size = 1 + random_below(&seed, 6);
            boxes[i] = (plan_box){start, start + life, size, 1u << random_below(&seed, 3), 0};
        }
        plan_report report = plan_checked(boxes, 6, NULL);
        assert_true(report.optimal);
        assert_int_equal(report.bytes, least(boxes, NULL, order, 0, 6));
    }
}

static void plans_with_arbitrary_conflicts_are_the_least_possible(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (int round = 0; round < 300; round++) {
        plan_box boxes[6];
        uint64_t rows[6] = {0}, both[6] = {0};
        size_t order[6] = {0, 1, 2, 3, 4, 5}, offsets[6];
        for (size_t i = 0; i < 6; i++) {
            size_t size = 1 + random_below(&seed, 6);
            boxes[i] = (plan_box){0, 0, size, 1u << random_below(&seed, 2), 0};
            for (size_t j = 0; j < i; j++) {
                if (random_below(&seed, 2)) {
                    rows[i] |= UINT64_C(1) << j; /* one direction, the planner adds the other */
                    both[i] |= UINT64_C(1) << j;
                    both[j] |= UINT64_C(1) << i;
                }
            }
        }
        plan_report report;
        plan_fault fault;
        assert_int_equal(plan_conflicts(boxes, 6, rows, offsets, &report), NEO_OK);
        assert_int_equal(plan_check_conflicts(boxes, 6, rows, offsets, report.bytes, &fault),
                         NEO_OK);
        assert_true(report.optimal);
        assert_true(report.lower_bound <= report.bytes);
        assert_int_equal(report.bytes, least(boxes, both, order, 0, 6));
    }
}

static void conflicts_that_are_overlaps_are_planned_as_well(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 20; round++) {
        plan_box boxes[100];
        size_t offsets[100], words = bitset_words(100);
        uint64_t rows[200] = {0};
        network_random(boxes, 100, &seed);
        for (size_t i = 0; i < 100; i++)
            for (size_t j = 0; j < i; j++)
                if (alive_together(&boxes[i], &boxes[j]))
                    bitset_add(rows + i * words, j);
        plan_report timed = plan_checked(boxes, 100, NULL), untimed;
        assert_int_equal(plan_conflicts(boxes, 100, rows, offsets, &untimed), NEO_OK);
        assert_true((double)untimed.bytes <= 1.10 * (double)timed.lower_bound);
        assert_true(untimed.lower_bound <= timed.lower_bound);
    }
}

static void clusters_join_their_conflicts(void **state)
{
    (void)state;
    /* 0 and 2 are one box; 0 is in conflict with 1, 2 with 3, so 1 and 3 may share */
    plan_box boxes[4] = {{0, 0, 8, 0, 1}, {0, 0, 4, 0, 0}, {0, 0, 2, 0, 1}, {0, 0, 4, 0, 0}};
    uint64_t rows[4] = {2, 0, 8 | 4 | 1, 0};
    size_t offsets[4];
    plan_report report;
    plan_fault fault;
    assert_int_equal(plan_conflicts(boxes, 4, rows, offsets, &report), NEO_OK);
    assert_int_equal(plan_check_conflicts(boxes, 4, rows, offsets, report.bytes, &fault), NEO_OK);
    assert_int_equal(report.bytes, 12);
    assert_int_equal(offsets[0], offsets[2]);
    assert_int_equal(offsets[1], offsets[3]);
}

/* ---- quality ---- */

static void real_networks_are_planned_at_the_lower_bound(void **state)
{
    (void)state;
    for (size_t i = 0; i < network_shape_count; i++) {
        plan_box boxes[NETWORK_MAX_BOXES];
        size_t count = network_shapes[i].fill(boxes);
        plan_report report = plan_checked(boxes, count, NULL);
        print_message("%-14s %4zu boxes, %9zu bytes, bound %9zu, without reuse %9zu (%s)\n",
                      network_shapes[i].name, count, report.bytes, report.lower_bound,
                      report.no_reuse_bytes, report.method);
        assert_int_equal(report.bytes, report.lower_bound);
        assert_true(report.bytes < report.no_reuse_bytes / 3);
    }
}

static void random_networks_are_planned_within_two_percent(void **state)
{
    (void)state;
    uint64_t seed = 1;
    double sum = 0, worst = 0;
    size_t rounds = rounds_count(200, 2000), at_bound = 0;
    for (size_t round = 0; round < rounds; round++) {
        plan_box boxes[50];
        network_random(boxes, 50, &seed);
        plan_report report = plan_checked(boxes, 50, NULL);
        double ratio = (double)report.bytes / (double)report.lower_bound;
        sum += ratio;
        worst = ratio > worst ? ratio : worst;
        at_bound += report.bytes == report.lower_bound;
    }
    print_message("%zu random networks: mean %.5f, worst %.4f, %zu at the bound\n", rounds,
                  sum / (double)rounds, worst, at_bound);
    assert_true(sum / (double)rounds <= 1.02);
    assert_true(worst <= 1.10);
}

static void the_same_boxes_get_the_same_plan(void **state)
{
    (void)state;
    uint64_t seed = 3;
    plan_box boxes[200];
    size_t first[200], second[200];
    network_random(boxes, 200, &seed);
    plan_checked(boxes, 200, first);
    plan_checked(boxes, 200, second);
    assert_memory_equal(first, second, sizeof first);
}

/* The processor's time that a plan takes, which other programs do not add to. */
static double seconds_to_plan(size_t n, size_t max_life)
{
    plan_box *boxes = malloc(n * sizeof *boxes);
    size_t *offsets = malloc(n * sizeof *offsets);
    uint64_t seed = 9;
    plan_report report;
    network_random_lives(boxes, n, max_life, &seed);
    clock_t begin = clock();
    assert_int_equal(plan_intervals(boxes, n, offsets, &report), NEO_OK);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    plan_fault fault;
    assert_int_equal(plan_check_intervals(boxes, n, offsets, report.bytes, &fault), NEO_OK);
    print_message("%zu boxes living up to %zu steps: %.3f s, %.4f of the bound\n", n, max_life,
                  seconds, (double)report.bytes / (double)report.lower_bound);
    free(offsets);
    free(boxes);
    return seconds;
}

/* Each box is compared with those that live with it: four times the boxes with lives four times as
 * long take sixteen times as long. Sanitizers and emulators run this too, on machines of any speed,
 * so that a time by itself says nothing. */
static void time_to_plan_ten_thousand_boxes_is_quadratic(void **state)
{
    (void)state;
    static const size_t lives[] = {20, 600, 10000};
    for (size_t i = 0; i < count_of(lives); i++) {
        double quarter = seconds_to_plan(2500, lives[i] / 4);
        double whole = seconds_to_plan(10000, lives[i]);
        print_message("%.1f times as long\n", whole / quarter);
        assert_true(whole < 40 * quarter + 0.1); /* cubic is 64; a clock may tick once in 10 ms */
    }
}

static void no_failed_allocation_leaks_or_crashes(void **state)
{
    (void)state;
    plan_box boxes[40];
    size_t offsets[40];
    uint64_t seed = 4, rows[40];
    plan_report report;
    network_random(boxes, 40, &seed);
    for (size_t i = 0; i < 40; i++)
        rows[i] = UINT64_C(0x5555555555) >> (i % 3);
    for (int timed = 0; timed < 2; timed++) {
        neo_status status = NEO_OUT_OF_MEMORY;
        for (size_t n = 1; status != NEO_OK; n++) {
            fault_arm(n);
            status = timed ? plan_intervals(boxes, 40, offsets, &report)
                           : plan_conflicts(boxes, 40, rows, offsets, &report);
            bool delivered = fault_disarm();
            assert_int_equal(status, delivered ? NEO_OUT_OF_MEMORY : NEO_OK);
            assert_true(n < 100);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_sets_of_boxes_get_their_known_totals),
        cmocka_unit_test(nothing_to_place_is_a_plan_of_no_bytes),
        cmocka_unit_test(an_empty_box_among_others_takes_no_room),
        cmocka_unit_test(wrong_boxes_are_refused),
        cmocka_unit_test(offsets_are_aligned_and_the_bound_counts_the_padding),
        cmocka_unit_test(a_cluster_is_one_box),
        cmocka_unit_test(the_checker_sees_every_kind_of_fault),
        cmocka_unit_test(plans_of_few_boxes_are_the_least_possible),
        cmocka_unit_test(plans_with_arbitrary_conflicts_are_the_least_possible),
        cmocka_unit_test(conflicts_that_are_overlaps_are_planned_as_well),
        cmocka_unit_test(clusters_join_their_conflicts),
        cmocka_unit_test(real_networks_are_planned_at_the_lower_bound),
        cmocka_unit_test(random_networks_are_planned_within_two_percent),
        cmocka_unit_test(the_same_boxes_get_the_same_plan),
        cmocka_unit_test(time_to_plan_ten_thousand_boxes_is_quadratic),
        cmocka_unit_test(no_failed_allocation_leaks_or_crashes),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
