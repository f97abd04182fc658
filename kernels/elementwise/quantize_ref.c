/* The definition of how lines are quantized. */
#include "kernels/elementwise/quantize.h"

#include "kernels/asm/inline.h"

static void range(size_t n, const float *src, float out[2])
{
    for (size_t i = 0; i < n; i++) {
        out[0] = fminf(out[0], src[i]);
        out[1] = fmaxf(out[1], src[i]);
    }
}

/* Further than this nothing depends on how far: zero is nearer to the other end. */
enum { FAR = 1 << 15 };

INLINE void quantize(struct quantize_line *line, int32_t low, int divides)
{
    line->sum = 0;
    for (size_t i = 0; i < line->n; i++) {
        float value = divides ? line->src[i] / line->scale : line->src[i] * line->scale;
        int32_t rounded = s32_of_f32(value, -FAR, FAR) + line->zero;
        int32_t high = low + 255, kept = rounded < low ? low : rounded > high ? high : rounded;
        ((uint8_t *)line->dst)[i] = (uint8_t)kept;
        line->sum += kept;
    }
}

#define KERNEL(name, low, divides)               \
    static void name(struct quantize_line *line) \
    {                                            \
        quantize(line, low, divides);            \
    }
KERNEL(multiply_s8, -128, 0)
KERNEL(divide_s8, -128, 1)
KERNEL(multiply_u8, 0, 0)
KERNEL(divide_u8, 0, 1)
#undef KERNEL

const struct quantize_kernel quantize_ref[QUANTIZE_TYPES] = {
    {"quantize_s8_ref", 0, ELEMENT_S8, range, multiply_s8, divide_s8},
    {"quantize_u8_ref", 0, ELEMENT_U8, range, multiply_u8, divide_u8},
};
