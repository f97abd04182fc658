/* Tiles whose instructions multiply vectors of B by lanes of A: FMLAL, SDOT, BFDOT.
 *
 * A lane has what A's row has for a group of k. A round is some steps, one group each; their lanes
 * come by as few loads as registers allow. Sums are the last registers, row by row; small tiles
 * have two or four sets of them, for groups in turn, so that an instruction does not wait for the
 * one before. 8x12: 24 sums, 16 lanes of A in four registers, three or four vectors of B; four
 * groups take 96 multiply-accumulates, two loads of A, four of B, and two instructions of the loop.
 *
 * A file says lane_bytes and b_bytes, which are those of a vector of B for one group: 8 where
 * instructions take halves of registers, then two groups are loaded together; and it has
 *
 *   mac sum, b, a, lane, half   one instruction; half: 1 for the upper one of b
 *   add_sets to, sum, other     to = sum + other */
/* clang-format off */
#include "kernels/gemm/tiles_neon.h"

/* For a height: registers of A, and groups whose lanes they have together, a divisor of the
 * round's. */
    .macro plan_lanes height, vectors
    .set lanes, 16 / lane_bytes
    .set together, 2
    times 3, when %((\height * together) % lanes), .set together, together * 2
    when %((together < 4) & (\height * 4 <= 4 * lanes)), .set together, 4
    .set a_registers, \height * together / lanes
    .set in_round, 4
    when %((together > 4) | (\height == 1)), .set in_round, 8
    .set sets, 1
    when %(\height * \vectors <= 4), .set sets, 4
    or_when %(\height * \vectors <= 9), .set sets, 2
    .if (\height == 1) & (\vectors == 3) & (b_bytes == 16) /* as two panels have */
    .set sets, 2
    .endif
    .set set_sums, \height * \vectors
    .set first_sum, 32 - sets * set_sums
    .set first_b, a_registers
    .endm

/* Row i of the set that begins at v(first). */
    .macro each_row height, first, what
    each i, \height, \what %(\first + i * row_vectors)
    .endm
    .macro load_row first
    several ld1, row_vectors, \first, at, line
    .endm
    .macro store_row first
    several st1, row_vectors, \first, c, line
    .endm

    .macro begin_sums height, vectors
    .set row_vectors, \vectors
    tbnz w8, #0, 2f
    cbnz scratch, 1f
    clear_all %(first_sum), %(sets * set_sums)
    b 3f
1:  load_vectors %(first_b), \vectors, scratch
    each i, set_sums, copy %(first_sum + i), %(first_b + i % \vectors)
    b 4f
2:  mov at, c
    each_row \height, first_sum, load_row
4:  clear_all %(first_sum + set_sums), %((sets - 1) * set_sums)
3:
    .endm

/* The last set has them in the end. */
    .macro add_all_sets
    .set i, set_sums
    .rept (sets - 1) * set_sums
    .set to, first_sum + i
    when %(i < (sets - 1) * set_sums), .set to, first_sum + i % set_sums
    add_sets %to, %(first_sum + i % set_sums), %(first_sum + i)
    .set i, i + 1
    .endr
    .endm

    .macro end_sums height, vectors
    .set last_set, 32 - set_sums
    add_all_sets
    cbnz end, 9f
    each_row \height, last_set, store_row
    b 10f
9:  end_tile lines, %(last_set), \height, \vectors
10:
    .endm

/* Group number `step` of the loaded lanes; halves: the first vector of B in them. */
    .macro multiply_step height, vectors, step, set, halves
    .set i, 0
    .rept \height
    .set j, 0
    .rept \vectors
    .set lane, \step * \height + i
    .if b_bytes == 16
    mac %(first_sum + \set * set_sums + i * \vectors + j), %(first_b + j), %(lane / lanes), %(lane % lanes), 0
    .else
    .set half, \halves + j
    mac %(first_sum + \set * set_sums + i * \vectors + j), %(first_b + half / 2), %(lane / lanes), %(lane % lanes), %(half % 2)
    .endif
    .set j, j + 1
    .endr
    .set i, i + 1
    .endr
    .endm

    .macro round_of_groups height, vectors
    .set u, 0
    .rept in_round
    when %(u % 4 == 0), fetch_ahead \height, \vectors
    when %(u % together == 0), load_vectors 0, %(a_registers), a
    .if b_bytes == 16
    load_vectors %(first_b), \vectors, b
    multiply_step \height, \vectors, %(u % together), %(u % sets), 0
    .else
    when %(u % 2 == 0), load_vectors %(first_b), \vectors, b
    multiply_step \height, \vectors, %(u % together), %(u % sets), %(u % 2 * \vectors)
    .endif
    .set u, u + 1
    .endr
    .endm

    .macro one_group height, vectors
    load_bytes 0, %(\height * lane_bytes), a
    load_bytes %(first_b), %(\vectors * b_bytes), b
    multiply_step \height, \vectors, 0, 0, 0
    .endm

/* ---- four to eight rows by two or three vectors for cores that issue in order ----
 *
 * A 128-bit load takes both issue slots for two cycles there, while a 64-bit load or an insert
 * shares one with a multiply-accumulate. So v0 … v3 have a group of two rows each, and vectors of B
 * come in halves. Multiply-accumulates are in the order of vectors, and what they have used up is
 * loaded again among the next ones: the last vector of B in the step that it is of, everything else
 * in the step before. The last step loads its own again, which nobody uses. Eight rows by two or
 * three vectors: one multiply-accumulate a cycle. */

half .req x6
    registers 15, a_more, b_more

    .macro narrow_mac i, j
    mac %(first_sum + \i * row_vectors + \j), %(first_b + \j), %(\i / 2), %(\i % 2), 0
    .endm
    .macro load_rows pair, height
    when %(2 * \pair + 1 == \height), ldr s\pair, [a, #8 * \pair]
    otherwise ldr d\pair, [a, #8 * \pair]
    .endm
    .macro load_upper j
    ldr half, [b, #16 * \j + 8]
    .endm

/* What a step has beside its multiply-accumulates, in this order: eight are of the loop and of the
 * last vector, three of each one before, the others load pairs of rows, the first of which is in
 * front of the last insert, as that has to wait. */
    .macro narrow_op op, height, vectors
    when %(\op == 0), load_d %(first_b + \vectors - 1), [b, #16 * (\vectors - 1)]
    or_when %(\op == 1), load_upper %(\vectors - 1)
    or_when %(\op == 2), subs groups, groups, #1
    or_when %(\op == 3), set_upper %(first_b + \vectors - 1), half
    or_when %(\op == 4), csel a_more, a_more, xzr, ne
    or_when %(\op == 5), csel b_more, b_more, xzr, ne
    or_when %(\op == 6), add a, a, a_more
    or_when %(\op == 7), add b, b, b_more
    or_when %(\op == rows_from), load_rows 0, \height
    or_when %(\op == rows_from + 1), set_upper %(first_b + \vectors - 2), half
    or_when %(\op > rows_from), load_rows %(\op - rows_from - 1), \height
    or_when %((\op - 8) % 3 == 0), load_d %(first_b + (\op - 8) / 3), [b, #16 * ((\op - 8) / 3)]
    or_when %((\op - 8) % 3 == 1), load_upper %((\op - 8) / 3)
    otherwise set_upper %(first_b + (\op - 8) / 3), half
    .endm
/* An operation comes after its share of multiply-accumulates, but before the step ends, and a pair's
 * loads after the last one of its rows. */
    .macro narrow_ops_after done, height, vectors
    .rept 3
    .if (op < ops) & ((op * \height * \vectors <= \done * ops) | (\done + 1 == \height * \vectors))
    .set last_of_pair, 2 * (op - rows_from) - 1
    when %(op == rows_from), .set last_of_pair, 1
    when %(last_of_pair >= \height), .set last_of_pair, \height - 1
    .if (op < rows_from) | (\done >= \height * (\vectors - 1) + last_of_pair)
    narrow_op %(op), \height, \vectors
    .set op, op + 1
    .endif
    .endif
    .endr
    .endm
    .macro narrow_step height, vectors
    .set op, 0
    .set done, 0
    .rept \height * \vectors
    narrow_mac %(done % \height), %(done / \height)
    narrow_ops_after %(done), \height, \vectors
    .set done, done + 1
    .endr
    .endm

    .macro narrow_groups height, vectors
    .set pairs, (\height + 1) / 2
    .set rows_from, 7 + 3 * (\vectors - 1)
    .set ops, rows_from + 1 + pairs
    cbz groups, 8f
    mov a_more, #lane_bytes * \height
    mov b_more, #16 * \vectors
    for_all load_rows, 0, %(pairs), \height
    several_at ld1, %(\vectors - 1), %(first_b), b
15: narrow_step \height, \vectors
    b.ne 15b
    add a, a, #lane_bytes * \height
    .endm

/* ---- one row by two panels of twelve columns beside each other, whose lanes of A are loaded once:
 * v0 and v1 have eight groups of them, v2 … v7 B, v20 … v31 two sets of six sums. Which panels are
 * together depends on threads: sums are those of one_tile, in the same order ---- */

b_2 .req x15

    .macro group_of_two_panels lane, set
    load_vectors 2, 3, b
    load_vectors 5, 3, b_2
    each j, 6, mac %(20 + 6 * \set + j), %(2 + j), %(\lane / 4), %(\lane % 4), 0
    .endm
    .macro add_second_set sum
    add_sets %(20 + \sum), %(20 + \sum), %(26 + \sum)
    .endm

/* Leaves everything at the second one. */
    .macro tile_of_two_panels
    add b_2, b, beside
    clear_all 20, 12
    tst w8, #1
    csel at, c, start, ne
    cbz at, 9f
    load_vectors 20, 3, at
    load_vectors 23, 3, at
9:  lsr scratch, groups, #3
    and groups, groups, #7
    cbz scratch, 6f
5:  load_vectors 0, 2, a
    .irp lane, 0, 1, 2, 3, 4, 5, 6, 7
    group_of_two_panels \lane, %(\lane % 2)
    .endr
    subs scratch, scratch, #1
    b.ne 5b
6:  cbz groups, 8f
7:  ldr s0, [a], #4
    group_of_two_panels 0, 0
    subs groups, groups, #1
    b.ne 7b
8:  for_all add_second_set, 0, 6
    several st1, 3, 20, c, #48
    several st1, 3, 23, c, #48
    add begin_b, begin_b, beside
    sub w11, w11, #1
    cbz start, 10f
    add start, start, #48
10:
    .endm

    .macro tile_body height, vectors
    .if (\height == 1) & (\vectors == 3) & (b_bytes == 16)
    cmp w11, #2
    b.lo 12f
    tile_of_two_panels
    b 13f
12:
    .endif
    one_tile \height, \vectors
13:
    .endm

    .macro one_tile height, vectors
    plan_lanes \height, \vectors
    begin_sums \height, \vectors
    .set has_narrow, (\height >= 4) & (\vectors > 1) & (lane_bytes == 4) & (b_bytes == 16)
    when %has_narrow, tbnz w8, #1, 14f
    .if in_round == 8
    lsr scratch, groups, #3
    and groups, groups, #7
    .else
    lsr scratch, groups, #2
    and groups, groups, #3
    .endif
    cbz scratch, 6f
5:  round_of_groups \height, \vectors
    subs scratch, scratch, #1
    b.ne 5b
6:  cbz groups, 8f
7:  one_group \height, \vectors
    subs groups, groups, #1
    b.ne 7b
    .if has_narrow
    b 8f
14: narrow_groups \height, \vectors
    .endif
8:  end_sums \height, \vectors
    .endm

    .macro lanes_tile name, height, vectors
    plan_lanes \height, \vectors
    .set saves, (sets * set_sums > 16) | (a_registers + \vectors > 8)
    whole_tile .L\name\()_\height\()_\vectors, \height, \vectors
    .endm
    .macro lanes_tiles name
    shared_steps
    shared_lines
    begin_table \name
    .irp vectors, 1, 2, 3
    .irp height, 1, 2, 3, 4, 5, 6, 7, 8
    lanes_tile \name, \height, \vectors
    .endr
    .endr
    end_table \name
    .endm
