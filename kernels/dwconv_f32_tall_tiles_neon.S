/* Depthwise convolution by tall tiles of one column, for NEON: see dwconv_f32_tall.h. The
 * functions are known by a table.
 *
 * A tile of R rows of outputs and V vectors of channels keeps its R V sums in the last vector
 * registers and the weights of one column of the kernel in the first KH V; between them are pairs
 * for what is loaded. 5x5, stride 1, R = 7, eight channels: a column of the kernel has 70 FMLA and
 * 16 loads of pairs, and 4 instructions of the loop. */

#include "kernels/assembly_neon.h"
#include "kernels/dwconv_f32_tall_offsets.h"

job .req x0
in .req x1
w .req x2
row .req x3
w_row .req x4
source_back .req x5
w_back .req x6
taps .req x7
columns_left .req x8
at .req x9
whole .req x10
kw .req x11
next_in .req x12
column_step .req x13
bias .req x14
dst .req x15
dst_row .req x16
out .req x17
dst_column .req x19
present .req x20
enter .req x21
clamp .req x22
stride_w .req x23
columns .req x24
src .req x25
weights .req x26
groups .req x27
group_dst .req x28
scratch .req x29
scratch2 .req x30

/* ---- one instruction each, registers by number ---- */

    .macro leave_before i
    tbz present, #\i, 3f
    .endm
    .macro row_label name, i
\name\()_row\i\():
    accept_branch
    .endm
    .macro row_entry name, i
    .word \name\()_row\i - \name\()_entries
    .endm

/* ---- parts of a tile ---- */

/* What row i of source gives to every output it reaches. */
    .macro reach KH, S, V, R, x
    .set r, 0
    .rept \R
    .if i - r * \S >= 0
    .if i - r * \S < \KH
    .set v, 0
    .rept \V
    fma %(32 - (\R - r) * \V + v), %(\x + v), %((i - r * \S) * \V + v)
    .set v, v + 1
    .endr
    .endif
    .endif
    .set r, r + 1
    .endr
    .endm

    .macro take_row KH, S, V, R, x
    several ld1, \V, \x, in, row
    reach \KH, \S, \V, \R, \x
    .endm

/* One column of the kernel; spare is how many rows of source there are registers for. */
    .macro take_column name, KH, S, V, R, padded, spare
    .set i, 0
    .rept \KH
    several ld1, \V, %(i * \V), w, w_row
    .set i, i + 1
    .endr
    add w, w, w_back
    .if \padded
    br enter
    .endif
    .set i, 0
    .set slot, 0
    .rept (\R - 1) * \S + \KH
    .if \padded
    .if i > (\R - 1) * \S
    leave_before %(i)
    .endif
    row_label \name, %(i)
    .endif
    take_row \KH, \S, \V, \R, %((\KH + slot) * \V)
    .set slot, slot + 1
    .if slot == \spare
    .set slot, 0
    .endif
    .set i, i + 1
    .endr
3:
    .endm

    .macro finish V, R
    mov out, dst
    cbz clamp, 4f
    ldp q0, q1, [clamp]
    clamp_all %(32 - \R * \V), %(\R * \V), 0, 1
4:
    .set i, 32 - \R * \V
    .rept \R
    several st1, \V, %(i), out, dst_row
    .set i, i + \V
    .endr
    .endm

    .macro function name, KH, S, V, R, padded, spare
    begin_listed_function \name
    save_registers 4, 30
    ldp src, weights, [job, #JOB_SRC]
    ldp bias, group_dst, [job, #JOB_BIAS]
    ldr row, [job, #JOB_ROW]
    ldp dst_row, dst_column, [job, #JOB_DST_ROW]
    ldr w_row, [job, #JOB_WEIGHTS_ROW]
    ldp source_back, w_back, [job, #JOB_SOURCE_BACK]
    ldr groups, [job, #JOB_GROUPS]
    ldp whole, kw, [job, #JOB_WHOLE]
    ldp stride_w, column_step, [job, #JOB_STRIDE_W]
    ldr clamp, [job, #JOB_CLAMP]
    ldr columns, [job, #JOB_COLUMNS]
    .if \padded
    ldp scratch, present, [job, #JOB_ABOVE]
    adr enter, \name\()_entries
    ldrsw scratch, [enter, scratch, lsl #2]
    add enter, enter, scratch
    .endif
10: mov next_in, src
    mov dst, group_dst
    ldr at, [job, #JOB_FIRST]
    ldr columns_left, [job, #JOB_OUT_COLS]
11: mov in, next_in
    mov w, weights
    mov taps, kw
    .set i, 32 - \R * \V
    .rept \R
    load_one_or_two \V, %(i), bias
    .set i, i + \V
    .endr
    cmp at, whole
    b.hs 14f
12: take_column \name, \KH, \S, \V, \R, \padded, \spare
    add in, in, source_back
    subs taps, taps, #1
    b.ne 12b
13: finish \V, \R
    add next_in, next_in, column_step
    add at, at, stride_w
    add dst, dst, dst_column
    subs columns_left, columns_left, #1
    b.ne 11b
    ldr scratch, [job, #JOB_BIAS_NEXT]
    add bias, bias, scratch
    add src, src, #(16 * \V)
    add weights, weights, #(16 * \V)
    add group_dst, group_dst, #(16 * \V)
    subs groups, groups, #1
    b.ne 10b
    pop_and_return
/* a column at the edge: taps from max(0, -at) to min(kw, columns - at) */
14: neg scratch, at
    bic scratch, scratch, scratch, asr #63
    sub taps, columns, at
    cmp taps, kw
    csel taps, taps, kw, lt
    subs taps, taps, scratch
    b.le 13b
    ldr scratch2, [job, #JOB_COLUMN]
    madd in, scratch, scratch2, in
    ldr scratch2, [job, #JOB_WEIGHTS_TAP]
    madd w, scratch, scratch2, w
    b 12b
    .if \padded
    .p2align 2
\name\()_entries:
    .set i, 0
    .rept (\R - 1) * \S + \KH
    row_entry \name, %(i)
    .set i, i + 1
    .endr
    .endif
    .endm

/* For each number of rows: nothing is padding, some rows are. The spare registers are what is left
 * of 32, at most as many as there is use for. */
    .macro tile KH, S, V, R, spare
    function .Ltall_\KH\()_\S\()_\V\()_\R, \KH, \S, \V, \R, 0, \spare
    function .Ltall_\KH\()_\S\()_\V\()_\R\()_padded, \KH, \S, \V, \R, 1, \spare
    table_entry .Ltall_\KH\()_\S\()_\V\()_\R
    table_entry .Ltall_\KH\()_\S\()_\V\()_\R\()_padded
    .endm
    .macro tiles KH, S, V, spare7, spare
    tile \KH, \S, \V, 7, \spare7
    tile \KH, \S, \V, 4, \spare
    tile \KH, \S, \V, 2, \spare
    tile \KH, \S, \V, 1, \spare
    .endm

    begin_table dwconv_f32_tall_functions
    tiles 3, 1, 1, 6, 6
    tiles 3, 1, 2, 4, 4
    tiles 3, 2, 1, 6, 6
    tiles 3, 2, 2, 4, 4
    tiles 5, 1, 1, 6, 6
    tiles 5, 1, 2, 4, 4
    tiles 5, 2, 1, 6, 6
    tiles 5, 2, 2, 4, 4
    tiles 7, 1, 1, 6, 6
    tiles 7, 1, 2, 2, 4
    tiles 7, 2, 1, 6, 6
    tiles 7, 2, 2, 2, 4
    end_table dwconv_f32_tall_functions
