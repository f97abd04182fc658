/* Tiles of rows that are a dilation apart, for NEON: see rectangle.h.
 *
 * There is code for each number of rows of dst and of source, and of vectors; it goes from tile to tile,
 * with an address for each row of source and all weights in registers, and then to the code of the next
 * strip. Three columns of taps are alike but for the lane of their weights: tiles with fewer begin at the
 * second or the third. Loads of a row lie before the products of the one before, for cores that issue in
 * order. Sums begin with biases that are loaded: a move would take a pipe from the products. Four
 * vectors are two pairs, of which the second one may overlap the first: a pair is stored in the time of
 * one vector. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/rectangle_offsets.h"

/* Rows of source have their addresses in x8 … x12. */
job .req x0
strip .req x1
all_src .req x19
all_dst .req x20
src_apart .req x21
dst_apart .req x22
dst .req x2
count .req x3
dst_row .req x4
next_tile .req x5
last .req x6
limits .req x7
dst_1 .req x13
dst_2 .req x14
tap_column .req x15
bias .req x16
scratch .req x17
first_column .req x23 /* code */

/* Vector registers: sums are v0 … v7 and v16 … v19; then there are a row of weights in lanes, and two
 * rows of source in turn, which limits may overwrite. v8 … v15 are the caller's. */
    .set WEIGHTS, 20
    .set TAPS, 24
    .set LOW, 24
    .set HIGH, 25

/* v(register) becomes the register of sum i; comparisons of the assembler are -1 if true. */
    .macro find_sum i
    .set register, (\i) - 8 * ((\i) > 7)
    .endm

/* ---- sums ---- */

    .macro begin_sums count
    .set i, 0
    .rept \count / 2
    find_sum i
    begin_two %(register), %(register + 1)
    .set i, i + 2
    .endr
    .if \count % 2
    find_sum \count - 1
    load_at %(register), bias, 0
    .endif
    .endm
    .macro begin_two first, second
    ldp q\first, q\second, [bias]
    .endm
    .macro clamp_sums count
    .set i, 0
    .rept \count
    find_sum i
    clamp_to %(register), %(LOW), %(HIGH)
    .set i, i + 1
    .endr
    .endm

/* Row j of the tile. */
    .macro store_row j, vectors, dst
    find_sum (\j) * \vectors
    when %(\vectors == 4), store_two %(register), %(register + 1), \dst
    otherwise store_at %(register), \dst, 0
    find_sum (\j) * \vectors + \vectors - 1
    .if \vectors == 4
    add scratch, \dst, last
    store_two %(register - 1), %(register), scratch
    .elseif \vectors > 1
    store_at %(register), \dst, last
    .endif
    add \dst, \dst, dst_row
    .endm
    .macro store_two first, second, dst
    stp q\first, q\second, [\dst]
    .endm
    .macro store_at sum, dst, offset
    str q\sum, [\dst, \offset]
    .endm

/* ---- rows of source ---- */

    .macro load_first first, second, at
    ldp q\first, q\second, [x\at]
    .endm
    .macro load_second first, second, at
    add scratch, x\at, last
    ldp q\first, q\second, [scratch]
    .endm
    .macro load_at into, at, offset
    ldr q\into, [\at, \offset]
    .endm
    .macro load_vector into, at, offset
    ldr q\into, [x\at, \offset]
    .endm
    .macro advance at, distance
    add x\at, x\at, \distance
    .endm

/* Row i of a column of taps; its address goes on, after the last column to the next tile. */
    .macro load_source i, column, vectors
    .set into, TAPS + 4 * (\i % 2)
    .set at, 8 + \i
    .if \vectors == 4
    load_first %(into), %(into + 1), %(at)
    load_second %(into + 2), %(into + 3), %(at)
    .else
    load_vector %(into), %(at), 0
    when %(\vectors > 1), load_vector %(into + 1), %(at), last
    .endif
    when %(\column < 2), advance %(at), tap_column
    otherwise advance %(at), next_tile
    .endm

/* Its products, for each row j that has it as a tap. */
    .macro multiply_source i, column, rows, first, vectors
    .set j, 0
    .rept \rows
    .set tap, \first + \i - j
    .if tap >= 0 && tap <= 2
    multiply_row %(j), %(tap), %(TAPS + 4 * (\i % 2)), \column, \vectors
    .endif
    .set j, j + 1
    .endr
    .endm
    .macro multiply_row row, tap, from, lane, vectors
    .set v, 0
    .rept \vectors
    find_sum \row * \vectors + v
    fma %(register), %(\from + v), %(WEIGHTS + \tap), \lane
    .set v, v + 1
    .endr
    .endm

/* ---- functions ---- */

    .macro load_weights row
    ldur q\row, [scratch, #(12 * (\row - WEIGHTS))]
    .endm
    .macro next_source at
    advance_from %(\at), %(\at - 1)
    .endm
    .macro advance_from at, before
    add x\at, x\before, src_apart
    .endm

    .macro begin_strip rows, sources
    ldp x8, dst, [strip, #STRIP_SRC]
    ldp count, last, [strip, #STRIP_TILES]
    ldp next_tile, dst_row, [strip, #STRIP_SRC_ROW]
    ldp scratch, first_column, [strip, #STRIP_WEIGHTS]
    add strip, strip, #STRIP_BYTES
    add x8, all_src, x8
    add dst, all_dst, dst
    when %(\rows > 1), add dst_1, dst, dst_apart
    when %(\rows > 2), add dst_2, dst_1, dst_apart
    for_all next_source, 9, \sources - 1
    add scratch, job, scratch
    when %(\rows > 1), for_all load_weights, WEIGHTS, 3
    otherwise for_all load_weights, WEIGHTS, \sources
    adr scratch, 3f
    mov x16, #(4f - 3f)
    madd first_column, first_column, x16, scratch
    add bias, job, #RECTANGLE_BIAS
    .endm
    .macro next_strip
    ldr scratch, [strip]
    br scratch
    .endm

    .macro take_column column, rows, first, sources, vectors
    accept_branch
    load_source 0, \column, \vectors
    .set i, 0
    .rept \sources
    when %(i + 1 < \sources), load_source %(i + 1), \column, \vectors
    multiply_source %(i), \column, \rows, \first, \vectors
    .set i, i + 1
    .endr
    .endm

    .macro go_down rows, first, sources, vectors
1:  begin_sums %(\rows * \vectors)
    br first_column
3:  take_column 0, \rows, \first, \sources, \vectors
4:  take_column 1, \rows, \first, \sources, \vectors
    take_column 2, \rows, \first, \sources, \vectors
    cbz limits, 2f
    ld1r {v24.4s}, [limits]
    add scratch, limits, #4
    ld1r {v25.4s}, [scratch]
    clamp_sums %(\rows * \vectors)
2:  store_row 0, \vectors, dst
    when %(\rows > 1), store_row 1, \vectors, dst_1
    when %(\rows > 2), store_row 2, \vectors, dst_2
    subs count, count, #1
    b.ne 1b
    next_strip
    .endm

    .macro tile rows, first, sources, vectors
    named_tile .Ltile_\rows\()_\first\()_\sources\()_\vectors, \rows, \first, \sources, \vectors
    .endm
    .macro named_tile name, rows, first, sources, vectors
    begin_listed_function \name
    begin_strip \rows, \sources
    go_down \rows, \first, \sources, \vectors
    table_entry \name
    .endm
    .macro tiles rows, first, sources
    .irp vectors, 1, 2, 4
    tile \rows, \first, \sources, \vectors
    .endr
    .endm

    begin_table dwconv_f32_rectangles
    tiles 1, 0, 1
    tiles 1, 0, 2
    tiles 1, 0, 3
    tiles 2, 0, 4
    tiles 2, 0, 3
    tiles 2, 1, 3
    tiles 2, 1, 2
    tiles 3, 0, 5
    tiles 3, 0, 4
    tiles 3, 1, 4
    tiles 3, 1, 3
    end_table dwconv_f32_rectangles

/* The code of strips keeps what it has in x0 and x19 … x22. */
    begin_function dwconv_f32_rectangle_run
    save_registers 1, 23
    ldp all_src, all_dst, [job, #RECTANGLE_SRC]
    ldp src_apart, dst_apart, [job, #RECTANGLE_SRC_APART]
    ldp tap_column, limits, [job, #RECTANGLE_TAP_COLUMN]
    next_strip
    end_function dwconv_f32_rectangle_run

    begin_function dwconv_f32_rectangle_end
    pop_and_return
    end_function dwconv_f32_rectangle_end
