/* Tiles of s4/s4.h by SDOT: one or two rows by 16 columns, three or four rows by 8 columns of a
 * panel of 16.
 *
 * Registers, last ones first: for each row and vector of a line two sums of f32 and two of a block,
 * of low columns and of bytes as they are, which begin as the bits of floats; v0 … v3 A, v4 … v7 B
 * and v12 … v15 its low halves, v8 the mask of those, v9 12582912, v10 1/16. One row: 16 steps of k
 * take 16 SDOT, 8 AND, three loads and two of the loop; a block ends with 4 FSUB and 4 FMLA. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/gemm/s4/offsets.h"

    registers 0, tile, a, b, blocks, c, line
    registers 6, rounds, starts, scales, all_rounds, block_bytes, row_scales

    .macro dot sum, b, lane
    dot_by_lane \sum, \b, %(\lane / 4), %(\lane % 4)
    .endm
    .macro dot_by_lane sum, b, a, lane
    sdot v\sum\().4s, v\b\().16b, v\a\().4b[\lane]
    .endm

    .macro low_halves register, from
    and v\register\().16b, v\from\().16b, v8.16b
    .endm

/* All rows with one vector of B in v(4 + register) and its low halves in v(12 + register). */
    .macro multiply_rows height, vectors, step, vector, register
    .set i, 0
    .rept \height
    dot %(first_block + 2 * (i * \vectors + \vector)), %(12 + \register), %(\step * \height + i)
    dot %(first_block + 2 * (i * \vectors + \vector) + 1), %(4 + \register), %(\step * \height + i)
    .set i, i + 1
    .endr
    .endm

/* Eight steps of k by whole lines, and by a half of each. */
    .macro two_lines height, step
    several ld1, 4, 4, b, #64
    .irp register, 0, 1, 2, 3
    low_halves %(12 + \register), %(4 + \register)
    .endr
    .irp register, 0, 1, 2, 3
    multiply_rows \height, 2, %(\step + \register / 2), %(\register % 2), \register
    .endr
    .endm
    .macro two_halves height, step
    .irp register, 0, 1
    ldr q4, [b, #(32 * (\step + \register))]
    low_halves 12, 4
    multiply_rows \height, 1, %(\step + \register), 0, 0
    .endr
    .endm

/* Sixteen steps. */
    .macro one_round height, vectors
    several ld1, \height, 0, a, #(16 * \height)
    .irp step, 0, 2
    when %(\vectors == 2), two_lines \height, \step
    otherwise two_halves \height, \step
    .endr
    when %(\vectors == 1), add b, b, #128
    .endm

    .macro begin_row first, count
    ld1r {v\first\().4s}, [starts], #4
    each_from k, 1, %(\count - 1), copy %(\first + k), \first
    .endm

/* A pair of block sums in v(low) and the next one: what is above both bases, times scales in v4 …,
 * two for each vector of a line. */
    .macro finish_pair low, high, sum, high_sum, scale, high_scale
    fsub v\high\().4s, v\high\().4s, v\low\().4s
    fsub v\low\().4s, v\low\().4s, v9.4s
    fmla v\sum\().4s, v\low\().4s, v\scale\().4s
    fmla v\high_sum\().4s, v\high\().4s, v\high_scale\().4s
    .endm
    .macro load_scales vectors
    .if scale_bytes == 4
    when %(\vectors == 2), ldp q6, q7, [b, #32]
    ldp q4, q5, [b]
    .else
    .if \vectors == 2
    ldr q7, [b, #16]
    fcvtl v6.4s, v7.4h
    fcvtl2 v7.4s, v7.8h
    .endif
    ldr q5, [b]
    fcvtl v4.4s, v5.4h
    fcvtl2 v5.4s, v5.8h
    .endif
    .endm
    .macro finish_block height, vectors
    load_scales \vectors
    .set i, 0
    .rept \height * \vectors
    .set v, i % \vectors
    finish_pair %(first_block + 2 * i), %(first_block + 2 * i + 1), %(first_sum + 2 * i), %(first_sum + 2 * i + 1), %(4 + 2 * v), %(5 + 2 * v)
    .set i, i + 1
    .endr
    .endm

/* ---- results: high columns are 16 times too large ---- */

    .macro scale_pair low, high
    fmul v\low\().4s, v\low\().4s, v0.4s
    fmul v\high\().4s, v\high\().4s, v1.4s
    .endm
    .macro add_pair low, high, place
    ldp q2, q3, [c, #\place]
    fadd v\low\().4s, v\low\().4s, v2.4s
    fadd v\high\().4s, v\high\().4s, v3.4s
    .endm
    .macro store_two low, high, place
    stp q\low, q\high, [c, #\place]
    .endm
    .macro of_row op, vectors, row, places
    .set v, 0
    .rept \vectors
    .set pair, first_sum + 2 * (\row * \vectors + v)
    .ifb \places
    \op %(pair), %(pair + 1)
    .else
    \op %(pair), %(pair + 1), %(32 * v)
    .endif
    .set v, v + 1
    .endr
    .endm
    .macro end_row vectors, row
    ld1r {v0.4s}, [row_scales], #4
    fmul v1.4s, v0.4s, v10.4s
    of_row scale_pair, \vectors, \row
    cbz w12, 1f
    of_row add_pair, \vectors, \row, places
1:  of_row store_two, \vectors, \row, places
    add c, c, line
    .endm

/* vector: 1 for the right half of the panel's columns, whose lines and scales come later. */
    .macro s4_tile name, height, vectors, vector
    .set first_sum, 32 - 2 * \height * \vectors
    .set first_block, first_sum - 2 * \height * \vectors
    begin_function \name
    save_registers 4
    ldp blocks, all_rounds, [tile, #tile.blocks]
    ldp a, b, [tile, #tile.a]
    ldp c, line, [tile, #tile.c]
    ldp starts, row_scales, [tile, #tile.starts]
    ldr w12, [tile, #tile.add]
    lsr all_rounds, all_rounds, #4
    lsl line, line, #2
    movi v8.16b, #15
    mov w13, #0x4b400000
    dup v9.4s, w13
    mov w13, #0x3d800000
    dup v10.4s, w13
    clear_all %(first_sum), %(2 * \height * \vectors)
    .if \vector
    add b, b, #16
    add c, c, #32
    .endif
    cbz blocks, 4f
2:  mov rounds, all_rounds
    each i, \height, begin_row %(first_block + 2 * i * \vectors), %(2 * \vectors)
3:  one_round \height, \vectors
    subs rounds, rounds, #1
    b.ne 3b
    when \vector, add b, b, #(8 * scale_bytes - 16)
    finish_block \height, \vectors
    add b, b, #(16 * scale_bytes + 16 * \vector - 8 * scale_bytes * \vector)
    subs blocks, blocks, #1
    b.ne 2b
4:  .set row, 0
    .rept \height
    end_row \vectors, %(row)
    .set row, row + 1
    .endr
    pop_and_return
    end_function \name
    .endm

    .macro s4_tiles scale
    s4_tile gemm_s4_\scale\()_1_dotprod, 1, 2, 0
    s4_tile gemm_s4_\scale\()_2_dotprod, 2, 2, 0
    s4_tile gemm_s4_\scale\()_3_dotprod, 3, 1, 0
    s4_tile gemm_s4_\scale\()_3_right_dotprod, 3, 1, 1
    s4_tile gemm_s4_\scale\()_4_dotprod, 4, 1, 0
    s4_tile gemm_s4_\scale\()_4_right_dotprod, 4, 1, 1
    .endm

    .set scale_bytes, 4
    s4_tiles f32
    .set scale_bytes, 2
    s4_tiles f16
