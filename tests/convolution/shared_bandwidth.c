/* Convolutions on four threads that share a board's memory: is what is chosen the best, by what the
 * longest task multiplies and all tasks together read? */
#include "tests/support/test.h"

#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "src/convolution/convolution.h"
#include "src/convolution/gemm/gemm.h"
#include "src/convolution/winograd/winograd.h"
#include "src/core/checked.h"
#include "src/gemm/share.h"
#include "src/primitive/selection.h"
#include "tests/support/stated_cpu.h"

enum { THREADS = 4 };
static const double BOARD = 9; /* GB/s for all of them */

/* Of a cache that they share: weights that take no more come from memory once, however often tasks
 * read them. The simulated board's has twice as many. */
static const double LAST_CACHE = 4 << 20;

static neo_memory_desc tensor_of(const neo_dim *dims, const char *tag)
{
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 4, dims, NEO_F32, tag), NEO_OK);
    return desc;
}

/* 3x3, stride 1. */
static struct problem problem_of(neo_dim ic, neo_dim oc, neo_dim size)
{
    struct problem problem = {.operation = &convolution_operation,
                              .convolution_algorithm = NEO_CONVOLUTION_AUTO};
    problem.tensors[SRC] = tensor_of((neo_dim[]){1, ic, size, size}, "nhwc");
    problem.tensors[DST] = tensor_of((neo_dim[]){1, oc, size, size}, "nhwc");
    problem.tensors[WEIGHTS] = tensor_of((neo_dim[]){oc, ic, 3, 3}, "any");
    for (int i = 0; i < 2; i++)
        problem.window.strides[i] = problem.window.left[i] = problem.window.right[i] = 1;
    convolution_derive(&problem);
    return problem;
}

/* Of one task the largest part of the products; and how often all tasks read a panel of weights. */
struct parts {
    double longest, reading;
};

static struct parts parts_of_gemm(const struct gemm_plan *plan)
{
    struct gemm_share share = gemm_share_tiles(plan, THREADS);
    size_t most = 0, read = 0;
    for (int i = 0; i < share.tasks; i++) {
        struct partition_rect rects[PARTITION_RUN_RECTS];
        size_t count = gemm_share_rects(&share, i, rects), tiles = 0;
        for (size_t r = 0; r < count; r++) {
            size_t columns = rects[r].columns.end - rects[r].columns.begin;
            tiles += (rects[r].rows.end - rects[r].rows.begin) * columns;
            read += columns;
        }
        most = max_size(most, tiles);
    }
    double panels = (double)plan->panels;
    return (struct parts){(double)most / (double)(share.rows * share.columns),
                          (double)read / panels};
}

static struct parts parts_of_winograd(const struct convolution_winograd *plan)
{
    struct convolution_winograd own = *plan;
    struct run run = {.plan = &own};
    size_t strips = div_up(plan->tiles, plan->strip), read = 0, most = 0;
    bool has_room = winograd_limit_strips(&own, THREADS);
    winograd_divide(&run, THREADS);
    if (!has_room || winograd_sharing_cost(plan, THREADS) < run.grid.cost)
        return (struct parts){(double)div_up(plan->panels, THREADS) / (double)plan->panels,
                              (double)strips};
    for (int i = 0; i < run.grid.tasks; i++) {
        struct partition_rect rect = partition_rect(&run.grid, i);
        size_t columns = rect.columns.end - rect.columns.begin, tiles = 0;
        for (size_t s = rect.rows.begin; s < rect.rows.end; s++) {
            struct span strip = winograd_strip(&run, s);
            tiles += strip.end - strip.begin;
            read += columns;
        }
        most = max_size(most, tiles * columns);
    }
    return (struct parts){(double)most / (double)(plan->tiles * plan->panels),
                          (double)read / (double)plan->panels};
}

static struct parts parts_of(const struct algorithm *algorithm, const struct problem *described,
                             const struct cpu *cpu)
{
    alignas(64) static unsigned char plan[PLAN_MAX_BYTES];
    static struct problem problem;
    problem = *described;
    memset(plan, 0, sizeof plan);
    algorithm->choose(algorithm, &problem, cpu);
    convolution_derive(&problem);
    algorithm->plan(plan, &problem, cpu);
    if (algorithm == &convolution_gemm)
        return parts_of_gemm(&((const struct convolution_gemm *)(const void *)plan)->gemm);
    return parts_of_winograd((const struct convolution_winograd *)(const void *)plan);
}

/* On all threads, of which each multiplies and all share the memory. */
static double time_of(const struct candidate *candidate, const struct problem *problem,
                      struct cpu cpu)
{
    struct parts parts = parts_of(candidate->algorithm, problem, &cpu);
    if (candidate->cost.weights <= LAST_CACHE)
        parts.reading = 1;
    struct cost cost = {.cycles = candidate->cost.cycles * parts.longest,
                        .meanwhile = candidate->cost.meanwhile * parts.longest,
                        .weights = candidate->cost.weights * parts.reading,
                        .others = candidate->cost.others};
    cpu.bandwidth = BOARD;
    return cost_time(&cost, &cpu);
}

static bool is_considered(const struct algorithm *algorithm)
{
    return algorithm == &convolution_gemm || algorithm == &convolution_winograd_2 ||
           algorithm == &convolution_winograd_4 || algorithm == &convolution_winograd_6;
}

/* Over the best one's, of four threads. */
static double ratio_of_choice(neo_dim ic, neo_dim oc, neo_dim size)
{
    struct cpu cpu = stated_cpu("neoverse-n1", 65536);
    struct problem problem = problem_of(ic, oc, size);
    struct ranking ranking;
    double chosen = 0, best = (double)INFINITY;
    cpu.l2_bytes = 1 << 20;
    cpu.bandwidth = BOARD / THREADS;
    selection_rank(&ranking, &problem, &cpu);
    assert_true(is_considered(ranking.serving[0].algorithm));
    for (int i = 0; i < ranking.serving_count; i++) {
        if (!is_considered(ranking.serving[i].algorithm))
            continue;
        double time = time_of(&ranking.serving[i], &problem, cpu);
        chosen = chosen > 0 ? chosen : time;
        best = fmin(best, time);
    }
    return chosen / best;
}

static void the_choice_is_the_best_on_four_threads(void **state)
{
    (void)state;
    static const neo_dim rows[][3] = {
        {64, 64, 56},   {128, 128, 28}, {256, 256, 14}, {512, 512, 7},   {64, 64, 224},
        {64, 128, 112}, {128, 256, 56}, {256, 512, 28}, {512, 512, 28},  {512, 512, 14},
        {96, 96, 56},   {192, 192, 14}, {384, 384, 13}, {1024, 512, 28}, {256, 128, 112},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        double ratio = ratio_of_choice(rows[i][0], rows[i][1], rows[i][2]);
        if (ratio > 1.05)
            fail_msg("%d to %d channels at %d: %.3f times the best", (int)rows[i][0],
                     (int)rows[i][1], (int)rows[i][2], ratio);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_is_the_best_on_four_threads),
    };
    return cmocka_run_group_tests_name("shared_bandwidth", tests, NULL, NULL);
}
