/* Converters between lines: every value of the short types, telling values of f32 against
 * arithmetic in double precision, every size, nothing beyond the arrays. */
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/elementwise/convert.h"
#include "tests/support/fill.h"
#include "tests/support/kernel_tests.h"

enum { VALUES = 1 << 16, MOST = 37, EDGES = 4096 };
static struct guard guard_src, guard_dst;

/* ---- values by the definition of the formats, in double precision ---- */

static double of_float_bits(uint32_t bits, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    int exponent = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    double sign = bits >> (exponent_bits + fraction_bits) ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return sign * (double)(fraction ? NAN : INFINITY);
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + (1u << fraction_bits), exponent - bias - fraction_bits);
}

static double value_of(enum element element, uint32_t bits)
{
    switch (element) {
    case ELEMENT_F16:
        return of_float_bits(bits & 0xffff, 5, 10);
    case ELEMENT_BF16:
        return of_float_bits(bits & 0xffff, 8, 7);
    case ELEMENT_F32:
        return of_float_bits(bits, 8, 23);
    case ELEMENT_S32:
        return (double)(float)(int32_t)bits;
    case ELEMENT_S8:
        return (int8_t)bits;
    case ELEMENT_U8:
        return (uint8_t)bits;
    case ELEMENT_S4:
        return (int)(bits & 7) - (int)(bits & 8);
    default:
        return bits & 15;
    }
}

/* The nearest multiple of the step between neighbours of a float format, or infinity. */
static double nearest_float(double x, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1, exponent;
    if (x == 0 || isnan(x) || isinf(x))
        return x;
    frexp(x, &exponent);
    int lowest = 1 - bias, step = (exponent - 1 < lowest ? lowest : exponent - 1) - fraction_bits;
    double rounded = ldexp(nearbyint(ldexp(x, -step)), step);
    return fabs(rounded) >= ldexp(1, bias + 1) ? copysign((double)INFINITY, x) : rounded;
}

static double clamped(double x, double low, double high)
{
    return isnan(x) ? 0 : fmin(fmax(nearbyint(x), low), high);
}

static double nearest(enum element element, float x)
{
    switch (element) {
    case ELEMENT_F16:
        return nearest_float((double)x, 5, 10);
    case ELEMENT_BF16:
        return nearest_float((double)x, 8, 7);
    case ELEMENT_S32:
        return clamped((double)x, INT32_MIN, INT32_MAX);
    case ELEMENT_S8:
        return clamped((double)x, INT8_MIN, INT8_MAX);
    case ELEMENT_U8:
        return clamped((double)x, 0, UINT8_MAX);
    default:
        return (double)x;
    }
}

static int is_same(double got, double want)
{
    return isnan(want) ? isnan(got) : got == want && signbit(got) == signbit(want);
}

static void assert_value(const char *name, double from, double got, double want)
{
    if (is_same(got, want))
        return;
    print_error("%s: %.9g becomes %.17g, not %.17g\n", name, from, got, want);
    fail();
}

/* ---- lines ---- */

/* Element i of a line that holds bits i of the type, wide types' bits spread over all they have. */
static uint32_t bits_at(enum element element, size_t i)
{
    return element_bits(element) == 32 ? (uint32_t)i * 0x10001u + (uint32_t)(i * i) : (uint32_t)i;
}

static void put_bits(enum element element, uint8_t *line, size_t i)
{
    uint32_t bits = bits_at(element, i);
    if (element_bits(element) == 4)
        line[i / 2] = (uint8_t)(i % 2 ? (line[i / 2] & 15) | bits << 4 : bits & 15);
    else
        memcpy(line + i * element_bytes(element), &bits, element_bytes(element));
}

static void every_value_is_loaded(void **state)
{
    const struct convert_kernel *table = *state;
    for (enum element e = 0; e < ELEMENTS; e++) {
        uint8_t *src = guard_begin(&guard_src, VALUES * element_bits(e) / 8);
        float *dst = guard_begin(&guard_dst, VALUES * sizeof(float));
        for (size_t i = 0; i < VALUES; i++)
            put_bits(e, src, i);
        table[e].load(VALUES, src, dst);
        for (size_t i = 0; i < VALUES; i++)
            assert_value(table[e].name, (double)i, (double)dst[i], value_of(e, bits_at(e, i)));
    }
}

/* All short floats, and the numbers halfway between them and beside that. */
static float edge_value(size_t i)
{
    static const float some[] = {0.0f,    -0.0f,   0.5f,        -0.5f,       1.5f,     127.5f,
                                 -128.5f, 255.5f,  254.5f,      2147483648., 65519.9f, 65520,
                                 1e-40f,  -1e-40f, 2147483520., -3e9f,       3.4e38f,  NAN};
    if (i < count_of(some))
        return some[i];
    uint32_t base = (uint32_t)(i / 8) << 16,
             offsets[] = {0x7fff, 0x8000, 0x8001, 0, 0x0fff, 0x1000, 0x1001, 0xf000};
    return f32_of_bits(base + offsets[i % 8]);
}

static void every_rounding_is_stored(void **state)
{
    const struct convert_kernel *table = *state;
    for (enum element e = 0; e <= ELEMENT_U8; e++)
        for (size_t first = 0; first < 8 * VALUES; first += EDGES) {
            float *src = guard_begin(&guard_src, EDGES * sizeof(float));
            uint8_t *dst = guard_begin(&guard_dst, EDGES * element_bytes(e));
            for (size_t i = 0; i < EDGES; i++)
                src[i] = edge_value(first + i);
            table[e].store(EDGES, src, dst);
            for (size_t i = 0; i < EDGES; i++) {
                uint32_t bits = 0;
                memcpy(&bits, dst + i * element_bytes(e), element_bytes(e));
                double got = e == ELEMENT_S32 ? (double)(int32_t)bits : value_of(e, bits);
                double want = nearest(e, src[i]);
                assert_value(table[e].name, (double)src[i], got,
                             element_is_integer(e) ? want + 0.0 : want);
            }
        }
}

/* Every size, at both ends of what may be touched; the place of an element changes nothing. */
static void sizes_are_kept(void **state)
{
    const struct convert_kernel *table = *state;
    uint32_t seed = fill_seed();
    for (enum element e = 0; e < ELEMENTS; e++)
        for (size_t n = 0; n <= MOST; n++)
            for (int end = 0; end < 2; end++) {
                size_t bytes = (n * element_bits(e) + 7) / 8;
                uint8_t *line = guard_at(&guard_src, bytes, end), stored[4 * MOST];
                float *values = guard_at(&guard_dst, n * sizeof(float), end), loaded[MOST];
                for (size_t i = 0; i < bytes; i++)
                    line[i] = (uint8_t)fill_next(&seed);
                table[e].load(n, line, values);
                convert_ref[e].load(n, line, loaded);
                assert_memory_equal(values, loaded, n * sizeof(float));
                if (!table[e].store)
                    continue;
                table[e].store(n, values, line);
                convert_ref[e].store(n, loaded, stored);
                assert_memory_equal(line, stored, bytes);
            }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_loaded),
        cmocka_unit_test(every_rounding_is_stored),
        cmocka_unit_test(sizes_are_kept),
    };
    static const struct kernel_tests_guard guards[] = {{&guard_src, VALUES * sizeof(float)},
                                                       {&guard_dst, VALUES * sizeof(float)}};
    for (size_t t = 0; t < convert_kernel_count; t++)
        kernel_tests_add(convert_kernels[t]->name, convert_kernels[t]->needs, convert_kernels[t],
                         tests, count_of(tests));
    return kernel_tests_run("convert", guards, count_of(guards));
}
