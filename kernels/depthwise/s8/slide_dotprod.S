/* Depthwise convolution of bytes by SDOT, for kernels of 3 and 5 columns (slide_neon.h).
 *
 * SDOT adds four products of a channel: those of four kernel rows of a column. Four lines become
 * vectors that have four channels' elements of the rows next to each other, by ZIP: four of them
 * for 16 channels, a pass of a row for 3 columns, or two for 8 channels. From v8 on are the weights
 * of all columns, then the columns of src.
 *
 * 3x3, stride 1, two rows of pixels, 8 channels: 6 loads, 4 ZIP, 4 copies of what sums begin with, 12
 * SDOT; and where sums become bytes that have scales only, 20 more. */
/* clang-format off */
#include "kernels/depthwise/s8/slide_neon.h"

    .macro place_columns
    .set column_registers, quads
    .set first_column, 8 + columns * quads
    .set group_bytes, 64 * columns
    .endm

    .macro load_line register, line
    when %(quads == 4), ldr q\register, [\line, offset]
    otherwise ldr d\register, [\line, offset]
    .endm

/* The next column, to v(first) on. */
    .macro load_column first
    ldp line_0, line_1, [lines], #16
    ldp line_2, line_3, [lines], #16
    load_line 0, line_0
    load_line 1, line_1
    load_line 2, line_2
    load_line 3, line_3
    .if (quads == 4) & !has_sign
    movi v4.16b, #0x80
    for_all flip, 0, 4, 4
    .endif
    vectors_of 16b, zip1, 4, 0, 1
    vectors_of 16b, zip1, 5, 2, 3
    .if quads == 4
    vectors_of 16b, zip2, 6, 0, 1
    vectors_of 16b, zip2, 7, 2, 3
    .endif
    vectors_of 8h, zip1, \first, 4, 5
    vectors_of 8h, zip2, %(\first + 1), 4, 5
    .if quads == 4
    vectors_of 8h, zip1, %(\first + 2), 6, 7
    vectors_of 8h, zip2, %(\first + 3), 6, 7
    .elseif !has_sign
    for_all flip, \first, 2, 31
    .endif
    .endm
    .macro load_weights
    .set k, 0
    .rept columns
    .set at, 8 + k * quads
    each_by 2, q, 0, %(quads / 2), load_pair %(at + q), %(at + q + 1), [group_weights, #(64 * k + 16 * q)]
    .set k, k + 1
    .endr
    .endm

/* To v(sum) on: pixel number u's columns by the weights from v(weights) on. */
    .macro dot sum, column, weights
    sdot v\sum\().4s, v\column\().16b, v\weights\().16b
    .endm
    .macro multiply_columns sum, u, weights
    .set k, 0
    .rept columns
    .set column_at, first_column + (\u * stride + k) % columns * quads
    each q, quads, dot %(\sum + q), %(column_at + q), %(\weights + k * quads + q)
    .set k, k + 1
    .endr
    .endm

    .macro multiply_pixel u
    multiply_columns 0, \u, 8
    .endm

    slide_function depthwise_s8_3s1_slide, 1, 3, 1, 4
    slide_function depthwise_s8_3s2_slide, 1, 3, 2, 4
    slide_function depthwise_s8_5s1_slide, 1, 5, 1, 2
    slide_function depthwise_s8_5s2_slide, 1, 5, 2, 2
    slide_function depthwise_u8_3s1_slide, 0, 3, 1, 4
    slide_function depthwise_u8_3s2_slide, 0, 3, 2, 4
    slide_function depthwise_u8_5s1_slide, 0, 5, 1, 2
    slide_function depthwise_u8_5s2_slide, 0, 5, 2, 2

/* ---- two rows of pixels, 3x3 with stride 1: v8 … v13 have the upper row's weights, v14 … v19 the
 * lower row's, v20 … v25 columns, and v26 and v27 what sums begin with ---- */

    .macro row_below weights
    shl_words %(\weights + 6), \weights
    .endm
    .macro shl_words to, from
    shl v\to\().4s, v\from\().4s, #8
    .endm

    .macro sums_of_pair
    st1 {v0.4s, v1.4s}, [to], row
    st1 {v2.4s, v3.4s}, [lower], row
    .endm
    .macro bytes_of_pair
    narrow_to_halves 0, 1
    narrow_to_halves 2, 3
    narrow_to_bytes 0
    narrow_to_bytes 2
    st1 {v0.8b}, [to], row
    st1 {v2.8b}, [lower], row
    .endm

    .macro pixels_of_pair u
    load_column_at %(\u + 2)
    copy 0, 26
    copy 1, 27
    copy 2, 26
    copy 3, 27
    multiply_columns 0, \u, 8
    multiply_columns 2, \u, 14
    finish_sums 4, 2, .Lmore_two_rows, bytes_of_pair, sums_of_pair
    subs left, left, #1
    .endm

    .macro pair_function name, sign
    .set has_sign, \sign
    .set columns, 3
    .set stride, 1
    .set quads, 2
    .set column_registers, quads
    .set first_column, 20
    begin_function \name
    save_registers 4, 26
    mov link, x30
    mov channel, #0
5:  ldr end, [taps, #taps.end]
    load_end
    load_scales
    mov first_to, to
    ldp group_weights, scratch, [taps, #taps.weights]
    add group_weights, group_weights, channel, lsl #2
    add scratch, scratch, channel, lsl #2
    ldp q26, q27, [scratch]
    load_weights
    for_all row_below, 8, 6
    ldr first_list, [taps, #taps.lines]
    ldr rows_left, [taps, #taps.height]
    ldr offset, [taps, #taps.offset]
    add offset, offset, channel
4:  mov lines, first_list
    mov to, first_to
    ldr lower, [taps, #taps.below]
    cbnz end, 1f
    lsl lower, lower, #2
1:  add lower, to, lower
    ldr left, [taps, #taps.pixels]
    load_first_columns 2
    cbnz special, 9f
    .set is_special, 0
    .p2align 4
7:  pixels_of_row pixels_of_pair, 7b, 8f
8:  subs rows_left, rows_left, #1
    b.eq 3f
    next_row 2
    b 4b
3:  add channel, channel, #8
    cmp channel, #16
    b.lo 5b
    mov x30, link
    pop_and_return
    special_loop pixels_of_pair
    end_function \name
    .endm

    pair_function depthwise_s8_3s1_pair, 1
    pair_function depthwise_u8_3s1_pair, 0
