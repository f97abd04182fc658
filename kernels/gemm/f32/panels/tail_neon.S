/* Tiles of panels.h for NEON whose last vector has one to three columns; more than one only by
 * themselves.
 *
 * By lanes of A as much of that vector as they leave would be multiplied for nothing. So a round
 * takes four steps of each of these columns together, from where it comes once more: each row's
 * vector is multiplied with the column's, and such a sum has four parts until the tile ends. Four
 * rows of five columns have 20 FMLA a round instead of 32, of two columns 8. The steps before the
 * rounds are one multiplication of as many values as there are.
 *
 * A row has a sum for each whole vector, and then one for each of these columns. */
    .set steps_differ, 1
    .set has_tail, 1
    .set widest, 2 /* columns at once */
    .set columns_vary, 1
#include "kernels/gemm/f32/rows_neon.h"

tail .req x16

/* ---- one instruction each, registers by number ---- */

    .macro load_whole_vectors first
    when %(whole == 2), load_pair \first, %(\first + 1), [x4], #48
    or_when %(whole == 1), ldr q\first, [x4], #32
    .endm
    .macro load_other_column kind, to, stride
    ldr \kind\to, [tail, x\stride]
    .endm
    .macro keep_first x, mask
    and v\x\().16b, v\x\().16b, v\mask\().16b
    .endm
    .macro add_pairs to, x, y
    floats faddp, \to, \x, \y
    .endm

/* The register of row i's sum number j, and that of the distance between columns; twice that is in
 * x19. */
    .macro find_sum height, sums, i, j
    .set sum, 32 - (\height - \i) * \sums + \j
    .endm
    .macro find_stride height
    .set stride, 12 /* more panels may take x7 */
    when %(\height > 5), .set stride, 15
    or_when %(\height == 5), .set stride, 7
    .endm

/* Behind the panel, which is at x4. */
    .macro find_columns height, sums, group
    ldr scratch, [strip, #strip.ldb]
    .if columns > 1
    find_stride \height
    keep_stride %(stride)
    .endif
    when %(columns > 2), lsl x19, scratch, #1
    .if whole == 2
    ldr scratch, [strip, #strip.gap]
    find_behind 2
    .else
    find_behind %(2 + whole)
    .endif
    .endm
    .macro keep_stride to
    mov x\to, scratch
    .endm
    .macro find_behind shift
    add tail, x4, scratch, lsl #\shift
    .endm

/* ---- steps ---- */

/* One step of the panel's whole vectors. */
    .macro step height, sums, group, lane, op=fmla
    load_whole_vectors \height
    multiply_tile \op, \height, whole, %(32 - \height * \sums), \sums, \height, 0, \lane
    .endm

    .macro load_column_number kind, to, number
    when %(\number == 0), ldr \kind\to, [tail]
    or_when %(\number == 1), load_other_column \kind, \to, %(stride)
    otherwise load_other_column \kind, \to, 19
    .endm

/* What of the columns a register of this kind has: to v(x), or x and those after it in turn. `op` has
 * each sum, its row of A and its column; `mask` is what of that counts. */
    .macro each_column height, sums, op, kind, x, turns, mask
    find_stride \height
    .set column, 0
    .rept columns
    add_column \height, \sums, \op, \kind, %(\x + column % \turns), \mask
    .set column, column + 1
    .endr
    .endm
    .macro add_column height, sums, op, kind, x, mask
    load_column_number \kind, \x, %(column)
    .ifnb \mask
    keep_first \x, \mask
    .endif
    find_sum \height, \sums, 0, %(\sums - columns + column)
    each i, \height, \op %(sum + i * \sums), %i, \x
    .endm

/* The steps before the rounds, of which scratch is the bytes: columns with those of the last step.
 * One step is a scalar, two are half a vector: sums' other parts become 0. Three are a vector that
 * ends in a zero. */
    .macro first_steps height, sums, group
    for_each_row load_first, \height
    step \height, \sums, \group, 0, fmul
    cmp scratch, #8
    b.lo 31f
    step \height, \sums, \group, 1
    b.eq 32f
    step \height, \sums, \group, 2
    load_mask \height, %(\height + 1)
    for_all keep_first, 0, \height, \height
    begin_columns \height, \sums, begin_four, q, \height
    tbz scratch, #4, 12f
    step \height, \sums, \group, 3
    cbz rounds, 13f
    .endm
    .macro one_or_two_columns height, sums
31: begin_columns \height, \sums, begin_one, s
    b 12b
32: begin_columns \height, \sums, begin_two, d
    b 12b
    .endm
    .macro begin_columns height, sums, op, kind, mask
    each_column \height, \sums, \op, \kind, %(\height + 1), 1, \mask
    add tail, tail, scratch
    .endm
    .macro begin_one sum, x, y
    fmul s\sum, s\x, s\y
    .endm
    .macro begin_two sum, x, y
    vectors_of 2s, fmul, \sum, \x, \y
    .endm
    .macro begin_four sum, x, y
    floats fmul, \sum, \x, \y
    .endm
    .macro load_mask to, temp
    ldr q\temp, .Lbytes_before
    when %tall, dup v\to\().4s, w7
    otherwise dup v\to\().4s, w15
    cmhi v\to\().4s, v\to\().4s, v\temp\().4s
    .endm

    .macro round_step height, sums, group, lane
    step \height, \sums, \group, \lane
    .if \lane == 3
    each_column \height, \sums, fma, q, \height, widest
    add tail, tail, #16
    .endif
    .endm

/* ---- a tile's end ---- */

/* One column: rows' sums, each one's four parts, to lanes of v2, and from the fifth row on of v3.
 * More than one: each row's to the first one's register. */
    .macro sum_columns height, sums
    .if columns > 1
    find_sum \height, \sums, 0, %(\sums - columns)
    each_by \sums, sum, %sum, \height, sum_row %sum, %(sum + 1), %(sum + 2)
    .else
    sum_four \height, \sums, 0, 2
    when %(\height > 4), sum_four \height, \sums, 4, 3
    .endif
    .endm
    .macro sum_row first, second, third
    add_pairs \first, \first, \second
    when %(columns > 2), add_pairs \third, \third, \third
    when %(columns > 2), add_pairs \first, \first, \third
    otherwise add_pairs \first, \first, \first
    .endm
    .macro sum_four height, sums, row, to
    add_rows \height, \sums, \row, 0
    .if \height > \row + 2
    add_rows \height, \sums, %(\row + 2), 1
    add_pairs \to, 0, 1
    .else
    add_pairs \to, 0, 0
    .endif
    .endm
/* A row's pairs and those of the next one, or its own where there is none. */
    .macro add_rows height, sums, row, to
    find_sum \height, \sums, \row, %(\sums - 1)
    .set first, sum
    when %(\row + 1 < \height), find_sum \height, \sums, %(\row + 1), %(\sums - 1)
    add_pairs \to, %(first), %(sum)
    .endm

/* There is no more of bias than of columns. */
    .macro add_bias height, sums
    .if columns == 1
    add_whole_bias \height, \sums, %(whole)
    ld1r {v0.4s}, [scratch]
    for_all add_to, 2, %(1 + \height / 5), 0
    .else
    ldr d0, [scratch]
    .if columns == 3
    add scratch, scratch, #8
    ld1 {v0.s}[2], [scratch]
    .endif
    add_bias_at \height, \sums, 0
    .endif
    .endm

/* There is no vector before them. */
    .macro store_columns height
    when %(columns == 3), add scratch, c, #8
    .set i, 0
    .rept \height
    .if columns == 1
    store_one %(2 + i / 4), %(i % 4), c
    .else
    find_sum \height, columns, i, 0
    store_two %(sum), c
    .endif
    when %(columns == 3), store_one %(sum), 2, scratch
    .set i, i + 1
    .endr
    .endm
/* There is one column behind them. */
    .macro store_rows_and_column height, sums
    add scratch, c, #16 * whole
    .set i, 0
    .rept \height
    find_sum \height, \sums, i, 0
    store_row %(whole), %(sum)
    store_one %(2 + i / 4), %(i % 4), scratch
    .set i, i + 1
    .endr
    .endm

/* ---- a kernel ---- */

    .macro tail_kernel name, height, sums, kind
    .set tall, 0
    when %(\height > 5), .set tall, 1
    .set low, widest
    .set row_temps, 0
    .if columns == 1 /* sums in v2 and v3, and limits */
    .set low, widest + 1
    .elseif columns == 3
    .set row_temps, 1
    .endif
    begin_rows_kernel \name, \height, \sums, 0, %(low), \kind
    sum_columns \height, \sums
    go_to_ending
14:
    when %(whole == 0), store_columns \height
    otherwise store_rows_and_column \height, \sums
    next_tile \height, \kind
.Lend_\height\()_\kind\():
    end_frame \height, \sums

    one_or_two_columns \height, \sums

    special_rows \height, \sums, 0, \kind
28: cmp scratch, #5 /* GEMM_F32_ENDING_SUMS */
    b.ne 14b
    finish_sums \height, \sums
    cbz rounds, 14b
    when %(columns == 1), for_all clamp_to, 2, %(1 + \height / 5), 0, 1
    b 14b
    end_rows_kernel \name, \height, \kind
    .endm

    .macro kernel height, vectors, columns_
    .set whole, \vectors - 1
    .set columns, \columns_
    tail_kernel panels_\height\()x0_0_\vectors\()_tail_\columns_, \height, %(whole + columns), \vectors\()_\columns_
    .endm

/* Bytes of a row before each of four steps. */
    .p2align 4
.Lbytes_before:
    .word 0, 4, 8, 12

#define KERNEL(height, vectors, columns) kernel height, vectors, columns;
#include "kernels/gemm/f32/panels/tail_list.h"
