/* Depthwise convolution of bytes: pixels one after the other, whose columns stay in registers while
 * others have them, too, for kernels of 3 and 5 columns (kernels/depthwise/taps.h). What does not
 * depend on the instruction that multiplies.
 *
 * v0 … v3 have sums of 16 channels, or v0 and v1 of 8; v4 … v7 are what sums are finished with. A
 * file says how all else is used, and has these macros, of which first_column, column_registers and
 * group_bytes, of a group's weights, are symbols that the first one sets:
 *
 *   place_columns
 *   load_weights               those of a group of kernel rows, from group_weights on
 *   load_column first          the next column of src, to v(first) on; v0 … v7 are free
 *   multiply_pixel u           adds what pixel number u of `columns` ones has to its sums
 *
 * A file whose pixels have 8 channels leaves v28 and v29 to their scales, v30 to what sums of
 * floats began with, and v31 to what makes u8 s8. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/taps_offsets.h"
#include "kernels/gemm/offsets.h"

    registers 0, taps, lines, offset, to
lower .req x4 /* of two rows of pixels */
from .req x4 /* of one */
    registers 5, row, left, end, scales, offsets, row_scale
special .req x11 /* 0: sums become bytes, and have scales of channels only */
    registers 12, from_row, line_0, line_1, line_2, line_3, scratch
word .req w17
    registers 19, link, channel, groups, group_lines, group_weights, rows_left
first_list .req x25 /* of the row of pixels, or of the upper one, and where it goes */
first_to .req x26

    .macro flip register, by
    eor v\register\().16b, v\register\().16b, v\by\().16b
    .endm
/* Column number x, counted from a pixel's first one that had everything at its place. */
    .macro load_column_at x
    load_column %(first_column + (\x) % columns * column_registers)
    .endm

/* ---- sums that are floats become bytes: `sums` vectors from v0 on, which are `vectors` of channels,
 * once or twice ---- */

    .macro less_start sum, by
    fsub v\sum\().4s, v\sum\().4s, v\by\().4s
    .endm
    .macro with op, sum, other
    \op v\sum\().4s, v\sum\().4s, v\other\().4s
    .endm
    .macro with_channels op, sums, vectors, first
    each j, \sums, with \op, %(j), %(\first + j % \vectors)
    .endm
    .macro with_all op, sums, other
    each j, \sums, with \op, %(j), \other
    .endm
    .macro load_channels vectors, at
    ldp q4, q5, [\at]
    when %(\vectors == 4), ldp q6, q7, [\at, #32]
    .endm

    .macro times_lane to, value, lane
    fmul v\to\().4s, v\value\().4s, v4.s[\lane]
    .endm
    .macro divide_by_both_parts value
    times_lane 6, \value, 1
    fmla v6.4s, v\value\().4s, v4.s[0]
    fadd v\value\().4s, v6.4s, v5.4s
    .endm
    .macro divide_by_one_part value
    times_lane \value, \value, 0
    with fadd, \value, 5
    .endm

    .macro load_float_start register
    movi v\register\().4s, #0x4b, lsl #24
    orr v\register\().4s, #0x40, lsl #16
    .endm

/* Values, where there is more to do than scales of channels. */
    .macro function_for_more name, sums, vectors
\name\():
    load_float_start 4
    for_all less_start, 0, \sums, 4
    cbz row_scale, 1f
    ld1r {v4.4s}, [row_scale]
    with_all fmul, \sums, 4
1:  load_channels \vectors, scales
    with_channels fmul, \sums, \vectors, 4
    cbz offsets, 2f
    load_channels \vectors, offsets
    with_channels fadd, \sums, \vectors, 4
2:  ldr word, [end, #finish.is_clamped]
    cbz word, 3f
    ldr d4, [end, #finish.low]
    dup v5.4s, v4.s[1]
    dup v4.4s, v4.s[0]
    with_all fmax, \sums, 4
    with_all fmin, \sums, 5
3:  ldr word, [end, #finish.is_requantized]
    cbz word, 5f
    ldr q4, [end, #finish.reciprocal]
    ldr word, [end, #finish.rest]
    dup v5.4s, v4.s[2]
    cbz word, 4f
    for_all divide_by_both_parts, 0, \sums
    ret
4:  for_all divide_by_one_part, 0, \sums
5:  ret
    .endm
    function_for_more .Lmore_16, 4, 4
    function_for_more .Lmore_two_rows, 4, 2
    function_for_more .Lmore_8, 2, 2

    .macro to_integer value
    fcvtns v\value\().4s, v\value\().4s
    .endm
/* Eight of them in v(first) and the next one. */
    .macro narrow_to_halves first, second
    sqxtn v\first\().4h, v\first\().4s
    sqxtn2 v\first\().8h, v\second\().4s
    .endm
    .macro narrow_to_bytes first
    when %has_sign, sqxtn v\first\().8b, v\first\().8h
    otherwise sqxtun v\first\().8b, v\first\().8h
    .endm
    .macro narrow_to_more_bytes first, second
    when %has_sign, sqxtn2 v\first\().16b, v\second\().8h
    otherwise sqxtun2 v\first\().16b, v\second\().8h
    .endm

/* By scales of channels alone. */
    .macro scaled_values sums, vectors
    .if \vectors == 4
    load_float_start 4
    for_all less_start, 0, \sums, 4
    load_channels 4, scales
    with_channels fmul, 4, 4, 4
    .else
    for_all less_start, 0, \sums, 30
    with_channels fmul, \sums, \vectors, 28
    .endif
    .endm

/* Loops are there twice: in one of them scales are all there is, in the other one is_special, and
 * sums become anything else, or are stored. to_bytes, to_sums: macros that write either. */
    .macro finish_sums sums, vectors, function, to_bytes, to_sums
    .if is_special
    cbz end, 1f
    bl \function
    .else
    scaled_values \sums, \vectors
    .endif
    for_all to_integer, 0, \sums
    \to_bytes
    .if is_special
    b 2f
1:  \to_sums
2:
    .endif
    .endm

/* All pixels of a row, until there are none left, which is at `end`: of `columns` pixels each one has
 * its columns in other registers. */
    .macro pixels_of_row pixel, begin, end
    .set u, 0
    .rept columns - 1
    \pixel %(u)
    b.eq \end
    .set u, u + 1
    .endr
    \pixel %(u)
    b.ne \begin
    .endm
    .macro special_loop pixel
    .set is_special, 1
9:  pixels_of_row \pixel, 9b, 8b
    b 8b
    .endm

/* ---- one row of pixels ---- */

    .macro sums_of_16
    st1 {v0.4s - v3.4s}, [to], row
    .endm
    .macro bytes_of_16
    narrow_to_halves 0, 1
    narrow_to_halves 2, 3
    narrow_to_bytes 0
    narrow_to_more_bytes 0, 2
    st1 {v0.16b}, [to], row
    .endm
    .macro sums_of_8
    st1 {v0.4s, v1.4s}, [to], row
    .endm
    .macro bytes_of_8
    narrow_to_halves 0, 1
    narrow_to_bytes 0
    st1 {v0.8b}, [to], row
    .endm

    .macro pixel u
    each_from x, %(\u * stride + columns - stride), stride, load_column_at x
    when %(quads == 4), ld1 {v0.4s - v3.4s}, [from], from_row
    otherwise ld1 {v0.4s, v1.4s}, [from], from_row
    multiply_pixel \u
    when %(quads == 4), finish_sums 4, 4, .Lmore_16, bytes_of_16, sums_of_16
    otherwise finish_sums 2, 2, .Lmore_8, bytes_of_8, sums_of_8
    subs left, left, #1
    .endm

/* Where results or sums go, and what ends them. */
    .macro load_end
    cbz end, 1f
    ldr to, [end, #finish.dst]
    add to, to, channel
    ldr row, [end, #finish.dst_row]
    ldr row_scale, [end, #finish.row_scales]
    ldp scales, offsets, [end, #finish.scales]
    orr special, row_scale, offsets
    ldr word, [end, #finish.is_clamped]
    orr special, special, scratch
    ldr word, [end, #finish.is_requantized]
    orr special, special, scratch
    add scales, scales, channel, lsl #2
    cbz offsets, 2f
    add offsets, offsets, channel, lsl #2
    b 2f
1:  mov special, #1
    ldp to, row, [taps, #taps.sums]
    add to, to, channel, lsl #2
    lsl row, row, #2
2:
    .endm
    .macro load_scales
    cbz end, 1f
    ldp q28, q29, [scales]
1:  load_float_start 30
    when %(!has_sign), movi v31.16b, #0x80
    .endm

/* So many rows of pixels farther. */
    .macro next_row rows
    ldr scratch, [taps, #taps.list_below]
    add first_list, first_list, scratch, lsl #(2 + \rows)
    ldr scratch, [taps, #taps.below]
    cbnz end, 1f
    lsl scratch, scratch, #2
1:  add first_to, first_to, scratch, lsl #(\rows - 1)
    .endm

    .macro load_first_columns count
    each x, \count, load_column_at x
    .endm

/* type, columns, stride: of the name; quads: vectors of four channels that are done at a time. */
    .macro slide_function name, sign, of_columns, of_stride, of_quads
    .set has_sign, \sign
    .set columns, \of_columns
    .set stride, \of_stride
    .set quads, \of_quads
    place_columns
    begin_function \name
    save_registers 4, 26
    mov link, x30
    mov channel, #0
5:  ldp group_weights, from, [taps, #taps.weights]
    add group_weights, group_weights, channel, lsl #2
    add from, from, channel, lsl #2
    mov from_row, #0
    ldr groups, [taps, #taps.groups]
    ldr group_lines, [taps, #taps.lines]
    ldr offset, [taps, #taps.offset]
    add offset, offset, channel
6:  subs groups, groups, #1
    mov end, #0
    b.ne 1f
    ldr end, [taps, #taps.end]
1:  load_end
    when %(quads == 2), load_scales
    load_weights
    add group_weights, group_weights, #group_bytes
    mov first_to, to
    mov first_list, group_lines
    ldr rows_left, [taps, #taps.height]
    ldr scratch, [taps, #taps.list]
    add group_lines, group_lines, scratch, lsl #3
4:  mov lines, first_list
    mov to, first_to
    ldr left, [taps, #taps.pixels]
    load_first_columns %(columns - stride)
    cbnz special, 9f
    .set is_special, 0
    .p2align 4
7:  pixels_of_row pixel, 7b, 8f
8:  subs rows_left, rows_left, #1
    b.eq 3f
    next_row 1
    b 4b
3:  ldp from, from_row, [taps, #taps.sums]
    add from, from, channel, lsl #2
    lsl from_row, from_row, #2
    cbnz groups, 6b
    add channel, channel, #4 * quads
    cmp channel, #16
    b.lo 5b
    mov x30, link
    pop_and_return
    special_loop pixel
    end_function \name
    .endm
