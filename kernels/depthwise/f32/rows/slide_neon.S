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

/* Steps 0 and 1, before the main ones, of which there may be none. */
    .macro head phase
    find_slots \phase
    tbz edges, #0, 1f
    take %V, %L, %R, %to_end, 9, 9
1:  when %(L == 3), tbz edges, #1, 2f
    take %V, %L, %R, %to_go_on, %to_end, 9
2:  when %(\phase == 0), cbz rounds, 19f
    .endm

/* The odd column of stride 2 is taken after the one where outputs end. */
    .macro step phase
    find_slots \phase
    take %V, %L, %R, \phase, %to_go_on, %to_end
    finish %V, %L, %R, %to_end
    when %(L == 2), take %V, %L, %R, 9, \phase, 9
    init %V, %L, %R, %to_end
    .endm

    .macro tail
    find_slots 0
    tbz edges, #2, 1f
    take %V, %L, %R, 9, %to_go_on, 1
1:  finish %V, %L, %R, 1
    .if L == 3
    tbz edges, #3, 1f
    take %V, %L, %R, 9, 9, 2
1:  finish %V, %L, %R, 2
    .endif
    .endm

/* ---- rows and groups ---- */

    .macro rows count
    .set R, \count
    find_rows %((R - 1) * S + 3)
    mov x14, next_dst
    .if R == 2
    add x15, next_dst, dst_row
    add next_dst, x15, dst_row
    add list, list, #(16 * S)
    .endif
    mov rounds, all_rounds
    each slot, L, init %V, %L, %R, %slot
    walk entry
    cbz clamp, 40f
    when %(R == 2), sub x9, next_dst, dst_row, lsl #1
    otherwise mov x9, next_dst
    clamp_stored %V, %R
40:
    .endm

    .macro load_weights
    mov scratch, weights
    ldr x9, [job, #job.weights_tap]
    each i, 9, several ld1, %V, %(i * V), scratch, x9
    .endm

    .macro function name, vectors, stride
    .set V, \vectors
    .set S, \stride
    .set L, 4 - S
    begin_slide \name, 25
    ldr clamp, [job, #job.clamp]
30: load_weights
    first_rows
    subs rows_left, rows_left, #2
    b.lo 32f
31: rows 2
    subs rows_left, rows_left, #2
    b.hs 31b
32: tbz rows_left, #0, 33f
    rows 1
33: end_slide \name, %(16 * V)
    .endm

    function dwconv_f32_slide_s1_c8, 2, 1
    function dwconv_f32_slide_s1_c4, 1, 1
    function dwconv_f32_slide_s2_c8, 2, 2
    function dwconv_f32_slide_s2_c4, 1, 2
