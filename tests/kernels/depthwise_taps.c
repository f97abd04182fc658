/* Sums of depthwise convolutions of any type, against the definition: every kernel, number of
 * kernel rows and columns, stride and dilation, with lines that end at pages that may not be
 * touched. Integers exactly, also where each product is as large as it can be; floats exactly on
 * small integers, and on real numbers within the bound of so many additions. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "kernels/depthwise/taps.h"
#include "src/gemm/reciprocal.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"
#include "tests/support/require.h"

enum {
    C = DEPTHWISE_BLOCK,
    MOST_PIXELS = 19,
    MOST_ROWS = 7,
    MOST_COLUMNS = 7,
    MOST_GAP = 5,
    MOST_HEIGHT = 6
};
enum { MOST_LINES = (MOST_PIXELS - 1) * 3 + (MOST_COLUMNS - 1) * 2 + 1, OFFSET = 16 };
enum { MOST_TAPS = (MOST_ROWS + DEPTHWISE_MOST_GROUP) * MOST_COLUMNS };
enum { SRC, WEIGHTS, START, SUMS, SCALES, OFFSETS, DST, GUARDS, NEAR_OVERFLOW = INT32_MAX - 4096 };
static struct guard guards[GUARDS];

static const struct depthwise_taps_kernel *kernel_of(void **state)
{
    return *state;
}

static int is_integer(const struct depthwise_taps_kernel *kernel)
{
    return element_is_integer(kernel->src);
}

/* What is in the tensors. */
enum values { SMALL, REAL, EXTREME };

struct case_ {
    struct depthwise_taps taps;
    size_t rows, count; /* of the kernel; columns of src */
    const void *lines[MOST_LINES * (MOST_ROWS + DEPTHWISE_MOST_GROUP)];
    float plain[MOST_TAPS * C]; /* weights as they are given: rows, columns, channels */
};

/* ---- values ---- */

static float value(enum values values, enum element element, uint32_t *seed)
{
    uint32_t bits = fill_next(seed);
    float low = element == ELEMENT_U8 ? 0 : -128;
    if (values == EXTREME)
        return bits & 1 << 20 || element == ELEMENT_F32 ? low : low + 255;
    if (values == REAL)
        return (float)((int32_t)bits >> 8) / (1 << 22);
    return (float)(bits >> 28) - (element == ELEMENT_U8 ? 0 : 8);
}

/* Each line for itself, right before a page that may not be touched, or right behind one. */
static void fill_lines(const struct depthwise_taps_kernel *kernel, struct case_ *c,
                       enum values values, uint32_t *seed)
{
    size_t bytes = element_bytes(kernel->src) * C, group = kernel->group;
    size_t lines = c->count * c->taps.groups * group;
    int end = fill_next(seed) >> 20 & 1;
    unsigned char *src = guard_at(&guards[SRC], lines * bytes, end);
    for (size_t i = 0; i < lines; i++) {
        size_t row = i / (c->count * group) * group + i % group;
        for (size_t j = 0; j < C; j++) {
            float x = row < c->rows ? value(values, kernel->src, seed) : 0;
            element_write_f32(kernel->src, src + i * bytes, (ptrdiff_t)j, x);
        }
        c->lines[i] = src + i * bytes - OFFSET;
    }
    c->taps.lines = c->lines;
    c->taps.offset = OFFSET;
    c->taps.list = c->count * group;
}

/* Packed weights are where kernels have them. */
static void check_places(const struct depthwise_taps_kernel *kernel, const struct case_ *c,
                         const void *weights)
{
    size_t group = kernel->group;
    for (size_t row = 0; row < c->rows; row++)
        for (size_t k = 0; k < c->taps.columns; k++)
            for (size_t j = 0; j < C; j++) {
                size_t unit = row / group * c->taps.columns + k;
                size_t at = unit * group * C + depthwise_unit_at(group, row % group, j);
                float got = element_read_f32(kernel->weights, weights, (ptrdiff_t)at);
                assert_true(got == c->plain[(row * c->taps.columns + k) * C + j]);
            }
}

static void fill_weights(const struct depthwise_taps_kernel *kernel, struct case_ *c,
                         enum values values, uint32_t *seed)
{
    size_t group = kernel->group, units = c->taps.groups * c->taps.columns;
    size_t bytes = element_bytes(kernel->weights);
    void *weights = guard_at(&guards[WEIGHTS], units * group * C * bytes, 1);
    memset(weights, 0, units * group * C * bytes);
    for (size_t row = 0; row < c->rows; row++)
        for (size_t k = 0; k < c->taps.columns; k++)
            for (size_t j = 0; j < C; j++) {
                size_t at = (row / group * c->taps.columns + k) * group + row % group;
                float x = value(values, kernel->weights, seed);
                if (c->taps.is_narrow && x < -127)
                    x = -127;
                ptrdiff_t to = (ptrdiff_t)(at * C + j);
                element_write_f32(kernel->weights, weights, to, x);
                c->plain[(row * c->taps.columns + k) * C + j] =
                    element_read_f32(kernel->weights, weights, to);
            }
    if (kernel->arrange)
        kernel->arrange(units, weights);
    check_places(kernel, c, weights);
    c->taps.weights = weights;
}

static void fill_start(const struct depthwise_taps_kernel *kernel, struct case_ *c, uint32_t *seed)
{
    int32_t *start = guard_at(&guards[START], C * sizeof *start, 1);
    for (size_t j = 0; j < C; j++) {
        int32_t x = (int32_t)fill_next(seed) >> 20;
        start[j] = is_integer(kernel) ? x + NEAR_OVERFLOW * (int32_t)(j % 2)
                                      : (int32_t)bits_of_f32((float)x);
    }
    c->taps.start = start;
}

/* ---- the definition ---- */

static double product(const struct depthwise_taps_kernel *kernel, const struct case_ *c, size_t i,
                      size_t row, size_t k, size_t j)
{
    size_t group = kernel->group, x = i * c->taps.stride + k * c->taps.dilation;
    const unsigned char *line = c->lines[row / group * c->taps.list + x * group + row % group];
    double src = (double)element_read_f32(kernel->src, line + OFFSET, (ptrdiff_t)j);
    src -= kernel->src == ELEMENT_U8 ? 128 : 0;
    return src * (double)c->plain[(row * c->taps.columns + k) * C + j];
}

static void check_sum(const struct depthwise_taps_kernel *kernel, const struct case_ *c, size_t i,
                      size_t j)
{
    const uint32_t *sums = c->taps.sums;
    const int32_t *start = c->taps.start;
    double sum = is_integer(kernel) ? start[j] : (double)f32_of_bits((uint32_t)start[j]);
    double size = fabs(sum), got, bound = 0;
    for (size_t row = 0; row < c->rows; row++)
        for (size_t k = 0; k < c->taps.columns; k++) {
            double one = product(kernel, c, i, row, k, j);
            sum += one;
            size += fabs(one);
        }
    if (is_integer(kernel)) {
        got = (int32_t)sums[i * c->taps.row + j];
        sum = (int32_t)(uint32_t)(int64_t)sum;
    } else {
        got = (double)f32_of_bits(sums[i * c->taps.row + j]);
        double additions = (double)(c->rows * c->taps.columns + 1);
        bound =
            size * (kernel->sum == ELEMENT_F16 ? (additions + 3) * 0x1p-11 : additions * 0x1p-24);
    }
    if (fabs(got - sum) <= bound)
        return;
    print_error("%s: %zu pixels, kernel %zux%zu, stride %zu, dilation %zu: (%zu, %zu) is %.17g, "
                "not %.17g\n",
                kernel->name, c->taps.pixels, c->rows, c->taps.columns, c->taps.stride,
                c->taps.dilation, i, j, got, sum);
    fail();
}

static void check_sums(const struct depthwise_taps_kernel *kernel, const struct case_ *c)
{
    for (size_t i = 0; i < c->taps.pixels; i++)
        for (size_t j = 0; j < C; j++)
            check_sum(kernel, c, i, j);
}

/* size: columns, stride, dilation; so many kernel rows have values in src, and so many weights. */
static void make_case(const struct depthwise_taps_kernel *kernel, struct case_ *c, size_t pixels,
                      const size_t *size, size_t lines, size_t rows, enum values values,
                      uint32_t *seed)
{
    size_t gap = (fill_next(seed) >> 20) % MOST_GAP;
    c->count = (pixels - 1) * size[1] + (size[0] - 1) * size[2] + 1;
    c->taps = (struct depthwise_taps){
        .pixels = pixels,
        .groups = (lines + kernel->group - 1) / kernel->group,
        .columns = size[0],
        .stride = size[1],
        .dilation = size[2],
        .row = C + gap,
        .height = 1,
        .is_narrow = values != EXTREME || fill_next(seed) >> 30 & 1,
    };
    c->rows = lines;
    fill_lines(kernel, c, values, seed);
    c->taps.groups = (rows + kernel->group - 1) / kernel->group;
    c->rows = rows;
    fill_weights(kernel, c, values, seed);
    fill_start(kernel, c, seed);
}

static void check(const struct depthwise_taps_kernel *kernel, size_t pixels, size_t rows,
                  const size_t size[3], enum values values, uint32_t *seed)
{
    static struct case_ c;
    make_case(kernel, &c, pixels, size, rows, rows, values, seed);
    size_t count = (pixels - 1) * c.taps.row + C;
    uint8_t *sums = guard_at(&guards[SUMS], count * sizeof(float), fill_next(seed) >> 20 & 1);
    memset(sums, 0x5a, count * sizeof(float));
    c.taps.sums = sums;
    kernel->run(&c.taps);
    check_sums(kernel, &c);
    for (size_t i = 0; i + 1 < pixels; i++)
        for (size_t at = (i * c.taps.row + C) * 4; at < (i + 1) * c.taps.row * 4; at++)
            assert_int_equal(sums[at], 0x5a);
}

/* Every number of pixels and of kernel rows, for the kernel's own columns and stride, or some. */
static void check_sizes(const struct depthwise_taps_kernel *kernel, enum values values)
{
    static const size_t any[][3] = {{1, 1, 1}, {2, 3, 2}, {3, 1, 2}, {3, 3, 1}, {7, 2, 1}};
    const size_t own[][3] = {{kernel->columns, kernel->stride, 1}};
    size_t count = kernel->columns ? 1 : sizeof any / sizeof any[0];
    uint32_t seed = fill_seed();
    for (size_t s = 0; s < count; s++)
        for (size_t rows = 1; rows <= MOST_ROWS; rows += rows == 5 ? 2 : 1)
            for (size_t pixels = 1; pixels <= MOST_PIXELS; pixels += pixels > 9 ? 2 : 1)
                check(kernel, pixels, rows, kernel->columns ? own[s] : any[s], values, &seed);
}

static void small_integers_are_exact(void **state)
{
    check_sizes(kernel_of(state), SMALL);
}

/* Products of -128 by -128 side by side, and sums that wrap. */
static void extreme_values(void **state)
{
    if (is_integer(kernel_of(state)))
        check_sizes(kernel_of(state), EXTREME);
    else
        check_sizes(kernel_of(state), REAL);
}

/* Infinities and NaN stay with their channel and their pixels. */
static void one_value_that_is_none(void **state)
{
    const struct depthwise_taps_kernel *kernel = kernel_of(state);
    static struct case_ c;
    size_t columns = kernel->columns ? kernel->columns : 3;
    size_t stride = kernel->stride ? kernel->stride : 1;
    uint32_t seed = fill_seed();
    if (is_integer(kernel))
        return;
    make_case(kernel, &c, 9, (size_t[]){columns, stride, 1}, 1, 1, SMALL, &seed);
    c.taps.row = C;
    c.taps.sums = guard_at(&guards[SUMS], 9 * C * sizeof(float), 1);
    element_write_f32(kernel->src, (unsigned char *)(uintptr_t)c.lines[4] + OFFSET, 5, NAN);
    kernel->run(&c.taps);
    for (size_t i = 0; i < 9; i++)
        for (size_t j = 0; j < C; j++) {
            int has_it = j == 5 && i * stride <= 4 && i * stride + columns > 4;
            if (isnan(((const float *)c.taps.sums)[i * C + j]) != has_it)
                fail_msg("%s: pixel %zu, channel %zu", kernel->name, i, j);
        }
}

/* Does it do rows of pixels of kernels of so many rows at once? */
static int can_take(const struct depthwise_taps_kernel *kernel, size_t rows)
{
    return kernel->takes_rows == (rows + kernel->group - 1) / kernel->group;
}

/* Rows of pixels, each of which has lines of its own but for the first one of the row above: so
 * many at once, or pairs of rows. */
static void check_rows(const struct depthwise_taps_kernel *kernel, size_t pixels, size_t height,
                       int pairs, uint32_t *seed)
{
    static struct case_ c;
    const size_t size[] = {kernel->columns ? kernel->columns : 3,
                           kernel->stride ? kernel->stride : 2, 1};
    size_t lines = 3 + height; /* the last one is that of a group that is longer than the kernel */
    make_case(kernel, &c, pixels, size, lines, 3, is_integer(kernel) ? EXTREME : REAL, seed);
    int32_t *sums = guard_at(&guards[SUMS], height * pixels * C * sizeof *sums, 1);
    size_t below = kernel->group == 1 ? c.count : 1;
    c.taps.row = C;
    c.taps.below = pixels * C;
    c.taps.list_below = below;
    c.taps.height = height / (pairs ? 2 : 1);
    c.taps.sums = sums;
    (pairs ? kernel->run_pair : kernel->run)(&c.taps);
    for (size_t row = 0; row < height; row++) {
        c.taps.sums = sums + row * c.taps.below;
        check_sums(kernel, &c);
        memmove(c.lines, c.lines + below, (lines * c.count - below) * sizeof *c.lines);
    }
}

static void rows_are_done_at_once(void **state)
{
    const struct depthwise_taps_kernel *kernel = kernel_of(state);
    size_t most = kernel->takes_rows ? MOST_HEIGHT : kernel->run_pair ? 2 : 0;
    uint32_t seed = fill_seed();
    for (size_t pixels = 1; pixels <= MOST_PIXELS; pixels++)
        for (size_t height = 2; height <= most; height++) {
            if (can_take(kernel, 3))
                check_rows(kernel, pixels, height, 0, &seed);
            if (kernel->run_pair && height % 2 == 0)
                check_rows(kernel, pixels, height, 1, &seed);
        }
}

/* ---- ends ---- */

/* Sums that begin as floats do, and are below 2^22. */
static void begin_as_floats(struct case_ *c, uint32_t *seed)
{
    int32_t *start = guard_at(&guards[START], C * sizeof *start, 1);
    for (size_t j = 0; j < C; j++)
        start[j] = GEMM_FLOAT_START + ((int32_t)fill_next(seed) >> 14);
    c->taps.start = start;
}

static const float *fill_channels(int guard, float size, uint32_t *seed)
{
    float *values = guard_at(&guards[guard], C * sizeof *values, 1);
    for (size_t j = 0; j < C; j++)
        values[j] = size * (float)((int32_t)fill_next(seed) >> 8) / (1 << 22);
    return values;
}

/* What integers end with beside what floats do; by divisors whose reciprocals have one part or two.
 */
static void end_integers(struct gemm_finish *end, uint32_t *seed)
{
    static const float divisors[] = {1, .37f, 4, .0123f}, zeros[] = {0, -3, 77, 128};
    static float row_scales[MOST_HEIGHT * MOST_PIXELS];
    uint32_t options = fill_next(seed) >> 20;
    for (size_t i = 0; i < end->m; i++)
        row_scales[i] = .731f;
    end->is_float = 1;
    end->scales = fill_channels(SCALES, 1e-3f, seed);
    end->row_scales = options & 1 ? row_scales : NULL;
    end->divisor = divisors[options >> 1 & 3];
    end->zero = zeros[options >> 3 & 3];
    end->is_requantized = end->divisor != 1 || end->zero != 0;
    struct gemm_reciprocal both = gemm_reciprocal_of(end->divisor);
    assert_true(both.most != 0);
    end->reciprocal = both.most, end->rest = both.rest;
}

/* As check_sizes() has them, and as many kernel rows as several groups have. */
static void make_end_case(const struct depthwise_taps_kernel *kernel, struct case_ *c,
                          size_t pixels, size_t height, uint32_t *seed)
{
    const size_t size[] = {kernel->columns ? kernel->columns : 3,
                           kernel->stride ? kernel->stride : 2, 1};
    size_t rows = height > 1 || !is_integer(kernel) ? 3 : 1 + pixels % MOST_ROWS;
    make_case(kernel, c, pixels, size, rows + height, rows,
              !is_integer(kernel)   ? REAL
              : kernel->narrow_ends ? SMALL
                                    : EXTREME,
              seed);
    if (is_integer(kernel))
        begin_as_floats(c, seed);
    c->taps.row = C;
    c->taps.below = pixels * C;
    c->taps.list_below = kernel->group == 1 ? c->count : 1;
}

/* With an end, as sums in memory that are finished there; pairs: by run_pair(). */
static void check_end(const struct depthwise_taps_kernel *kernel, enum element to, size_t pixels,
                      size_t height, int pairs, uint32_t *seed)
{
    static struct case_ c;
    static float sums[MOST_HEIGHT * MOST_PIXELS * C];
    static unsigned char want[MOST_HEIGHT * MOST_PIXELS * (C + MOST_GAP) * 4];
    depthwise_taps_fn *run = pairs ? kernel->run_pair : kernel->run;
    size_t all = height * pixels;
    make_end_case(kernel, &c, pixels, height, seed);
    c.taps.height = height / (pairs ? 2 : 1);
    c.taps.sums = sums;
    run(&c.taps);
    uint32_t options = fill_next(seed) >> 20;
    size_t row = C + options % MOST_GAP, bytes = ((all - 1) * row + C) * element_bytes(to);
    struct gemm_finish end = {.m = all,
                              .n = C,
                              .sums = sums,
                              .row = C,
                              .offsets = options & 16 ? fill_channels(OFFSETS, 1, seed) : NULL,
                              .is_clamped = options >> 5 & 1,
                              .low = -0.7f,
                              .high = 1000.3f,
                              .dst = memset(want, 0x5a, bytes),
                              .dst_row = row,
                              .to = to};
    if (is_integer(kernel))
        end_integers(&end, seed);
    gemm_finish_find(0, kernel->sum == ELEMENT_S32 ? ELEMENT_S32 : ELEMENT_F32, to)(&end);
    end.dst = memset(guard_at(&guards[DST], bytes, options >> 6 & 1), 0x5a, bytes);
    end.sums = NULL;
    c.taps.end = &end;
    c.taps.below = pixels * row;
    c.taps.sums = is_integer(kernel) ? sums : NULL;
    run(&c.taps);
    if (memcmp(end.dst, want, bytes))
        fail_msg("%s: %zu pixels end in type %d otherwise than in memory, with options %u",
                 kernel->name, all, (int)to, options);
}

static void ends_as_in_memory(void **state)
{
    const struct depthwise_taps_kernel *kernel = kernel_of(state);
    uint32_t seed = fill_seed();
    for (int to = 0; to < ELEMENTS; to++)
        for (size_t i = 0; kernel->ends >> to & 1 && i < 8 * MOST_PIXELS; i++) {
            size_t height = can_take(kernel, 3) ? 1 + i / 2 % (MOST_HEIGHT / 2) : 1;
            check_end(kernel, (enum element)to, i % MOST_PIXELS + 1, height, 0, &seed);
            if (kernel->run_pair)
                check_end(kernel, (enum element)to, i % MOST_PIXELS + 1, 2 * height, 1, &seed);
        }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(small_integers_are_exact), cmocka_unit_test(extreme_values),
        cmocka_unit_test(one_value_that_is_none),   cmocka_unit_test(rows_are_done_at_once),
        cmocka_unit_test(ends_as_in_memory),
    };
    static const struct kernel_tests_guard all[GUARDS] = {
        {&guards[SRC], MOST_LINES * (MOST_ROWS + DEPTHWISE_MOST_GROUP) * C * sizeof(float)},
        {&guards[WEIGHTS], MOST_TAPS * C * sizeof(float)},
        {&guards[START], C * sizeof(float)},
        {&guards[SUMS], MOST_HEIGHT * MOST_PIXELS * (C + MOST_GAP) * sizeof(float)},
        {&guards[SCALES], C * sizeof(float)},
        {&guards[OFFSETS], C * sizeof(float)},
        {&guards[DST], MOST_HEIGHT * MOST_PIXELS * (C + MOST_GAP) * sizeof(float)},
    };
    for (size_t i = 0; i < depthwise_taps_kernel_count; i++)
        kernel_tests_add(depthwise_taps_kernels[i]->name, depthwise_taps_kernels[i]->needs,
                         depthwise_taps_kernels[i], each, sizeof each / sizeof each[0]);
    return kernel_tests_run("depthwise_taps", all, GUARDS);
}
