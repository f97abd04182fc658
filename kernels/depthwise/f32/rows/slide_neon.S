/* Depthwise 3x3 by sliding along the columns, for NEON: see slide.h.
 *
 * All weights of one group of four or eight channels stay in registers, and so do the sums of the
 * outputs that are under way: stride 1, eight channels, two rows: 18 + 12, and a pair for what is
 * loaded. A step of stride 1 has 36 FMLA, 4 loads, 2 stores and 2 loads of the bias, each of a pair
 * of vectors; one of stride 2 has 36 FMLA, 10 loads, 2 stores and 2 loads of the bias. A last odd
 * row uses the same weights.
 *
 * Registers: weights [row][column][vector], then sums [row][output][vector]; v30, v31: source, and
 * the limits of a clamp. */

#include "kernels/depthwise/f32/rows/slide_neon.h"
#include "kernels/depthwise/f32/steps_neon.h"

/* x9 … x13 are rows of source, x14 and x15 of dst. */
    registers 0, job, column, dst_column, bias, edges
    registers 5, rounds, list, rows_left, entry
    registers 16, scratch, start
    registers 19, next_dst, groups, group_dst, weights
    registers 23, all_rounds, dst_row, clamp

/* ---- all columns of R rows of outputs ---- */

/* With phase p outputs that begin in a step have slot p, those that end p + 1; `to_end` is the latter
 * slot. */
    .macro find_slots phase
    .set to_end, (\phase + 1) % L
    .set to_go_on, 9
    when %(L == 3), .set to_go_on, (\phase + 2) % 3
    .endm

/* Steps 0 and 1, before the main ones. */
    .macro head V, R, phase
    find_slots \phase
    tbz edges, #0, 1f
    take \V, %L, \R, %to_end, 9, 9
1:  when %(L == 3), tbz edges, #1, 2f
    take \V, %L, \R, %to_go_on, %to_end, 9
2:
    .endm

/* The odd column of stride 2 is taken after the one where outputs end. */
    .macro step V, R, phase
    find_slots \phase
    take \V, %L, \R, \phase, %to_go_on, %to_end
    finish \V, %L, \R, %to_end
    when %(L == 2), take \V, %L, \R, 9, \phase, 9
    init \V, %L, \R, %to_end
    .endm

    .macro columns V, R
    each slot, L, init \V, %L, \R, %slot
    when %(L == 3), tbnz entry, #1, 12f
    tbnz entry, #0, 11f
    head \V, \R, 0
    cbz rounds, 19f
10: step \V, \R, 0
21: step \V, \R, 1
22: when %(L == 3), step \V, \R, 2
    subs rounds, rounds, #1
    b.ne 10b
19: find_slots 0
    tbz edges, #2, 1f
    take \V, %L, \R, 9, %to_go_on, 1
1:  finish \V, %L, \R, 1
    .if L == 3
    tbz edges, #3, 1f
    take \V, %L, \R, 9, 9, 2
1:  finish \V, %L, \R, 2
    .endif
    b 20f
11: head \V, \R, 1
    b 21b
    .if L == 3
12: head \V, \R, 2
    b 22b
    .endif
20:
    .endm

/* ---- rows and groups ---- */

    .macro begin_rows R, stride
    find_rows %((\R - 1) * \stride + 3)
    mov x14, next_dst
    .if \R == 2
    add x15, next_dst, dst_row
    add next_dst, x15, dst_row
    add list, list, #(16 * \stride)
    .endif
    mov rounds, all_rounds
    .endm

    .macro load_weights V
    mov scratch, weights
    ldr x9, [job, #job.weights_tap]
    each i, 9, several ld1, \V, %(i * \V), scratch, x9
    .endm

    .macro function name, V, stride
    .set L, 4 - \stride
    begin_slide \name, 25
    ldr clamp, [job, #job.clamp]
30: load_weights \V
    first_rows
    subs rows_left, rows_left, #2
    b.lo 32f
31: begin_rows 2, \stride
    columns \V, 2
    cbz clamp, 40f
    sub x9, next_dst, dst_row, lsl #1
    clamp_stored \V, 2
40:
    subs rows_left, rows_left, #2
    b.hs 31b
32: tbz rows_left, #0, 33f
    begin_rows 1, \stride
    columns \V, 1
    cbz clamp, 33f
    mov x9, next_dst
    clamp_stored \V, 1
33: end_slide \name, %(16 * \V)
    .endm

    function dwconv_f32_slide_s1_c8, 2, 1
    function dwconv_f32_slide_s1_c4, 1, 1
    function dwconv_f32_slide_s2_c8, 2, 2
    function dwconv_f32_slide_s2_c4, 1, 2
