/* The matrix-multiplication kernels of every type against their contract. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "arch/cpu.h"
#include "kernels/gemm/tiles.h"
#include "kernels/gemm/types.h"
#include "src/gemm/reciprocal.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"
#include "tests/support/stated_cpu.h"

enum { MOST_K = 272, MOST_GAP = 3, MOST_TILES = 3, MOST_BESIDE = 10, UNIT = 16 };
enum { MOST_BYTES = (MOST_K * GEMM_MOST_NR * 4 + UNIT) * MOST_BESIDE };
enum { MOST_SUMS = MOST_TILES * GEMM_MR * (GEMM_MOST_NR + MOST_GAP) };
static struct guard guard_a, guard_b, guard_sums, guard_start;
static struct guard guard_dst, guard_scales, guard_offsets, guard_rows;

static const struct gemm_kernel *kernel_of(void **state)
{
    return *state;
}

/* A kind of value for panels and sums. */
typedef void fill_fn(enum element element, void *out, size_t i, uint32_t *seed);

static void fill_integer(enum element element, void *out, size_t i, uint32_t *seed)
{
    int value = (int)((fill_next(seed) >> 8) % 9) - 4;
    element_write_f32(element, out, (ptrdiff_t)i, (float)value);
}

/* All integers, the most negative ones often; reals in [-1, 1). */
static void fill_any(enum element element, void *out, size_t i, uint32_t *seed)
{
    uint32_t bits = fill_next(seed);
    if (element == ELEMENT_S8)
        ((int8_t *)out)[i] = bits >> 30 ? -128 : (int8_t)(bits >> 8);
    else if (element == ELEMENT_S32)
        ((uint32_t *)out)[i] = bits;
    else
        element_write_f32(element, out, (ptrdiff_t)i,
                          (float)((int32_t)bits >> 7) / (float)(1 << 24));
}

/* A tile on guarded memory, and a copy of what the sums' memory held before. */
struct problem {
    const struct gemm_type *type;
    struct gemm_tile tile;
    size_t bytes;
    size_t m, n; /* rows and columns of all tiles */
    unsigned char before[MOST_SUMS * 4];
};

static void *make_values(const struct guard *guard, enum element element, size_t count, int end,
                         fill_fn *fill, uint32_t *seed)
{
    void *values = guard_at(guard, count * element_bytes(element), end);
    for (size_t i = 0; i < count; i++)
        fill(element, values, i, seed);
    return values;
}

/* Without -128, as weights often are. */
static void limit(int8_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] == -128)
            values[i] = -127;
}

/* Below each other, or a row's beside each other, which have no end. */
static uint32_t make_tiles(const struct gemm_tile *tile, uint32_t options)
{
    uint32_t most = tile->mr > 1 ? MOST_TILES : tile->n == tile->nr && !tile->end ? MOST_BESIDE : 0;
    return tile->m == tile->mr ? options % (most + 1) : 0;
}

static void make_problem(struct problem *problem, const struct gemm_type *type,
                         struct gemm_tile tile, fill_fn *fill, uint32_t *seed)
{
    uint32_t options = fill_next(seed) >> 4;
    int end = options & 1;
    size_t k = tile.groups * type->group;
    tile.add = options >> 3 & 1;
    tile.tiles = make_tiles(&tile, options >> 8);
    size_t tiles = tile.tiles ? tile.tiles : 1, bytes = element_bytes(type->element);
    size_t below = tile.mr > 1 ? tiles : 1, beside = tiles / below;
    tile.row = tile.n + (beside > 1 ? 0 : options >> 1 & MOST_GAP);
    tile.beside = gemm_panel_bytes(type, tile.nr, k) + (options >> 5 & 1) * UNIT;
    size_t b_count = ((beside - 1) * tile.beside + k * tile.nr * bytes) / bytes;
    problem->m = below * tile.m;
    problem->n = beside > 1 ? beside * tile.nr : tile.n;
    tile.a = make_values(&guard_a, type->element, k * tile.mr * below, end, fill, seed);
    tile.b = make_values(&guard_b, type->element, b_count, end, fill, seed);
    if (type->element == ELEMENT_S8 && options >> 7 & 1)
        limit((int8_t *)(uintptr_t)tile.b, b_count);
    size_t sums = (problem->m - 1) * tile.row + problem->n;
    tile.sums = make_values(&guard_sums, type->sum, sums, end, fill, seed);
    const void *start = make_values(&guard_start, type->sum, tile.nr * beside, end, fill, seed);
    tile.start = options >> 4 & 1 ? start : NULL;
    problem->type = type;
    problem->tile = tile;
    problem->bytes = sums * element_bytes(type->sum);
    memcpy(problem->before, tile.sums, problem->bytes);
}

/* Values of the panels and of what a sum begins with, as f64: all types are exact in it. */
static double value(enum element element, const void *from, size_t i)
{
    return element == ELEMENT_S32 ? ((const int32_t *)from)[i]
                                  : (double)element_read_f32(element, from, (ptrdiff_t)i);
}

static double begin(const struct problem *problem, size_t i, size_t j)
{
    const struct gemm_tile *tile = &problem->tile;
    if (tile->add)
        return value(problem->type->sum, problem->before, i * tile->row + j);
    return tile->start ? value(problem->type->sum, tile->start, j) : 0;
}

/* The exact sum, which is below 2^53 for integers, and the sum of its parts' sizes. */
static double exact(const struct problem *problem, size_t i, size_t j, double *size)
{
    const struct gemm_type *type = problem->type;
    const struct gemm_tile *tile = &problem->tile;
    double sum = begin(problem, i, j);
    *size = fabs(sum);
    for (size_t p = 0; p < tile->groups * type->group; p++) {
        size_t panel = i / tile->mr * tile->groups * type->group * tile->mr;
        size_t in_panel = gemm_panel_at(type->group, tile->mr, i % tile->mr, p);
        double a = value(type->element, tile->a, panel + in_panel);
        double b = value(type->element, (const char *)tile->b + j / tile->nr * tile->beside,
                         gemm_panel_at(type->group, tile->nr, j % tile->nr, p));
        sum += a * b;
        *size += fabs(a * b);
    }
    return sum;
}

static int is_right(const struct problem *problem, size_t i, size_t j, int is_exact)
{
    const struct gemm_tile *tile = &problem->tile;
    double size, want = exact(problem, i, j, &size);
    double got = value(problem->type->sum, tile->sums, i * tile->row + j);
    if (problem->type->sum == ELEMENT_S32)
        want = (int32_t)(uint32_t)(int64_t)want;
    if (problem->type->sum == ELEMENT_S32 || is_exact)
        return got == want;
    double k = (double)(tile->groups * problem->type->group);
    bool is_short = problem->type->within == ELEMENT_F16;
    double rounding = is_short ? 0x1p-11 : 0x1p-23;
    double denormal = is_short ? 0x1p-25 : 0; /* half of the distance of numbers near 0 */
    return fabs(got - want) <= (k + 2) * (rounding * size + denormal);
}

static void check_problem(const struct problem *problem, const struct gemm_kernel *kernel,
                          int is_exact)
{
    const struct gemm_tile *tile = &problem->tile;
    size_t bytes = element_bytes(problem->type->sum);
    for (size_t i = 0; i < problem->m; i++)
        for (size_t j = 0; j < problem->n; j++) {
            double size;
            if (is_right(problem, i, j, is_exact))
                continue;
            print_error(
                "%s of %u %ux%u, m=%u n=%u groups=%zu row=%zu add=%u start=%d: sum (%zu, %zu) "
                "is %.9g, not %.9g (seed %u)\n",
                kernel->name, tile->tiles, tile->mr, tile->nr, tile->m, tile->n, tile->groups,
                tile->row, tile->add, tile->start != NULL, i, j,
                value(problem->type->sum, tile->sums, i * tile->row + j),
                exact(problem, i, j, &size), fill_seed());
            fail();
        }
    for (size_t i = 0; i + 1 < problem->m; i++) {
        size_t gap = (i * tile->row + tile->n) * bytes;
        assert_memory_equal((const char *)tile->sums + gap, problem->before + gap,
                            (tile->row - tile->n) * bytes);
    }
}

struct call {
    gemm_run_fn *run;
    const struct gemm_tile *tile;
};

static void run_call(void *argument)
{
    const struct call *call = argument;
    call->run(call->tile);
}

/* Several tiles are only as many as a task has of them, so each has the bits that it has alone. */
static void check_alone(const struct problem *problem, const struct gemm_kernel *kernel)
{
    static unsigned char together[MOST_SUMS * 4];
    const struct gemm_tile *tile = &problem->tile;
    memcpy(together, tile->sums, problem->bytes);
    memcpy(tile->sums, problem->before, problem->bytes);
    gemm_run_each(tile, kernel->type, kernel->run);
    if (memcmp(together, tile->sums, problem->bytes))
        fail_msg(
            "%s: %u tiles of %ux%u, groups=%zu add=%u start=%d, have other sums than each alone",
            kernel->name, tile->tiles, tile->mr, tile->nr, tile->groups, tile->add,
            tile->start != NULL);
}

static void check_tile(const struct gemm_kernel *kernel, struct gemm_tile tile, fill_fn *fill,
                       uint32_t *seed)
{
    struct problem problem;
    make_problem(&problem, kernel->type, tile, fill, seed);
    kernel_tests_call(run_call, &(struct call){kernel->run, &problem.tile});
    check_problem(&problem, kernel, fill == fill_integer);
    check_alone(&problem, kernel);
}

/* Whole tiles of every size and several depths, and of each size two ragged ones. */
static void walk_sizes(const struct gemm_kernel *kernel, fill_fn *fill)
{
    static const size_t groups[] = {0, 1, 2, 3, 4, 5, 8, 9, 17};
    uint32_t seed = fill_seed();
    for (uint32_t mr = 1; mr <= GEMM_MR; mr++)
        for (uint32_t vectors = 1; vectors <= GEMM_VECTORS; vectors++) {
            uint32_t nr = vectors * kernel->type->vector;
            struct gemm_tile tile = {.mr = mr, .nr = nr, .m = mr, .n = nr};
            for (size_t g = 0; g < count_of(groups); g++) {
                tile.groups = groups[g];
                check_tile(kernel, tile, fill, &seed);
            }
            tile.groups = groups[fill_next(&seed) % count_of(groups)];
            tile.n = 1 + fill_next(&seed) % nr;
            check_tile(kernel, tile, fill, &seed);
            tile.m = 1 + fill_next(&seed) % mr;
            check_tile(kernel, tile, fill, &seed);
        }
}

static void is_exact_on_integers(void **state)
{
    walk_sizes(kernel_of(state), fill_integer);
}

static void sums_any_values_within_the_bound(void **state)
{
    walk_sizes(kernel_of(state), fill_any);
}

static size_t most_columns(const struct gemm_type *type)
{
    return (size_t)GEMM_VECTORS * type->vector;
}

/* A row of A and all of B hold one value each, the other rows of A hold zeros. */
static void fill_two(const struct gemm_type *type, void *a, void *b, size_t k, float of_a,
                     float of_b)
{
    size_t nr = most_columns(type);
    memset(a, 0, k * GEMM_MR * element_bytes(type->element));
    for (size_t p = 0; p < k; p++)
        element_write_f32(type->element, a, (ptrdiff_t)gemm_panel_at(type->group, GEMM_MR, 2, p),
                          of_a);
    for (size_t i = 0; i < k * nr; i++)
        element_write_f32(type->element, b, (ptrdiff_t)i, of_b);
}

/* NaN and infinity reach their row and no other; denormal numbers count, or are zeros in bf16's own
 * instructions. */
static void keeps_what_is_special(void **state)
{
    const struct gemm_kernel *kernel = kernel_of(state);
    const struct gemm_type *type = kernel->type;
    if (type->sum == ELEMENT_S32)
        return; /* integers have none */
    int is_bf16 = type->element == ELEMENT_BF16;
    const struct {
        float a, b, want, or_want;
    } cases[] = {
        {NAN, 1, NAN, NAN},
        {INFINITY, 1, INFINITY, INFINITY},
        {-INFINITY, 2, -INFINITY, -INFINITY},
        {INFINITY, 0, NAN, NAN},
        {0x1p-24f, 1, 0x1p-20f, 0x1p-20f}, /* denormal in f16 */
        {0x1p-130f, 1, 0x1p-126f, 0},      /* denormal in bf16 and f32 */
        {is_bf16 ? 0x1p127f : 0x1p15f, is_bf16 ? 2 : 0x1p15f, INFINITY, 0x1p34f}, /* overflow */
    };
    for (size_t c = 0; c < count_of(cases); c++) {
        int is_tiny = cases[c].a == 0x1p-130f;
        if (is_tiny && type->element == ELEMENT_F16)
            continue; /* f16 has no such number */
        size_t k = 16, nr = most_columns(type);
        uint32_t a[16 * GEMM_MR], b[16 * GEMM_MOST_NR], sums[GEMM_MR * GEMM_MOST_NR];
        fill_two(type, a, b, k, cases[c].a, cases[c].b);
        kernel->run(&(struct gemm_tile){.groups = gemm_groups(type, k),
                                        .a = a,
                                        .b = b,
                                        .sums = sums,
                                        .row = nr,
                                        .mr = GEMM_MR,
                                        .nr = (uint32_t)nr,
                                        .m = GEMM_MR,
                                        .n = (uint32_t)nr});
        for (size_t i = 0; i < GEMM_MR * nr; i++) {
            float got = element_read_f32(type->sum, sums, (ptrdiff_t)i);
            float want = i / nr == 2 ? cases[c].want : 0,
                  or_want = i / nr == 2 ? cases[c].or_want : 0;
            if (got != want && got != or_want && !(isnan(want) && isnan(got))) {
                print_error("%s: %g * %g sums to %g\n", kernel->name, (double)cases[c].a,
                            (double)cases[c].b, (double)got);
                fail();
            }
        }
    }
}

/* ---- ends ---- */

enum { GAP_BYTE = 0x5a, OPTIONS = 128 };

static float *make_floats(const struct guard *guard, size_t count, int end, float unit,
                          uint32_t *seed)
{
    float *values = guard_at(guard, count * sizeof *values, end);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((int32_t)fill_next(seed) >> 24) * unit;
    return values;
}

/* options: 1 scales of rows, 2 no scales of columns, 4 offsets, 8 a clamp, 16 dst's scale and zero
 * point, 32 by multiplication, 64 by one. */
static struct gemm_finish make_end(const struct gemm_tile *tile, size_t m, enum element to,
                                   int options, uint32_t *seed)
{
    int end = fill_next(seed) >> 30 & 1;
    float divisor = options & 64 ? 0.5f : 0.6f;
    struct gemm_reciprocal both = gemm_reciprocal_of(divisor);
    float *rows = make_floats(&guard_rows, m, end, 1.0f / 64, seed);
    float *scales = make_floats(&guard_scales, tile->nr, end, 1.0f / 4096, seed);
    float *offsets = make_floats(&guard_offsets, tile->nr, end, 0.5f, seed);
    offsets[tile->nr / 2] = NAN;
    return (struct gemm_finish){.n = tile->nr,
                                .row_scales = options & 1 ? rows : NULL,
                                .scales = options & 2 ? NULL : scales,
                                .offsets = options & 4 ? offsets : NULL,
                                .is_clamped = options >> 3 & 1,
                                .is_requantized = options >> 4 & 1,
                                .low = -3,
                                .high = 70,
                                .divisor = divisor,
                                .reciprocal = options & 96 ? both.most : 0,
                                .rest = both.rest,
                                .zero = 5,
                                .dst_row = tile->row,
                                .to = to};
}

/* What sums begin with so that their bits are those of floats. */
static void begin_as_floats(struct problem *problem)
{
    int32_t *start = guard_at(&guard_start, problem->tile.nr * sizeof *start, 1);
    for (size_t j = 0; j < problem->tile.nr; j++)
        start[j] = GEMM_FLOAT_START + (int32_t)j * 1000 - 5000;
    problem->tile.start = start;
    problem->tile.add = 0;
}

/* Sums in memory and what they are finished to there, and the same with an end. plain: sums begin
 * with nothing, and only offsets and a clamp change them. */
static void check_end(const struct gemm_kernel *kernel, struct gemm_tile tile, enum element to,
                      int plain, uint32_t *seed)
{
    static unsigned char want[MOST_SUMS * 4];
    const struct gemm_type *type = kernel->type;
    int options = (int)(fill_next(seed) >> 8) % OPTIONS;
    if (plain)
        options = (options & 12) | 2;
    struct problem problem;
    tile.end = &(struct gemm_finish){.to = to};
    make_problem(&problem, type, tile, fill_integer, seed);
    problem.tile.end = NULL;
    if (plain)
        problem.tile.add = 0, problem.tile.start = NULL;
    int is_float = type->sum == ELEMENT_S32 && fill_next(seed) >> 30 & 1;
    if (is_float)
        begin_as_floats(&problem);
    size_t m = problem.m, n = problem.tile.n, row = problem.tile.row;
    size_t bytes = ((m - 1) * row + n) * element_bytes(to);
    struct gemm_finish end = make_end(&problem.tile, m, to, options, seed), known = end;
    memset(want, GAP_BYTE, bytes);
    end.dst = memset(guard_at(&guard_dst, bytes, options & 1), GAP_BYTE, bytes);
    end.is_float = known.is_float = is_float;
    end.run = gemm_finish_find(cpu_get()->features, type->sum, to);
    kernel_tests_call(run_call, &(struct call){kernel->run, &problem.tile});
    known.m = m, known.n = n, known.sums = problem.tile.sums, known.row = row, known.dst = want;
    gemm_finish_find(0, type->sum, to)(&known);
    memcpy(problem.tile.sums, problem.before, problem.bytes);
    problem.tile.end = &end;
    kernel_tests_call(run_call, &(struct call){kernel->run, &problem.tile});
    if (!memcmp(end.dst, want, bytes))
        return;
    print_error("%s of %u %ux%u, n=%zu groups=%zu add=%u start=%d ends in type %d with options %d, "
                "floats %d, otherwise than in memory (seed %u)\n",
                kernel->name, problem.tile.tiles, tile.mr, tile.nr, n, tile.groups,
                problem.tile.add, problem.tile.start != NULL, (int)to, options, is_float,
                fill_seed());
    fail();
}

static void ends_as_in_memory(void **state)
{
    static const enum element types[] = {ELEMENT_F32, ELEMENT_F16, ELEMENT_BF16, ELEMENT_S8,
                                         ELEMENT_U8};
    enum { TIMES = 4 };
    const struct gemm_kernel *kernel = kernel_of(state);
    uint32_t seed = fill_seed();
    size_t count = kernel->type->sum == ELEMENT_S32 ? count_of(types) : count_of(types) - 2;
    for (uint32_t mr = 1; mr <= GEMM_MR; mr++)
        for (uint32_t vectors = 1; vectors <= GEMM_VECTORS; vectors++)
            for (size_t i = 0; i < count * TIMES; i++) {
                uint32_t nr = vectors * kernel->type->vector;
                struct gemm_tile tile = {.mr = mr, .nr = nr, .m = mr, .n = nr};
                tile.groups = fill_next(&seed) >> 8 & 3;
                if (i % TIMES == 0)
                    tile.n -= fill_next(&seed) >> 8 & 3;
                check_end(kernel, tile, types[i / TIMES], i % TIMES == 1, &seed);
            }
}

static void every_type_has_a_kernel(void **state)
{
    (void)state;
    const uint32_t tiers[] = {0, CPU_NEON, cpu_get()->features};
    for (size_t t = 0; t < count_of(tiers); t++)
        for (size_t i = 0; i < gemm_type_count; i++) {
            struct cpu cpu = stated_cpu("generic", 32768);
            cpu.features = tiers[t];
            const struct gemm_kernel *kernel = gemm_kernel_find(&cpu, &gemm_types[i]);
            assert_ptr_equal(kernel->type, &gemm_types[i]);
            assert_int_equal(kernel->needs & ~tiers[t], 0);
            assert_ptr_equal(gemm_type_named(gemm_types[i].name), &gemm_types[i]);
        }
    assert_null(gemm_type_named("f64"));
}

/* What is stored and how it is summed, on a core with so many features: what is multiplied. */
static void cores_choose_what_is_fastest(void **state)
{
    (void)state;
    enum { V9 = CPU_NEON | CPU_FP16 | CPU_FHM | CPU_DOTPROD | CPU_BF16 | CPU_I8MM };
    static const struct {
        const char *core;
        uint32_t features;
        enum element element, sum;
        const char *type;
    } rows[] = {
        {"cortex-a53", CPU_NEON, ELEMENT_S8, ELEMENT_S32, "s8_wide"},
        {"cortex-a53", CPU_NEON, ELEMENT_BF16, ELEMENT_F32, "f32"},
        {"cortex-a53", CPU_NEON, ELEMENT_F16, ELEMENT_F32, "f32"},
        {"neoverse-n1", CPU_NEON | CPU_FP16 | CPU_DOTPROD, ELEMENT_S8, ELEMENT_S32, "s8_dot"},
        {"neoverse-n1", CPU_NEON | CPU_FP16 | CPU_DOTPROD, ELEMENT_U8, ELEMENT_S32, "s8_dot"},
        {"neoverse-n1", CPU_NEON | CPU_FP16 | CPU_DOTPROD, ELEMENT_BF16, ELEMENT_F32, "f32"},
        {"neoverse-n1", CPU_NEON | CPU_FP16 | CPU_DOTPROD, ELEMENT_F16, ELEMENT_F16, "f16"},
        {"neoverse-n1", CPU_NEON | CPU_FP16 | CPU_DOTPROD, ELEMENT_F16, ELEMENT_F32, "f32"},
        {"neoverse-n2", V9, ELEMENT_S8, ELEMENT_S32, "s8_mmla"},
        {"neoverse-n2", V9, ELEMENT_BF16, ELEMENT_F32, "bf16_mmla"},
        {"neoverse-n2", V9, ELEMENT_F16, ELEMENT_F32, "f16_long"},
        {"neoverse-n2", V9 & ~(uint32_t)CPU_I8MM, ELEMENT_S8, ELEMENT_S32, "s8_dot"},
        {"neoverse-v2", V9, ELEMENT_U8, ELEMENT_S32, "s8_mmla"},
        {"cortex-a510", V9, ELEMENT_S8, ELEMENT_S32, "s8_mmla"},
        {"cortex-a510", V9, ELEMENT_BF16, ELEMENT_F32, "f32"},
        {"cortex-a520", V9, ELEMENT_BF16, ELEMENT_F32, "bf16_dot"},
        {"m2-avalanche", V9, ELEMENT_S8, ELEMENT_S32, "s8_dot"},
        {"m2-avalanche", V9, ELEMENT_BF16, ELEMENT_F32, "f32"},
        {"m2-avalanche", V9, ELEMENT_F32, ELEMENT_F32, "f32"},
        {"oryon", V9, ELEMENT_S8, ELEMENT_S32, "s8_dot"},
        {"oryon", V9, ELEMENT_BF16, ELEMENT_F32, "bf16_dot"},
    };
    for (size_t i = 0; i < count_of(rows); i++) {
        struct cpu cpu = stated_cpu(rows[i].core, 32768);
        if (!(cpu.features & CPU_NEON))
            return; /* a portable build has plain loops only */
        cpu.features = rows[i].features;
        assert_string_equal(gemm_type_choose(&cpu, rows[i].element, rows[i].sum)->name,
                            rows[i].type);
    }
    struct cpu cpu = stated_cpu("neoverse-n2", 32768);
    assert_null(gemm_type_choose(&cpu, ELEMENT_F32, ELEMENT_S32));
    assert_null(gemm_type_choose(&cpu, ELEMENT_S8, ELEMENT_F16));
}

/* Kernels for narrow cores are found there, and nowhere else. */
static void narrow_cores_take_their_own_kernels(void **state)
{
    (void)state;
    struct cpu cpu = stated_cpu("cortex-a55", 32768);
    if (!(cpu.features & CPU_NEON))
        return; /* a portable build has plain loops only */
    cpu.features = CPU_NEON | CPU_DOTPROD;
    const struct gemm_type *type = gemm_type_choose(&cpu, ELEMENT_S8, ELEMENT_S32);
    assert_string_equal(gemm_kernel_find(&cpu, type)->name, "gemm_s8_dot_narrow_dotprod");
    cpu.core = core_named("neoverse-n1");
    assert_string_equal(gemm_kernel_find(&cpu, type)->name, "gemm_s8_dot_dotprod");
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(is_exact_on_integers),
        cmocka_unit_test(sums_any_values_within_the_bound),
        cmocka_unit_test(keeps_what_is_special),
        cmocka_unit_test(ends_as_in_memory),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(every_type_has_a_kernel),
        cmocka_unit_test(cores_choose_what_is_fastest),
        cmocka_unit_test(narrow_cores_take_their_own_kernels),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_a, MOST_BYTES},
        {&guard_b, MOST_BYTES},
        {&guard_sums, MOST_SUMS * 4},
        {&guard_start, MOST_BESIDE * GEMM_MOST_NR * 4},
        {&guard_dst, MOST_SUMS * 4},
        {&guard_scales, GEMM_MOST_NR * 4},
        {&guard_offsets, GEMM_MOST_NR * 4},
        {&guard_rows, MOST_TILES * GEMM_MR * 4},
    };
    kernel_tests_add_alone(alone, count_of(alone));
    for (size_t i = 0; i < gemm_kernel_count; i++) {
        const struct gemm_kernel *kernel = gemm_kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
    }
    return kernel_tests_run("gemm_types", guards, count_of(guards));
}
