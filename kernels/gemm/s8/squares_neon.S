/* Squares of s8 without instructions for dot products: 1 … 4 rows by 4 columns of a tile.
 *
 * A vector has sixteen values of a row or column. Products of its halves are eight of s16, and
 * neighbours of those are added to four sums of s32 for each element, which become one in the end.
 * Two products of -128 by -128 do not fit in s16: "any" adds each product alone, and "narrow",
 * where B has no -128, two together. 4x4: 16 sums, four vectors of A, two of B, and the products of
 * four elements, which come one after the other so that none waits; a group takes 64 or 48
 * instructions for 256 products, four loads, and four of the loop. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/gemm/offsets.h"

tile .req x0
a .req x1
b .req x2
groups .req x3
c .req x4
line .req x5
scratch .req x6
a_step .req x9
b_step .req x10

    .set first_sum, 16

/* Products of the lower halves, of the upper ones, alone or added to those, and sums of both. */
    .macro lower_product product, a, b
    smull v\product\().8h, v\a\().8b, v\b\().8b
    .endm
    .macro upper_product product, a, b
    .if narrow
    smlal2 v\product\().8h, v\a\().16b, v\b\().16b
    .else
    smull2 v\product\().8h, v\a\().16b, v\b\().16b
    .endif
    .endm
    .macro add_product sum, product
    sadalp v\sum\().4s, v\product\().8h
    .endm
/* One row alone keeps to registers that are not the caller's. */
    .macro column height, j, b
    .set upper, 6 + 4 * (1 - narrow)
    .if \height == 1
    .set upper, 6 + (1 - narrow)
    .endif
    .set i, 0
    .rept \height
    lower_product %(6 + i), %(i), \b
    .set i, i + 1
    .endr
    .set i, 0
    .rept \height
    upper_product %(upper + i), %(i), \b
    .set i, i + 1
    .endr
    .set i, 0
    .rept \height
    add_product %(first_sum + 4 * i + \j), %(6 + i)
    .set i, i + 1
    .endr
    .if !narrow
    .set i, 0
    .rept \height
    add_product %(first_sum + 4 * i + \j), %(upper + i)
    .set i, i + 1
    .endr
    .endif
    .endm

    .macro load_rows height
    .if \height > 1
    ldp q0, q1, [a]
    .else
    ldr q0, [a]
    .endif
    .if \height == 4
    ldp q2, q3, [a, #32]
    .elseif \height == 3
    ldr q2, [a, #32]
    .endif
    add a, a, a_step
    .endm

/* Four sums of each of four columns to one of each. */
    .macro join_columns first, second, third, fourth
    addp v\first\().4s, v\first\().4s, v\second\().4s
    addp v\third\().4s, v\third\().4s, v\fourth\().4s
    addp v\first\().4s, v\first\().4s, v\third\().4s
    .endm
    .macro join_row i
    join_columns %(first_sum + 4 * \i), %(first_sum + 4 * \i + 1), %(first_sum + 4 * \i + 2), %(first_sum + 4 * \i + 3)
    .endm
    .macro add_and_store sum
    cbz scratch, 1f
    ld1 {v0.4s}, [scratch], line
    add v\sum\().4s, v\sum\().4s, v0.4s
1:  str q\sum, [c]
    add c, c, x11
    .endm

    .macro square height, kind
    begin_function gemm_s8_\kind\()_\height\()_neon
    .if \height > 1
    save_registers 3
    .endif
    ldp groups, a, [tile, #TILE_GROUPS]
    ldp b, c, [tile, #TILE_B]
    ldr x11, [tile, #TILE_ROW]
    ldp w9, w10, [tile, #TILE_MR]
    ldr w8, [tile, #TILE_ADD]
    ldr scratch, [tile, #TILE_START]
    lsl x11, x11, #2
    lsl a_step, x9, #4
    lsl b_step, x10, #4
    clear_all first_sum, %(4 * \height)
    cbz groups, 2f
1:  load_rows \height
    ldp q4, q5, [b]
    column \height, 0, 4
    column \height, 1, 5
    ldp q4, q5, [b, #32]
    add b, b, b_step
    column \height, 2, 4
    column \height, 3, 5
    subs groups, groups, #1
    b.ne 1b
2:  .set i, 0
    .rept \height
    join_row %(i)
    .set i, i + 1
    .endr
    cmp w8, #0
    csel scratch, c, scratch, ne
    csel line, x11, xzr, ne
    .set i, 0
    .rept \height
    add_and_store %(first_sum + 4 * i)
    .set i, i + 1
    .endr
    .if \height > 1
    restore_registers
    .endif
    ret
    end_function gemm_s8_\kind\()_\height\()_neon
    .endm

    .macro squares kind
    .irp height, 1, 2, 3, 4
    square \height, \kind
    .endr
    .endm
    .set narrow, 0
    squares any
    .set narrow, 1
    squares narrow
