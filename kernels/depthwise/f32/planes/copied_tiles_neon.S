/* Rectangles of copied planes, for NEON: see copied.h.
 *
 * Sums are v16 … v30, row by row. Rows of the copy are in v0 … v2 and v3 … v5 in turn, each loaded
 * before the products of the one before, for cores that issue in order; a column's weights are
 * lanes of v6 and v7. With three vectors, five rows and five taps that is 27 loads, 18 of them in
 * pairs, for 75 multiply-adds. Without limits a rectangle is stored in front of the next one's
 * first column. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/planes/copied_offsets.h"

job .req x0
block .req x1
end .req x2
tap .req x3
weights .req x4
left .req x5
row .req x6
last .req x7
from .req x8
src .req x9
dst .req x10
all_taps .req x11
all_weights .req x12
all_src .req x13
all_dst .req x14
dst_row .req x15
count .req x16
clamps .req x17

    .set SUMS, 16
    .set MOST_SUMS, 15
    .set WEIGHTS, 6

    .macro move_first op, vector, at
    \op q\vector, [\at]
    .endm
    .macro move_last op, vector, at
    \op q\vector, [\at, last]
    .endm
    .macro load_row y, vectors
    .if \vectors == 2
    move_first ldr, %(3 * ((\y) % 2)), from
    .else
    several_at ld1, 2, %(3 * ((\y) % 2)), from
    .endif
    move_last ldr, %(3 * ((\y) % 2) + \vectors - 1), from
    add from, from, row
    .endm

/* The products of row y of the copy, for each row of dst that has it as a tap. */
    .macro multiply_row y, rows, vectors, taps
    .set r, 0
    .rept \rows
    .set lane, \y - r
    .if lane >= 0 && lane < \taps
    .set v, 0
    .rept \vectors
    fma %(SUMS + r * \vectors + v), %(3 * (\y % 2) + v), %(WEIGHTS + lane / 4), %(lane % 4)
    .set v, v + 1
    .endr
    .endif
    .set r, r + 1
    .endr
    .endm

    .macro take_column rows, vectors, taps
    ldr from, [tap], #8 * \taps
    ldr q6, [weights]
    .if \taps > 4
    ldr q7, [weights, #16]
    .endif
    add weights, weights, #4 * \taps
    add from, src, from
    load_row 0, \vectors
    .set y, 0
    .rept \rows + \taps - 1
    .if \rows + \taps - 2 > y
    load_row %(y + 1), \vectors
    .endif
    multiply_row %(y), \rows, \vectors, \taps
    .set y, y + 1
    .endr
    .endm

    .macro begin_sum i
    ldr q\i, [job, #job.bias]
    .endm
    .macro begin_two first, second
    ldp q\first, q\second, [job, #job.bias]
    .endm
    .macro begin_sums count
    .set i, SUMS
    .rept \count / 2
    begin_two %(i), %(i + 1)
    .set i, i + 2
    .endr
    .if \count % 2
    begin_sum %(i)
    .endif
    .endm

    .macro store_rows rows, vectors
    .set r, 0
    .rept \rows
    .if \vectors == 2
    move_first str, %(SUMS + 2 * r), dst
    .else
    several_at st1, 2, %(SUMS + 3 * r), dst
    .endif
    move_last str, %(SUMS + \vectors * (r + 1) - 1), dst
    add dst, dst, dst_row
    .set r, r + 1
    .endr
    .endm

    .macro tile rows, vectors, taps
    named_tile .Ltile_\rows\()x\vectors\()_\taps, \rows, \vectors, \taps
    .endm
    .macro named_tile name, rows, vectors, taps
    begin_listed_function \name
    ldp all_taps, all_weights, [job, #job.taps]
    ldp all_src, all_dst, [job, #job.rows]
    ldp row, dst_row, [job, #job.row]
    ldr last, [job, #job.last + 8 * (\vectors - 2)]
    ldp count, clamps, [job, #job.count]
    b 1f
0:  store_rows \rows, \vectors
1:  ldp src, dst, [block], #16
    mov tap, all_taps
    mov weights, all_weights
    mov left, count
    add src, all_src, src
    add dst, all_dst, dst
    begin_sums %(\rows * \vectors)
2:  take_column \rows, \vectors, \taps
    subs left, left, #\taps
    b.ne 2b
    cmp block, end
    ccmp clamps, #0, #0, ne
    b.eq 0b
    cbz clamps, 3f
    ldp q0, q1, [job, #job.low]
    mov left, x30
    bl .Lclamp_sums + 8 * (MOST_SUMS - \rows * \vectors)
    mov x30, left
3:  store_rows \rows, \vectors
    cmp block, end
    b.ne 1b
    ret
    table_entry \name
    .endm

    .macro tiles_of taps
    .irp rows, 3, 4, 5
    tile \rows, 2, \taps
    tile \rows, 3, \taps
    .endr
    .endm

/* Of all sums from the last one of a tile to the first one, between v0 and v1. */
.Lclamp_sums:
    .set i, SUMS + MOST_SUMS - 1
    .rept MOST_SUMS
    clamp_to %(i), 0, 1
    .set i, i - 1
    .endr
    ret

    begin_table dwconv_f32_copied_tiles
    tiles_of 3
    tiles_of 5
    tiles_of 7
    end_table dwconv_f32_copied_tiles
