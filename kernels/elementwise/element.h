/* The types of elements that kernels read and write, and one value from each to another. */
#ifndef KERNELS_ELEMENTWISE_ELEMENT_H
#define KERNELS_ELEMENTWISE_ELEMENT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum element {
    ELEMENT_F32,
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_S32,
    ELEMENT_S8,
    ELEMENT_U8,
    ELEMENT_S4, /* two in a byte, the first one in its low bits */
    ELEMENT_U4,
    ELEMENTS
};

static inline size_t element_bits(enum element element)
{
    static const uint8_t bits[ELEMENTS] = {32, 16, 16, 32, 8, 8, 4, 4};
    return bits[element];
}

/* Of those that have whole bytes. */
static inline size_t element_bytes(enum element element)
{
    return element_bits(element) / 8;
}

static inline int element_is_integer(enum element element)
{
    return element >= ELEMENT_S32;
}

static inline uint32_t bits_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float f32_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float f32_of_bf16(uint16_t bits)
{
    return f32_of_bits((uint32_t)bits << 16);
}

/* To the nearest, ties to even; a NaN stays one, and becomes quiet. */
static inline uint16_t bf16_of_f32(float value)
{
    uint32_t bits = bits_of_f32(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Exact, for denormal numbers too: these are so many parts of 2^24. */
static inline float f32_of_f16(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fff;
    if (rest >= 0x7c00)
        return f32_of_bits(sign | 0x7f800000 | (rest & 0x3ff) << 13 |
                           (uint32_t)(rest > 0x7c00) << 22);
    float size = rest < 0x400 ? (float)rest * 0x1p-24f : f32_of_bits((rest << 13) + (112u << 23));
    return f32_of_bits(sign | bits_of_f32(size));
}

/* To the nearest, ties to even; beyond 65504 and a half step to infinity. A denormal number of f16
 * is rounded by the addition of 0.5, whose last bit is 2^-24. */
static inline uint16_t f16_of_f32(float value)
{
    uint32_t bits = bits_of_f32(value), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    if (size > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (size >> 13 & 0x3ff));
    if (size >= 0x47800000)
        return (uint16_t)(sign | 0x7c00);
    if (size < 0x38800000)
        return (uint16_t)(sign | (bits_of_f32(f32_of_bits(size) + 0.5f) - 0x3f000000));
    return (uint16_t)(sign | (size + 0xfff + (size >> 13 & 1) - (112u << 23)) >> 13);
}

/* Of a byte with two elements, the one with this index. */
static inline int32_t element_half(const uint8_t *bytes, ptrdiff_t i, int has_sign)
{
    int32_t value = i % 2 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15;
    return has_sign ? (value ^ 8) - 8 : value;
}

/* Element number i of an array of integers. */
static inline int32_t element_read_s32(enum element element, const void *from, ptrdiff_t i)
{
    switch (element) {
    case ELEMENT_S8:
        return ((const int8_t *)from)[i];
    case ELEMENT_U8:
        return ((const uint8_t *)from)[i];
    case ELEMENT_S4:
    case ELEMENT_U4:
        return element_half(from, i, element == ELEMENT_S4);
    default:
        return ((const int32_t *)from)[i];
    }
}

/* Element number i of an array; those of s32 beyond 2^24 are rounded. */
static inline float element_read_f32(enum element element, const void *from, ptrdiff_t i)
{
    switch (element) {
    case ELEMENT_F32:
        return ((const float *)from)[i];
    case ELEMENT_F16:
        return f32_of_f16(((const uint16_t *)from)[i]);
    case ELEMENT_BF16:
        return f32_of_bf16(((const uint16_t *)from)[i]);
    default:
        return (float)element_read_s32(element, from, i);
    }
}

/* The nearest integer in [low, high], of two the even one; 0 for NaN. */
static inline int32_t s32_of_f32(float value, int32_t low, int32_t high)
{
    if (value >= (float)high) /* 2^31 for the highest s32, which is none itself */
        return high;
    if (value <= (float)low)
        return low;
    return value == value ? (int32_t)lrintf(value) : 0;
}

/* The other element of the byte stays as it is: two threads must not write to one byte. */
static inline void element_write_half(uint8_t *bytes, ptrdiff_t i, int32_t value)
{
    unsigned shift = i % 2 ? 4 : 0;
    bytes[i / 2] = (uint8_t)((bytes[i / 2] & ~(15u << shift)) | ((unsigned)value & 15u) << shift);
}

/* Element number i becomes value: rounded to the nearest, ties to even, and saturated if it is an
 * integer, where NaN becomes 0. */
static inline void element_write_f32(enum element element, void *to, ptrdiff_t i, float value)
{
    switch (element) {
    case ELEMENT_F16:
        ((uint16_t *)to)[i] = f16_of_f32(value);
        break;
    case ELEMENT_BF16:
        ((uint16_t *)to)[i] = bf16_of_f32(value);
        break;
    case ELEMENT_S32:
        ((int32_t *)to)[i] = s32_of_f32(value, INT32_MIN, INT32_MAX);
        break;
    case ELEMENT_S8:
        ((int8_t *)to)[i] = (int8_t)s32_of_f32(value, INT8_MIN, INT8_MAX);
        break;
    case ELEMENT_U8:
        ((uint8_t *)to)[i] = (uint8_t)s32_of_f32(value, 0, UINT8_MAX);
        break;
    case ELEMENT_S4:
        element_write_half(to, i, s32_of_f32(value, -8, 7));
        break;
    case ELEMENT_U4:
        element_write_half(to, i, s32_of_f32(value, 0, 15));
        break;
    default:
        ((float *)to)[i] = value;
    }
}

#endif
