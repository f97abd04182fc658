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

/* Steps 0 and 1, before the main ones, and where these begin. */
    .macro head_1 V, R, slot0, slot1
    tbz edges, #0, 1f
    take \V, 3, \R, \slot0, 9, 9
1:  tbz edges, #1, 2f
    take \V, 3, \R, \slot1, \slot0, 9
2:
    .endm

    .macro columns_1 V, R
    init \V, 3, \R, 0
    init \V, 3, \R, 1
    init \V, 3, \R, 2
    tbnz entry, #1, 12f
    tbnz entry, #0, 11f
    head_1 \V, \R, 1, 2
    cbz rounds, 19f
10: take \V, 3, \R, 0, 2, 1
    finish \V, 3, \R, 1
    init \V, 3, \R, 1
21: take \V, 3, \R, 1, 0, 2
    finish \V, 3, \R, 2
    init \V, 3, \R, 2
22: take \V, 3, \R, 2, 1, 0
    finish \V, 3, \R, 0
    init \V, 3, \R, 0
    subs rounds, rounds, #1
    b.ne 10b
19: tbz edges, #2, 1f
    take \V, 3, \R, 9, 2, 1
1:  finish \V, 3, \R, 1
    tbz edges, #3, 1f
    take \V, 3, \R, 9, 9, 2
1:  finish \V, 3, \R, 2
    b 20f
11: head_1 \V, \R, 2, 0
    b 21b
12: head_1 \V, \R, 0, 1
    b 22b
20:
    .endm

    .macro head_2 V, R, slot
    tbz edges, #0, 1f
    take \V, 2, \R, \slot, 9, 9
1:  take \V, 2, \R, 9, \slot, 9
    .endm

    .macro columns_2 V, R
    init \V, 2, \R, 0
    init \V, 2, \R, 1
    tbnz entry, #0, 11f
    head_2 \V, \R, 1
    cbz rounds, 19f
10: take \V, 2, \R, 0, 9, 1
    finish \V, 2, \R, 1
    take \V, 2, \R, 9, 0, 9
    init \V, 2, \R, 1
21: take \V, 2, \R, 1, 9, 0
    finish \V, 2, \R, 0
    take \V, 2, \R, 9, 1, 9
    init \V, 2, \R, 0
    subs rounds, rounds, #1
    b.ne 10b
19: tbz edges, #2, 1f
    take \V, 2, \R, 9, 9, 1
1:  finish \V, 2, \R, 1
    b 20f
11: head_2 \V, \R, 0
    b 21b
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
    begin_slide \name, 25
    ldr clamp, [job, #job.clamp]
30: load_weights \V
    first_rows
    subs rows_left, rows_left, #2
    b.lo 32f
31: begin_rows 2, \stride
    columns_\stride \V, 2
    cbz clamp, 40f
    sub x9, next_dst, dst_row, lsl #1
    clamp_stored \V, 2
40:
    subs rows_left, rows_left, #2
    b.hs 31b
32: tbz rows_left, #0, 33f
    begin_rows 1, \stride
    columns_\stride \V, 1
    cbz clamp, 33f
    mov x9, next_dst
    clamp_stored \V, 1
33: end_slide \name, %(16 * \V)
    .endm

    function dwconv_f32_slide_s1_c8, 2, 1
    function dwconv_f32_slide_s1_c4, 1, 1
    function dwconv_f32_slide_s2_c8, 2, 2
    function dwconv_f32_slide_s2_c4, 1, 2
