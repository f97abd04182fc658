/* Strips of s8 without instructions for dot products: 1 … 4 rows of a tile, by squares of 4 columns.
 *
 * A vector has sixteen values of a row or column. Products of its halves are eight of s16, and
 * neighbours of those are added to four sums of s32 for each element, which become one in the end.
 * Two products of -128 by -128 do not fit in s16: "any" adds each product alone, and "narrow",
 * where B has no -128, two together. 4x4: 16 sums, four vectors of A, two of B, and the products of
 * four elements, which come one after the other so that none waits; a group takes 64 or 48
 * instructions for 256 products, four loads, and four of the loop.
 *
 * The strips of all of a tile's tiles are done by one call; start is not NULL, there is no end, and
 * "narrow" has a group. What a sum of "any" begins with is the first of its four: 16 loads take as
 * long as 16 zeros. Those of "narrow" begin with products, and what else there is is added last. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/gemm/offsets.h"

    registers 0, tile, a, b, groups, c
    registers 5, from, from_line, at, begin_a, a_step
    registers 10, b_step, line, all_groups, next_b, begin_b
columns .req x15 /* four times as many */
    registers 16, begin_c, start
tiles .req w0 /* tile is not wanted by then */

    .set first_sum, 16

/* Products of the lower halves, of the upper ones, alone or added to those, and sums of both. */
    .macro lower_product product, a, b
    smull v\product\().8h, v\a\().8b, v\b\().8b
    .endm
    .macro upper_product product, a, b
    when %narrow, smlal2 v\product\().8h, v\a\().16b, v\b\().16b
    otherwise smull2 v\product\().8h, v\a\().16b, v\b\().16b
    .endm
    .macro add_product sum, product
    when %is_first, saddlp v\sum\().4s, v\product\().8h
    otherwise sadalp v\sum\().4s, v\product\().8h
    .endm
/* One row alone keeps to registers that are not the caller's. */
    .set is_first, 0
    .macro column height, j, b
    .set upper, 6 + 4 * (1 - narrow)
    when %(\height == 1), .set upper, 6 + (1 - narrow)
    each i, \height, lower_product %(6 + i), %(i), \b
    each i, \height, upper_product %(upper + i), %(i), \b
    each i, \height, add_product %(first_sum + 4 * i + \j), %(6 + i)
    when %(!narrow), each i, \height, add_product %(first_sum + 4 * i + \j), %(upper + i)
    .endm

    .macro load_rows height
    when %(\height > 1), ldp q0, q1, [a]
    otherwise ldr q0, [a]
    when %(\height == 4), ldp q2, q3, [a, #32]
    or_when %(\height == 3), ldr q2, [a, #32]
    add a, a, a_step
    .endm

/* ---- what there is or what sums begin with, row by row: before, or with "narrow" after ---- */

    .macro begin_sum sum, j
    ldr s\sum, [at, #4 * \j]
    .endm
    .macro begin_sums height
    mov at, from
    .set i, 0
    .rept \height
    each j, 4, begin_sum %(first_sum + 4 * i + j), %(j)
    when %(i + 1 < \height), add at, at, from_line
    .set i, i + 1
    .endr
    .endm

    .macro add_begin sum
    add v\sum\().4s, v\sum\().4s, v0.4s
    .endm
    .macro add_beginnings height
    cbz from_line, 5f
    mov at, from
    .set i, 0
    .rept \height
    ld1 {v0.4s}, [at], from_line
    add_begin %(first_sum + 4 * i)
    .set i, i + 1
    .endr
    b 6f
5:  .set i, 0
    .rept \height
    add_begin %(first_sum + 4 * i)
    .set i, i + 1
    .endr
6:
    .endm

/* Four sums of each of four columns to one of each. */
    .macro join first, second
    addp v\first\().4s, v\first\().4s, v\second\().4s
    .endm
    .macro join_columns i, first, second
    join %(first_sum + 4 * \i + \first), %(first_sum + 4 * \i + \second)
    .endm
    .macro store_row sum
    st1 {v\sum\().4s}, [at], line
    .endm
    .macro for_rows height, op, others:vararg
    each i, \height, \op %(i), \others
    .endm
    .macro end_square height
    when %narrow, ldr q0, [from]
    for_rows \height, join_columns, 0, 1
    for_rows \height, join_columns, 2, 3
    for_rows \height, join_columns, 0, 2
    when %narrow, add_beginnings \height
    mov at, c
    add c, c, #16
    add from, from, #16
    subs columns, columns, #16
    each i, \height, store_row %(first_sum + 4 * i)
    .endm

    .macro load_arguments
    ldp all_groups, begin_a, [tile, #tile.groups]
    ldp begin_b, begin_c, [tile, #tile.b]
    ldp line, start, [tile, #tile.row]
    ldp w9, w10, [tile, #tile.mr]
    ldp w6, tiles, [tile, #tile.add]
    lsl line, line, #2
    lsl a_step, x9, #4
    lsl b_step, x10, #4
    cmp w6, #0
    csel from_line, line, xzr, ne
    .endm
/* Those of the tile below. */
    .macro go_down
    madd begin_a, all_groups, a_step, begin_a
    lsr at, a_step, #4
    madd begin_c, line, at, begin_c
    .endm

    .macro one_group height
    load_rows \height
    ldp q4, q5, [b]
    column \height, 0, 4
    column \height, 1, 5
    ldp q4, q5, [b, #32]
    add b, b, b_step
    column \height, 2, 4
    column \height, 3, 5
    subs groups, groups, #1
    .endm

    .macro strip height, kind
    begin_function gemm_s8_\kind\()_\height\()_neon
    when %(\height > 1), save_registers %(3 - 2 * narrow)
    load_arguments
3:  mov c, begin_c
    mov next_b, begin_b
    lsr columns, b_step, #2
    cmp from_line, #0
    csel from, c, start, ne
4:  mov a, begin_a
    mov b, next_b
    mov groups, all_groups
    add next_b, next_b, #64
    .if narrow
    .set is_first, 1
    one_group \height
    .set is_first, 0
    b.eq 2f
    .else
    begin_sums \height
    cbz groups, 2f
    .endif
1:  one_group \height
    b.ne 1b
2:  end_square \height
    b.ne 4b
    go_down
    subs tiles, tiles, #1
    b.gt 3b
    when %(\height > 1), restore_registers
    ret
    end_function gemm_s8_\kind\()_\height\()_neon
    .endm

    .macro strips kind
    .irp height, 1, 2, 3, 4
    strip \height, \kind
    .endr
    .endm
    .set narrow, 0
    strips any
    .set narrow, 1
    strips narrow
