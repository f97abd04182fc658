/* Depthwise convolution by tall tiles of one column, for NEON: see tall.h. The functions are known by
 * a table, as there is one for each number of rows that are padding above and below.
 *
 * A tile of R rows of outputs and V vectors of channels keeps its R V sums in the last vector
 * registers and the weights of one column of the kernel in the first KH V; between them are pairs
 * for what is loaded. 5x5, stride 1, R = 7, eight channels: a column of the kernel has 70 FMLA and
 * 16 loads of pairs, and 4 instructions of the loop. */

#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/rows/tall_offsets.h"

    registers 0, job, in, w, row, w_row, source_back
    registers 6, w_back, taps, columns_left, at, whole, kw
    registers 12, next_in, column_step, bias, dst, dst_row, out
dst_column .req x19
    registers 22, clamp, stride_w, columns, src, weights
    registers 27, groups, group_dst, scratch, scratch2

/* ---- parts of a tile ---- */

/* What row i of source gives to every output it reaches. */
    .macro reach KH, S, V, R, x
    each r, \R, when %((i >= r * \S) & (i < r * \S + \KH)), multiply_row \S, \V, %(32 - (\R - r) * \V), \x
    .endm
    .macro multiply_row S, V, sum, x
    each v, \V, fma %(\sum + v), %(\x + v), %((i - r * \S) * \V + v)
    .endm

    .macro take_row KH, S, V, R, x
    several ld1, \V, \x, in, row
    reach \KH, \S, \V, \R, \x
    .endm

    .macro clamp_sums V, R
    ldp q0, q1, [clamp]
    clamp_all %(32 - \R * \V), %(\R * \V), 0, 1
    .endm
    .macro store_sums V, R
    each_by \V, i, %(32 - \R * \V), \R, several st1, \V, %(i), out, dst_row
    .endm

    .macro finish V, R
    mov out, dst
    cbz clamp, 4f
    clamp_sums \V, \R
4:  store_sums \V, \R
    .endm

/* ---- functions ---- */

    .macro begin_tile name
    begin_listed_function \name
    save_registers 4, 30
    ldp src, weights, [job, #job.src]
    ldp bias, group_dst, [job, #job.bias]
    ldr row, [job, #job.row]
    ldp dst_row, dst_column, [job, #job.dst_row]
    ldr w_row, [job, #job.weights_row]
    ldp source_back, w_back, [job, #job.source_back]
    ldr groups, [job, #job.groups]
    ldp whole, kw, [job, #job.whole]
    ldp stride_w, column_step, [job, #job.stride_w]
    ldr clamp, [job, #job.clamp]
    ldr columns, [job, #job.columns]
    .endm
    .macro begin_group
    mov next_in, src
    mov dst, group_dst
    ldr at, [job, #job.first]
    ldr columns_left, [job, #job.out_cols]
    .endm
    .macro begin_column V, R
    mov in, next_in
    mov w, weights
    each_by \V, i, %(32 - \R * \V), \R, load_one_or_two \V, %(i), bias
    .endm
    .macro next_column
    add next_in, next_in, column_step
    add at, at, stride_w
    add dst, dst, dst_column
    subs columns_left, columns_left, #1
    .endm
    .macro next_group V
    ldr scratch, [job, #job.bias_next]
    add bias, bias, scratch
    add src, src, #(16 * \V)
    add weights, weights, #(16 * \V)
    add group_dst, group_dst, #(16 * \V)
    subs groups, groups, #1
    .endm

/* Of a column at the edge: taps from max(0, -at) to min(kw, columns - at). */
    .macro count_taps if_none
    neg scratch, at
    bic scratch, scratch, scratch, asr #63
    sub taps, columns, at
    cmp taps, kw
    csel taps, taps, kw, lt
    subs taps, taps, scratch
    b.le \if_none
    ldr scratch2, [job, #job.column]
    madd in, scratch, scratch2, in
    ldr scratch2, [job, #job.weights_tap]
    madd w, scratch, scratch2, w
    .endm

/* All that one column of dst needs, if it has all taps, is a block without branches. A sum waits
 * for each of its products: 14 sums alone would keep 14 / 16 of four multipliers with a latency of
 * four busy, but the next column's begin meanwhile. They are stored again where there is a clamp.
 */
    .macro take_column KH, S, V, R, above, below
    each i, \KH, several ld1, \V, %(i * \V), w, w_row
    add w, w, w_back
    .set i, \above
    .set slot, 0
    .rept (\R - 1) * \S + \KH - \above - \below
    take_row \KH, \S, \V, \R, %((\KH + slot) * \V)
    .set slot, slot + 1
    when %((\KH + slot) * \V > 31 - \R * \V), .set slot, 0
    .set i, i + 1
    .endr
    add in, in, source_back
    .endm

    .macro whole_columns KH, S, V, R, above, below
11: cmp at, whole
    b.hs 14f
    .p2align 4
12: begin_column \V, \R
    mov out, dst
    times \KH, take_column \KH, \S, \V, \R, \above, \below
    store_sums \V, \R
    next_column
    cmp at, whole
    ccmp clamp, #0, #0, lo
    ccmp columns_left, #0, #4, eq
    b.ne 12b
    cbz clamp, 13f
    sub out, dst, dst_column
    clamp_sums \V, \R
    store_sums \V, \R
    b 13f
    .endm

/* Tiles of four rows are what is left of an image: for them all columns are as those at the edge, but
 * for 5x5 at its end, where there are most of them. */
    .macro function name, KH, S, V, R, above, below
    begin_tile \name
10: begin_group
    .if (\R == 7) | ((\KH == 5) & (\above == 0) & (\below > 0))
    whole_columns \KH, \S, \V, \R, \above, \below
    .else
11:
    .endif
14: begin_column \V, \R
    count_taps 16f
15: take_column \KH, \S, \V, \R, \above, \below
    subs taps, taps, #1
    b.ne 15b
16: finish \V, \R
    next_column
13: cbnz columns_left, 11b
    next_group \V
    b.ne 10b
    pop_and_return
    .endm

    .macro tile KH, S, R, above, below
    function .Ltall_\KH\()_\S\()_\R\()_\above\()_\below, \KH, \S, 2, \R, \above, \below
    .endm
    .macro entry KH, S, R, above, below
    table_entry .Ltall_\KH\()_\S\()_\R\()_\above\()_\below
    .endm

/* No padding, below, above, on both sides. */
    .macro tiles KH, S, R, above, below
    tile \KH, \S, \R, 0, 0
    tile \KH, \S, \R, 0, \below
    tile \KH, \S, \R, \above, 0
    tile \KH, \S, \R, \above, \below
    entry \KH, \S, \R, 0, 0
    entry \KH, \S, \R, 0, \below
    entry \KH, \S, \R, \above, 0
    entry \KH, \S, \R, \above, \below
    .endm
    begin_table dwconv_f32_tall_functions
    tiles 5, 1, 7, 2, 2
    tiles 5, 1, 4, 2, 2
    tiles 5, 2, 7, 2, 1
    no_entries 4
    tiles 7, 1, 7, 3, 3
    tiles 7, 1, 4, 3, 3
    end_table dwconv_f32_tall_functions
