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

    registers 0, job, block, end, tap, weights, left
    registers 6, row, last, from, src, dst
    registers 11, all_taps, all_weights, all_src, all_dst
    registers 15, dst_row, count, clamps

    .set SUMS, 16
    .set MOST_SUMS, 15
    .set WEIGHTS, 6

/* The last vector by itself, and those before it. */
    .macro load_row y, vectors
    when %(\vectors == 2), load_q %(3 * ((\y) % 2)), [from]
    otherwise several_at ld1, 2, %(3 * ((\y) % 2)), from
    load_q %(3 * ((\y) % 2) + \vectors - 1), [from, last]
    add from, from, row
    .endm

/* The products of row y of the copy, for each row of dst that has it as a tap. */
    .macro multiply_vectors lane, y, vectors, taps
    .if \lane >= 0 && \lane < \taps
    each v, \vectors, fma %(SUMS + r * \vectors + v), %(3 * (\y % 2) + v), %(WEIGHTS + \lane / 4), %(\lane % 4)
    .endif
    .endm

    .macro take_column rows, vectors, taps
    ldr from, [tap], #8 * \taps
    ldr q6, [weights]
    when %(\taps > 4), load_q 7, [weights, #16]
    add weights, weights, #4 * \taps
    add from, src, from
    load_row 0, \vectors
    each y, %(\rows + \taps - 1), take_row \rows, \vectors, \taps
    .endm
    .macro take_row rows, vectors, taps
    when %(\rows + \taps - 2 > y), load_row %(y + 1), \vectors
    each r, \rows, multiply_vectors %(y - r), %y, \vectors, \taps
    .endm

    .macro begin_sums count
    each_by 2, i, SUMS, %(\count / 2), load_pair %i, %(i + 1), [job, #job.bias]
    when %(\count % 2), load_q %i, [job, #job.bias]
    .endm

    .macro store_rows rows, vectors
    each r, \rows, store_row %r, \vectors
    .endm
    .macro store_row r, vectors
    when %(\vectors == 2), store_q %(SUMS + 2 * \r), [dst]
    otherwise several_at st1, 2, %(SUMS + 3 * \r), dst
    store_q %(SUMS + \vectors * (\r + 1) - 1), [dst, last]
    add dst, dst, dst_row
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
    each_by -1, i, %(SUMS + MOST_SUMS - 1), MOST_SUMS, clamp_to %i, 0, 1
    ret

    begin_table dwconv_f32_copied_tiles
    tiles_of 3
    tiles_of 5
    tiles_of 7
    end_table dwconv_f32_copied_tiles
