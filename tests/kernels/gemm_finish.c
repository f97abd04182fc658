/* What finishes sums of s32 and f32, against a plain computation in f32. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "kernels/gemm/finish.h"
#include "src/gemm/reciprocal.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum { MOST_M = 8, MOST_N = 53, MOST_ROW = MOST_N + 3, OPTIONS = 64 };
enum { SUMS, ROWS, ZEROS, ROW_SCALES, SCALES, OFFSETS, DST, GUARDS };
static struct guard guards[GUARDS];

static const struct gemm_finish_kernel *kernel_of(void **state)
{
    return *state;
}

static int is_byte(enum element element)
{
    return element == ELEMENT_S8 || element == ELEMENT_U8;
}

/* A block on guarded memory; options: 1 zero points of B, 2 scales of rows, 4 sums as floats, 8 a
 * clamp, 16 dst's scale and zero point. */
static struct gemm_finish make_block(size_t m, size_t n, int options,
                                     const struct gemm_finish_kernel *kernel, uint32_t *seed)
{
    enum element dst = kernel->dst;
    int end = fill_next(seed) >> 30 & 1;
    size_t gap = fill_next(seed) >> 8 & 3, row = n + gap;
    size_t all = (m - 1) * row + n;
    int32_t *sums = guard_at(&guards[SUMS], all * sizeof *sums, end);
    int32_t *rows = guard_at(&guards[ROWS], m * sizeof *rows, end);
    int32_t *zeros = guard_at(&guards[ZEROS], n * sizeof *zeros, end);
    float *row_scales = guard_at(&guards[ROW_SCALES], m * sizeof *row_scales, end);
    float *scales = guard_at(&guards[SCALES], n * sizeof *scales, end);
    float *offsets = guard_at(&guards[OFFSETS], n * sizeof *offsets, end);
    uint8_t *bytes = guard_at(&guards[DST], all * element_bytes(dst), end);
    int is_float = options & 4;
    struct gemm_reciprocal reciprocal = gemm_reciprocal_of(0.6f);
    for (size_t i = 0; i < all; i++) {
        uint32_t bits = fill_next(seed);
        /* Floats hold less; every second sum is small, where values are rounded, not saturated. */
        int32_t sum = (int32_t)bits >> (is_float ? 11 : bits & 1 ? 4 : 20);
        sums[i] = sum + (is_float ? GEMM_FLOAT_START : 0);
        if (kernel->sum == ELEMENT_F32)
            sums[i] = (int32_t)bits_of_f32((float)sum / 256);
    }
    for (size_t i = 0; i < m; i++) {
        rows[i] = (int32_t)fill_next(seed) >> 20;
        row_scales[i] = (float)(fill_next(seed) >> 24) / 64;
    }
    for (size_t j = 0; j < n; j++) {
        zeros[j] = (int32_t)fill_next(seed) >> 24;
        scales[j] = (float)((int32_t)fill_next(seed) >> 24) / 4096;
        offsets[j] = (float)((int32_t)fill_next(seed) >> 24) / 2;
    }
    offsets[n / 2] = NAN;
    memset(bytes, 0x5a, all * element_bytes(dst));
    return (struct gemm_finish){.m = m,
                                .n = n,
                                .sums = sums,
                                .row = row,
                                .rows = options & 1 ? rows : NULL,
                                .zeros = zeros,
                                .row_scales = options & 2 ? row_scales : NULL,
                                .scales = scales,
                                .offsets = offsets,
                                .dst = bytes,
                                .dst_row = row,
                                .is_float = is_float != 0,
                                .is_clamped = options >> 3 & 1,
                                .is_requantized = options >> 4 & 1,
                                .low = -3,
                                .high = 70,
                                .divisor = 0.6f,
                                .reciprocal = options & 32 ? reciprocal.most : 0,
                                .rest = reciprocal.rest,
                                .zero = 5};
}

/* Each operation rounded to f32. */
static float want(const struct gemm_finish *finish, enum element element, size_t i, size_t j)
{
    int32_t bits = ((const int32_t *)finish->sums)[i * finish->row + j];
    int64_t sum = bits - (finish->is_float ? GEMM_FLOAT_START : 0);
    if (finish->rows)
        sum += (int64_t)finish->rows[i] * finish->zeros[j];
    volatile float value = element == ELEMENT_F32 ? f32_of_bits((uint32_t)bits)
                                                  : (float)(int32_t)(uint32_t)(uint64_t)sum;
    if (finish->row_scales)
        value = value * finish->row_scales[i];
    value = value * finish->scales[j];
    value = value + finish->offsets[j];
    if (finish->is_clamped && value < finish->low)
        value = finish->low;
    if (finish->is_clamped && value > finish->high)
        value = finish->high;
    if (finish->is_requantized)
        value = value / finish->divisor;
    return finish->is_requantized ? value + finish->zero : value;
}

static float rounded(enum element dst, float value)
{
    uint16_t half = 0; /* nibbles keep their neighbours */
    if (dst == ELEMENT_F32)
        return value;
    if (dst == ELEMENT_F16 || dst == ELEMENT_BF16) {
        element_write_f32(dst, &half, 0, value);
        return element_read_f32(dst, &half, 0);
    }
    float low = dst == ELEMENT_S8 ? -128 : 0, high = dst == ELEMENT_S8 ? 127 : 255;
    return isnan(value) ? 0 : fminf(fmaxf(rintf(value), low), high);
}

static void check_block(const struct gemm_finish_kernel *kernel, const struct gemm_finish *finish)
{
    for (size_t i = 0; i < finish->m; i++)
        for (size_t j = 0; j < finish->n; j++) {
            float value = want(finish, kernel->sum, i, j);
            float got =
                element_read_f32(kernel->dst, finish->dst, (ptrdiff_t)(i * finish->dst_row + j));
            float expected = rounded(kernel->dst, value);
            if (got == expected || (isnan(got) && isnan(expected)))
                continue;
            print_error("%s, %zux%zu, zero points %d, scales of rows %d, floats %d: (%zu, %zu) is "
                        "%.9g, not %.9g\n",
                        kernel->name, finish->m, finish->n, finish->rows != NULL,
                        finish->row_scales != NULL, finish->is_float, i, j, (double)got,
                        (double)expected);
            fail();
        }
    size_t bytes = element_bytes(kernel->dst);
    for (size_t i = 0; i + 1 < finish->m; i++)
        for (size_t gap = finish->n * bytes; gap < finish->dst_row * bytes; gap++)
            assert_int_equal(((uint8_t *)finish->dst)[i * finish->dst_row * bytes + gap], 0x5a);
}

static void finishes_blocks_of_every_size(void **state)
{
    const struct gemm_finish_kernel *kernel = kernel_of(state);
    uint32_t seed = fill_seed();
    for (size_t n = 1; n <= MOST_N; n++)
        for (int options = 0; options < OPTIONS; options++) {
            /* Floats have neither zero points nor such a beginning. */
            int without = (kernel->sum == ELEMENT_F32 ? 5 : 0) | (is_byte(kernel->dst) ? 0 : 32);
            if (options & without || (options & 32 && (options & 24) != 24))
                continue;
            size_t m = 1 + fill_next(&seed) % MOST_M;
            struct gemm_finish finish = make_block(m, n, options, kernel, &seed);
            kernel->run(&finish);
            check_block(kernel, &finish);
        }
}

/* To the even one of two integers; beyond the largest ones to those. */
static void rounds_ties_to_even_and_saturates(void **state)
{
    const struct gemm_finish_kernel *kernel = kernel_of(state);
    const int32_t sums[] = {1, 3, 5, -1, -3, INT32_MAX, INT32_MIN, 255, -257, 509, 511, 0};
    float scales[12], offsets[12] = {0}, dst[12], values[12], floats[12];
    for (size_t j = 0; j < 12; j++) {
        scales[j] = 0.5f;
        floats[j] = (float)sums[j];
        values[j] = floats[j] * 0.5f;
    }
    kernel->run(&(struct gemm_finish){.m = 1,
                                      .n = 12,
                                      .sums = kernel->sum == ELEMENT_F32 ? (const void *)floats
                                                                         : (const void *)sums,
                                      .scales = scales,
                                      .offsets = offsets,
                                      .dst = dst});
    for (size_t j = 0; j < 12; j++) {
        float expected = rounded(kernel->dst, values[j]);
        assert_true(element_read_f32(kernel->dst, dst, (ptrdiff_t)j) == expected);
    }
}

/* Quotients near the middle of two integers, and the extremes of what a reciprocal is allowed for:
 * one of two parts, or of one for powers of two. */
static void multiplies_as_it_divides(void **state)
{
    enum { COUNT = 1024 };
    const struct gemm_finish_kernel *kernel = kernel_of(state);
    static int32_t sums[COUNT];
    static float scales[COUNT], offsets[COUNT], dst[2][COUNT];
    uint32_t seed = fill_seed();
    if (!is_byte(kernel->dst))
        return;
    for (size_t round = 0; round < 64; round++) {
        float part = round % 2 ? (float)(fill_next(&seed) >> 9) * 0x1p-23f : 0;
        float divisor = ldexpf(1 + part, (int)(fill_next(&seed) >> 16) % 61 - 30);
        struct gemm_reciprocal both = gemm_reciprocal_of(divisor);
        for (size_t j = 0; j < COUNT; j++) {
            int extreme = fill_next(&seed) >> 28 == 0;
            float middle = (float)((int32_t)fill_next(&seed) >> 23) / 2;
            sums[j] = 1;
            scales[j] = extreme ? ldexpf(1, (int)(fill_next(&seed) >> 16) % 250 - 125)
                                : nextafterf(middle * divisor, j % 2 ? INFINITY : -INFINITY);
            offsets[j] = 0;
        }
        struct gemm_finish finish = {.m = 1, .n = COUNT, .sums = sums, .scales = scales};
        finish.offsets = offsets;
        finish.is_clamped = finish.is_requantized = 1;
        finish.low = -0x1p60f, finish.high = 0x1p60f;
        finish.divisor = divisor, finish.zero = (float)((int32_t)fill_next(&seed) >> 24);
        for (int way = 0; way < 2; way++) {
            finish.reciprocal = way ? both.most : 0;
            finish.rest = both.rest;
            finish.dst = dst[way];
            kernel->run(&finish);
        }
        assert_memory_equal(dst[0], dst[1], COUNT);
    }
}

static void every_type_is_found(void **state)
{
    (void)state;
    const uint32_t tiers[] = {0, CPU_NEON, cpu_get()->features};
    for (size_t t = 0; t < count_of(tiers); t++) {
        for (enum element dst = 0; dst < ELEMENTS; dst++) {
            bool is_float = dst <= ELEMENT_BF16;
            assert_true(is_float == (gemm_finish_find(tiers[t], ELEMENT_F32, dst) != NULL));
            assert_true((is_float || is_byte(dst)) ==
                        (gemm_finish_find(tiers[t], ELEMENT_S32, dst) != NULL));
        }
    }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(finishes_blocks_of_every_size),
        cmocka_unit_test(rounds_ties_to_even_and_saturates),
        cmocka_unit_test(multiplies_as_it_divides),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(every_type_is_found),
    };
    static struct kernel_tests_guard sizes[GUARDS];
    for (size_t i = 0; i < GUARDS; i++)
        sizes[i] = (struct kernel_tests_guard){&guards[i], MOST_M * MOST_ROW * sizeof(float)};
    kernel_tests_add_alone(alone, count_of(alone));
    for (size_t i = 0; i < gemm_finish_kernel_count; i++) {
        const struct gemm_finish_kernel *kernel = gemm_finish_kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
    }
    return kernel_tests_run("gemm_finish", sizes, GUARDS);
}
