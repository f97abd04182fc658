/* Every kernel for matrices in place against its contract. */
#include "tests/support/test.h"

#include <math.h>

#include "arch/cpu.h"
#include "kernels/gemm/f32/direct/direct.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"
#include "tests/support/require.h"

enum { MOST_BYTES = 1 << 16 };

static struct guard guard_a, guard_b, guard_tail, guard_c, guard_bias;
static float before[MOST_BYTES / sizeof(float)];

typedef void fill_fn(float *out, size_t count, uint32_t *state);

/* One strip on guarded memory. */
struct problem {
    const struct gemm_f32_direct_kernel *kernel;
    bool outer; /* it reads columns of A */
    struct gemm_f32_direct strip;
    const float *a, *b, *bias;
    float *c;
    const float *before; /* what is added of C, or NULL */
    size_t rows, columns;
};

static float *filled(const struct guard *guard, size_t count, int end, fill_fn *fill,
                     uint32_t *seed)
{
    float *out = guard_at(guard, count * sizeof(float), end);
    fill(out, count, seed);
    return out;
}

/* Rows of A end where they end; those of B and the last of the groups are whole vectors. */
static void make_problem(struct problem *problem, size_t k, const size_t tiles[2], fill_fn *fill,
                         uint32_t *seed)
{
    const struct gemm_f32_direct_kernel *kernel = problem->kernel;
    uint32_t options = fill_next(seed) >> 4;
    int end = options & 1;
    bool one_group = kernel->kind.vectors == kernel->kind.group;
    size_t group = 4u * kernel->kind.group, groups = kernel->kind.vectors / kernel->kind.group;
    bool copied = one_group && (options >> 1 & 1) && k > 0;
    size_t tail = copied ? (k + 3) % 4 + 1 : k % 4, whole = k - tail;
    size_t lanes = 1 + (options >> 2 & 3);
    size_t ldb = group + (options >> 6 & 7);
    size_t gap = ldb * k + (options >> 9 & 7);
    problem->rows = tiles[0] * kernel->height + tiles[1] * (kernel->height - 1u);
    size_t lines = problem->outer ? k : problem->rows, length = problem->outer ? problem->rows : k;
    size_t lda = length + (options >> 4 & 3);
    problem->columns = 4u * (kernel->kind.vectors - 1u) + lanes;
    size_t ldc = problem->columns + (options >> 12 & 3);
    size_t b_rows = copied ? whole : k, c_count = (problem->rows - 1) * ldc + problem->columns;
    size_t b_count = b_rows ? (groups - 1) * gap + (b_rows - 1) * ldb + group : 0;
    problem->a = filled(&guard_a, lines ? (lines - 1) * lda + length : 0, end, fill, seed);
    problem->b = filled(&guard_b, b_count, end, fill, seed);
    if (options >> 14 & 1)
        problem->bias = filled(&guard_bias, 4u * kernel->kind.vectors, end, fill, seed);
    problem->c = guard_at(&guard_c, c_count * sizeof(float), end);
    problem->strip = (struct gemm_f32_direct){
        .lda = lda,
        .ldb = ldb,
        .gap = gap,
        .tail_ldb = 20,
        .ldc = ldc,
        .tiles = tiles[0],
        .low_tiles = (uint8_t)tiles[1],
        .clamp = options >> 15 & 1,
        .lanes = lanes,
        .low = -1.5f,
        .high = 2.5f,
    };
    const float *b_tail =
        copied ? filled(&guard_tail, (tail - 1) * 20 + group, end, fill, seed) : NULL;
    gemm_f32_direct_set_depth(&problem->strip, k, b_tail);
    if (problem->bias || problem->strip.clamp || copied)
        problem->strip.special |= GEMM_F32_SPECIAL_SUMS;
    if (lanes < 4)
        problem->strip.special |= GEMM_F32_SPECIAL_LANES;
    fill_marker(problem->c, c_count);
    if (lanes == 4 && !problem->outer && !kernel->kind.depth && (options >> 16 & 1)) {
        problem->strip.special |= GEMM_F32_SPECIAL_SUMS | GEMM_F32_SPECIAL_ADDS;
        problem->before = before;
        fill_rows(fill, (size_t[]){problem->rows, problem->columns}, problem->c, ldc, before, seed);
    }
    gemm_f32_direct_set_ending(&problem->strip);
}

static float element_of_a(const struct problem *problem, size_t i, size_t p)
{
    size_t lda = problem->strip.lda;
    return problem->a[problem->outer ? p * lda + i : i * lda + p];
}

/* The first `first` steps, then rounds, then what is left: the number of a step's sum of four. */
static size_t part_of(const struct problem *problem, size_t p)
{
    const struct gemm_f32_direct *strip = &problem->strip;
    size_t odd = strip->b_tail ? 0 : strip->tail;
    if (problem->kernel->kind.way != GEMM_F32_PARTS || strip->rounds == 0 ||
        p >= odd + 4 * strip->rounds)
        return 0;
    return p < odd ? p : (p - odd) % 4;
}

static float want(const struct problem *problem, size_t i, size_t j)
{
    const struct gemm_f32_direct *strip = &problem->strip;
    size_t group = 4u * problem->kernel->kind.group, whole = 4 * strip->rounds,
           k = whole + strip->tail;
    float parts[4] = {0};
    for (size_t p = 0; p < k; p++) {
        const float *row = strip->b_tail && p >= whole
                               ? strip->b_tail + (p - whole) * strip->tail_ldb
                               : problem->b + p * strip->ldb + j / group * strip->gap;
        if (strip->b_tail && p == whole) { /* what is left comes after their sum */
            parts[0] = (parts[0] + parts[1]) + (parts[2] + parts[3]);
            parts[1] = parts[2] = parts[3] = 0;
        }
        float *part = &parts[part_of(problem, p)];
        *part = fmaf(element_of_a(problem, i, p), row[j % group], *part);
    }
    float sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    if (problem->before)
        sum += problem->before[i * problem->columns + j];
    if (problem->bias)
        sum += problem->bias[j];
    return strip->clamp ? fminf(fmaxf(sum, strip->low), strip->high) : sum;
}

static void check_problem(const struct problem *problem)
{
    const struct gemm_f32_direct *strip = &problem->strip;
    for (size_t i = 0; i < problem->rows; i++) {
        for (size_t j = 0; j < problem->columns; j++)
            if (problem->c[i * strip->ldc + j] != want(problem, i, j))
                fail_msg("%s: rounds %zu tail %zu tiles %zu, %u lanes %zu copied %d adds %d bias "
                         "%d clamp %zu: "
                         "c[%zu][%zu] is %.9g, not %.9g (seed %u)",
                         problem->kernel->name, strip->rounds, strip->tail, strip->tiles,
                         strip->low_tiles, strip->lanes, strip->b_tail != NULL,
                         problem->before != NULL, problem->bias != NULL, strip->clamp, i, j,
                         (double)problem->c[i * strip->ldc + j], (double)want(problem, i, j),
                         fill_seed());
        for (size_t j = problem->columns; i + 1 < problem->rows && j < strip->ldc; j++)
            assert_true(fill_is_marker(problem->c[i * strip->ldc + j]));
    }
}

static bool is_outer(const struct gemm_f32_direct_kernel *kernel)
{
    return kernel->kind.way == GEMM_F32_COLUMNS;
}

static void walk_sizes(const struct gemm_f32_direct_kernel *kernel, fill_fn *fill)
{
    static const size_t depths[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 19, 32};
    uint32_t seed = fill_seed() + kernel->height * 16u + kernel->kind.vectors;
    for (size_t d = 0; d < count_of(depths); d++)
        for (size_t count = 1; count <= (kernel->kind.depth ? 9 : 3); count++)
            for (int times = 0;
                 times < 12 && (!kernel->kind.depth || kernel->kind.depth == depths[d]); times++) {
                struct problem problem = {.kernel = kernel, .outer = is_outer(kernel)};
                size_t low = gemm_f32_direct_goes_on_lower(kernel) ? (size_t)times % 3 : 0;
                make_problem(&problem, depths[d], (size_t[]){count, low}, fill, &seed);
                kernel->run(&problem.strip, problem.a, problem.b, problem.c, problem.bias);
                check_problem(&problem);
            }
}

static void keeps_its_contract(void **state)
{
    walk_sizes(*state, fill_integers);
    walk_sizes(*state, fill_reals);
}

/* A NaN in A reaches its row and no other, through the clamp too. */
static void keeps_nan(void **state)
{
    const struct gemm_f32_direct_kernel *kernel = *state;
    bool outer = is_outer(kernel);
    float a[8 * 8], b[8 * 48], c[8 * 48];
    size_t k = kernel->kind.depth ? kernel->kind.depth : 5;
    for (size_t x = 0; x < count_of(a); x++)
        a[x] = (outer ? x % 8 == 0 : x < k) ? NAN : 1;
    for (size_t x = 0; x < count_of(b); x++)
        b[x] = 1;
    struct gemm_f32_direct strip = {
        .lda = outer ? 8 : k,
        .ldb = 4u * kernel->kind.group,
        .gap = 4u * k * kernel->kind.group,
        .ldc = 48,
        .tiles = 1,
        .clamp = 1,
        .special = GEMM_F32_SPECIAL_SUMS,
        .lanes = 4,
        .low = 0,
        .high = 3,
    };
    gemm_f32_direct_set_depth(&strip, k, NULL);
    gemm_f32_direct_set_ending(&strip);
    kernel->run(&strip, a, b, c, NULL);
    for (size_t i = 0; i < kernel->height; i++)
        for (size_t j = 0; j < 4u * kernel->kind.vectors; j++)
            assert_true(i ? c[i * 48 + j] == fminf((float)k, 3) : isnan(c[i * 48 + j]));
}

static struct gemm_f32_kind kind(enum gemm_f32_way way, uint8_t vectors, uint8_t depth)
{
    return (struct gemm_f32_kind){
        .way = (uint8_t)way, .vectors = vectors, .group = vectors, .depth = depth};
}

static void every_tile_has_a_kernel_that_needs_nothing(void **state)
{
    (void)state;
    const struct core core = {.name = "any"};
    const struct cpu cpu = {.core = &core};
    for (size_t way = 0; way < GEMM_F32_WAYS; way++)
        for (size_t i = 0; i < gemm_f32_direct_lists[way].count; i++) {
            const struct gemm_f32_direct_kernel *kernel = &gemm_f32_direct_lists[way].kernels[i];
            assert_int_equal(kernel->kind.way, way);
            assert_true(gemm_f32_direct_height(&core, kernel->kind) >= kernel->height);
            for (size_t h = 1; h <= kernel->height; h++) { /* plans ask for any of them */
                const struct gemm_f32_direct_kernel *found =
                    gemm_f32_direct_find(&cpu, h, kernel->kind);
                assert_non_null(found);
                assert_int_equal(found->needs, 0);
                assert_int_equal(found->height, h);
                assert_memory_equal(&found->kind, &kernel->kind, sizeof kernel->kind);
            }
        }
    assert_int_equal(gemm_f32_direct_height(&core, kind(GEMM_F32_ROWS, 3, 0)), 7);
    assert_int_equal(gemm_f32_direct_height(&core, kind(GEMM_F32_ROWS, 5, 0)), 0);
    assert_int_equal(gemm_f32_direct_height(&core, kind(GEMM_F32_SHALLOW, 4, 4)), 1);
    assert_int_equal(gemm_f32_direct_height(&core, kind(GEMM_F32_SHALLOW, 5, 4)), 0);
    assert_int_equal(gemm_f32_direct_height(&core, kind(GEMM_F32_SHALLOW, 4, 5)), 0);
    assert_int_equal(gemm_f32_direct_height(&core, kind(GEMM_F32_PARTS, 2, 0)), 3);
    assert_int_equal(gemm_f32_direct_height(&core, kind(GEMM_F32_PARTS, 5, 0)), 0);
    assert_int_equal(gemm_f32_direct_height(&core, kind(GEMM_F32_COLUMNS, 3, 0)), 8);
    assert_int_equal(gemm_f32_direct_height(&core, kind(GEMM_F32_COLUMNS, 4, 0)), 4);
    assert_int_equal(gemm_f32_direct_height(&core, kind(GEMM_F32_COLUMNS, 5, 0)), 0);
    assert_null(gemm_f32_direct_find(&cpu, 8, kind(GEMM_F32_ROWS, 3, 0)));
    assert_null(gemm_f32_direct_find(&cpu, 9, kind(GEMM_F32_COLUMNS, 3, 0)));
}

/* Also that lower tiles exist wherever higher ones do. */
static void cores_that_issue_in_order_get_their_own_tiles(void **state)
{
    (void)state;
    bool has_assembly = gemm_f32_direct_lists[0].kernels[0].needs != 0; /* it comes first */
    const struct core core = {.name = "any", .in_order = IN_ORDER_NARROW}, other = {.name = "any"};
    const struct cpu cpu = {.features = cpu_get()->features, .core = &core};
    for (uint8_t v = 1; v <= 4; v++) {
        struct gemm_f32_kind rows = kind(GEMM_F32_ROWS, v, 0);
        for (size_t h = 1; h <= gemm_f32_direct_height(&core, rows); h++) {
            assert_int_equal(gemm_f32_direct_is_tuned(&core, h, rows), has_assembly);
            assert_false(gemm_f32_direct_is_tuned(&other, h, rows));
            uint8_t own = has_assembly && (cpu.features & CPU_NEON) ? IN_ORDER_NARROW : 0;
            assert_int_equal(gemm_f32_direct_find(&cpu, h, rows)->in_order, own);
        }
    }
    for (size_t h = 1; h <= 8; h++) {
        struct gemm_f32_kind columns = kind(GEMM_F32_COLUMNS, 3, 0);
        bool tuned = gemm_f32_direct_is_tuned(&core, h, columns);
        assert_int_equal(tuned, has_assembly && h >= 4);
        uint8_t own = tuned && (cpu.features & CPU_NEON) ? IN_ORDER_NARROW : 0;
        assert_int_equal(gemm_f32_direct_find(&cpu, h, columns)->in_order, own);
    }
    struct gemm_f32_kind threes = {.way = GEMM_F32_ROWS, .vectors = 6, .group = 3};
    assert_int_equal(gemm_f32_direct_is_tuned(&core, 1, threes), has_assembly);
    threes.vectors = 12;
    assert_false(gemm_f32_direct_is_tuned(&core, 1, threes));
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(keeps_its_contract),
        cmocka_unit_test(keeps_nan),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(every_tile_has_a_kernel_that_needs_nothing),
        cmocka_unit_test(cores_that_issue_in_order_get_their_own_tiles),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_a, MOST_BYTES}, {&guard_b, MOST_BYTES},    {&guard_tail, MOST_BYTES},
        {&guard_c, MOST_BYTES}, {&guard_bias, MOST_BYTES},
    };
    for (size_t way = 0; way < GEMM_F32_PANELS; way++)
        for (size_t i = 0; i < gemm_f32_direct_lists[way].count; i++) {
            const struct gemm_f32_direct_kernel *kernel = &gemm_f32_direct_lists[way].kernels[i];
            kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
        }
    kernel_tests_add_alone(alone, count_of(alone));
    return kernel_tests_run("gemm_f32_direct", guards, count_of(guards));
}
