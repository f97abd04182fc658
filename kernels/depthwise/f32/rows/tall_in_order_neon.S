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

/* ---- one instruction each, registers by number ---- */

    .macro load_weight into, ky
    when \ky, load_weight_by q, \into, w, %(\ky + 26 - 15 * (\ky / 5))
    otherwise ldr q\into, [w]
    .endm
    .macro load_weight_by kind, into, from, distance
    ldr \kind\into, [\from, x\distance]
    .endm
    .macro weight_load_low into, ky
    when \ky, load_weight_by d, \into, w, %(\ky + 26 - 15 * (\ky / 5))
    otherwise ldr d\into, [w]
    .endm
    .macro weight_load_high into, ky
    when \ky, load_weight_by x, \into, w_high, %(\ky + 26 - 15 * (\ky / 5))
    otherwise ldr x\into, [w_high]
    .endm
    .macro store_sum sum
    str q\sum, [out]
    add out, out, scratch
    .endm

/* ---- the order of loads ---- */

/* Load number `sought` of those that are counted: row or weight `which`. */
    .macro count_row row
    count_load 0, \row
    .endm
    .macro count_weight ky
    count_load 1, \ky
    .endm
    .macro count_load is_of_weights, number
    .if sought == 0
    .set is_weight, \is_of_weights
    .set which, \number
    .set free, n
    .endif
    .set sought, sought - 1
    .endm

/* Late load `number`, in the order of the multiply-adds that want it. lates: how many there are. */
    .macro find_late R, S, number
    .set sought, \number
    .set n, early_end
    .rept kernel_rows * \R - early_end
    when %(n % \R == 0), count_weight %(n / \R)
    when %((n / \R < \S) | (n % \R == (\R - 1))), count_row %(\S * (n % \R) + n / \R)
    .set n, n + 1
    .endr
    .set lates, \number - sought
    .set free, -1
    .endm

/* Early load `number` of the next column, in the order in which they are done with, `free` being the
 * last multiply-add that reads the register. */
    .macro find_early R, S, number
    .set sought, \number
    .set n, 0
    .rept kernel_rows * \R
    .set ky, n / \R
    .set row, \S * (n % \R) + ky
    .if ((ky + \S) >= kernel_rows) | (n % \R == 0)
    .set wanted, row % \S * \R + row / \S
    when %(row / \S >= \R), .set wanted, (row - \S * (\R - 1)) * \R + \R - 1
    when %(wanted < early_end), count_row %row
    .endif
    when %((n % \R == (\R - 1)) & (ky * \R < early_end)), count_weight %ky
    .set n, n + 1
    .endr
    .set earlies, \number - sought
    .endm

/* Multiply-adds from this number on do with loads of their own column. */
    .macro begin_order R, S
    .set early_end, \R + 4 * (\S - 1)
    when %(early_end > kernel_rows * \R), .set early_end, kernel_rows * \R
    find_late \R, \S, 0
    find_early \R, \S, 0
    .endm

    .macro next_column
    add offset, offset, column
    add w, w, w_tap
    add offset_high, offset_high, column
    add w_high, w_high, w_tap
    .endm

/* What is next, whole or a part of it. */
    .macro find_place R, S
    when %is_weight, .set place, \R + \S * (\R - 1) + kernel_rows + which
    otherwise .set place, \R + which
    .endm
    .macro load_one R, S
    find_place \R, \S
    when %is_weight, load_weight %place, %which
    otherwise load_indexed %place, %(1 + which), q, offset
    .endm
    .macro load_part_of_one R, S
    find_place \R, \S
    when %is_weight, load_part %place, %which, weight_
    otherwise load_part %place, %(1 + which)
    .endm

/* Whatever is next, if its register is free after multiply-add f. */
    .macro fill R, S
    .set free, -1
    .if l < ends
    .if l == lates
    next_column
    .set l, l + 1
    .else
    when %(l < lates), find_late \R, \S, l
    otherwise find_early \R, \S, %(l - lates - 1)
    .if free <= f
    load_part_of_one \R, \S
    when %(begun == 0), .set l, l + 1
    .endif
    .endif
    .elseif begun == 0
    when %(older + newer), insert_early
    .endif
    .endm

/* Multiply-add f needs its row and weight: everything late before it that it wants. */
    .macro wait_for R, S, row
    .set reads, \R + \row
    .set reads_weight, \R + \S * (\R - 1) + kernel_rows + f / \R
    .rept lates
    .set have, l >= lates
    .if l < lates
    find_late \R, \S, l
    .set have, ((is_weight == 1) & (which > (f / \R))) | ((is_weight == 0) & (which != \row))
    .endif
    .rept 2
    .if have == 0
    .set filled, l
    fill \R, \S
    .set have, l - filled
    .endif
    .endr
    .endr
    .rept 2
    when %((older == reads) | (newer == reads) | (older == reads_weight) | (newer == reads_weight)), insert_early
    .endr
    .endm

/* What the first column of the kernel begins with. */
    .macro load_first R, S
    begin_order \R, \S
    .set l, 0
    .rept earlies
    find_early \R, \S, l
    load_one \R, \S
    .set l, l + 1
    .endr
    .endm

/* A column of the kernel; is_last: of this output. */
    .macro take_column R, S, is_last
    begin_halves
    .set now, 0
    .set l, 0
    .set f, -1
    begin_order \R, \S
    .set ends, lates + 1 + earlies
    when \is_last, .set ends, lates
    .set f, 0
    .rept kernel_rows * \R
    wait_for \R, \S, %(\S * (f % \R) + f / \R)
    fma %(f % \R), %(\R + \S * (f % \R) + f / \R), %(\R + \S * (\R - 1) + kernel_rows + f / \R)
    fill \R, \S
    .set f, f + 1
    .endr
    times %(2 * (ends - l) + 2), fill \R, \S
    .endm

/* ---- a tile ---- */

    .macro begin_sums R
    ldr out, [sp, #kept.group_bias]
    each i, \R, load_q %i, [out]
    .endm

/* Weights are where the limits of a clamp may go. */
    .macro finish R, S
    ldr scratch, [job, #job.clamp]
    cbz scratch, 4f
    .set limits, \R + \S * (\R - 1) + kernel_rows + 1
    load_pair %limits, %(limits + 1), [scratch]
    for_all at_least, 0, \R, %limits
    for_all at_most, 0, \R, %(limits + 1)
4:  ldr out, [sp, #kept.output_dst]
    ldr scratch, [job, #job.dst_row]
    each i, \R, store_sum %i
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

    .macro function name, R, S
    begin_listed_function \name
    save_registers 4, 30, 80
    /* on the stack: of this output, then of this group */
    name_offsets kept, %at_locals, 8, output_start, output_at, output_dst, outputs_left
    name_offsets kept, %(at_locals + 32), 8, group_start, group_dst, group_weights, group_bias, groups_left, saved_job
    ldr scratch, [job, #job.rows]
    each i, %(\S * (\R - 1) + kernel_rows), load_x %(1 + i), [scratch, #(8 * i)]
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
12: begin_sums \R
    str job, [sp, #kept.saved_job]
    add offset_high, offset, #8
    add w_high, w, #8
    load_first \R, \S
    subs taps, taps, #1
    b.eq 2f
1:  take_column \R, \S, 0
    subs taps, taps, #1
    b.ne 1b
2:  take_column \R, \S, 1
    ldr job, [sp, #kept.saved_job]
13: finish \R, \S
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
    begin_sums \R
    b 13b
    .endm

    .macro tile K, R, S
    function .Ltall_\K\()_\R\()_\S, \R, \S
    table_entry .Ltall_\K\()_\R\()_\S
    .endm
    .macro tiles K, S
    .set kernel_rows, \K
    tile \K, 7, \S
    tile \K, 4, \S
    .endm

    begin_table dwconv_f32_tall_in_order_functions
    tiles 5, 1
    tiles 5, 2
    tiles 7, 1
    end_table dwconv_f32_tall_in_order_functions
