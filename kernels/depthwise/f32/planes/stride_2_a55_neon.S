/* Depthwise 3x3 convolution of planes in place with stride 2, for cores that issue in order as a
 * Cortex-A55: see planes.h.
 *
 * A band is R rows of dst. With column x of dst go the odd column of source before it, its even and
 * its odd one: the first is that of the vector before, moved on by a lane. So the sums of the first
 * column of the kernel are begun in the places of the column before (`begun`, which the next vector
 * needs) and moved by one EXT for each row of dst, not of source.
 *
 * LD2 takes both issue slots for four cycles there. So rows come in halves, by D registers and by
 * general ones, beside FMLA, and UZP1 and UZP2 separate their columns.
 *
 * Four columns of dst are four steps, of a row of dst each: in step t row t of the vector to the
 * right begins with the column of the kernel that is moved, row t - 1 gets the middle one, row t -
 * 2 the last one, and row t - 3 is stored. So products of one sum are four cycles apart, and the
 * last rows of a vector go on beside the first ones of the next. After each vector instruction
 * comes one of what else there is: two rows of source for the step after this one, the bias, and
 * the store. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/neon.h"

/* Vector registers: even and odd columns of nine rows of source in v0 … v17; weights of a column of
 * the kernel in lanes, and two sets of sums. */
    .set WEIGHTS, 18
    .set SUMS, 21
    .set OTHER_SUMS, 25

to .req x3
    registers 6, vectors, last_src, last_dst

/* In the order of PLANES_BAND. */
    .macro for_bands
    no_bodies %((PLANES_LOWEST_BAND - 1) * 3)
    each_from rows, PLANES_LOWEST_BAND, 2, bands_of %rows
    no_bodies %((PLANES_HIGHEST_BAND - 4) * 3)
    .endm
    .macro bands_of R
    band \R, 0
    band \R, 1
    no_bodies 1
    .endm

/* LDR first: it depends on nothing that was in the register. */
    .macro load_weight into, ky
    when %(\ky == 0), ldr s\into, [in]
    otherwise ld1 {v\into\().s}[\ky], [to], scratch
    .endm
    .macro load_weights
    ldr scratch, [job, #job.weights_row]
    mov in, weights
    each kx, 3, load_column %(WEIGHTS + kx)
    .endm
    .macro load_column into
    add to, in, scratch
    each ky, 3, load_weight \into, %(ky)
    when %(kx < 2), add in, in, w_tap
    .endm

    .macro begin_plane_constants
    begin_plane
    load_weights
    .endm
    .set kind, IN_ORDER_NARROW

    .set STEPS, 4

/* Vectors of a band. The last one, if there are no whole ones left, overlaps the one before: what
 * that one has begun for its first column is in another lane, which v29 says. */
    .set FIRST, 0
    .set MIDDLE, 1
    .set LAST, 2

bias_pair .req x27
count .req x28
last_step .req x30 /* from the last whole vector to one more, of source; 0: there is none */

/* ---- what comes between vector instructions, one after another: the bias, rows, the store ---- */

/* Columns 0 … 3 of a row come to the even register of a row that is not needed then, columns 4 … 7 to
 * the row's odd one; upper halves are on their way in x5 and x29. Of a step's rows the last one's
 * places are free from the first products of the other columns on, after which it comes. */
    .macro load_part i, part, R
    load_part_of %(2 * ((\i + 2) % 9)), %(2 * \i + 1), \part, %(2 * \R - \i)
    .endm
    .macro load_part_of first, second, part, goes_on
    when %(\part == 0), load_d \first, [in]
    or_when %(\part == 1), ldr x5, [in, #8]
    or_when %(\part == 2), load_d \second, [in, #16]
    or_when %(\part == 3), ldr x29, [in, #24]
    or_when %(\part == 4), set_upper \first, x5
    or_when %((\part == 5) & (\goes_on > 0)), add in, in, row
    or_when %(\part == 5), .set is_other, 0
    otherwise set_upper \second, x29
    .endm
    .set ROW_PARTS, 7

/* Instruction `other` of a step, if there is one: is_other. Stores wait until the sum is_complete. */
    .macro try_other R
    .set is_other, 1
    .set to_store, other - 2 - load_rows * ROW_PARTS
    when %((other == 0) & (begins != 0)), spread_pair %(begun + t), bias_pair
    or_when %((other == 1) & (is_last_step != 0)), mov in, base
    or_when %((other > 1) & (to_store < 0)), load_part %(load_from + (other - 2) / ROW_PARTS), %((other - 2) % ROW_PARTS), \R
    or_when %((is_complete != 0) & (to_store >= 0) & (to_store < 2)), store_part \R, to_store
    otherwise .set is_other, 0
    when %((is_complete != 0) | (to_store < 0)), .set other, other + 1
    .endm
    .macro store_part R, part
    find_sum 3, \R
    when %((sum == 0) | ((\part == 0) & (r == 0))), .set is_other, 0
    or_when %(\part == 0), add to, to, dst_row
    otherwise store_q %(sum), [to]
    .endm
    .macro next_other R
    .set is_other, 0
    times 4, when %(is_other == 0), try_other \R
    .endm

/* ---- vector instructions of a step: row r of dst, t - `behind`, and its sum; 0: there is none. The
 * rows that are left of the vector before have its sums, which are what this one begins. ---- */

    .macro find_sum behind, R
    .set r, t - \behind
    .set sum, sums
    .set exists, goes_on
    .if r < 0
    .set r, r + STEPS
    .set sum, begun
    .set exists, has_before
    .endif
    .set sum, sum + r
    when %((exists == 0) | (r >= \R)), .set sum, 0
    .endm

    .macro begin_row ky, R, top
    when %((begins == -1) & (2 * t + \ky >= \top)), fma %(begun + t), %(2 * (2 * t + \ky) + 1), %(WEIGHTS), \ky
    next_other \R
    .endm
    .macro move_row R
    find_sum 1, \R
    .if sum
    when %((overlaps != 0) & (r < t)), find_before %(sum)
    shift_in %(sum), %(sum), %(sums + begun - sum + 2 * r), 12
    .endif
    next_other \R
    .endm
    .macro find_before sum
    tbl v\sum\().16b, {v\sum\().16b}, v29.16b
    .endm
    .macro take_column behind, kx, odd, ky, R, top
    find_sum \behind, \R
    when %((sum > 0) & (2 * r + \ky >= \top)), fma %(sum), %(2 * (2 * r + \ky) + \odd), %(WEIGHTS + \kx), \ky
    next_other \R
    .endm
/* Of low bands few instructions come before these: first what loads the row, if this step does. */
    .macro load_until i, R
    .set loaded_by, 2 + (\i + 1 - load_from) * ROW_PARTS
    .rept 3 * ROW_PARTS
    when %((\i >= load_from) & (\i < load_end) & (other < loaded_by)), next_other \R
    .endr
    .endm
    .macro separate op, i, odd, R, top
    .if (\i >= \top) & (\i <= 2 * \R)
    load_until \i, \R
    floats \op, %(2 * (\i) + \odd), %(2 * ((\i + 2) % 9)), %(2 * (\i) + 1)
    next_other \R
    .endif
    .endm

/* Rows that come in step t: two for the step after it, or the first three of the next vector. */
    .macro find_rows R, top
    .set is_last_step, (goes_on == 1) & (t == STEPS - 1)
    .set load_from, 2 * t + 3
    .set load_end, 2 * t + 5
    .if is_last_step
    .set load_from, \top
    .set load_end, 3
    .endif
    when %(load_end > 2 * \R + 1), .set load_end, 2 * \R + 1
    .set load_rows, load_end - load_from
    when %((load_rows < 0) | (goes_on == 0)), .set load_rows, 0
    .endm

/* Addresses of the next vector, an instruction in half a step. */
    .macro advance half
    .if (goes_on != 0) & (overlaps == 0)
    when %(\half == 2), mov scratch, #32
    or_when %(\half == 3), subs count, count, #1
    or_when %(\half == 4), csel scratch, scratch, last_step, ne
    or_when %(\half == 5), add base, base, scratch
    or_when %(\half == 6), mov to, out
    or_when %(\half == 7), add out, out, #16
    .endif
    when %((goes_on != 0) & (overlaps != 0) & (\half == 6)), add to, out, last_dst
    .endm

    .macro step R, top
    find_rows \R, \top
    .set begins, (goes_on == 1) & (t < \R)
    .set other, 0
    .set is_complete, 0
    .set loaded, (2 * t + 3) % 9
    when begins, next_other \R
    move_row \R
    when goes_on, separate uzp1, %(2 * t + 2), 0, \R, \top
    begin_row 0, \R, \top
    when goes_on, separate uzp2, %(2 * t + 2), 1, \R, \top
    take_column 1, 1, 0, 0, \R, \top
    take_column 2, 2, 1, 0, \R, \top
    begin_row 1, \R, \top
    advance %(2 * t)
    next_other \R
    take_column 1, 1, 0, 1, \R, \top
    take_column 2, 2, 1, 1, \R, \top
    begin_row 2, \R, \top
    when goes_on, separate uzp1, %(loaded), 0, \R, \top
    take_column 1, 1, 0, 2, \R, \top
    take_column 2, 2, 1, 2, \R, \top
    when goes_on, separate uzp2, %(loaded), 1, \R, \top
    advance %(2 * t + 1)
    next_other \R
    .set is_complete, 1
    .if is_last_step
    separate uzp1, 1, 0, \R, \top
    separate uzp2, 1, 1, \R, \top
    .endif
    times %(4 * ROW_PARTS), next_other \R
    .endm

/* ---- a band ---- */

/* The rows of the next vector come at the end: after the last one, which has none, its own again. */
    .macro vector R, top, its_sums, its_begun, place
    .set sums, \its_sums
    .set begun, \its_begun
    .set goes_on, 1
    .set has_before, \place != FIRST
    .set overlaps, \place == LAST
    each t, %(STEPS - 1), step \R, \top
    when %((\R == STEPS) & (overlaps != 0)), find_before %(sums + STEPS - 1)
    step \R, \top
    .endm
/* The rows that are left of the last vector, of which `its_sums` are. */
    .macro finish_vector R, top, its_sums, others
    .set sums, \others
    .set begun, \its_sums
    .set goes_on, 0
    .set has_before, 1
    .set overlaps, 0
    each t, %(STEPS - 1), step \R, \top
    .endm

    .macro first_rows R, top
    mov in, base
    each_from i, \top, %(3 - \top), each part, ROW_PARTS, load_part %(i), %(part), \R
    .set i, \top
    .rept 2 - \top
    floats uzp1, %(2 * i), %(2 * (i + 2)), %(2 * i + 1)
    floats uzp2, %(2 * i + 1), %(2 * (i + 2)), %(2 * i + 1)
    .set i, i + 1
    .endr
    .endm

    .macro band R, top
    begin_body
    mov count, vectors
    for_all spread_pair, SUMS, \R, bias_pair
    first_rows \R, \top
    vector \R, \top, SUMS, OTHER_SUMS, FIRST
    b.eq 4f
3:  vector \R, \top, OTHER_SUMS, SUMS, MIDDLE
    b.eq 5f
    vector \R, \top, SUMS, OTHER_SUMS, MIDDLE
    b.ne 3b
4:  cbz last_step, 6f
    vector \R, \top, OTHER_SUMS, SUMS, LAST
    b 8f
5:  cbz last_step, 8f
    vector \R, \top, SUMS, OTHER_SUMS, LAST
6:  finish_vector \R, \top, SUMS, OTHER_SUMS
    b 9f
8:  finish_vector \R, \top, OTHER_SUMS, SUMS
9:  band_done \R
    .endm

    begin_planes dwconv_f32_planes_stride_2_a55, 30
    ldr vectors, [job, #job.vectors]
    ldp last_src, last_dst, [job, #job.last_src]
    mov last_step, #0
    cbz last_src, 9f
    add last_step, last_src, #32
    add w5, w8, #12 /* the lane's first byte */
    mov w29, #0x01010101
    mul w5, w5, w29
    mov w29, #0x0100
    movk w29, #0x0302, lsl #16
    add w5, w5, w29
    dup v29.4s, w5
9:  planes_of_bands
    pop_and_return
    end_function dwconv_f32_planes_stride_2_a55
