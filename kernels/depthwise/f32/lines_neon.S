/* Depthwise 3x3 of stride 2 by lines of sixteen channels, for NEON: see lines.h.
 *
 * A part is four columns of source and eight channels: 20 loads of source, 9 of weights, 4 of the
 * bias, 72 FMLA and 4 stores, each but the FMLA of a pair of vectors. It ends in the middle of an
 * output, which stays in registers while the other half of the channels has its turn.
 *
 * v0 … v17: weights [row][column][vector]; then three outputs of [row][vector]: those that half 0 and
 * half 1 are in the middle of, and one that begins and ends within a part; v30, v31: source, and the
 * limits of a clamp. */
/* clang-format off */

#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/lines_offsets.h"

/* x9 … x13 are rows of source, x14 and x15 of dst, for half 0; ten further on for half 1. */
job .req x0
column .req x1
dst_column .req x2
weights .req x3
clamp .req x4
rounds .req x5
rounds_left .req x6
list .req x7
start .req x8
dst_row .req x16
next_dst .req x17
lines .req x26
down .req x27
edges .req x28
line_dst .req x29
first_rows .req x30

    .set BETWEEN, 26 /* the output within a part */
    .set HALF_BYTES, 10 * 32
    .set LINE_BYTES, 2 * HALF_BYTES

/* ---- parts of a part ---- */

    .macro load_pair first, second, offset
    ldp q\first, q\second, [weights, #\offset]
    .endm
/* The weights of column kx of the kernel. */
    .macro load_weights_column half, kx
    .set ky, 0
    .rept 3
    load_pair %(6 * ky + 2 * \kx), %(6 * ky + 2 * \kx + 1), %(\half * HALF_BYTES + 32 * (3 * ky + \kx))
    .set ky, ky + 1
    .endr
    .endm

    .macro begin_output half, output
    .set r, 0
    .rept height
    load_pair %(\output + 2 * r), %(\output + 2 * r + 1), %(\half * HALF_BYTES + 9 * 32)
    .set r, r + 1
    .endr
    .endm
    .macro end_output half, output
    .if clamps
    ldp q30, q31, [clamp]
    clamp_all \output, %(2 * height), 30, 31
    .endif
    .set r, 0
    .rept height
    store_pair %(14 + 10 * \half + r), %(\output + 2 * r)
    .set r, r + 1
    .endr
    .endm
    .macro store_pair row, first
    several st1, 2, \first, x\row, dst_column
    .endm

    .macro give output, kx
    .if \output
    .set r, 0
    .rept height
    .if (i - 2 * r >= 0) & (i - 2 * r < 3)
    fma %(\output + 2 * r), 30, %(6 * (i - 2 * r) + 2 * \kx)
    fma %(\output + 2 * r + 1), 31, %(6 * (i - 2 * r) + 2 * \kx + 1)
    .endif
    .set r, r + 1
    .endr
    .endif
    .endm
    .macro load_source row
    several ld1, 2, 30, x\row, column
    .endm
/* A column of source, to outputs by the weights of columns 0, 1 and 2; 0: to none. */
    .macro take_column half, output_0, output_1, output_2
    .set i, above
    .rept 2 * height + 1 - above - below
    load_source %(9 + 10 * \half + i)
    give \output_2, 2
    give \output_1, 1
    give \output_0, 0
    .set i, i + 1
    .endr
    .endm

/* ---- parts ---- */

/* The first one begins output 0 and completes it; others complete the output before, too. The last one
 * begins nothing that it does not complete: of an odd number of outputs it has three columns, else one. */
    .macro part half, loads, is_first, is_last, is_odd, leaves_out
    part_of \half, %(18 + 4 * \half), \loads, \is_first, \is_last, \is_odd, \leaves_out
    .endm
    .macro part_of half, carried, loads, is_first, is_last, is_odd, leaves_out
    .if \loads
    load_weights_column \half, 2
    load_weights_column \half, 0
    .endif
    .if (\is_last == 0) | (\is_odd != 0)
    begin_output \half, %(BETWEEN)
    .endif
    .if \is_first
    .if \leaves_out == 0
    take_column \half, %(BETWEEN), 0, 0
    .endif
    .elseif (\is_last != 0) & (\is_odd == 0)
    .if \leaves_out == 0
    take_column \half, 0, 0, \carried
    .endif
    end_output \half, \carried
    .else
    take_column \half, %(BETWEEN), 0, \carried
    end_output \half, \carried
    .endif
    .if \loads
    load_weights_column \half, 1
    .endif
    .if (\is_last == 0) | (\is_odd != 0)
    take_column \half, 0, %(BETWEEN), 0
    .if \is_last
    .if \leaves_out == 0
    take_column \half, 0, 0, %(BETWEEN)
    .endif
    .else
    begin_output \half, \carried
    take_column \half, \carried, 0, %(BETWEEN)
    .endif
    end_output \half, %(BETWEEN)
    .if \is_last == 0
    take_column \half, 0, \carried, 0
    .endif
    .endif
    .endm
    .macro parts half, is_first, is_last, is_odd, leaves_out
    part \half, 0, \is_first, \is_last, \is_odd, \leaves_out
    part %(1 - \half), 1, \is_first, \is_last, \is_odd, \leaves_out
    .endm
    .macro load_weights half
    load_weights_column \half, 0
    load_weights_column \half, 1
    load_weights_column \half, 2
    .endm

/* ---- tiles ---- */

    .macro load_row_address row
    ldr x\row, [list, #((\row - 9) * 8)]
    .endm
    .macro find_source row, half_1
    add x\row, x\row, start
    add x\half_1, x\row, #32
    .endm
    .macro find_tile
    .set row, 9 + above
    .rept 2 * height + 1 - above - below
    load_row_address %(row)
    find_source %(row), %(row + 10)
    .set row, row + 1
    .endr
    mov x14, next_dst
    add x24, next_dst, #32
    .if height == 2
    add x15, next_dst, dst_row
    add x25, x15, #32
    .endif
    add next_dst, next_dst, dst_row, lsl #(height - 1)
    add list, list, #(16 * height)
    mov rounds_left, rounds
    .endm

/* Bits of edges: LINES_LEFT, LINES_RIGHT, LINES_ODD. */
    .macro lines_function name, has_clamp, R, rows_above, rows_below
    .set clamps, \has_clamp
    .set height, \R
    .set above, \rows_above
    .set below, \rows_below
    begin_function \name
    save_registers 4, 30
    ldp first_rows, weights, [job, #LINES_ROWS]
    ldp line_dst, column, [job, #LINES_DST]
    ldp dst_column, dst_row, [job, #LINES_DST_COLUMN]
    ldp start, lines, [job, #LINES_START]
    ldr rounds, [job, #LINES_ROUNDS]
    ldp edges, clamp, [job, #LINES_EDGES]
10: ldr down, [job, #LINES_DOWN]
    mov list, first_rows
    mov next_dst, line_dst
    load_weights 0
20: find_tile
    tbnz edges, #0, 30f
    parts 0, 1, 0, 0, 0
    b 40f
30: parts 0, 1, 0, 0, 1
40: cbz rounds_left, 60f
50: parts 1, 0, 0, 0, 0
    subs rounds_left, rounds_left, #1
    b.eq 55f
    parts 0, 0, 0, 0, 0
    subs rounds_left, rounds_left, #1
    b.ne 50b
    b 60f
55: load_weights 1
60: tbz edges, #2, 80f
    tbnz edges, #1, 70f
    parts 1, 0, 1, 1, 0
    b 90f
70: parts 1, 0, 1, 1, 1
    b 90f
80: tbnz edges, #1, 85f
    parts 1, 0, 1, 0, 0
    b 90f
85: parts 1, 0, 1, 0, 1
90: subs down, down, #1
    b.ne 20b
    add start, start, #64
    add weights, weights, #LINE_BYTES
    add line_dst, line_dst, #64
    subs lines, lines, #1
    b.ne 10b
    pop_and_return
    end_function \name
    table_entry \name
    .endm

    .macro lines_functions clamped, has_clamp
    lines_function dwconv_f32_lines_1\clamped, \has_clamp, 1, 0, 0
    no_entries 1
    lines_function dwconv_f32_lines_1_below\clamped, \has_clamp, 1, 0, 1
    lines_function dwconv_f32_lines_2\clamped, \has_clamp, 2, 0, 0
    lines_function dwconv_f32_lines_2_above\clamped, \has_clamp, 2, 1, 0
    lines_function dwconv_f32_lines_2_below\clamped, \has_clamp, 2, 0, 1
    .endm

    begin_table dwconv_f32_lines_functions
    lines_functions , 0
    lines_functions _clamp, 1
    end_table dwconv_f32_lines_functions
