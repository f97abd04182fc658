/* Every kernel for columns of A in place against its contract. */
#include "tests/support/test.h"

#include <math.h>

#include "arch/cpu.h"
#include "kernels/gemm/f32/planes/planes.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum { MOST_TILES = 3 };
static struct guard guard_a, guard_b, guard_c, guard_bias;

typedef void fill_fn(float *out, size_t count, uint32_t *state);

/* One strip on guarded memory. */
struct problem {
    const struct gemm_f32_planes_kernels *kernels;
    gemm_f32_planes_fn *run;
    struct gemm_f32_planes strip;
    size_t depth, rows;
};

static float *filled(const struct guard *guard, size_t count, int end, fill_fn *fill,
                     uint32_t *seed)
{
    float *out = guard_at(guard, count * sizeof(float), end);
    fill(out, count, seed);
    return out;
}

/* `rows` values, columns times; they are `step` apart. */
static size_t extent(size_t columns, size_t step, size_t rows)
{
    return columns ? (columns - 1) * step + rows : 0;
}

static void make_problem(struct problem *problem, size_t kind, int lowest, size_t depth,
                         fill_fn *fill, uint32_t *seed)
{
    uint32_t options = fill_next(seed) >> 4;
    int end = options & 1;
    size_t width = 4 * kind + 4, tiles = 1 + (options >> 1 & 7) % MOST_TILES;
    size_t height = lowest ? GEMM_F32_PLANES_LOWEST : problem->kernels->tiles[kind].height;
    problem->run =
        lowest ? problem->kernels->tiles[kind].run_lowest : problem->kernels->tiles[kind].run;
    problem->depth = depth, problem->rows = tiles * height;
    size_t a_step = problem->rows + (options >> 4 & 7), ldc = problem->rows + (options >> 7 & 7);
    size_t c_count = extent(width, ldc, problem->rows);
    problem->strip = (struct gemm_f32_planes){
        .a = filled(&guard_a, extent(depth, a_step, problem->rows), end, fill, seed),
        .a_step = a_step,
        .rounds = depth / 4,
        .tail = depth % 4,
        .b = filled(&guard_b, depth * width, end, fill, seed),
        .c = guard_at(&guard_c, c_count * sizeof(float), end),
        .ldc = ldc,
        .tiles = tiles,
        .bias = options >> 10 & 1 ? filled(&guard_bias, width, end, fill, seed) : NULL,
        .clamp = options >> 11 & 3,
        .low = -1.5f,
        .high = 2.5f,
        .height = (uint32_t)height,
        .width = (uint32_t)width,
    };
    fill_marker(problem->strip.c, c_count);
}

/* The result, and how far one in any order may be from it. */
static double want(const struct problem *problem, size_t i, size_t j, double *bound)
{
    const struct gemm_f32_planes *strip = &problem->strip;
    double sum = 0, size = 0;
    for (size_t p = 0; p < problem->depth; p++) {
        double product =
            (double)strip->a[p * strip->a_step + i] * (double)strip->b[p * strip->width + j];
        sum += product;
        size += fabs(product);
    }
    if (strip->bias) {
        sum += (double)strip->bias[j];
        size += fabs((double)strip->bias[j]);
    }
    *bound = (double)(problem->depth + 2) * 0x1p-24 * size;
    sum = strip->clamp & GEMM_F32_PLANES_LOW ? fmax(sum, (double)strip->low) : sum;
    return strip->clamp & GEMM_F32_PLANES_HIGH ? fmin(sum, (double)strip->high) : sum;
}

static void check_problem(const struct problem *problem)
{
    const struct gemm_f32_planes *strip = &problem->strip;
    for (size_t j = 0; j < strip->width; j++) {
        for (size_t i = 0; i < problem->rows; i++) {
            double bound, expected = want(problem, i, j, &bound);
            double got = (double)strip->c[j * strip->ldc + i];
            if (!(fabs(got - expected) <= bound))
                fail_msg("%s %ux%u: depth %zu tiles %zu bias %d clamp %u: c[%zu][%zu] is %.9g, "
                         "not %.9g (seed %u)",
                         problem->kernels->name, strip->height, strip->width, problem->depth,
                         strip->tiles, strip->bias != NULL, strip->clamp, i, j, got, expected,
                         fill_seed());
        }
        for (size_t i = problem->rows; j + 1 < strip->width && i < strip->ldc; i++)
            assert_true(fill_is_marker(strip->c[j * strip->ldc + i]));
    }
}

static void walk_sizes(const struct gemm_f32_planes_kernels *kernels, fill_fn *fill)
{
    static const size_t depths[] = {0, 1, 3, 4, 5, 7, 8, 9, 11, 12, 15, 16, 21, 32};
    uint32_t seed = fill_seed();
    for (size_t kind = 0; kind < GEMM_F32_PLANES_WIDTHS; kind++)
        for (int lowest = 0; lowest < 2; lowest++)
            for (size_t d = 0; d < count_of(depths); d++)
                for (int times = 0; times < 16; times++) {
                    struct problem problem = {.kernels = kernels};
                    make_problem(&problem, kind, lowest, depths[d], fill, &seed);
                    problem.run(&problem.strip);
                    check_problem(&problem);
                }
}

static void is_exact_on_integers(void **state)
{
    walk_sizes(*state, fill_integers);
}

static void is_near_on_reals(void **state)
{
    walk_sizes(*state, fill_reals);
}

/* A NaN in a column of A reaches its row and no other, from any step of k, through a clamp. */
static void keeps_nan(void **state)
{
    for (size_t kind = 0; kind < GEMM_F32_PLANES_WIDTHS; kind++)
        for (int lowest = 0; lowest < 2; lowest++)
            for (size_t p = 0; p < 11; p++) {
                struct problem problem = {.kernels = *state};
                uint32_t seed = (uint32_t)p;
                make_problem(&problem, kind, lowest, 11, fill_integers, &seed);
                ((float *)(uintptr_t)problem.strip.a)[p * problem.strip.a_step + 1] = NAN;
                problem.run(&problem.strip);
                for (size_t j = 0; j < problem.strip.width; j++)
                    for (size_t i = 0; i < problem.rows; i++)
                        assert_int_equal(isnan(problem.strip.c[j * problem.strip.ldc + i]) != 0,
                                         i == 1);
            }
}

static void one_is_found(void **state)
{
    (void)state;
    uint32_t features = cpu_get()->features;
    for (int in_order = 0; in_order <= IN_ORDER_NARROW; in_order++) {
        const struct gemm_f32_planes_kernels *found = gemm_f32_planes_find(features, in_order);
        assert_string_equal(gemm_f32_planes_find(0, in_order)->name, "gemm_f32_planes_ref");
        assert_int_equal(found->needs & ~features, 0);
        assert_int_equal(found->in_order, found->needs ? in_order : 0);
    }
}

enum { MOST_BYTES = 1 << 16 };

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(is_exact_on_integers),
        cmocka_unit_test(is_near_on_reals),
        cmocka_unit_test(keeps_nan),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(one_is_found),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_a, MOST_BYTES},
        {&guard_b, MOST_BYTES},
        {&guard_c, MOST_BYTES},
        {&guard_bias, MOST_BYTES},
    };
    for (size_t i = 0; i < gemm_f32_planes_kernel_count; i++) {
        const struct gemm_f32_planes_kernels *kernels = &gemm_f32_planes_kernels[i];
        kernel_tests_add(kernels->name, kernels->needs, kernels, each, count_of(each));
    }
    kernel_tests_add_alone(alone, count_of(alone));
    return kernel_tests_run("gemm_f32_planes", guards, count_of(guards));
}
