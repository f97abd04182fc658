/* The blocked matrix multiplication by itself: rows or columns of A in place and packed, on stated
 * cores. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "arch/cores.h"
#include "arch/topology.h"
#include "src/core/checked.h"
#include "src/gemm/gemm.h"
#include "src/gemm/share.h"
#include "src/tensor/layout.h"
#include "src/threading/default_pool.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/stated_cpu.h"

enum { MOST_BYTES = 1 << 22 };
static struct guard guard_a, guard_b, guard_c, guard_bias, guard_scratch;
/* Products are added up once for all ways to run them, and as integers, which emulators are quick
 * at. */
static int32_t values_of_b[MOST_BYTES / sizeof(float)], sums[MOST_BYTES / sizeof(float)];

/* Which orders of loops were chosen, of those that are not always the same. */
static bool seen_k_inside, seen_k_outside, seen_column_blocks, seen_chunks, seen_laps, seen_regular,
    seen_regular_blocks, seen_unasked, seen_fetching, seen_next_step, seen_runs;
static int threads = 1; /* that share a product's tiles; they take turns */
static size_t asked;    /* of how many tiles reach() was asked */

/* A: row i, value p at a[i * stride + p / segment * gap + p % segment]; B: k × n. With
 * column: a[i + p * column], and C's columns are contiguous. part, unless its end is 0: of each
 * segment; the rest must not be multiplied. Of so many rows at the top the first segment is zeros,
 * and of as many at the bottom the last one. */
struct problem {
    size_t m, n, k, segment, stride, gap, column, zeros;
    struct span part;
    bool b_packed, staged, biased, clamped;
    bool b_rows; /* known to the plan */
    float *a, *b, *packed, *c, *bias;
    int32_t *sums; /* of products, without the bias: m × n */
};

static size_t a_index(const struct problem *problem, size_t i, size_t p)
{
    if (problem->column)
        return i + p * problem->column;
    return i * problem->stride + p / problem->segment * problem->gap + p % problem->segment;
}

static bool is_in_part(const struct problem *problem, size_t p)
{
    size_t at = problem->segment ? p % problem->segment : p;
    return problem->part.end == 0 || (at >= problem->part.begin && at < problem->part.end);
}

static size_t c_index(const struct problem *problem, size_t i, size_t j)
{
    return problem->column ? j * problem->m + i : i * problem->n + j;
}

static struct span row_reach(const struct problem *problem, size_t i)
{
    size_t begin = i < problem->zeros ? problem->segment : 0;
    size_t missing = i + problem->zeros >= problem->m ? problem->segment : 0;
    return (struct span){begin, problem->k - missing};
}

/* ---- the caller's side ---- */

static void locate(const void *context, size_t batch, struct gemm_place *out)
{
    const struct problem *problem = context;
    assert_int_equal(batch, 0);
    *out = (struct gemm_place){
        .b = problem->b_packed ? problem->packed
             : problem->b_rows ? problem->b
                               : NULL,
        .c = problem->c,
        .c_row = c_index(problem, 1, 0),
        .c_column = c_index(problem, 0, 1),
        .bias = problem->biased ? problem->bias : NULL,
        .part = problem->part,
    };
}

static void pack_a(const void *context, void *task_scratch, const struct gemm_panel *panel)
{
    const struct problem *problem = context;
    size_t row = panel->lane, rows = panel->lanes, first = panel->first, depth = panel->depth;
    float *out = panel->out;
    (void)task_scratch;
    assert_int_equal(problem->part.end, 0);
    assert_true(rows <= GEMM_F32_MR && row + rows <= problem->m && first + depth <= problem->k);
    for (size_t p = 0; p < depth; p++)
        for (size_t i = 0; i < rows; i++)
            out[p * rows + i] = problem->a[a_index(problem, row + i, first + p)];
}

static void list_a(const void *context, const void *task_scratch, const struct gemm_list *list)
{
    const struct problem *problem = context;
    size_t row = list->row, segments = list->segments;
    const float **out = list->out;
    (void)task_scratch;
    for (size_t t = 0; t < list->tall + list->low; t++, out += segments * GEMM_F32_LIST) {
        size_t rows = list->height - (t >= list->tall);
        for (size_t s = 0; s < segments; s++)
            for (size_t i = 0; i < rows; i++)
                out[s * GEMM_F32_LIST + i] =
                    problem->a + problem->part.begin +
                    a_index(problem, row + i, list->first + s * problem->segment);
        row += rows;
    }
}

/* Rows up to `end` are like the first: all those between the ones that miss something. */
static struct gemm_reach reach(const void *context, size_t batch, size_t tile, size_t row,
                               size_t rows)
{
    const struct problem *problem = context;
    struct span first = row_reach(problem, row), last = row_reach(problem, row + rows - 1);
    struct span k = {min_size(first.begin, last.begin), max_size(first.end, last.end)};
    size_t end = row + rows;
    (void)batch, (void)tile;
    asked++;
    while (k.begin == 0 && k.end == problem->k && row_reach(problem, end).end == problem->k)
        end++;
    return (struct gemm_reach){k, end};
}

static void pack_b(const void *context, const struct gemm_panel *panel)
{
    const struct problem *problem = context;
    const float *b = problem->b + panel->first * problem->n + panel->lane;
    float *out = panel->out;
    for (size_t p = 0; p < panel->depth; p++)
        for (size_t j = 0; j < panel->width; j++)
            out[p * panel->width + j] = j < panel->lanes ? b[p * problem->n + j] : 0;
}

/* All of k. */
static void pack_panel(const struct problem *problem, size_t column, size_t columns, size_t width,
                       float *out)
{
    struct gemm_panel panel = {
        .lane = column, .lanes = columns, .width = width, .depth = problem->k, .out = out};
    pack_b(problem, &panel);
}

static void finish(const void *context, const struct gemm_block *block)
{
    const struct problem *problem = context;
    for (size_t i = 0; i < block->rows; i++)
        for (size_t j = 0; j < block->columns; j++)
            problem->c[c_index(problem, block->row + i, block->column + j)] =
                block->values[i * block->row_stride + j * block->column_stride];
}

/* ---- one product ---- */

static void add_products(struct problem *problem)
{
    size_t n = problem->n;
    problem->sums = sums;
    memset(sums, 0, problem->m * n * sizeof *sums);
    for (size_t p = 0; p < problem->k; p++) {
        int32_t *b = values_of_b + p * n;
        for (size_t j = 0; j < n; j++)
            b[j] = is_in_part(problem, p) ? (int32_t)problem->b[p * n + j] : 0;
        for (size_t i = 0; i < problem->m; i++) {
            int32_t a = (int32_t)problem->a[a_index(problem, i, p)];
            for (size_t j = 0; j < n; j++)
                sums[i * n + j] += a * b[j];
        }
    }
}

static void make_problem(struct problem *problem, uint32_t *seed)
{
    size_t segments = problem->segment ? problem->k / problem->segment : 1;
    size_t a_count = problem->column
                         ? a_index(problem, problem->m, problem->k - 1)
                         : (problem->m - 1) * problem->stride + (segments - 1) * problem->gap;
    size_t b_count = problem->n * problem->k;
    problem->a = guard_at(&guard_a, (a_count + problem->segment) * sizeof(float), 1);
    problem->b = guard_at(&guard_b, b_count * sizeof(float), 0);
    problem->bias = guard_at(&guard_bias, problem->n * sizeof(float), 1);
    problem->c = guard_at(&guard_c, problem->m * problem->n * sizeof(float), 1);
    fill_integers(problem->a, a_count + problem->segment, seed);
    for (size_t i = 0; problem->zeros && i < problem->m; i++)
        for (size_t p = 0; p < problem->k; p++)
            if (p < row_reach(problem, i).begin || p >= row_reach(problem, i).end)
                problem->a[a_index(problem, i, p)] = 0;
    fill_integers(problem->b, b_count, seed);
    for (size_t i = 0; i < b_count; i++)
        if (!is_in_part(problem, i / problem->n))
            problem->b[i] = INFINITY;
    fill_integers(problem->bias, problem->n, seed);
    add_products(problem);
}

static void pack_weights(struct problem *problem)
{
    size_t padded = problem->b_packed ? layout_all_columns(problem->n) : 0;
    problem->packed = guard_at(&guard_b, problem->k * padded * sizeof(float), 1);
    for (size_t q = 0; problem->b_packed && q < layout_panel_count(problem->n); q++) {
        struct layout_panel panel = layout_panel(problem->n, q);
        pack_panel(problem, panel.first, panel.valid, panel.width,
                   problem->packed + layout_panel_offset(problem->n, q) * problem->k);
    }
    size_t tail = problem->b_packed ? layout_tail_columns(problem->n) : 0;
    for (size_t j = 0; j < tail; j++)
        pack_panel(problem, problem->n - tail + j, 1, 1,
                   problem->packed + (layout_tail_offset(problem->n) + j) * problem->k);
}

static void check(const struct problem *problem, float low, float high)
{
    for (size_t i = 0; i < problem->m; i++)
        for (size_t j = 0; j < problem->n; j++) {
            float bias = problem->biased ? problem->bias[j] : 0;
            float sum = (float)problem->sums[i * problem->n + j] + bias;
            float want = sum < low ? low : sum > high ? high : sum;
            float got = problem->c[c_index(problem, i, j)];
            if (got != want)
                fail_msg("%zux%zux%zu segment %zu zeros %zu part %zu-%zu stride %zu column %zu "
                         "packed %d "
                         "rows %d staged %d "
                         "bias %d clamp %d: "
                         "c[%zu][%zu] is %g, not %g (seed %u)",
                         problem->m, problem->n, problem->k, problem->segment, problem->zeros,
                         problem->part.begin, problem->part.end, problem->stride, problem->column,
                         problem->b_packed, problem->b_rows, problem->staged, problem->biased,
                         problem->clamped, i, j, (double)got, (double)want, fill_seed());
        }
}

static void run(const struct problem *problem, const struct cpu *cpu, struct default_pool *pool)
{
    float low = problem->clamped ? -3 : -INFINITY, high = problem->clamped ? 40 : INFINITY;
    const struct gemm_shape shape = {
        .batch = 1,
        .m = problem->m,
        .n = problem->n,
        .k = problem->k,
        .b_packed = problem->b_packed,
        .b_row = problem->b_rows ? problem->n : 0,
        .output = problem->staged ? GEMM_STAGED : GEMM_DIRECT,
        .low = low,
        .high = high,
        .segment = problem->segment,
        .a_stride = problem->stride,
        .a_is_regular = problem->segment == problem->k,
        .a_has_zeros = problem->zeros > 0,
        .a_has_parts = problem->part.end > 0,
        .columns = problem->column > 0,
        .a_column = problem->column,
    };
    const struct gemm_call call = {.context = problem,
                                   .locate = locate,
                                   .pack_a = pack_a,
                                   .list_a = list_a,
                                   .reach = reach,
                                   .pack_b = pack_b,
                                   .finish = finish};
    struct gemm_plan plan;
    struct parallel parallel;
    parallel_init(&parallel, NULL, pool, 0);
    gemm_plan_init(&plan, &shape, cpu);
    bool several = problem->k > plan.block_k && problem->m > plan.block_tiles * plan.tile_rows;
    seen_k_inside |= several && plan.k_inside && !problem->staged;
    seen_k_outside |= several && !plan.k_inside;
    seen_column_blocks |= plan.block_panels < plan.panels;
    seen_chunks |= plan.listed && plan.chunk_tiles < plan.block_tiles;
    seen_laps |= plan.listed && plan.pass_count && plan.lap_tiles < plan.block_tiles;
    seen_regular |= plan.regular_panels && plan.regular_panels < plan.full_panels &&
                    plan.full_panels < plan.panels;
    seen_fetching |= plan.fetches;
    seen_next_step |= plan.fetches && !plan.is_one_step;
    seen_regular_blocks |= plan.regular_panels && plan.block_k < problem->k;
    void *scratch = guard_at(&guard_scratch, gemm_scratch_bytes(&plan, threads), 1);
    fill_marker(problem->c, problem->m * problem->n);
    asked = 0;
    seen_runs |= threads > 1 && gemm_share_tiles(&plan, threads).by_runs;
    gemm_run(&plan, &call, &parallel, threads, scratch);
    seen_unasked |= problem->zeros && asked < plan.row_tiles;
    check(problem, problem->staged ? -INFINITY : low, problem->staged ? INFINITY : high);
}

/* m, n, k, values of a segment, and from one row of A to the next and one segment to the next. */
static const struct problem sizes[] = {
    {.m = 1, .n = 1, .k = 1, .segment = 1, .stride = 1},
    {.m = 7, .n = 12, .k = 8, .segment = 8, .stride = 9},
    {.m = 8, .n = 49, .k = 410, .segment = 410, .stride = 410},
    {.m = 20, .n = 50, .k = 403, .segment = 403, .stride = 407},
    {.m = 31, .n = 39, .k = 801, .segment = 801, .stride = 801},
    {.m = 50, .n = 64, .k = 144, .segment = 16, .stride = 16, .gap = 800},
    {.m = 33, .n = 37, .k = 180, .segment = 20, .stride = 20, .gap = 700},
    {.m = 26, .n = 23, .k = 1200, .segment = 600, .stride = 600, .gap = 16000},
    {.m = 15, .n = 47, .k = 600, .segment = 600, .stride = 4096},
    {.m = 16, .n = 31, .k = 96, .segment = 32, .stride = 4096, .gap = 64},
    {.m = 36, .n = 261, .k = 400, .segment = 400, .stride = 512},
    {.m = 300, .n = 13, .k = 5, .segment = 5, .stride = 5},
    {.m = 3, .n = 5, .k = 7, .column = 3},
    {.m = 49, .n = 29, .k = 30, .column = 49},
    {.m = 4, .n = 8, .k = 12, .column = 5},
    {.m = 99, .n = 25, .k = 33, .column = 101},
    {.m = 113, .n = 50, .k = 4, .column = 113},
    {.m = 203, .n = 31, .k = 250, .column = 205},
    {.m = 194, .n = 31, .k = 250, .column = 205},
    {.m = 128, .n = 16, .k = 9, .column = 4096},
    {.m = 600, .n = 2, .k = 3, .column = 600},
    {.m = 261, .n = 71, .k = 64, .segment = 64, .stride = 64},
    {.m = 200, .n = 64, .k = 96, .segment = 32, .stride = 32, .gap = 7000},
    {.m = 97, .n = 64, .k = 64, .segment = 64, .stride = 67},
    {.m = 80, .n = 80, .k = 68, .segment = 68, .stride = 68},
    {.m = 52, .n = 1, .k = 66, .segment = 22, .stride = 22, .gap = 900},
    {.m = 40, .n = 2, .k = 67, .segment = 67, .stride = 67},
    {.m = 45, .n = 3, .k = 69, .segment = 23, .stride = 46, .gap = 60},
    {.m = 61, .n = 7, .k = 144, .segment = 48, .stride = 16, .gap = 1000},
    {.m = 60, .n = 9, .k = 45, .segment = 15, .stride = 30, .gap = 800},
    {.m = 77, .n = 10, .k = 126, .segment = 42, .stride = 42, .gap = 900},
    {.m = 58, .n = 23, .k = 119, .segment = 119, .stride = 119},
    {.m = 620, .n = 14, .k = 60, .segment = 20, .stride = 8, .gap = 5200},
    {.m = 610, .n = 9, .k = 60, .segment = 20, .stride = 20, .gap = 40, .part = {3, 17}},
    {.m = 6, .n = 16, .k = 144, .segment = 48, .stride = 48, .gap = 300, .part = {16, 48}},
    {.m = 47, .n = 31, .k = 90, .segment = 30, .stride = 40, .gap = 1900, .part = {5, 18}},
    {.m = 16, .n = 29, .k = 33, .segment = 33, .stride = 33, .part = {0, 22}},
    {.m = 15, .n = 21, .k = 1800, .segment = 600, .stride = 600, .gap = 9000, .part = {200, 600}},
    {.m = 16, .n = 31, .k = 96, .segment = 32, .stride = 4096, .gap = 64, .part = {9, 31}},
    {.m = 9, .n = 7, .k = 40, .segment = 20, .stride = 20, .gap = 180, .part = {20, 20}},
    {.m = 26, .n = 3, .k = 640, .segment = 128, .stride = 130, .gap = 3400, .part = {64, 127}},
    {.m = 45, .n = 29, .k = 60, .segment = 20, .stride = 20, .gap = 1000, .zeros = 15},
    {.m = 26, .n = 31, .k = 96, .segment = 32, .stride = 4096, .gap = 64, .zeros = 9},
    {.m = 45, .n = 9, .k = 1800, .segment = 600, .stride = 600, .gap = 27000, .zeros = 30},
    {.m = 123, .n = 14, .k = 60, .segment = 20, .stride = 20, .gap = 2500, .zeros = 9},
};

/* With caches of 8 and 64 KiB, of which the L2 cache holds no problem as a whole. */
static const struct problem large_sizes[] = {
    {.m = 20, .n = 300, .k = 260, .segment = 260, .stride = 260},
    {.m = 196, .n = 70, .k = 160, .segment = 160, .stride = 160},
    {.m = 101, .n = 90, .k = 200, .segment = 200, .stride = 203},
    {.m = 300, .n = 60, .k = 64, .segment = 64, .stride = 64},
    {.m = 150, .n = 37, .k = 144, .segment = 16, .stride = 16, .gap = 800},
    {.m = 97, .n = 104, .k = 32, .segment = 32, .stride = 33},
    {.m = 83, .n = 124, .k = 28, .segment = 28, .stride = 28},
    {.m = 60, .n = 68, .k = 180, .segment = 180, .stride = 183},
    {.m = 60, .n = 56, .k = 144, .segment = 144, .stride = 147},
};

static void walk_list(const struct problem *list, size_t count, const struct cpu *cpu,
                      struct default_pool *pool)
{
    enum { OPTIONS = 32, EVERY = 5 }; /* each problem has other ones on each core */
    static int turn;
    uint32_t seed = fill_seed();
    for (size_t i = 0; i < count; i++) {
        struct problem problem = list[i];
        make_problem(&problem, &seed);
        for (int options = turn++ % EVERY; options < OPTIONS; options += EVERY) {
            problem.b_packed = options & 1 || problem.part.end, problem.staged = options >> 1 & 1;
            problem.biased = options >> 2 & 1, problem.clamped = options >> 3 & 1;
            problem.b_rows = !problem.b_packed && options >> 4 & 1;
            pack_weights(&problem);
            run(&problem, cpu, pool);
        }
    }
}

static void walk(const struct cpu *cpu, struct default_pool *pool)
{
    walk_list(sizes, count_of(sizes), cpu, pool);
}

static void products_are_exact_on_cores_that_reorder(void **state)
{
    (void)state;
    struct cpu large = stated_cpu("neoverse-n1", 65536), small = stated_cpu("cortex-a72", 32768);
    seen_chunks = seen_laps = seen_unasked = false;
    walk(&large, NULL);
    walk(&small, NULL);
    assert_true(seen_chunks && seen_laps && seen_unasked);
}

static void products_are_exact_in_every_order_of_loops(void **state)
{
    (void)state;
    struct cpu cpu = stated_cpu("neoverse-n1", 8192);
    cpu.l2_bytes = 65536;
    seen_k_inside = seen_k_outside = seen_column_blocks = false;
    seen_regular = seen_regular_blocks = seen_fetching = seen_next_step = false;
    walk_list(large_sizes, count_of(large_sizes), &cpu, NULL);
    assert_true(seen_k_inside && seen_k_outside && seen_column_blocks);
    assert_true(seen_regular && seen_regular_blocks);
    bool can_fetch = cpu.features & CPU_NEON; /* no other kernels do */
    assert_true(seen_fetching == can_fetch && seen_next_step == can_fetch);
}

static void products_are_exact_on_cores_that_do_not(void **state)
{
    (void)state;
    struct cpu narrow = stated_cpu("cortex-a55", 32768), little = stated_cpu("cortex-a510", 32768);
    walk(&narrow, NULL);
    walk(&little, NULL);
}

/* The plan is for the faster cores; a thread on another one packs what they read in place. */
static void products_are_exact_among_cores_of_both_kinds(void **state)
{
    (void)state;
    struct cpu cpu = stated_cpu("cortex-a76", 65536);
    struct topology t = {.count = 2};
    for (int i = 0; i < t.count; i++)
        t.cpus[i] =
            (struct topology_cpu){.cpu = i, .capacity = 1024, .model = core_named("cortex-a55")};
    struct default_pool *pool;
    neo_threadpool_options options = {.threads = t.count};
    assert_int_equal(default_pool_create_on(&pool, &options, &t), NEO_OK);
    assert_true(default_pool_kind_here(pool) > 0);
    walk(&cpu, pool);
    default_pool_destroy(pool);
}

/* Weights are too many for the L2 cache, and panels too few to be shared evenly. */
static void products_are_exact_in_runs_of_tiles(void **state)
{
    (void)state;
    struct cpu cpu = stated_cpu("neoverse-n1", 8192);
    cpu.l2_bytes = 16384;
    seen_runs = false;
    threads = 5;
    walk_list(large_sizes, count_of(large_sizes), &cpu, NULL);
    threads = 1;
    assert_true(seen_runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_exact_on_cores_that_reorder),
        cmocka_unit_test(products_are_exact_in_every_order_of_loops),
        cmocka_unit_test(products_are_exact_on_cores_that_do_not),
        cmocka_unit_test(products_are_exact_among_cores_of_both_kinds),
        cmocka_unit_test(products_are_exact_in_runs_of_tiles),
    };
    struct guard *const guards[] = {&guard_a, &guard_b, &guard_c, &guard_bias, &guard_scratch};
    for (size_t i = 0; i < count_of(guards); i++)
        guard_init(guards[i], MOST_BYTES);
    int failed = cmocka_run_group_tests_name("gemm_plan", tests, NULL, NULL);
    for (size_t i = 0; i < count_of(guards); i++)
        guard_deinit(guards[i]);
    return failed;
}
