/* Depthwise 3x3 by sliding along the columns, for NEON: see dwconv_f32_slide.h.
 *
 * All weights of one group of four or eight channels stay in registers, and so do the sums of the
 * outputs that are under way: stride 1, eight channels, two rows: 18 + 12, and a pair for what is
 * loaded. A step of stride 1 has 36 FMLA, 4 loads, 2 stores and 2 loads of the bias, each of a pair
 * of vectors; one of stride 2 has 36 FMLA, 10 loads, 2 stores and 2 loads of the bias. A last odd
 * row uses the same weights. A tile is seven or fourteen steps without a branch, so that its weights
 * are loaded while multiply-adds of the one before go on.
 *
 * Registers: weights [row][column][vector], then sums [row][output][vector]; v30, v31: source, and
 * the limits of a clamp. */

#include "kernels/dwconv_f32_slide_neon.h"
#include "kernels/dwconv_f32_tiles_offsets.h"

/* x9 … x13 are rows of source, x14 and x15 of dst. */
job .req x0
column .req x1
dst_column .req x2
bias .req x3
edges .req x4
rounds .req x5
list .req x6
rows_left .req x7
entry .req x8
scratch .req x16
start .req x17
next_dst .req x19
groups .req x20
group_dst .req x21
weights .req x22
all_rounds .req x23
dst_row .req x24
clamp .req x25

/* tiles */
done .req x0
channel .req x4
count .req x5
channels .req x7
body .req x8
first_bias .req x20
weights_back .req x21
bias_mask .req x23
tiles .req x26
tiles_begin .req x27
tiles_end .req x28
next_weights .req x29
three_taps .req x30

/* ---- parts of a step ---- */

    .macro load_vectors V, first, row, step
    several ld1, \V, \first, x\row, \step
    .endm
    .macro store_vectors V, first, row
    several st1, \V, \first, x\row, dst_column
    .endm

/* What row i of source gives to outputs of row r in a slot of sums by the weights of column kx; slot
 * 9: nothing. */
    .macro tap V, L, slot, kx
    .if \slot < 9
    .set v, 0
    .rept \V
    fma %(9 * \V + (r * \L + \slot) * \V + v), %(30 + v), %(((i - r * S) * 3 + \kx) * \V + v)
    .set v, v + 1
    .endr
    .endif
    .endm

/* A column of source: the slots of sums that its values reach with kx = 0, 1, 2. */
    .macro take V, L, R, slot0, slot1, slot2
    .set S, 4 - \L
    .set i, 0
    .rept (\R - 1) * (4 - \L) + 3
    load_vectors \V, 30, %(9 + i), column
    .set r, 0
    .rept \R
    .if i - r * S < 3
    .if i - r * S >= 0
    tap \V, \L, \slot0, 0
    tap \V, \L, \slot1, 1
    tap \V, \L, \slot2, 2
    .endif
    .endif
    .set r, r + 1
    .endr
    .set i, i + 1
    .endr
    .endm

    .macro init V, L, R, slot
    .set r, 0
    .rept \R
    load_one_or_two \V, %(9 * \V + (r * \L + \slot) * \V), bias
    .set r, r + 1
    .endr
    .endm

    .macro finish V, L, R, clamps, slot
    .if \clamps
    ldp q30, q31, [clamp]
    .endif
    .set r, 0
    .rept \R
    .if \clamps
    clamp_all %(9 * \V + (r * \L + \slot) * \V), \V, 30, 31
    .endif
    store_vectors \V, %(9 * \V + (r * \L + \slot) * \V), %(14 + r)
    .set r, r + 1
    .endr
    .endm

/* ---- all columns of R rows of outputs ---- */

/* Steps 0 and 1, before the main ones, and where these begin. */
    .macro head_1 V, R, slot0, slot1
    tbz edges, #0, 1f
    take \V, 3, \R, \slot0, 9, 9
1:  tbz edges, #1, 2f
    take \V, 3, \R, \slot1, \slot0, 9
2:
    .endm

    .macro columns_1 V, R, clamps
    init \V, 3, \R, 0
    init \V, 3, \R, 1
    init \V, 3, \R, 2
    tbnz entry, #1, 12f
    tbnz entry, #0, 11f
    head_1 \V, \R, 1, 2
    cbz rounds, 19f
10: take \V, 3, \R, 0, 2, 1
    finish \V, 3, \R, \clamps, 1
    init \V, 3, \R, 1
21: take \V, 3, \R, 1, 0, 2
    finish \V, 3, \R, \clamps, 2
    init \V, 3, \R, 2
22: take \V, 3, \R, 2, 1, 0
    finish \V, 3, \R, \clamps, 0
    init \V, 3, \R, 0
    subs rounds, rounds, #1
    b.ne 10b
19: tbz edges, #2, 1f
    take \V, 3, \R, 9, 2, 1
1:  finish \V, 3, \R, \clamps, 1
    tbz edges, #3, 1f
    take \V, 3, \R, 9, 9, 2
1:  finish \V, 3, \R, \clamps, 2
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

    .macro columns_2 V, R, clamps
    init \V, 2, \R, 0
    init \V, 2, \R, 1
    tbnz entry, #0, 11f
    head_2 \V, \R, 1
    cbz rounds, 19f
10: take \V, 2, \R, 0, 9, 1
    finish \V, 2, \R, \clamps, 1
    take \V, 2, \R, 9, 0, 9
    init \V, 2, \R, 1
21: take \V, 2, \R, 1, 9, 0
    finish \V, 2, \R, \clamps, 0
    take \V, 2, \R, 9, 1, 9
    init \V, 2, \R, 0
    subs rounds, rounds, #1
    b.ne 10b
19: tbz edges, #2, 1f
    take \V, 2, \R, 9, 9, 1
1:  finish \V, 2, \R, \clamps, 1
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
    ldr x9, [job, #JOB_WEIGHTS_TAP]
    .set i, 0
    .rept 9
    several ld1, \V, %(i * \V), scratch, x9
    .set i, i + 1
    .endr
    .endm

    .macro function name, V, stride, clamps
    begin_slide \name, 25
    ldr clamp, [job, #JOB_CLAMP]
30: load_weights \V
    first_rows
    subs rows_left, rows_left, #2
    b.lo 32f
31: begin_rows 2, \stride
    columns_\stride \V, 2, \clamps
    subs rows_left, rows_left, #2
    b.hs 31b
32: tbz rows_left, #0, 33f
    begin_rows 1, \stride
    columns_\stride \V, 1, \clamps
33: end_slide \name, %(16 * \V)
    .endm

    function dwconv_f32_slide_s1_c8, 2, 1, 0
    function dwconv_f32_slide_s1_c4, 1, 1, 0
    function dwconv_f32_slide_s2_c8, 2, 2, 0
    function dwconv_f32_slide_s2_c4, 1, 2, 0
    function dwconv_f32_slide_s1_c8_clamp, 2, 1, 1
    function dwconv_f32_slide_s1_c4_clamp, 1, 1, 1
    function dwconv_f32_slide_s2_c8_clamp, 2, 2, 1
    function dwconv_f32_slide_s2_c4_clamp, 1, 2, 1

/* ---- tiles of two rows, some columns and eight channels ---- */

/* The slot of the output that column k of a tile's source reaches with kx, or 9. */
    .macro find_slot slot, k, kx, S
    .set \slot, 9
    .if \k >= \kx
    .if ((\k - \kx) / \S * \S == \k - \kx) & ((\k - \kx) / \S < width)
    .set \slot, (\k - \kx) / \S
    .set \slot, \slot - \slot / (4 - \S) * (4 - \S)
    .endif
    .endif
    .endm

    .macro take_column S, k
    find_slot slot_0, \k, 0, \S
    find_slot slot_1, \k, 1, \S
    find_slot slot_2, \k, 2, \S
    take 2, %(4 - \S), 2, %(slot_0), %(slot_1), %(slot_2)
    .endm

/* An output that is complete, and the beginning of the one that follows in its place. */
    .macro finish_column S, clamps, output
    .set slot, \output - \output / (4 - \S) * (4 - \S)
    finish 2, %(4 - \S), 2, \clamps, %(slot)
    .if \output + 4 - \S < width
    init 2, %(4 - \S), 2, %(slot)
    .endif
    .endm

/* The weights of column kx, which are the next ones; then those of the next column are. */
    .macro load_weights_column kx
    several ld1, 2, %(2 * \kx), next_weights, three_taps
    several ld1, 2, %(2 * (\kx + 3)), next_weights, three_taps
    several ld1, 2, %(2 * (\kx + 6)), next_weights, weights_back
    .endm

/* All of the tile but the first `left` and the last `right` columns exist. The first weights are
 * there already, and so are the next tile's in the end; nothing else is loaded long before it is
 * needed, so that there are always multiply-adds among the next hundred instructions. */
    .macro tile_columns S, clamps, left, right
    .set k, 0
    .rept columns
    .if (k >= 1) & (k < 3)
    load_weights_column %(k)
    .endif
    .if k == columns - 2
    add next_weights, weights, channel
    load_weights_column 0
    .endif
    .if k == 5
    next_tile \S
    .endif
    .if (k < 3) & (k / \S * \S == k) & (k / \S < 4 - \S)
    init 2, %(4 - \S), 2, %(k / \S)
    .endif
    .if (k >= \left) & (k < columns - \right)
    take_column \S, %(k)
    .endif
    .if (k >= 2) & ((k - 2) / \S * \S == k - 2)
    finish_column \S, \clamps, %((k - 2) / \S)
    .endif
    .set k, k + 1
    .endr
    .endm

/* Where the next channels are; after the last ones the next tile; after the last one of those two
 * rows down; and its instructions. */
    .macro next_tile S
    add channel, channel, #32
    mov scratch, #TILE_BYTES
    cmp channel, channels
    csel channel, xzr, channel, eq
    csel scratch, scratch, xzr, eq
    add tiles, tiles, scratch
    cmp tiles, tiles_end
    csel tiles, tiles_begin, tiles, eq
    cset scratch, eq
    csel start, dst_row, xzr, eq
    add list, list, scratch, lsl #(3 + \S)
    add next_dst, next_dst, start, lsl #1
    ldr body, [tiles, #TILE_BODY]
    subs count, count, #1
    csel body, done, body, eq
    .endm

/* N columns, for which it needs `columns` of source. */
    .macro tile name, S, clamps, N, left, right
    .p2align 4
    .set width, \N
    .set columns, (\N - 1) * \S + 3
\name\()_\N\()_\left\()_\right\():
    ldp start, x14, [tiles]
    add start, start, channel
    find_rows %(\S + 3)
    and bias, channel, bias_mask
    add bias, bias, first_bias
    add x14, x14, next_dst
    add x14, x14, channel
    add x15, x14, dst_row
    tile_columns \S, \clamps, \left, \right
    br body
    .endm

    .macro tiles_function name, S, clamps
    begin_function \name
    save_registers 4, 30
    ldp list, tiles, [job, #TILES_ROWS]
    ldp tiles_end, weights, [job, #TILES_END]
    ldp first_bias, next_dst, [job, #TILES_BIAS]
    ldp column, dst_column, [job, #TILES_COLUMN]
    ldp dst_row, scratch, [job, #TILES_DST_ROW]
    ldp channels, bias_mask, [job, #TILES_CHANNELS]
    ldp count, clamp, [job, #TILES_COUNT]
    mov tiles_begin, tiles
    add three_taps, scratch, scratch, lsl #1
    sub weights_back, scratch, three_taps, lsl #1
    mov channel, #0
    mov next_weights, weights
    load_weights_column 0
    adr done, .L\name\()_done
    ldr body, [tiles, #TILE_BODY]
    br body
    tile .L\name, \S, \clamps, 7, 1, 0
    tile .L\name, \S, \clamps, 7, 0, 0
    tile .L\name, \S, \clamps, 7, 0, 1
    tile .L\name, \S, \clamps, 7, 1, 1
    .if \S == 2
    tile .L\name, \S, \clamps, 14, 1, 0
    tile .L\name, \S, \clamps, 14, 0, 0
    .endif
.L\name\()_done:
    restore_registers
    ret
    end_function \name
    .pushsection .data.rel.ro, "aw"
    .xword .L\name\()_7_1_0, .L\name\()_7_0_0, .L\name\()_7_0_1, .L\name\()_7_1_1
    .if \S == 2
    .xword .L\name\()_14_1_0, .L\name\()_14_0_0
    .else
    .xword 0, 0
    .endif
    .popsection
    .endm

    .section .data.rel.ro, "aw"
    .p2align 3
    .globl dwconv_f32_tiles_bodies
    .hidden dwconv_f32_tiles_bodies
    .type dwconv_f32_tiles_bodies, %object
dwconv_f32_tiles_bodies:
    .text

    tiles_function dwconv_f32_tiles_s1, 1, 0
    tiles_function dwconv_f32_tiles_s2, 2, 0
    tiles_function dwconv_f32_tiles_s1_clamp, 1, 1
    tiles_function dwconv_f32_tiles_s2_clamp, 2, 1

    .section .data.rel.ro, "aw"
    .size dwconv_f32_tiles_bodies, . - dwconv_f32_tiles_bodies
