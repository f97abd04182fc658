/* Depthwise convolution of planes in place with stride 1 (planes.h): lists of tiles, and planes of 7x7
 * and of 14x14, which are one block of instructions. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/in_order_neon.h"

    .macro body K, V, R, side, padding
    begin_body
    take_columns \K, \V, \R, \side, \padding
    when kind, store_in_order \V, \R
    otherwise store_rows \V, \R, \side, out
    next_tile base
    mov w, weights
    cbnz clamp, \V\()\R\()f
    br scratch
    .endm

/* A clamp stores a tile's sums a second time; where, its entry of the list says, which is the last
 * but one that was read. A branch before the first time would keep those stores from going on
 * beside the products. */
    .macro clamp_tile V, R
\V\()\R\():
    limit \V, \R
    ldr in, [tiles, #-40]
    add in, in, dst
    store_rows \V, \R, MIDDLE, in
    br scratch
    .endm

/* ---- planes of 7x7: one tile ---- */

to .req x3 /* where w is no longer needed */

    .macro planes_of_7 K
6:  begin_plane
    mov base, src
    mov out, dst
    mov w, weights
    take_columns \K, 2, 7, WHOLE, 3
    store_rows 2, 7, WHOLE, out
    next_whole_plane 7, 6b
    .endm

/* ---- planes of 14x14, whose rows follow one another: no column is done twice ----
 *
 * The upper and the lower seven rows have a tile of columns 0 … 7 each. Columns 8 … 13 of both come
 * together, from three vectors of source: columns 8 … 11 of a row of the upper half, of one of the
 * lower half, and columns 12 and 13 of both (`ends`). These are read from copies, as columns of the
 * kernel want them, which general registers make beside the tiles: LD1 of half a vector would take the
 * pipes of FMLA. The vectors' sums are in v11 … v17, v18 … v24 and v25 … v31, and source in two places
 * for each row: v5 … v7 and v8 … v10. */
    .set SUMS, 11
    .set FLAT, 4 * 14
    .set ends_at, 32 /* of sp, behind the bias */
/* x11, x12: what is copied; then the fifth row of either half, from column 8 on. */
upper .req x11
lower .req x12
    registers 16, lower_dst, ends_dst
from_column_1 .req x27
ends .req x28 /* the middle of the copies */

/* The copies, by column of the kernel, without one that would be zeros: rows 0 … 6 beside rows 7 …
 * 13, above them what is above row 0, and below them what is below row 13. */
    .macro find_ends K
    .set HALF, \K / 2
    .set end_columns, HALF + 2
    .set end_rows, 7 + 2 * HALF
    .set ends_middle, end_columns * end_rows / 2
    .set ends_bytes, 16 * end_columns * end_rows
    .endm
/* With every other row of the tiles: more at a time would keep loads from these. */
    .macro copy_next
    .set copied, rows_done / 2
    when %((rows_done % 2 == 0) & (copied < 7 * end_columns)), copy_ends %(copied / end_columns), %(copied % end_columns)
    .set rows_done, rows_done + 1
    .endm
    .macro copy_ends i, kx
    .set column, 12 - HALF + \kx
    when %(column == 13), load_ends w, src, %(FLAT * \i + 52)
    or_when %(column % 2), load_ends x, from_column_1, %(FLAT * \i + 4 * column - 4)
    otherwise load_ends x, src, %(FLAT * \i + 4 * column)
    .set place, \kx * end_rows + HALF + \i
    when %(\i < HALF), store_ends x12, xzr, %(place + 7)
    when %(\i >= 7 - HALF), store_ends xzr, x11, %(place - 7)
    store_ends x11, x12, %(place)
    .endm
    .macro load_ends size, from, at
    ldr \size\()11, [\from, #\at]
    ldr \size\()12, [\from, #(\at + 7 * FLAT)]
    .endm
    .macro store_ends first, second, place
    stp \first, \second, [ends, #16 * (\place - ends_middle)]
    .endm

/* Row `next` of what both halves and their ends need, as far as it exists. */
    .macro load_three next
    .set x, 5 + \next % 2 * 3
    when %(\next >= HALF), load_from upper, %x, %(FLAT * (\next - HALF - 4) + 4 * from_middle)
    when %(\next < 7 + HALF), load_from lower, %(x + 1), %(FLAT * (\next - 4) + 4 * from_middle)
    when %(kx < end_columns), load_q %(x + 2), [sp, #(ends_at + 16 * (kx * end_rows + \next))]
    .endm
    .macro load_from half_plane, x, at
    ldur q\x, [\half_plane, #\at]
    .endm
    .macro reach_three K, x
    each r, 7, when %((i >= r) & (i - r < \K)), multiply_three %(i - r), \x
    .endm
    .macro multiply_three ky, x
    when %((kx == 0) & (\ky == 0)), each v, 3, load_q %(SUMS + 7 * v + r), [sp, #at_locals]
    when %(i >= HALF), fma %(SUMS + r), \x, \ky, 0
    when %(i < 7 + HALF), fma %(SUMS + 7 + r), %(\x + 1), \ky, 0
    when %(kx < end_columns), fma %(SUMS + 14 + r), %(\x + 2), \ky, 0
    .endm

/* Stores among the last products cost less than all together. */
    .macro store_three x, y, z
    str d\z, [out, #16]
    several st1, 1, \x, out, dst_row
    several st1, 1, \y, lower_dst, dst_row
    st1 {v\z\().d}[1], [ends_dst], dst_row
    .endm
    .macro take_column_of_three K
    .set from_middle, kx - HALF
    each ky, \K, load_weight_to %ky, %ky
    when %(kx + 1 < \K), add w, w, w_tap
    load_three 0
    each i, end_rows, use_three \K
    .endm
    .macro use_three K
    when %(i + 1 < end_rows), load_three %(i + 1)
    reach_three \K, %(5 + i % 2 * 3)
    .set r, i + 1 - \K
    when %((kx + 1 == \K) & (r >= 0)), store_three %(SUMS + r), %(SUMS + 7 + r), %(SUMS + 14 + r)
    .endm

    .macro left_columns K, padding
    mov w, weights
    .set copies, 1
    take_columns \K, 2, 7, LEFT, \padding
    .set copies, 0
    store_rows 2, 7, LEFT, out
    .endm
    .macro right_columns K
    mov w, weights
    add upper, src, #(4 * FLAT + 32)
    add lower, upper, #((7 - HALF) * FLAT)
    add out, dst, #32
    mov lower_dst, #7
    madd lower_dst, dst_row, lower_dst, out
    add ends_dst, lower_dst, #16
    each kx, \K, take_column_of_three \K
    .endm
    .macro planes_of_14 K
    .set frame_locals, at_locals
    .set at_locals, 0
    find_ends \K
    sub sp, sp, #ends_at + ends_bytes
    add ends, sp, #(ends_at + 16 * ends_middle)
6:  begin_plane
    clear %(ZERO)
    add from_column_1, src, #4
    .set rows_done, 0
    mov base, src
    mov out, dst
    left_columns \K, 1
    add base, src, #((7 - HALF) * FLAT)
    left_columns \K, 2
    right_columns \K
    next_whole_plane 14, 6b
    add sp, sp, #ends_at + ends_bytes
    .set at_locals, frame_locals
    .endm

/* ---- which bodies there are, in the order of PLANES_BODY ---- */

    .macro bodies_of K, V, side
    each padding, 3, body \K, \V, 7, \side, %padding
    when %(\K == 3), body \K, \V, 4, \side, 2
    otherwise no_bodies 1
    .endm

    .macro function name, K
    begin_planes dwconv_f32_planes_\name, 28
    begin_tiles \K
    cbz tiles, 20f
    begin_bodies
10: begin_plane
    next_tile base
    mov w, weights
    br scratch
    bodies_of \K, 2, MIDDLE
    bodies_of \K, 2, LEFT
    bodies_of \K, 2, RIGHT
    bodies_of \K, 1, RIGHT
    clamp_tile 1, 7
    clamp_tile 2, 7
    when %(\K == 3), clamp_tile 1, 4
    when %(\K == 3), clamp_tile 2, 4
    begin_body
    ldr tiles, [job, #job.tiles]
    next_plane
    b.ne 10b
    b 30f
20: ldr scratch, [job, #job.row_bytes]
    cmp scratch, #FLAT
    b.eq 22f
    planes_of_7 \K
    b 30f
22: when %(kind == 0), planes_of_14 \K
30: pop_and_return
    end_function dwconv_f32_planes_\name
    .endm

    function 3s1, 3
    function 5s1, 5
    .set kind, IN_ORDER_NARROW
    function 3s1_a55, 3
