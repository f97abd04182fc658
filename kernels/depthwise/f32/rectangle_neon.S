/* Tiles of rows that are a dilation apart, for NEON: see rectangle.h.
 *
 * There is code for each number of rows of dst and of source, and of vectors; it goes from tile to
 * tile, with an address for each row of source and all weights in registers, and then to the next
 * strip. Three columns of taps are alike but for the lane of their weights: tiles with fewer begin
 * their sums elsewhere and go on at the second or the third column. Single vectors with two
 * columns, which both edges of a plane have for small dilations, have code of their own.
 *
 * Where there are all three columns and no limits a tile is stored in front of the next one's sums,
 * with no branch between a tile's first load and its last product. Loads of a row lie before the
 * products of the one before, for cores that issue in order. Sums begin with biases that are
 * loaded: a move would take a pipe from the products. Four vectors are two pairs, of which the
 * second one may overlap the first: a pair is stored in the time of one vector. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/rectangle_offsets.h"

/* Rows of source have their addresses in x8 … x12. */
    registers 0, job, strip, dst, count, dst_row
    registers 5, next_tile, last, limits
    registers 13, dst_1, dst_2, tap_column
scratch .req x17
    registers 19, all_src, all_dst, src_apart, dst_apart
missing .req x23 /* columns of taps before the first one */
leaves_loop .req x24 /* 0: neither limits nor missing columns */
    registers 25, bias, link

/* Vector registers: two rows of source in turn in v0 … v7; sums are v16 … v27; then there are a row of
 * weights in lanes, and limits in v31 and v8. v9 … v15 are the caller's. */
    .set TAPS, 0
    .set SUMS, 16
    .set MOST_SUMS, 12
    .set WEIGHTS, 28
    .set LOW, 31
    .set HIGH, 8

/* ---- sums ---- */

    .macro begin_sums count
    each_by 2, i, SUMS, %(\count / 2), load_pair %i, %(i + 1), [bias]
    when %(\count % 2), load_q %i, [bias]
    .endm

/* Row j of the tile. */
    .macro store_row j, vectors, dst
    .set sum, SUMS + (\j) * \vectors
    when %(\vectors == 4), several_at st1, 2, %sum, \dst
    otherwise store_q %sum, [\dst]
    when %(\vectors > 1), add scratch, \dst, last
    when %(\vectors == 4), several_at st1, 2, %(sum + 2), scratch
    when %(\vectors == 2), store_q %(sum + 1), [scratch]
    add \dst, \dst, dst_row
    .endm

/* ---- rows of source ---- */

    .macro load_fours into, at
    load_pair \into, %(\into + 1), [x\at]
    add scratch, x\at, last
    load_pair %(\into + 2), %(\into + 3), [scratch]
    .endm

/* Row i of a column of taps; its address goes on, after the last column to the next tile. */
    .macro load_source i, column, vectors
    .set into, TAPS + 4 * (\i % 2)
    .set at, 8 + \i
    when %(\vectors == 4), load_fours %into, %at
    otherwise load_indexed %into, %at, q, 0
    when %(\vectors == 2), load_indexed %(into + 1), %at, q, last
    when %(\column < 2), add_x %at, %at, tap_column
    otherwise add_x %at, %at, next_tile
    .endm

/* Its products, for each row j that has it as a tap. */
    .macro multiply_row tap, i, lane, vectors
    .if \tap >= 0 && \tap <= 2
    each v, \vectors, fma %(SUMS + j * \vectors + v), %(TAPS + 4 * (\i % 2) + v), %(WEIGHTS + \tap), \lane
    .endif
    .endm

/* ---- functions ---- */

    .macro load_weights row
    ldur q\row, [scratch, #(12 * (\row - WEIGHTS))]
    .endm

    .macro take_column column, rows, first, sources, vectors
    load_source 0, \column, \vectors
    each i, \sources, take_source \column, \rows, \first, \sources, \vectors
    .endm
    .macro take_source column, rows, first, sources, vectors
    when %(i + 1 < \sources), load_source %(i + 1), \column, \vectors
    each j, \rows, multiply_row %(\first + i - j), %i, \column, \vectors
    .endm

    .macro store_rows rows, vectors
    store_row 0, \vectors, dst
    when %(\rows > 1), store_row 1, \vectors, dst_1
    when %(\rows > 2), store_row 2, \vectors, dst_2
    .endm

/* From the sums of a tile to their end; `leaves`: the register that says if it leaves the loop for
 * each tile. */
    .macro go_down rows, first, sources, columns, vectors, leaves
0:  store_rows \rows, \vectors
1:  accept_branch
    begin_sums %(\rows * \vectors)
    when %(\columns > 2), take_column 0, \rows, \first, \sources, \vectors
2:  take_column 1, \rows, \first, \sources, \vectors
3:  take_column 2, \rows, \first, \sources, \vectors
    subs count, count, #1
    ccmp \leaves, #0, #0, ne
    b.eq 0b
    cbz limits, 4f
    bl .Lclamp_sums + 8 * (MOST_SUMS - \rows * \vectors)
4:  store_rows \rows, \vectors
    cbz count, .Lnext_strip
    .endm
    .macro named_tile name, rows, first, sources, vectors
    go_down \rows, \first, \sources, 3, \vectors, leaves_loop
    cbz missing, 1b
    begin_listed_function \name
    begin_sums %(\rows * \vectors)
    tbnz missing, #0, 2b
    b 3b
    table_entry 1b
    table_entry \name
    .endm
    .macro tiles rows, first, sources
    .irp vectors, 1, 2, 4
    named_tile .Lfewer_\rows\()_\first\()_\sources\()_\vectors, \rows, \first, \sources, \vectors
    .endr
    go_down \rows, \first, \sources, 2, 1, limits
    b 1b
    table_entry 1b
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

/* Of all sums from the last one of a tile to the first one. */
.Lclamp_sums:
    each_by -1, i, %(SUMS + MOST_SUMS - 1), MOST_SUMS, clamp_to %i, %LOW, %HIGH
    ret

/* The code of strips keeps what it has in x0, x19 … x26, v8 and v31. */
    begin_function dwconv_f32_rectangle_run
    save_registers 1, 26
    mov link, x30
    ldp all_src, all_dst, [job, #job.src]
    ldp src_apart, dst_apart, [job, #job.src_apart]
    ldp tap_column, limits, [job, #job.tap_column]
    add bias, job, #job.bias
    cbz limits, .Lnext_strip
    ld1r {v31.4s}, [limits]
    add scratch, limits, #4
    ld1r {v8.4s}, [scratch]
/* For all rows that a tile may have. */
.Lnext_strip:
    ldp x8, dst, [strip, #strip.src]
    ldp count, last, [strip, #strip.tiles]
    ldp next_tile, dst_row, [strip, #strip.src_row]
    ldp scratch, missing, [strip, #strip.weights]
    add x8, all_src, x8
    add dst, all_dst, dst
    add dst_1, dst, dst_apart
    add dst_2, dst_1, dst_apart
    each_from at, 9, 4, add_x %at, %(at - 1), src_apart
    orr leaves_loop, limits, missing
    add scratch, job, scratch
    for_all load_weights, WEIGHTS, 3
    ldr scratch, [strip], #STRIP_BYTES
    br scratch
    end_function dwconv_f32_rectangle_run

    begin_function dwconv_f32_rectangle_end
    mov x30, link
    pop_and_return
    end_function dwconv_f32_rectangle_end
