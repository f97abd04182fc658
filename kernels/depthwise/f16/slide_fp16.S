/* Depthwise convolution of f16 with sums of f16, kernels of 3x3: rows of pixels, or pairs of rows
 * with stride 1, 8 channels at a time, one pixel after the other (kernels/depthwise/taps.h).
 * Columns of src stay in registers while pixels have them as another of their columns, and weights
 * for all rows. Two rows of pixels have columns of four lines: a pixel of both takes 4 loads, 4 of
 * what lists say, 2 copies of what sums begin with, 18 FMLA or FMUL and 4 FADD; with stride 2 one
 * takes 6 and 3 loads, a copy, 9 FMLA and 2 FADD. Each kernel row has sums of its own, since nine
 * FMLA that wait for each other would fill the queues of the core.
 *
 * v0 and v1 have sums of the first kernel row and in the end all of them, v2 … v5 those of others,
 * and later what becomes of sums; v8 … v16 have weights, v17 … v28 three columns, v29 what sums
 * begin with, and v30 and v31 limits. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/taps_offsets.h"
#include "kernels/gemm/offsets.h"

taps .req x0
    registers 5, row, left, end, offset
    registers 9, to, lower, offsets, clamps
special .req x15 /* 0: sums become halves as they are */
    registers 13, line, next_line
below .req x16 /* bytes to the next row of pixels */
scratch .req x17
    registers 19, channel, rows_left
first_list .req x21 /* of the row of pixels, or of the upper one, and where it goes */
first_to .req x22

/* ---- columns: lists of their lines are at x(1 + r) ---- */

    .macro next_of_list r
    ldr line, [x\r], #8
    .endm
    .macro next_two_of_list r
    ldp line, next_line, [x\r], #16
    .endm

/* Number x, counted from a pixel's first one that had everything at its place; and the next one. */
    .macro load_column x
    .set r, 0
    .rept lines
    next_of_list %(1 + r)
    load_q %(17 + (\x) % 3 * lines + r), [line, offset]
    .set r, r + 1
    .endr
    .endm
    .macro load_two_columns x
    .set r, 0
    .rept lines
    next_two_of_list %(1 + r)
    load_q %(17 + (\x) % 3 * lines + r), [line, offset]
    load_q %(17 + (\x + 1) % 3 * lines + r), [next_line, offset]
    .set r, r + 1
    .endr
    .endm

/* Of column k: kernel row r of pixel row `sum`, to v(2 * r + sum). */
    .macro multiply_column op, k, first_row
    .set r, \first_row
    .rept 3 - \first_row
    .set line_at, 17 + (column + \k) % 3 * lines + r
    each sum, sums, vectors_of 8h, \op, %(2 * r + sum), %(line_at + sum), %(8 + 3 * r + \k)
    .set r, r + 1
    .endr
    .endm
/* Of the pixel whose first column is number x. */
    .macro multiply_columns x
    .set column, \x
    for_all copy, 0, sums, 29
    each sum, sums, vectors_of 8h, fmla, %sum, %(17 + column % 3 * lines + sum), 8
    multiply_column fmul, 0, 1
    multiply_column fmla, 1, 0
    multiply_column fmla, 2, 0
    each sum, sums, vectors_of 8h, fadd, %sum, %sum, %(2 + sum)
    each sum, sums, vectors_of 8h, fadd, %sum, %sum, %(4 + sum)
    .endm

/* ---- ends: as kernels/gemm/finish.h says, offsets are added as f32 ---- */

    .macro widen sum
    fcvtl v4.4s, v\sum\().4h
    fcvtl2 v5.4s, v\sum\().8h
    .endm
    .macro add_offsets sum
    widen \sum
    fadd v4.4s, v4.4s, v2.4s
    fadd v5.4s, v5.4s, v3.4s
    fcvtn v\sum\().4h, v4.4s
    fcvtn2 v\sum\().8h, v5.4s
    .endm
    .macro limit sum
    fmax v\sum\().8h, v\sum\().8h, v30.8h
    fmin v\sum\().8h, v\sum\().8h, v31.8h
    .endm
    .macro store_floats sum, at
    widen \sum
    st1 {v4.4s, v5.4s}, [\at], row
    .endm

    .macro store_halves
    st1 {v0.8h}, [to], row
    when %(sums == 2), st1 {v1.8h}, [lower], row
    .endm

/* Halves by one branch, if they are what sums are; all else is out of the way. */
    .macro finish_sums
    cbnz special, .Lspecial\@
.Lvalues\@:
    store_halves
.Ldone\@:
    .subsection 1
.Lspecial\@:
    cbz end, 2f
    cbz offsets, 1f
    ldp q2, q3, [offsets]
    for_all add_offsets, 0, sums
1:  cbz clamps, .Lvalues\@
    for_all limit, 0, sums
    b .Lvalues\@
2:  store_floats 0, to
    when %(sums == 2), store_floats 1, lower
    b .Ldone\@
    .subsection 0
    .endm

    .macro pixel u
    when %(stride == 1), load_column %(\u + 2)
    otherwise load_two_columns %(2 * \u + 1)
    multiply_columns %(\u * stride)
    finish_sums
    subs left, left, #1
    .endm

/* Where results or sums go. */
    .macro load_end
    ldr end, [taps, #taps.end]
    ldr below, [taps, #taps.below]
    cbz end, 1f
    ldp offsets, first_to, [end, #finish.offsets]
    ldr row, [end, #finish.dst_row]
    add first_to, first_to, channel, lsl #1
    lsl below, below, #1
    lsl row, row, #1
    ldr w12, [end, #finish.is_clamped]
    orr special, offsets, clamps
    ldr s30, [end, #finish.low]
    ldr s31, [end, #finish.high]
    fcvt h30, s30
    fcvt h31, s31
    dup v30.8h, v30.h[0]
    dup v31.8h, v31.h[0]
    cbz offsets, 2f
    add offsets, offsets, channel, lsl #2
    b 2f
1:  mov special, #1
    ldp first_to, row, [taps, #taps.sums]
    add first_to, first_to, channel, lsl #2
    lsl below, below, #2
    lsl row, row, #2
2:
    .endm

/* Lists, and columns before the first pixel's new ones. */
    .macro begin_row
    mov to, first_to
    add lower, to, below
    mov x1, first_list
    ldr scratch, [taps, #taps.list]
    each_from r, 1, %(lines - 1), add_x %(r + 1), %r, scratch, lsl #3
    ldr left, [taps, #taps.pixels]
    load_column 0
    when %(stride == 1), load_column 1
    .endm
/* As many rows of pixels farther as are done at a time. */
    .macro next_row
    ldr scratch, [taps, #taps.list_below]
    add first_list, first_list, scratch, lsl #(2 + sums)
    add first_to, first_to, below, lsl #(sums - 1)
    .endm

    .macro slide_function name, of_sums, of_stride
    .set sums, \of_sums
    .set stride, \of_stride
    .set lines, 2 + sums
    begin_function \name
    save_registers 4, 22
    mov channel, #0
5:  load_end
    ldp scratch, x1, [taps, #taps.weights]
    add scratch, scratch, channel, lsl #1
    add x1, x1, channel, lsl #2
    each tap, 9, load_q %(8 + tap), [scratch, #32 * tap]
    ldp q2, q3, [x1]
    fcvtn v29.4h, v2.4s
    fcvtn2 v29.8h, v3.4s
    ldr first_list, [taps, #taps.lines]
    ldr rows_left, [taps, #taps.height]
    ldr offset, [taps, #taps.offset]
    add offset, offset, channel, lsl #1
6:  begin_row
    .p2align 4
7:  pixel 0
    b.eq 8f
    pixel 1
    b.eq 8f
    pixel 2
    b.ne 7b
8:  subs rows_left, rows_left, #1
    b.eq 9f
    next_row
    b 6b
9:  add channel, channel, #8
    cmp channel, #16
    b.lo 5b
    pop_and_return
    end_function \name
    .endm

    slide_function depthwise_f16_3s1_pair, 2, 1
    slide_function depthwise_f16_3s1_slide, 1, 1
    slide_function depthwise_f16_3s2_slide, 1, 2
