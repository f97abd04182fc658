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

static double from_f16(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double value = exponent == 31 ? (fraction ? (double)NAN : HUGE_VAL)
                   : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                  : ldexp(fraction, -24);
    return h >> 15 ? -value : value;
}

static uint16_t to_f16(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    if (isnan(value))
        return sign | 0x7e00;
    if (size < 6.103515625e-05) /* 2^-14: subnormal, in steps of 2^-24 */
        return (uint16_t)(sign | (unsigned)nearbyint(ldexp(size, 24)));
    int exponent;
    double steps = nearbyint(ldexp(frexp(size < 1e9 ? size : 1e9, &exponent), 11));
    /* steps is 1024 … 2048; 2048 carries into the exponent by itself */
    unsigned bits = (unsigned)(exponent + 13) * 1024 + (unsigned)steps;
    return (uint16_t)(sign | (bits < 0x7c00 ? bits : 0x7c00));
}

/* ---- integers ---- */

static double saturate(enum type type, double value)
{
    double low = type_min(type), high = type_max(type);
    if (isnan(value))
        return 0;
    value = nearbyint(value);
    return value < low ? low : value > high ? high : value;
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

void element_store(enum type type, void *array, int64_t index, double value)
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
        ((int32_t *)array)[index] = (int32_t)saturate(type, value);
        break;
    case TYPE_S8:
        ((int8_t *)array)[index] = (int8_t)saturate(type, value);
        break;
    case TYPE_U8:
        ((uint8_t *)array)[index] = (uint8_t)saturate(type, value);
        break;
    case TYPE_S4:
    case TYPE_U4:
        store_nibble(array, index, (int)saturate(type, value));
        break;
    default:
        break;
    }
}

double element_round(enum type type, double value)
{
    uint64_t space = 0;
    element_store(type, &space, 0, value);
    return element_load(type, &space, 0);
}
