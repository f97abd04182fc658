/* Every kernel for panels side by side against its contract. */
#include "tests/support/test.h"

#include <math.h>

#include "kernels/gemm/f32/panels/panels.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum { MOST_BYTES = 1 << 16 };

static struct guard guard_a, guard_b, guard_c, guard_bias;
static float before[MOST_BYTES / sizeof(float)];

typedef void fill_fn(float *out, size_t count, uint32_t *state);

/* One strip on guarded memory. */
struct problem {
    const struct gemm_f32_direct_kernel *kernel;
    struct gemm_f32_direct strip;
    const float *a, *b, *bias;
    float *c;
    const float *before; /* what is added of C, or NULL */
    size_t rows, columns, k;
};

static float *filled(const struct guard *guard, size_t count, int end, fill_fn *fill,
                     uint32_t *seed)
{
    float *out = guard_at(guard, count * sizeof(float), end);
    fill(out, count, seed);
    return out;
}

static void make_problem(struct problem *problem, size_t k, const size_t tiles[2], fill_fn *fill,
                         uint32_t *seed)
{
    const struct gemm_f32_direct_kernel *kernel = problem->kernel;
    size_t padded = 4 * gemm_f32_panels_vectors(kernel->kind.panels);
    uint32_t options = fill_next(seed) >> 4;
    int end = options & 1;
    size_t tail = kernel->kind.panels.tail, lanes = tail ? tail : 1 + (options >> 2 & 3);
    size_t lda = k + (options >> 4 & 3);
    problem->k = k;
    problem->rows = tiles[0] * kernel->height + tiles[1] * (kernel->height - 1u);
    problem->columns = padded - 4 + lanes;
    size_t ldc = problem->columns + (options >> 6 & 3);
    size_t c_count = (problem->rows - 1) * ldc + problem->columns;
    problem->a = filled(&guard_a, (problem->rows - 1) * lda + k, end, fill, seed);
    float *b = filled(&guard_b, k * (padded + tail), end, fill, seed);
    problem->b = b;
    for (size_t j = 0; j < tail; j++)
        for (size_t p = 0; p < k; p++) {
            size_t last = 4u * kernel->kind.panels.last;
            float *place = &b[(padded - last) * k + (p + 1) * last - 4 + j];
            b[(padded + j) * k + p] = *place, *place = NAN;
        }
    if (options >> 8 & 1)
        problem->bias = filled(&guard_bias, problem->columns, end, fill, seed);
    problem->c = guard_at(&guard_c, c_count * sizeof(float), end);
    problem->strip = (struct gemm_f32_direct){
        .lda = lda,
        .ldc = ldc,
        .ldb = 4 * k,
        .gap = 12 * k,
        .tiles = tiles[0],
        .low_tiles = (uint8_t)tiles[1],
        .clamp = options >> 9 & 1,
        .lanes = lanes,
        .low = -1.5f,
        .high = 2.5f,
        .panels = kernel->kind.panels,
    };
    gemm_f32_direct_set_depth(&problem->strip, k, NULL);
    if (problem->bias || problem->strip.clamp)
        problem->strip.special |= GEMM_F32_SPECIAL_SUMS;
    if (lanes < 4)
        problem->strip.special |= GEMM_F32_SPECIAL_LANES;
    fill_marker(problem->c, c_count);
    if (lanes == 4 && (options >> 10 & 1)) {
        problem->strip.special |= GEMM_F32_SPECIAL_SUMS | GEMM_F32_SPECIAL_ADDS;
        problem->before = before;
        fill_rows(fill, (size_t[]){problem->rows, problem->columns}, problem->c, ldc, before, seed);
    }
    gemm_f32_direct_set_ending(&problem->strip);
}

/* Element (p, j) of the panels. */
static float weight(const struct problem *problem, size_t p, size_t j)
{
    struct gemm_f32_panels panels = problem->kernel->kind.panels;
    const float *panel = problem->b;
    size_t width = 12;
    for (size_t i = 0; j >= width || i >= panels.full; i++) {
        if (i < panels.full)
            width = 12;
        else
            width = i == panels.full && panels.middle ? 4u * panels.middle : 4u * panels.last;
        if (j < width)
            break;
        panel += width * problem->k;
        j -= width;
    }
    return panel[p * width + j];
}

/* Sums of a tail's columns have four parts. */
static float want(const struct problem *problem, size_t i, size_t j)
{
    const struct gemm_f32_direct *strip = &problem->strip;
    float parts[4] = {0};
    size_t tail = problem->kernel->kind.panels.tail, k = problem->k, first = k % 4 ? k % 4 : 4;
    bool whole = j + tail < problem->columns;
    const float *again = problem->b + k * (problem->columns + 4 - tail) +
                         (whole ? 0 : k * (j + tail - problem->columns));
    for (size_t p = 0; p < k; p++) {
        float *part = &parts[whole ? 0 : p < first ? p : (p - first) % 4];
        float b = whole ? weight(problem, p, j) : again[p];
        *part = fmaf(problem->a[i * strip->lda + p], b, *part);
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
                fail_msg(
                    "%s: k %zu tiles %zu, %u lanes %zu adds %d bias %d clamp %zu: c[%zu][%zu] is "
                    "%.9g, not %.9g (seed %u)",
                    problem->kernel->name, problem->k, strip->tiles, strip->low_tiles, strip->lanes,
                    problem->before != NULL, problem->bias != NULL, strip->clamp, i, j,
                    (double)problem->c[i * strip->ldc + j], (double)want(problem, i, j),
                    fill_seed());
        for (size_t j = problem->columns; i + 1 < problem->rows && j < strip->ldc; j++)
            assert_true(fill_is_marker(problem->c[i * strip->ldc + j]));
    }
}

static void walk_sizes(const struct gemm_f32_direct_kernel *kernel, fill_fn *fill)
{
    static const size_t depths[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 19};
    uint32_t seed = fill_seed() + kernel->height * 16u + kernel->kind.panels.full;
    size_t shallowest = kernel->kind.panels.tail ? GEMM_F32_PANELS_LEAST_TAIL : 0;
    for (size_t d = shallowest; d < count_of(depths); d++)
        for (size_t tiles = 1; tiles <= 2; tiles++)
            for (int times = 0; times < 8; times++) {
                struct problem problem = {.kernel = kernel};
                size_t low = gemm_f32_direct_goes_on_lower(kernel) ? (size_t)times % 3 : 0;
                make_problem(&problem, depths[d], (size_t[]){tiles, low}, fill, &seed);
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
    enum { K = 5, MOST = 72 };
    const struct gemm_f32_direct_kernel *kernel = *state;
    float a[8 * K], b[K * (MOST + 3)], c[8 * MOST];
    for (size_t x = 0; x < count_of(a); x++)
        a[x] = x < K ? NAN : 1;
    for (size_t x = 0; x < count_of(b); x++)
        b[x] = 1;
    struct gemm_f32_direct strip = {
        .lda = K,
        .ldc = MOST,
        .ldb = 4 * K,
        .gap = 12 * K,
        .tiles = 1,
        .clamp = 1,
        .special = GEMM_F32_SPECIAL_SUMS,
        .lanes = kernel->kind.panels.tail ? kernel->kind.panels.tail : 4,
        .low = 0,
        .high = 3,
        .panels = kernel->kind.panels,
    };
    gemm_f32_direct_set_depth(&strip, K, NULL);
    gemm_f32_direct_set_ending(&strip);
    kernel->run(&strip, a, b, c, NULL);
    for (size_t i = 0; i < kernel->height; i++)
        for (size_t j = 0; j < 4 * gemm_f32_panels_vectors(kernel->kind.panels) - 4 + strip.lanes;
             j++)
            assert_true(i ? c[i * MOST + j] == 3 : isnan(c[i * MOST + j]));
}

static size_t height_of(struct gemm_f32_panels panels)
{
    const struct core core = {.name = "any"};
    struct gemm_f32_kind kind = {.way = GEMM_F32_PANELS, .group = 3, .panels = panels};
    kind.vectors = (uint8_t)gemm_f32_panels_vectors(panels);
    return gemm_f32_direct_height(&core, kind);
}

static void heights_are_those_of_the_lists(void **state)
{
    (void)state;
    assert_int_equal(height_of((struct gemm_f32_panels){.full = 4}), 2);
    assert_int_equal(height_of((struct gemm_f32_panels){.full = 9}), 0);
    struct gemm_f32_panels beside_a_panel = {.full = 1, .last = 2, .tail = 2};
    assert_int_equal(height_of(beside_a_panel), 0);
    assert_int_equal(height_of((struct gemm_f32_panels){.last = 3, .tail = 3}), 0);
    assert_int_equal(height_of((struct gemm_f32_panels){.last = 3, .tail = 1}), 7);
    assert_int_equal(height_of((struct gemm_f32_panels){.last = 1, .tail = 1}), 8);
}

/* Panels side by side are given to direct tiles unless there are higher ones for panels: so only
 * cores that have direct tiles of their own need fast ones of these
 * (gemm/f32/direct/only_in_order_list.h). */
static void panels_have_higher_tiles_where_only_cores_in_order_have_direct_ones(void **state)
{
    (void)state;
    const struct core core = {.name = "any"};
    struct gemm_f32_panels eights = {.middle = 2, .last = 2}, twelves = {.full = 3};
    struct gemm_f32_kind four = {.way = GEMM_F32_ROWS, .vectors = 4, .group = 2};
    struct gemm_f32_kind nine = {.way = GEMM_F32_ROWS, .vectors = 9, .group = 3};
    assert_true(gemm_f32_direct_height(&core, four) < height_of(eights));
    assert_true(gemm_f32_direct_height(&core, nine) < height_of(twelves));
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(keeps_its_contract),
        cmocka_unit_test(keeps_nan),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(heights_are_those_of_the_lists),
        cmocka_unit_test(panels_have_higher_tiles_where_only_cores_in_order_have_direct_ones),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_a, MOST_BYTES},
        {&guard_b, MOST_BYTES},
        {&guard_c, MOST_BYTES},
        {&guard_bias, MOST_BYTES},
    };
    for (size_t i = 0; i < gemm_f32_direct_lists[GEMM_F32_PANELS].count; i++) {
        const struct gemm_f32_direct_kernel *kernel =
            &gemm_f32_direct_lists[GEMM_F32_PANELS].kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
    }
    kernel_tests_add_alone(alone, count_of(alone));
    return kernel_tests_run("gemm_f32_panels", guards, count_of(guards));
}
