/* The definition of sums of depthwise convolutions. */
#include "kernels/depthwise/taps.h"

/* The line of tap (g, k, r) of pixel i. */
static const void *line_of(const struct depthwise_taps *taps, size_t i, size_t g, size_t k)
{
    size_t x = i * taps->stride + k * taps->dilation;
    return (const unsigned char *)taps->lines[g * taps->list + x] + taps->offset;
}

static void run_integers(const struct depthwise_taps *taps, enum element src)
{
    const int8_t *weights = taps->weights;
    const int32_t *start = taps->start;
    int32_t zero = src == ELEMENT_U8 ? 128 : 0;
    for (size_t i = 0; i < taps->pixels; i++)
        for (size_t c = 0; c < DEPTHWISE_BLOCK; c++) {
            uint32_t sum = (uint32_t)start[c];
            for (size_t g = 0; g < taps->groups; g++)
                for (size_t k = 0; k < taps->columns; k++) {
                    int32_t value =
                        element_read_s32(src, line_of(taps, i, g, k), (ptrdiff_t)c) - zero;
                    sum +=
                        (uint32_t)(value * weights[(g * taps->columns + k) * DEPTHWISE_BLOCK + c]);
                }
            ((int32_t *)taps->sums)[i * taps->row + c] = (int32_t)sum;
        }
}

static void run_floats(const struct depthwise_taps *taps, enum element src)
{
    const float *weights = taps->weights, *start = taps->start;
    for (size_t i = 0; i < taps->pixels; i++)
        for (size_t c = 0; c < DEPTHWISE_BLOCK; c++) {
            float sum = start[c];
            for (size_t g = 0; g < taps->groups; g++)
                for (size_t k = 0; k < taps->columns; k++)
                    sum += element_read_f32(src, line_of(taps, i, g, k), (ptrdiff_t)c) *
                           weights[(g * taps->columns + k) * DEPTHWISE_BLOCK + c];
            ((float *)taps->sums)[i * taps->row + c] = sum;
        }
}

#define KERNEL(type, element, run)                            \
    static void type##_any(const struct depthwise_taps *taps) \
    {                                                         \
        run(taps, element);                                   \
    }
KERNEL(s8, ELEMENT_S8, run_integers)
KERNEL(u8, ELEMENT_U8, run_integers)
KERNEL(f32, ELEMENT_F32, run_floats)
KERNEL(f16, ELEMENT_F16, run_floats)
KERNEL(bf16, ELEMENT_BF16, run_floats)
#undef KERNEL

const struct depthwise_taps_kernel depthwise_taps_ref[DEPTHWISE_REF_KERNELS] = {
    {"depthwise_s8_any_ref", 0, ELEMENT_S8, ELEMENT_S8, ELEMENT_S32, 0, 1, 0, 0, NULL, s8_any, NULL,
     0, 0},
    {"depthwise_u8_any_ref", 0, ELEMENT_U8, ELEMENT_S8, ELEMENT_S32, 0, 1, 0, 0, NULL, u8_any, NULL,
     0, 0},
    {"depthwise_f32_any_ref", 0, ELEMENT_F32, ELEMENT_F32, ELEMENT_F32, 0, 1, 0, 0, NULL, f32_any,
     NULL, 0, 0},
    {"depthwise_f16_any_ref", 0, ELEMENT_F16, ELEMENT_F32, ELEMENT_F32, 0, 1, 0, 0, NULL, f16_any,
     NULL, 0, 0},
    {"depthwise_bf16_any_ref", 0, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32, 0, 1, 0, 0, NULL,
     bf16_any, NULL, 0, 0},
};
