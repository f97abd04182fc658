/* Strips of listed.h for NEON.
 *
 * A tile of `height` rows and `vectors` vectors keeps its sums in the last height * vectors vector
 * registers, four steps of each row of A in the first `height` ones, and four vectors of B between
 * them. A round is four steps of k: `height` loads of A, `vectors` LD1 of four registers for B, 4 *
 * height * vectors FMLA. The loop does two rounds: 7x12 has 168 FMLA in 190 instructions.
 *
 * A core that reorders has room for other instructions beside FMLA, but hardly for blocks of few
 * instructions between branches. So what begins a tile is in one block with its first round, whose
 * FMUL need no sums of zero; and where the next tile is, is computed without a branch in one block
 * with the stores.
 *
 * Kernels that pack B read the vectors of one step from its rows, and copy them to the panel before
 * they are multiplied. Kernels that fetch ask for two lines of memory in each round, which are the
 * same one most of the time: as many come as are asked for, one by one.
 *
 * Kernels for regular rows store in the block of a panel's last round, so that stores wait for FMLA
 * only where they take the same pipes; what is not always there is in loops of its own. */
#include "kernels/gemm/f32/listed/neon.h"

/* ---- one instruction each, registers by number ---- */

    .macro sum_lanes sum
    faddp v\sum\().4s, v\sum\().4s, v\sum\().4s
    faddp s\sum, v\sum\().2s
    .endm
    .macro add_c sum
    ldr s0, [row]
    add_to \sum, 0
    .endm
    .macro store_one sum
    str s\sum, [row]
    .endm

/* Vector q of a round in register x, with those after it: four, or those of one step. */
    .macro next_of_b height, vectors
    .if packing
    .set x, \height + q % \vectors
    when %(q % \vectors == 0), step_of_b \vectors, \height
    .else
    .set x, \height + q % 4
    when %(q % 4 == 0), several ld1, 4, \height, b, #64
    .endif
    .endm

/* Four steps of k; the first one is FMUL if the sums begin here. */
    .macro round height, vectors, first_op=fmla
    fetch_ahead
    for_each_row load_and_step, \height, q, 16
    .set q, 0
    .rept 4 * \vectors
    next_of_b \height, \vectors
    .set i, 0
    .rept \height
    .set sum, 32 - (\height - i) * \vectors + q % \vectors
    when %(q < \vectors), multiply \first_op, %sum, %x, %i, 0
    otherwise fma %sum, %x, %i, %(q / \vectors)
    .set i, i + 1
    .endr
    .set q, q + 1
    .endr
    .endm

/* ---- kernels of whole vectors ---- */

    .macro kernel height, width, vectors, kind
    begin_whole \height\()x\width\kind, \height, \vectors
    cmp rounds, #2
    b.lo 19f
    cbnz special, 19f

    /* a tile; rounds >= 2 */
11: begin_tile \height
    sub scratch, rounds, #1
    lsr pairs, scratch, #1
    round \height, \vectors, fmul
    tbz scratch, #0, 13f
12: round \height, \vectors
    cbz pairs, 14f
13: round \height, \vectors
    round \height, \vectors
    subs pairs, pairs, #1
    b.ne 13b
14: end_plain_tile \height, \vectors

    /* a tile that something is special about */
19: begin_special
20: begin_special_tile
    cmp rounds, #2
    b.lo 21f
    cbz w8, 11b
    rows_of_c ld1, \height, \vectors
    begin_tile \height
    sub scratch, rounds, #1
    lsr pairs, scratch, #1
    round \height, \vectors
    tbz scratch, #0, 13b
    b 12b
21: cbnz w8, 15f
    clear_all %(32 - \height * \vectors), %(\height * \vectors)
    b 23f
15: rows_of_c ld1, \height, \vectors
23: begin_tile \height
24: lsr pairs, rounds, #1
    tbnz rounds, #0, 12b
    cbnz pairs, 13b
22: ldr scratch, [strip, #strip.tail]
    cbz scratch, 26f
25: load_step \height, \vectors, load_and_step, 4
    multiply_step \height, \vectors
    subs scratch, scratch, #1
    b.ne 25b
    end_tile \height, \vectors
    end \height\()x\width\kind
    .endm

    all_heights kernel, 12, 3
    all_heights kernel, 8, 2
    all_heights kernel, 4, 1

/* Those that products of more rows than one tile have. */
    .macro high_kernels kind
    .irp height, 7, 6, 5, 4
    kernel \height, 12, 3, \kind
    .endr
    .endm

    .set packing, 1
    high_kernels _packing
    .set packing, 0

    .set fetching, 1
    high_kernels _fetching
    .set fetching, 0

/* ---- kernels for regular rows ---- */

a_row .req x26
    registers 28, eights, b_eights, eights_step
finishing .req panels /* whose number each tile loads: is there anything but products? */

/* The rows of the tile that begins at list. */
    .macro find_rows height
    mov x8, list
    each_from i, 9, %(\height - 1), add_x %i, %(i - 1), a_row
    .endm

/* A tile's panels of so many vectors; rounds: without the first and the last one. What is special
 * about sums is done in a first and a last round of its own: at 17, where sums go on from C, and at
 * 18. */
    .macro panels_of height, vectors, step
    cbnz finishing, 17f
11: begin_panel \height
    round \height, \vectors, fmul
    tbz rounds, #0, 12f
16: round \height, \vectors
12: round \height, \vectors
    round \height, \vectors
    subs pairs, pairs, #1
    b.ne 12b
    cbnz finishing, 18f
    round \height, \vectors
    end_panel \height, \vectors, \step
    b.ne 11b
    b 19f

17: cbz special, 11b
    begin_panel \height
    rows_of_c ld1, \height, \vectors
    round \height, \vectors
    tbz rounds, #0, 12b
    b 16b
18: round \height, \vectors
    finish_sums \height, \vectors
    end_panel \height, \vectors, \step
    b.ne 17b
19:
    .endm
    .macro begin_panel height
    mov b, b_panel
    find_rows \height
    lsr pairs, rounds, #1
    .endm
    .macro end_panel height, vectors, step
    rows_of_c st1, \height, \vectors
    add c, c, #16 * \vectors
    add b_panel, b_panel, \step
    subs panels_left, panels_left, #1
    .endm

    .macro regular_kernel height
    begin \height\()x12_regular
    ldp list, a_row, [strip, #strip.a]
    ldp w23, w8, [strip, #strip.accumulate]
    ldp b_eights, eights_step, [strip, #strip.b_eights]
    ldr eights, [strip, #strip.eights]
    sub rounds, rounds, #2
    lsl a_row, a_row, #2
    lsl eights_step, eights_step, #2
    mov scratch, #\height
    mul list_step, a_row, scratch
    mul c_step, ldc, scratch
    /* back from behind the last panel */
    mov scratch, #48
    msub c_step, panels, scratch, c_step
    sub c_step, c_step, eights, lsl #5
    orr x8, x8, bias
    orr finishing, x8, special
13: mov b_panel, b_first
    ldr panels_left, [strip, #strip.panels]
    ldr bias, [strip, #strip.bias]
    panels_of \height, 3, b_step
    cbz eights, 14f
    mov b_panel, b_eights
    mov panels_left, eights
    panels_of \height, 2, eights_step
14: add c, c, c_step
    add list, list, list_step
    subs tiles, tiles, #1
    b.ne 13b
    end \height\()x12_regular
    .endm

    .set regular, 1
    regular_kernel 7
    regular_kernel 6
    .set regular, 0

/* ---- kernels of one column ---- */

/* Element i has four sums, in the order of the lanes of a vector register: LD4 makes a vector of the
 * panel's column. */
    .macro for_elements operation, height
    mov row, c
    .set i, 0
    .rept \height
    \operation %(32 - \height + i)
    add row, row, ldc
    .set i, i + 1
    .endr
    .endm
    .macro multiply_elements height
    each i, \height, fma %(32 - \height + i), \height, %(i)
    .endm

    .macro narrow height
    begin \height\()x1
    ldr special, [strip, #strip.b_skip]
11: sub segment, list, #64
    mov b, b_first
    ldr segments, [strip, #strip.segments]
    clear_all %(32 - \height), \height
12: load_next_pointers \height
    mov scratch, rounds
    cbz scratch, 14f
13: for_each_row load_and_step, \height, q, 16
    several ld4, 4, \height, b, #64
    multiply_elements \height
    subs scratch, scratch, #1
    b.ne 13b
14: ldr scratch, [strip, #strip.tail]
    cbz scratch, 16f
15: for_each_row load_and_step, \height, s, 4
    ldr s\height, [b], #16
    multiply_elements \height
    subs scratch, scratch, #1
    b.ne 15b
16: subs segments, segments, #1
    add b, b, special, lsl #2
    b.ne 12b
    for_all sum_lanes, %(32 - \height), \height
    ldr w8, [strip, #strip.accumulate]
    cbz w8, 17f
    for_elements add_c, \height
17: cbz bias, 18f
    ldr s0, [bias]
    for_all add_to, %(32 - \height), \height, 0
18: clamp_sums %(32 - \height)
    for_elements store_one, \height
    mov c, row
    add list, list, list_step
    subs tiles, tiles, #1
    b.ne 11b
    end \height\()x1
    .endm

    .irp height, 7, 6, 5, 4, 3, 2, 1
    narrow \height
    .endr
