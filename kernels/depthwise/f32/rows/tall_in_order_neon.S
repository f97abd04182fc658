/* Depthwise convolution by tall tiles of one column, kernels of five or seven rows, for cores that
 * issue in order: see tall.h. The functions are known by a table.
 *
 * A tile is R rows of outputs of four channels. For each column of the kernel the R sums take the
 * first weight, then the second one and so on, so that R multiply-adds lie between one of a sum and
 * its next, and what a row of source needs is over long before its register is wanted again. Each
 * row has one, and so has each weight. Rows of padding are zeros.
 *
 * Loads are late, of the column that is being multiplied, in the order in which they are wanted, or,
 * of what a column begins with, early, as soon as the one before is done with it. A part of a load
 * goes after each multiply-add. Five rows, R = 7, stride 1: 35 FMLA, 11 rows and five weights; stride
 * 2: 17 rows. Seven rows, R = 7, stride 1: 49 FMLA, 13 rows and seven weights.
 *
 * Sums are in v0 …, then rows, then weights. */

#include "kernels/depthwise/f32/halves_neon.h"
#include "kernels/depthwise/f32/rows/tall_offsets.h"

/* x1 … x17 are rows of source; x27 … x30 the distances of weights from the column's first one, and
 * x16 and x17 those of a kernel of seven rows, which has up to 13 of source. The job is away
 * while they multiply. */
job .req x0
w_high .req x0
    registers 19, offset, offset_high, w, taps, scratch
    registers 24, out, column, w_tap, w_row

    .macro store_sum sum
    str q\sum, [out]
    add out, out, scratch
    .endm

/* ---- the order of a column of the kernel ---- */

/* Number n: row r of outputs and row ky of the kernel, row i of source. */
    .macro find_tap
    .set r, n % R
    .set ky, n / R
    .set i, S * r + ky
    .endm

/* ---- loads ---- */

/* Rows from here on are weights. */
    .set WEIGHT, 32
    .macro load_half kind, to, row, half
    when %(\row < WEIGHT), load_indexed \to, \row, \kind, offset\half
    or_when %(\row == WEIGHT), ldr \kind\to, [w\half]
    otherwise load_indexed \to, %(\row - 6 - 15 * ((\row - WEIGHT) / 5)), \kind, w\half
    .endm
    .macro next_column
    add offset, offset, column
    add w, w, w_tap
    add offset_high, offset_high, column
    add w_high, w_high, w_tap
    .endm

    .macro list_place place
    .if \place < first_weight
    count_reads %(\place - R)
    list_load \place, %(1 + \place - R), %reads
    .else
    list_load \place, %(WEIGHT + \place - first_weight), R
    .endif
    .endm

/* What multiply-adds want first from `from` to before `to`. */
    .macro list_wanted from, to
    each_from n, \from, %(\to - \from), list_new
    .endm
    .macro list_new
    find_tap
    when %(r == 0), list_place %(first_weight + ky)
    when %((ky < S) | (r == R - 1)), list_place %(R + i)
    .endm

/* A register is free: for the next column, if that wants it soon. */
    .macro read_and_list place
    read_once \place
    .if (has_next == 1) & (reads_of_\place == 0) & (early_\place != 0)
    list_place \place
    .endif
    .endm

/* What the first column of the kernel begins with. Multiply-adds from number early_end on do with loads
 * of their own column. */
    .macro load_first
    .set early_end, R + 4 * (S - 1)
    when %(early_end > kernel_rows * R), .set early_end, kernel_rows * R
    each place, 32, expect %place, 0
    begin_loads
    list_wanted 0, %early_end
    load_at_once
    each place, 32, mark_early %place
    .endm
    .macro mark_early place
    .set early_\place, reads_of_\place > 0
    .endm

/* A column of the kernel; is_last: of this output. */
    .macro take_column is_last
    .set has_next, 1 - \is_last
    .set now, 0
    begin_loads
    list_wanted %early_end, %(kernel_rows * R)
    when %has_next, list_load 0, 0, 0
    each n, %(kernel_rows * R), multiply_and_load
    load_rest
    .endm
    .macro multiply_and_load
    find_tap
    wait_for %(R + i)
    wait_for %(first_weight + ky)
    fma %r, %(R + i), %(first_weight + ky)
    read_and_list %(R + i)
    read_and_list %(first_weight + ky)
    load_next
    .endm

/* ---- a tile ---- */

    .macro begin_sums
    ldr out, [sp, #kept.group_bias]
    each i, R, load_q %i, [out]
    .endm

/* Weights are where the limits of a clamp may go. */
    .macro finish
    ldr scratch, [job, #job.clamp]
    cbz scratch, 4f
    .set limits, first_weight + 1
    load_pair %limits, %(limits + 1), [scratch]
    for_all at_least, 0, R, %limits
    for_all at_most, 0, R, %(limits + 1)
4:  ldr out, [sp, #kept.output_dst]
    ldr scratch, [job, #job.dst_row]
    each i, R, store_sum %i
    .endm

    .macro next_output
    ldp offset, taps, [sp, #kept.output_start]
    ldp out, scratch, [sp, #kept.output_dst]
    ldp w, offset_high, [job, #job.stride_w]
    add taps, taps, w
    add offset, offset, offset_high
    ldr w, [job, #job.dst_column]
    stp offset, taps, [sp, #kept.output_start]
    add out, out, w
    subs scratch, scratch, #1
    stp out, scratch, [sp, #kept.output_dst]
    .endm

    .macro function name, height, stride
    .set R, \height
    .set S, \stride
    .set first_weight, R + S * (R - 1) + kernel_rows
    begin_listed_function \name
    save_registers 4, 30, 80
    /* on the stack: of this output, then of this group */
    name_offsets kept, %at_locals, 8, output_start, output_at, output_dst, outputs_left
    name_offsets kept, %(at_locals + 32), 8, group_start, group_dst, group_weights, group_bias, groups_left, saved_job
    ldr scratch, [job, #job.rows]
    each i, %(first_weight - R), load_x %(1 + i), [scratch, #(8 * i)]
    ldr column, [job, #job.column]
    ldp w_row, w_tap, [job, #job.weights_row]
    add x28, w_row, w_row
    add x29, x28, w_row
    add x30, x28, x28
    .if kernel_rows == 7
    add x16, x30, w_row
    add x17, x29, x29
    .endif
    ldr scratch, [job, #job.start]
    ldr out, [job, #job.dst]
    stp scratch, out, [sp, #kept.group_start]
    ldp scratch, out, [job, #job.weights]
    stp scratch, out, [sp, #kept.group_weights]
    ldr scratch, [job, #job.groups]
    str scratch, [sp, #kept.groups_left]
10: ldp offset, out, [sp, #kept.group_start]
    ldr taps, [job, #job.first]
    ldr scratch, [job, #job.out_cols]
    stp offset, taps, [sp, #kept.output_start]
    stp out, scratch, [sp, #kept.output_dst]
11: ldp offset, taps, [sp, #kept.output_start]
    ldp scratch, out, [job, #job.whole]
    ldr w, [sp, #kept.group_weights]
    cmp taps, scratch
    b.hs 14f
    mov taps, out
12: begin_sums
    str job, [sp, #kept.saved_job]
    add offset_high, offset, #8
    add w_high, w, #8
    load_first
    subs taps, taps, #1
    b.eq 2f
1:  take_column 0
    subs taps, taps, #1
    b.ne 1b
2:  take_column 1
    ldr job, [sp, #kept.saved_job]
13: finish
    next_output
    b.ne 11b
    ldp scratch, out, [sp, #kept.group_start]
    add scratch, scratch, #16
    add out, out, #16
    stp scratch, out, [sp, #kept.group_start]
    ldp scratch, out, [sp, #kept.group_weights]
    ldr w, [job, #job.bias_next]
    add scratch, scratch, #16
    add out, out, w
    stp scratch, out, [sp, #kept.group_weights]
    ldr scratch, [sp, #kept.groups_left]
    subs scratch, scratch, #1
    str scratch, [sp, #kept.groups_left]
    b.ne 10b
    pop_and_return
/* a column at the edge: taps from max(0, -at) to min(kw, columns - at) */
14: neg scratch, taps
    bic scratch, scratch, scratch, asr #63
    madd offset, scratch, column, offset
    madd w, scratch, w_tap, w
    ldr offset_high, [job, #job.columns]
    sub taps, offset_high, taps
    cmp taps, out
    csel taps, taps, out, lt
    subs taps, taps, scratch
    b.gt 12b
    begin_sums
    b 13b
    .endm

    .macro tile kernel, height, stride
    function .Ltall_\kernel\()_\height\()_\stride, \height, \stride
    table_entry .Ltall_\kernel\()_\height\()_\stride
    .endm
    .macro tiles kernel, stride
    .set kernel_rows, \kernel
    tile \kernel, 7, \stride
    tile \kernel, 4, \stride
    .endm

    begin_table dwconv_f32_tall_in_order_functions
    tiles 5, 1
    tiles 5, 2
    tiles 7, 1
    end_table dwconv_f32_tall_in_order_functions
