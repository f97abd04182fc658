/* Every f32 matrix-multiplication kernel against its contract. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "arch/cpu.h"
#include "kernels/gemm/f32/gemm.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

/* CHOICES: of strides, bias and so on, for each size. */
enum { MOST_K = 67, MOST = 16, CHOICES = 6 };
static struct guard guard_a, guard_b, guard_c, guard_bias, guard_to;

static const struct gemm_f32_kernel *kernel_of(void **state)
{
    return *state;
}

/* A tile on guarded memory, and a copy of what C held before. */
struct problem {
    struct gemm_f32_tile tile;
    float before[GEMM_F32_NR * MOST];
    size_t lines, length, stride; /* of C in memory */
};

typedef void fill_fn(float *out, size_t count, uint32_t *state);

static void make_problem(struct problem *problem, const struct gemm_f32_kernel *kernel, size_t n,
                         size_t k, fill_fn *fill, uint32_t *seed)
{
    size_t m = kernel->mr;
    uint32_t options = fill_next(seed) >> 4;
    int end = options & 1;
    float *a = guard_at(&guard_a, k * kernel->mr * sizeof(float), end);
    float *b = guard_at(&guard_b, k * kernel->nr * sizeof(float), end);
    float *bias = guard_at(&guard_bias, n * sizeof(float), end);
    problem->lines = kernel->columns ? n : m;
    problem->length = kernel->columns ? m : n;
    problem->stride = problem->length + (options >> 1 & 3);
    size_t c_count = (problem->lines - 1) * problem->stride + problem->length;
    float *c = guard_at(&guard_c, c_count * sizeof(float), end);
    fill(a, k * kernel->mr, seed);
    fill(b, k * kernel->nr, seed);
    fill(bias, n, seed);
    fill_marker(c, c_count);
    int accumulate = options >> 3 & 1;
    for (size_t l = 0; accumulate && l < problem->lines; l++)
        fill(c + l * problem->stride, problem->length, seed);
    memcpy(problem->before, c, c_count * sizeof(float));
    problem->tile = (struct gemm_f32_tile){
        .k = k,
        .a = a,
        .b = b,
        .c = c,
        .row = kernel->columns ? 1 : problem->stride,
        .col = kernel->columns ? problem->stride : 1,
        .n = n,
        .bias = options >> 4 & 1 ? bias : NULL,
        .accumulate = accumulate,
        .low = options >> 5 & 1 ? -1.5f : -INFINITY,
        .high = options >> 6 & 1 ? 2.5f : INFINITY,
    };
}

/* What the contract says, and in *bound how far a sum in any order may be from the f64 result. */
static float want(const struct problem *problem, const struct gemm_f32_kernel *kernel, size_t i,
                  size_t j, double *exact, double *bound)
{
    const struct gemm_f32_tile *tile = &problem->tile;
    float sum = tile->accumulate ? problem->before[i * tile->row + j * tile->col] : 0;
    double wide = (double)sum, size = fabs(wide);
    for (size_t p = 0; p < tile->k; p++) {
        float a = tile->a[p * kernel->mr + i], b = tile->b[p * kernel->nr + j];
        sum = fmaf(a, b, sum);
        wide += (double)a * (double)b;
        size += fabs((double)a * (double)b);
    }
    if (tile->bias) {
        sum += tile->bias[j];
        wide += (double)tile->bias[j];
        size += fabs((double)tile->bias[j]);
    }
    *exact = fmin(fmax(wide, (double)tile->low), (double)tile->high);
    *bound = (double)(tile->k + 2) * 0x1p-24 * size;
    return fminf(fmaxf(sum, tile->low), tile->high);
}

static void check_problem(const struct problem *problem, const struct gemm_f32_kernel *kernel)
{
    const struct gemm_f32_tile *tile = &problem->tile;
    for (size_t i = 0; i < kernel->mr; i++)
        for (size_t j = 0; j < tile->n; j++) {
            double exact, bound;
            float expected = want(problem, kernel, i, j, &exact, &bound);
            float got = tile->c[i * tile->row + j * tile->col];
            if (got == expected && fabs((double)got - exact) <= bound)
                continue;
            print_error("%s n=%zu k=%zu stride=%zu accumulate=%d bias=%d low=%g high=%g: "
                        "c[%zu][%zu] is %.9g, not %.9g (seed %u)\n",
                        kernel->name, tile->n, tile->k, problem->stride, tile->accumulate,
                        tile->bias != NULL, (double)tile->low, (double)tile->high, i, j,
                        (double)got, (double)expected, fill_seed());
            fail();
        }
    for (size_t l = 0; l + 1 < problem->lines; l++)
        for (size_t gap = problem->length; gap < problem->stride; gap++)
            assert_true(fill_is_marker(tile->c[l * problem->stride + gap]));
}

static void walk_sizes(const struct gemm_f32_kernel *kernel, fill_fn *fill)
{
    static const size_t depths[] = {0, 1, 2, 3, 4, 5, 7, 8, 13, MOST_K};
    uint32_t seed = fill_seed() + kernel->mr * 16u + kernel->nr;
    for (size_t d = 0; d < count_of(depths); d++)
        for (size_t n = 1; n <= kernel->nr; n++)
            for (size_t choice = 0; choice < CHOICES; choice++) {
                struct problem problem;
                make_problem(&problem, kernel, n, depths[d], fill, &seed);
                kernel->run(&problem.tile);
                check_problem(&problem, kernel);
            }
}

static void is_exact_on_integers(void **state)
{
    walk_sizes(kernel_of(state), fill_integers);
}

static void adds_reals_in_the_order_of_the_contract(void **state)
{
    walk_sizes(kernel_of(state), fill_reals);
}

/* The rows of a plain B are apart, too; its panel is written where it belongs and nowhere else. */
static void packs_what_it_multiplies(void **state)
{
    static const size_t depths[] = {0, 1, 2, 3, 4, 5, 7, 8, 13, MOST_K};
    const struct gemm_f32_kernel *kernel = kernel_of(state);
    const size_t nr = GEMM_F32_NR;
    uint32_t seed = fill_seed();
    for (size_t d = 0; d < count_of(depths); d++)
        for (int end = 0; end < 2; end++) {
            size_t k = depths[d], row = nr + (end ? 5 : 0);
            struct problem problem;
            float plain[MOST_K * (GEMM_F32_NR + 5)], *to = guard_at(&guard_to, k * nr * 4, end);
            make_problem(&problem, kernel, nr, k, fill_reals, &seed);
            for (size_t x = 0; x < k * nr; x++)
                plain[x / nr * row + x % nr] = problem.tile.b[x];
            problem.tile.from = plain, problem.tile.from_row = row, problem.tile.to = to;
            kernel->run(&problem.tile);
            check_problem(&problem, kernel);
            assert_memory_equal(to, problem.tile.b, k * nr * sizeof *to);
        }
}

/* A NaN or infinity in A reaches its row and no other; only a clamp changes an infinity. */
static void keeps_nan_and_infinity(void **state)
{
    const struct gemm_f32_kernel *kernel = kernel_of(state);
    const float specials[] = {NAN, INFINITY, -INFINITY};
    for (size_t s = 0; s < count_of(specials); s++)
        for (int clamped = 0; clamped < 2; clamped++) {
            float a[2 * GEMM_F32_MR], b[2 * GEMM_F32_NR], c[GEMM_F32_MR * GEMM_F32_NR];
            for (size_t x = 0; x < count_of(a); x++)
                a[x] = 1;
            for (size_t x = 0; x < count_of(b); x++)
                b[x] = 1;
            a[kernel->mr] = specials[s]; /* row 0, second step */
            const struct gemm_f32_tile tile = {.k = 2,
                                               .a = a,
                                               .b = b,
                                               .c = c,
                                               .row = kernel->columns ? 1 : kernel->nr,
                                               .col = kernel->columns ? kernel->mr : 1,
                                               .n = kernel->nr,
                                               .low = clamped ? -3 : -INFINITY,
                                               .high = clamped ? 3 : INFINITY};
            kernel->run(&tile);
            for (size_t i = 0; i < kernel->mr; i++)
                for (size_t j = 0; j < tile.n; j++) {
                    float got = c[i * tile.row + j * tile.col];
                    float hit = clamped ? fminf(fmaxf(specials[s], -3), 3) : specials[s];
                    if (i == 0 && isnan(specials[s]))
                        assert_true(isnan(got));
                    else
                        assert_true(got == (i == 0 ? hit : 2));
                }
        }
}

static void every_tile_is_found(void **state)
{
    (void)state;
    const uint32_t tiers[] = {0, CPU_NEON, cpu_get()->features};
    struct core core = {0};
    struct cpu cpu = {.core = &core};
    for (size_t t = 0; t < count_of(tiers); t++)
        for (size_t mr = 1; mr <= GEMM_F32_MR; mr++)
            for (size_t nr = 4; nr <= GEMM_F32_NR; nr += 4)
                for (int columns = 0; columns < 2; columns++) {
                    cpu.features = tiers[t];
                    const struct gemm_f32_kernel *kernel = gemm_f32_find(&cpu, mr, nr, columns);
                    assert_non_null(kernel);
                    assert_int_equal(kernel->needs & ~tiers[t], 0);
                    assert_int_equal(kernel->mr, mr);
                    assert_int_equal(kernel->nr, nr);
                    assert_int_equal(kernel->columns, columns);
                }
    cpu.features = cpu_get()->features;
    int is_neon = (cpu.features & CPU_NEON) != 0;
    for (uint8_t order = 0; order <= IN_ORDER_NARROW; order++) {
        core.in_order = order;
        for (int columns = 0; columns < 2; columns++) {
            gemm_f32_fn *tiles[GEMM_F32_NR / 4][GEMM_F32_MR] = {{NULL}};
            gemm_f32_find_tiles(tiles, cpu.features, order, columns);
            for (size_t mr = 1; mr <= GEMM_F32_MR; mr++)
                for (size_t nr = 4; nr <= GEMM_F32_NR; nr += 4)
                    assert_ptr_equal(tiles[nr / 4 - 1][mr - 1],
                                     gemm_f32_find(&cpu, mr, nr, columns)->run);
        }
        for (int columns = 0; columns < 2; columns++)
            assert_true(!gemm_f32_find_packing(cpu.features, order, columns) == (order != 0));
        for (size_t nr = 8; nr <= 12; nr += 4)
            assert_int_equal(gemm_f32_find(&cpu, 8, nr, 0)->in_order, is_neon ? order : 0);
        assert_int_equal(gemm_f32_find(&cpu, 7, 12, 0)->in_order, 0);
    }
    assert_null(gemm_f32_find(&cpu, 9, 12, 0));
    assert_null(gemm_f32_find(&cpu, 8, 5, 0));
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(is_exact_on_integers),
        cmocka_unit_test(adds_reals_in_the_order_of_the_contract),
        cmocka_unit_test(keeps_nan_and_infinity),
    };
    static const struct CMUnitTest packing[] = {
        cmocka_unit_test(packs_what_it_multiplies),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(every_tile_is_found),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_a, MOST_K * GEMM_F32_MR * sizeof(float)},
        {&guard_b, MOST_K * GEMM_F32_NR * sizeof(float)},
        {&guard_c, MOST * GEMM_F32_NR * sizeof(float)},
        {&guard_bias, MOST * sizeof(float)},
        {&guard_to, MOST_K * GEMM_F32_NR * sizeof(float)},
    };
    kernel_tests_add_alone(alone, count_of(alone));
    for (size_t i = 0; i < gemm_f32_kernel_count; i++) {
        const struct gemm_f32_kernel *kernel = &gemm_f32_kernels[i];
        if (kernel->packs)
            kernel_tests_add(kernel->name, kernel->needs, kernel, packing, count_of(packing));
        else
            kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
    }
    return kernel_tests_run("gemm_plan", guards, count_of(guards));
}
