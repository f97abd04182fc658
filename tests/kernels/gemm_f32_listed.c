/* Every kernel for rows of A by address against its contract. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "arch/cpu.h"
#include "kernels/gemm/f32/listed/listed.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum { MOST_SEGMENTS = 3, MOST_TILES = 3, MOST_PANELS = 3, MOST_DEPTH = 32 };
enum {
    MOST_ROWS = MOST_TILES * GEMM_F32_LISTED_HEIGHT,
    MOST_C = MOST_ROWS * (MOST_PANELS * 12 + 8),
};
static struct guard guard_a, guard_b, guard_c, guard_bias, guard_list, guard_from, guard_to,
    guard_columns;
static const size_t widths[] = {1, 4, 8, 12};

typedef void fill_fn(float *out, size_t count, uint32_t *state);

/* One strip on guarded memory, and C before. */
struct problem {
    const char *name;
    struct gemm_f32_listed strip;
    size_t depth, rows, columns;
    size_t again; /* so many last columns are contiguous */
    float before[MOST_C];
};

static float *filled(const struct guard *guard, size_t count, int end, fill_fn *fill,
                     uint32_t *seed)
{
    float *out = guard_at(guard, count * sizeof(float), end);
    fill(out, count, seed);
    return out;
}

/* Rows in no order: the list runs backwards through A. */
static const float *const *make_list(const struct gemm_f32_listed *strip, const float *a,
                                     size_t depth)
{
    size_t lists = strip->tiles * strip->segments;
    const float **list = guard_at(&guard_list, lists * GEMM_F32_LIST * sizeof *list, 1);
    size_t count = lists * strip->height;
    for (size_t l = 0; l < lists; l++)
        for (size_t i = 0; i < GEMM_F32_LIST; i++)
            list[l * GEMM_F32_LIST + i] =
                i < strip->height ? a + (--count) * depth : NULL; /* NULL: must not be read */
    return list;
}

/* The last columns of the only panel, which is `panel` long, beside each other and nowhere else. */
static void move_columns(struct problem *problem, float *b, size_t panel, uint32_t options)
{
    struct gemm_f32_listed *strip = &problem->strip;
    size_t whole = strip->width - problem->again, pitch = 4 * (strip->width / 4 + 1);
    size_t k = panel / pitch, step = k + (options >> 21 & 3);
    float *columns =
        guard_at(&guard_columns, ((problem->again - 1) * step + k) * sizeof(float), options & 1);
    for (size_t p = 0; p < k; p++)
        for (size_t j = whole; j < pitch; j++) {
            if (j < strip->width)
                columns[(j - whole) * step + p] = b[p * pitch + j];
            b[p * pitch + j] = NAN;
        }
    strip->columns = columns;
    strip->column_step = step;
}

/* whole: no columns are missing. */
static void make_problem(struct problem *problem, size_t height, size_t width, size_t depth,
                         bool whole, fill_fn *fill, uint32_t *seed)
{
    uint32_t options = fill_next(seed) >> 4;
    int end = options & 1;
    bool narrow = width < 4 || problem->again;
    size_t segments = 1 + (options >> 1 & 7) % MOST_SEGMENTS;
    size_t tiles = 1 + (options >> 4 & 7) % MOST_TILES;
    size_t panels = narrow ? 1 : 1 + (options >> 7 & 7) % MOST_PANELS;
    size_t pitch = (width + 3) / 4 * 4;
    bool skips = !whole && !problem->again && options >> 21 & 1;
    size_t b_skip = skips ? (options >> 22 & 3) * pitch : 0;
    size_t panel = segments * depth * pitch + (segments - 1) * b_skip;
    size_t b_step = panel + (options >> 10 & 7);
    problem->depth = depth, problem->rows = tiles * height, problem->columns = panels * width;
    bool accumulates = !problem->again && options >> 16 & 1;
    bool ragged = !whole && !narrow && width > 4 && panels == 1 && !accumulates;
    uint32_t missing = ragged ? options >> 19 & 3 : 0;
    problem->columns -= missing;
    size_t ldc = problem->columns + (options >> 13 & 3);
    size_t c_count = (problem->rows - 1) * ldc + problem->columns;
    float *c = guard_at(&guard_c, c_count * sizeof(float), end);
    float *b = filled(&guard_b, (panels - 1) * b_step + panel, end, fill, seed);
    size_t biases = panels * (problem->again ? pitch : width);
    problem->strip = (struct gemm_f32_listed){
        .segments = segments,
        .rounds = depth / 4,
        .tail = depth % 4,
        .b = b,
        .b_step = b_step,
        .c = c,
        .ldc = ldc,
        .tiles = tiles,
        .panels = panels,
        .bias = options >> 15 & 1 ? filled(&guard_bias, biases, end, fill, seed) : NULL,
        .accumulate = accumulates,
        .clamp = options >> 17 & 3,
        .low = -1.5f,
        .high = 2.5f,
        .height = (uint32_t)height,
        .width = (uint32_t)width,
        .missing = missing,
        .b_skip = b_skip,
        .ahead = SIZE_MAX / 3, /* nothing is there, as may be */
        .ahead_step = options,
    };
    const float *a = filled(&guard_a, tiles * segments * height * depth, end, fill, seed);
    problem->strip.rows = make_list(&problem->strip, a, depth);
    if (problem->again)
        move_columns(problem, b, panel, options);
    fill_marker(c, c_count);
    for (size_t i = 0; problem->strip.accumulate && i < problem->rows; i++)
        fill(c + i * ldc, problem->columns, seed);
    memcpy(problem->before, c, c_count * sizeof(float));
}

/* The sum, and how far one in any order may be from it. */
static double want(const struct problem *problem, size_t i, size_t j, double *bound)
{
    const struct gemm_f32_listed *strip = &problem->strip;
    size_t pitch = (strip->width + 3) / 4 * 4, whole = strip->width - problem->again;
    const float *b = strip->b + j / strip->width * strip->b_step + j % strip->width;
    if (problem->again && j >= whole)
        b = strip->columns + (j - whole) * strip->column_step, pitch = 1;
    double sum = strip->accumulate ? (double)problem->before[i * strip->ldc + j] : 0;
    double size = fabs(sum);
    for (size_t s = 0; s < strip->segments; s++, b += strip->b_skip) {
        size_t list = i / strip->height * strip->segments + s;
        const float *row = strip->rows[list * GEMM_F32_LIST + i % strip->height];
        for (size_t p = 0; p < problem->depth; p++, b += pitch) {
            sum += (double)row[p] * (double)*b;
            size += fabs((double)row[p] * (double)*b);
        }
    }
    if (strip->bias) {
        sum += (double)strip->bias[j];
        size += fabs((double)strip->bias[j]);
    }
    *bound = (double)(strip->segments * problem->depth + 4) * 0x1p-24 * size;
    sum = strip->clamp & GEMM_F32_LOW ? fmax(sum, (double)strip->low) : sum;
    return strip->clamp & GEMM_F32_HIGH ? fmin(sum, (double)strip->high) : sum;
}

static void check_problem(const struct problem *problem)
{
    const struct gemm_f32_listed *strip = &problem->strip;
    for (size_t i = 0; i < problem->rows; i++) {
        for (size_t j = 0; j < problem->columns; j++) {
            double bound, expected = want(problem, i, j, &bound);
            double got = (double)strip->c[i * strip->ldc + j];
            if (!(fabs(got - expected) <= bound))
                fail_msg(
                    "%s %ux%u: segments %zu depth %zu tiles %zu panels %zu accumulate %u "
                    "bias %d clamp %u missing %u skip %zu: c[%zu][%zu] is %.9g, not %.9g (seed %u)",
                    problem->name, strip->height, strip->width, strip->segments, problem->depth,
                    strip->tiles, strip->panels, strip->accumulate, strip->bias != NULL,
                    strip->clamp, strip->missing, strip->b_skip, i, j, got, expected, fill_seed());
        }
        for (size_t j = problem->columns; i + 1 < problem->rows && j < strip->ldc; j++)
            assert_true(fill_is_marker(strip->c[i * strip->ldc + j]));
    }
}

/* A tile of all depths; again: as in struct problem. */
static void walk_depths(const char *name, gemm_f32_listed_fn *run, size_t height, size_t width,
                        size_t again, fill_fn *fill, uint32_t *seed)
{
    static const size_t depths[] = {0, 1, 2, 3, 4, 5, 8, 10, 12, 16, 20, 23, MOST_DEPTH};
    for (size_t d = 0; d < count_of(depths); d++)
        for (int times = 0; times < 8; times++) {
            struct problem problem = {.name = name, .again = again};
            make_problem(&problem, height, width, depths[d], false, fill, seed);
            run(&problem.strip);
            check_problem(&problem);
        }
}

static void walk_sizes(const struct gemm_f32_listed_kernels *kernels, fill_fn *fill)
{
    uint32_t seed = fill_seed();
    for (size_t w = 0; w < count_of(widths); w++)
        for (size_t height = 1; height <= GEMM_F32_LISTED_HEIGHT; height++)
            walk_depths(kernels->name, gemm_f32_listed_run(kernels, height, widths[w]), height,
                        widths[w], 0, fill, &seed);
    for (size_t height = 1; height <= GEMM_F32_LISTED_HEIGHT; height++)
        if (kernels->fetch[height - 1])
            walk_depths(kernels->name, kernels->fetch[height - 1], height, 12, 0, fill, &seed);
}

static void is_exact_on_integers(void **state)
{
    walk_sizes(*state, fill_integers);
}

static void is_near_on_reals(void **state)
{
    walk_sizes(*state, fill_reals);
}

static void columns_are_exact_on_integers_and_near_on_reals(void **state)
{
    const struct gemm_f32_listed_columns *kernel = *state;
    size_t width = 4u * kernel->vectors + kernel->columns;
    uint32_t seed = fill_seed() + (uint32_t)width;
    walk_depths(kernel->name, kernel->run, kernel->height, width, kernel->columns, fill_integers,
                &seed);
    walk_depths(kernel->name, kernel->run, kernel->height, width, kernel->columns, fill_reals,
                &seed);
}

/* The panels of `problem` as rows, for a kernel that packs; it has one tile and segment. */
static void make_plain(struct problem *problem, size_t b_count, uint32_t *seed)
{
    struct gemm_f32_listed *strip = &problem->strip;
    size_t depth = problem->depth, columns = problem->columns;
    uint32_t options = fill_next(seed) >> 4;
    strip->from_row = columns + (options >> 1 & 7);
    size_t count = depth ? (depth - 1) * strip->from_row + columns : 0;
    float *from = guard_at(&guard_from, count * sizeof(float), options & 1);
    fill_marker(from, count);
    for (size_t p = 0; p < depth; p++)
        for (size_t j = 0; j < columns; j++)
            from[p * strip->from_row + j] = strip->b[j / 12 * strip->b_step + p * 12 + j % 12];
    strip->from = from;
    strip->to = guard_at(&guard_to, b_count * sizeof(float), options & 1);
    fill_marker(strip->to, b_count);
}

/* Panels are as they would be for other kernels, and what is between them is left alone. */
static void check_packed(const struct problem *problem, size_t b_count)
{
    const struct gemm_f32_listed *strip = &problem->strip;
    size_t panel = problem->depth * 12;
    for (size_t i = 0; i < b_count; i++)
        if (i % strip->b_step < panel)
            assert_true(strip->to[i] == strip->b[i]);
        else
            assert_true(fill_is_marker(strip->to[i]));
}

static void packs_meanwhile(void **state)
{
    const struct gemm_f32_listed_kernels *kernels = *state;
    uint32_t seed = fill_seed();
    for (size_t height = 1; height <= GEMM_F32_LISTED_HEIGHT; height++)
        for (size_t depth = 0; kernels->pack[height - 1] && depth <= MOST_DEPTH; depth++)
            for (int times = 0; times < 8; times++) {
                struct problem problem = {.name = kernels->name};
                make_problem(&problem, height, 12, depth, true, fill_integers, &seed);
                struct gemm_f32_listed *strip = &problem.strip;
                size_t b_count = (strip->panels - 1) * strip->b_step + depth * 12;
                strip->tiles = strip->segments = 1, problem.rows = height;
                make_plain(&problem, b_count, &seed);
                const float *b = strip->b;
                strip->b = NULL; /* must not be read */
                kernels->pack[height - 1](strip);
                strip->b = b;
                check_problem(&problem);
                check_packed(&problem, b_count);
            }
}

/* Rows at equal distances, panels of 12 columns and of 8: one strip, with C at `c`. */
static struct gemm_f32_listed make_regular(size_t height, size_t depth, float *c, fill_fn *fill,
                                           uint32_t *seed)
{
    uint32_t options = fill_next(seed) >> 4;
    int end = options & 1;
    size_t tiles = 1 + (options >> 1 & 7) % MOST_TILES, panels = 1 + (options >> 4 & 1);
    size_t eights = (options >> 5 & 7) % MOST_PANELS, columns = panels * 12 + eights * 8;
    size_t b_step = depth * 12 + (options >> 8 & 7), eights_step = depth * 8 + (options >> 11 & 7);
    size_t a_row = depth + (options >> 14 & 3), rows = tiles * height;
    return (struct gemm_f32_listed){
        .segments = 1,
        .rounds = depth / 4,
        .b = filled(&guard_b, (panels - 1) * b_step + depth * 12, end, fill, seed),
        .b_step = b_step,
        .c = c,
        .ldc = columns + (options >> 16 & 3),
        .tiles = tiles,
        .panels = panels,
        .bias = options >> 18 & 1 ? filled(&guard_bias, columns, end, fill, seed) : NULL,
        .accumulate = options >> 21 & 1,
        .clamp = options >> 19 & 3,
        .low = -1.5f,
        .high = 2.5f,
        .height = (uint32_t)height,
        .width = 12,
        .a = filled(&guard_a, (rows - 1) * a_row + depth, end, fill, seed),
        .a_row = a_row,
        .b_eights =
            eights ? filled(&guard_from, (eights - 1) * eights_step + depth * 8, end, fill, seed)
                   : NULL,
        .eights_step = eights_step,
        .eights = eights,
    };
}

/* The same sums as those of a list of these rows, by two strips. */
static void run_listed(struct gemm_f32_listed strip, float *c)
{
    const float *list[MOST_TILES * GEMM_F32_LIST];
    size_t first = strip.panels * 12;
    for (size_t i = 0; i < strip.tiles * strip.height; i++)
        list[i / strip.height * GEMM_F32_LIST + i % strip.height] = strip.a + i * strip.a_row;
    strip.rows = list;
    strip.c = c;
    gemm_f32_listed_run(&gemm_f32_listed_ref, strip.height, 12)(&strip);
    strip.width = 8;
    strip.b = strip.b_eights;
    strip.b_step = strip.eights_step;
    strip.panels = strip.eights;
    strip.c += first;
    strip.bias = strip.bias ? strip.bias + first : NULL;
    gemm_f32_listed_run(&gemm_f32_listed_ref, strip.height, 8)(&strip);
}

static void check_regular(const struct gemm_f32_listed_kernels *kernels, size_t height,
                          size_t depth, fill_fn *fill, uint32_t *seed)
{
    float want[MOST_C];
    fill_marker(want, MOST_C);
    struct gemm_f32_listed strip = make_regular(height, depth, want, fill, seed);
    size_t rows = strip.tiles * height, columns = strip.panels * 12 + strip.eights * 8;
    size_t count = (rows - 1) * strip.ldc + columns;
    for (size_t i = 0; strip.accumulate && i < rows; i++)
        fill(want + i * strip.ldc, columns, seed);
    strip.c = guard_at(&guard_c, count * sizeof(float), depth % 8 == 0);
    memcpy(strip.c, want, count * sizeof(float));
    run_listed(strip, want);
    kernels->regular[height - 1](&strip);
    for (size_t i = 0; i < count; i++)
        if (memcmp(&strip.c[i], &want[i], sizeof *want) != 0 && strip.c[i] != want[i])
            fail_msg("%s %zux12: depth %zu tiles %zu panels %zu eights %zu accumulate %u bias %d "
                     "clamp %u: c[%zu][%zu] is %.9g, not %.9g (seed %u)",
                     kernels->name, height, depth, strip.tiles, strip.panels, strip.eights,
                     strip.accumulate, strip.bias != NULL, strip.clamp, i / strip.ldc,
                     i % strip.ldc, (double)strip.c[i], (double)want[i], fill_seed());
}

static void regular_rows_need_no_list(void **state)
{
    const struct gemm_f32_listed_kernels *kernels = *state;
    uint32_t seed = fill_seed();
    for (size_t height = 1; height <= GEMM_F32_LISTED_HEIGHT; height++)
        for (size_t rounds = GEMM_F32_REGULAR_ROUNDS; kernels->regular[height - 1] && rounds <= 9;
             rounds++)
            for (int times = 0; times < 24; times++)
                check_regular(kernels, height, 4 * rounds, times % 2 ? fill_reals : fill_integers,
                              &seed);
}

/* A NaN in a row reaches all of that row and no other, from any step of k, through a clamp. */
static void check_nan(gemm_f32_listed_fn *run, size_t height, size_t width, size_t again)
{
    for (size_t p = 0; p < 11; p++) {
        struct problem problem = {.again = again};
        uint32_t seed = (uint32_t)p;
        make_problem(&problem, height, width, 11, false, fill_integers, &seed);
        float *row = (float *)(uintptr_t)problem.strip.rows[height - 1];
        row[p] = NAN;
        run(&problem.strip);
        for (size_t i = 0; i < problem.rows; i++)
            for (size_t j = 0; j < problem.columns; j++)
                assert_int_equal(isnan(problem.strip.c[i * problem.strip.ldc + j]) != 0,
                                 i == height - 1);
    }
}

static void keeps_nan(void **state)
{
    for (size_t w = 0; w < count_of(widths); w++)
        for (size_t height = 1; height <= GEMM_F32_LISTED_HEIGHT; height++)
            check_nan(gemm_f32_listed_run(*state, height, widths[w]), height, widths[w], 0);
}

static void columns_keep_nan(void **state)
{
    const struct gemm_f32_listed_columns *kernel = *state;
    check_nan(kernel->run, kernel->height, 4u * kernel->vectors + kernel->columns, kernel->columns);
}

/* A row's sums depend neither on the tile's height nor on the instructions. */
static void columns_are_summed_alike_at_every_height(void **state)
{
    const struct gemm_f32_listed_columns *kernel = *state;
    size_t width = 4u * kernel->vectors + kernel->columns;
    float got[12];
    for (size_t depth = 0; depth <= MOST_DEPTH; depth++) {
        struct problem problem = {.again = kernel->columns};
        uint32_t seed = (uint32_t)depth;
        make_problem(&problem, kernel->height, width, depth, false, fill_reals, &seed);
        struct gemm_f32_listed strip = problem.strip;
        kernel->run(&strip);
        memcpy(got, strip.c, width * sizeof *got);
        strip.tiles = 1, strip.height = 1;
        gemm_f32_listed_columns_find(kernel->needs, 1, width)(&strip);
        assert_memory_equal(strip.c, got, width * sizeof *got);
        gemm_f32_listed_columns_ref(&strip);
        assert_memory_equal(strip.c, got, width * sizeof *got);
    }
}

static void every_tile_is_found(void **state)
{
    (void)state;
    for (int in_order = 0; in_order <= IN_ORDER_NARROW; in_order++) {
        const struct gemm_f32_listed_kernels *found =
            gemm_f32_listed_find(cpu_get()->features, in_order);
        assert_int_equal(gemm_f32_listed_find(0, in_order)->needs, 0);
        assert_int_equal(found->needs & ~cpu_get()->features, 0);
        assert_true(found->in_order == 0 || found->in_order == in_order);
    }
    for (size_t width = 0; width <= 16; width++)
        for (size_t height = 0; height <= 8; height++) {
            bool exists = height >= 1 && height <= 7 &&
                          (width == 1 || width == 4 || width == 8 || width == 12);
            assert_int_equal(gemm_f32_listed_run(&gemm_f32_listed_ref, height, width) != NULL,
                             exists);
            bool columns = height >= 1 && height <= gemm_f32_listed_columns_height(width);
            assert_int_equal(gemm_f32_listed_columns_find(0, height, width) != NULL, columns);
        }
    assert_int_equal(gemm_f32_listed_columns_height(7), 6);
    assert_int_equal(gemm_f32_listed_columns_height(8), 0);
    assert_int_equal(gemm_f32_listed_columns_height(10), 5);
}

enum { MOST_BYTES = 1 << 17 };

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(is_exact_on_integers),
        cmocka_unit_test(is_near_on_reals),
        cmocka_unit_test(packs_meanwhile),
        cmocka_unit_test(regular_rows_need_no_list),
        cmocka_unit_test(keeps_nan),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(every_tile_is_found),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_a, MOST_BYTES},    {&guard_b, MOST_BYTES},       {&guard_c, MOST_BYTES},
        {&guard_bias, MOST_BYTES}, {&guard_list, MOST_BYTES},    {&guard_from, MOST_BYTES},
        {&guard_to, MOST_BYTES},   {&guard_columns, MOST_BYTES},
    };
    static const struct CMUnitTest of_columns[] = {
        cmocka_unit_test(columns_are_exact_on_integers_and_near_on_reals),
        cmocka_unit_test(columns_keep_nan),
        cmocka_unit_test(columns_are_summed_alike_at_every_height),
    };
    for (size_t i = 0; i < gemm_f32_listed_kernel_count; i++) {
        const struct gemm_f32_listed_kernels *kernels = gemm_f32_listed_kernels[i];
        kernel_tests_add(kernels->name, kernels->needs, kernels, each, count_of(each));
    }
    for (size_t i = 0; i < gemm_f32_listed_columns_kernel_count; i++) {
        const struct gemm_f32_listed_columns *kernel = &gemm_f32_listed_columns_kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, of_columns, count_of(of_columns));
    }
    kernel_tests_add_alone(alone, count_of(alone));
    return kernel_tests_run("gemm_f32_listed", guards, count_of(guards));
}
