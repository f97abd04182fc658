/* Depthwise convolution of bytes without instructions for dot products, for kernels of 3 columns
 * (slide_neon.h), of which no weight is -128: two products of a channel are added as s16, then sums
 * of s32 take them.
 *
 * v8 … v16 have the weights of three kernel rows, v17 … v25 columns of three lines, v26 … v29 two
 * pairs of products in turn, so that a pair is multiplied while the one before is added, and v31
 * what makes u8 s8. 3x3, stride 1: a pixel's 16 channels take 3 loads, 2 of what lists say, 18
 * SMULL and SMLAL, and 20 SADDW. */
/* clang-format off */
#include "kernels/depthwise/s8/slide_neon.h"

    .set TAPS, 9

    .macro place_columns
    .set column_registers, 3
    .set first_column, 17
    .set group_bytes, 16 * TAPS
    .endm

    .macro load_weights
    movi v31.16b, #0x80
    ld1 {v8.16b - v11.16b}, [group_weights]
    add scratch, group_weights, #64
    ld1 {v12.16b - v15.16b}, [scratch]
    ldr q16, [group_weights, #128]
    .endm

    .macro load_column first
    ldp line_0, line_1, [lines], #16
    ldr line_2, [lines], #8
    load_q \first, [line_0, offset]
    load_q %(\first + 1), [line_1, offset]
    load_q %(\first + 2), [line_2, offset]
    when %(!has_sign), for_all flip, \first, 3, 31
    .endm

/* Tap number t, its column after the other, of pixel number u: op is smull or smlal. */
    .macro multiply_halves op, low, high, line, weights
    \op v\low\().8h, v\line\().8b, v\weights\().8b
    \op\()2 v\high\().8h, v\line\().16b, v\weights\().16b
    .endm
    .macro multiply_tap op, t, u
    multiply_halves \op, %(26 + \t / 2 % 2 * 2), %(27 + \t / 2 % 2 * 2), %(17 + (\u * stride + \t / 3) % 3 * 3 + \t % 3), %(8 + \t)
    .endm
    .macro add_products low, high
    saddw v0.4s, v0.4s, v\low\().4h
    saddw2 v1.4s, v1.4s, v\low\().8h
    saddw v2.4s, v2.4s, v\high\().4h
    saddw2 v3.4s, v3.4s, v\high\().8h
    .endm

    .macro multiply_pixel u
    .set t, 0
    .rept (TAPS + 1) / 2
    multiply_tap smull, %(t), \u
    when %(t + 1 < TAPS), multiply_tap smlal, %(t + 1), \u
    when %(t >= 2), add_products %(28 - t / 2 % 2 * 2), %(29 - t / 2 % 2 * 2)
    .set t, t + 2
    .endr
    add_products %(26 + (TAPS - 1) / 2 % 2 * 2), %(27 + (TAPS - 1) / 2 % 2 * 2)
    .endm

    slide_function depthwise_s8_3s1_smull, 1, 3, 1, 4
    slide_function depthwise_s8_3s2_smull, 1, 3, 2, 4
    slide_function depthwise_u8_3s1_smull, 0, 3, 1, 4
    slide_function depthwise_u8_3s2_smull, 0, 3, 2, 4
