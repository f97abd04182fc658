/* Elements of every data type as doubles. */
#include "benchdnn/element.h"

#include <math.h>
#include <string.h>

/* ---- bf16: the upper half of an f32 ---- */

static float bits_to_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t float_to_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static uint16_t to_bf16(float f)
{
    uint32_t bits = float_to_bits(f);
    if (isnan(f))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* ---- f16: sign, 5 bits of exponent, 10 of fraction ---- */

enum { F16_INFINITE = 0x7c00 };

static double from_f16(uint16_t h)
{
    uint32_t size = h & 0x7fff;
    double value = size < F16_INFINITE    ? (double)bits_to_float(size << 13) * 0x1p112
                   : size == F16_INFINITE ? HUGE_VAL
                                          : (double)NAN;
    return h >> 15 ? -value : value;
}

static uint64_t double_to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Below the normal ones, in steps of 2^-24, which is what the last bit of 2^28 is worth. Others
 * lose 42 of 52 bits; one that carries does so into the exponent, which begins at 1 - 15 instead of
 * at 1 - 1023. */
static uint64_t to_f16_size(double size)
{
    if (size < 0x1p-14)
        return double_to_bits(size + 0x1p28) & 0x7ff;
    uint64_t bits = double_to_bits(size);
    uint64_t rounded = (bits + (UINT64_C(1) << 41) - 1 + (bits >> 42 & 1)) >> 42;
    uint64_t f16 = rounded - ((UINT64_C(1023) - 15) << 10);
    return f16 < F16_INFINITE ? f16 : F16_INFINITE;
}

static uint16_t to_f16(double value)
{
    unsigned sign = signbit(value) ? 0x8000 : 0;
    return (uint16_t)(sign | (isnan(value) ? 0x7e00 : (unsigned)to_f16_size(fabs(value))));
}

/* ---- integers ---- */

struct limits {
    double low, high;
};

static struct limits limits_of(enum type type)
{
    return (struct limits){type_min(type), type_max(type)};
}

/* In the range, and then to the nearest: adding 1.5 times 2^52 leaves no room for a fraction. No
 * call, and no branch but for a NaN, so that compilers do several at once. */
static inline int32_t saturate(struct limits limits, double value)
{
    const double without_fraction = 0x1.8p52;
    double within = value < limits.low ? limits.low : value > limits.high ? limits.high : value;
    return isnan(value) ? 0 : (int32_t)(within + without_fraction - without_fraction);
}

static int load_nibble(const uint8_t *array, int64_t index)
{
    return array[index / 2] >> (index % 2 * 4) & 15;
}

static void store_nibble(uint8_t *array, int64_t index, int value)
{
    int shift = (int)(index % 2) * 4;
    array[index / 2] = (uint8_t)((array[index / 2] & ~(15 << shift)) | (value & 15) << shift);
}

/* ---- all ---- */

double element_load(enum type type, const void *array, int64_t index)
{
    switch (type) {
    case TYPE_F32:
        return (double)((const float *)array)[index];
    case TYPE_F16:
        return from_f16(((const uint16_t *)array)[index]);
    case TYPE_BF16:
        return (double)bits_to_float((uint32_t)((const uint16_t *)array)[index] << 16);
    case TYPE_S32:
        return ((const int32_t *)array)[index];
    case TYPE_S8:
        return ((const int8_t *)array)[index];
    case TYPE_U8:
        return ((const uint8_t *)array)[index];
    case TYPE_U4:
        return load_nibble(array, index);
    case TYPE_S4:
        return (load_nibble(array, index) ^ 8) - 8;
    default:
        return (double)NAN;
    }
}

static inline void store(enum type type, struct limits limits, void *array, int64_t index,
                         double value)
{
    switch (type) {
    case TYPE_F32:
        ((float *)array)[index] = (float)value;
        break;
    case TYPE_F16:
        ((uint16_t *)array)[index] = to_f16(value);
        break;
    case TYPE_BF16:
        ((uint16_t *)array)[index] = to_bf16((float)value);
        break;
    case TYPE_S32:
        ((int32_t *)array)[index] = saturate(limits, value);
        break;
    case TYPE_S8:
    case TYPE_U8:
        ((uint8_t *)array)[index] = (uint8_t)saturate(limits, value);
        break;
    case TYPE_S4:
    case TYPE_U4:
        store_nibble(array, index, saturate(limits, value));
        break;
    default:
        break;
    }
}

void element_store(enum type type, void *array, int64_t index, double value)
{
    store(type, limits_of(type), array, index, value);
}

void element_store_row(enum type type, void *array, int64_t first, int64_t stride,
                       const float *values, int64_t count)
{
    struct limits limits = limits_of(type);
    for (int64_t i = 0; i < count; i++)
        store(type, limits, array, first + i * stride, (double)values[i]);
}

double element_round(enum type type, double value)
{
    uint64_t space = 0;
    element_store(type, &space, 0, value);
    return element_load(type, &space, 0);
}
