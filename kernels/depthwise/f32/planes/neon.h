/* What the assembly for planes in place (planes.h) shares: the job's registers, and the
 * ways from tile to tile and from plane to plane. x1 … x8, x9 (out) and x17 are each file's own. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/planes/planes_offsets.h"

    registers 0, job, in, row
w_tap .req x4
    registers 9, out, dst_row, tiles, bodies, src, dst
    registers 15, clamp, scratch, base
    registers 19, weights, bias, planes, repeats
    registers 23, multiplier, src_plane, dst_plane, bias_next

    .macro shift_in to, x, y, bytes
    ext v\to\().16b, v\x\().16b, v\y\().16b, #\bytes
    .endm
/* By a general register, whose way to vectors takes the pipes neither of FMLA nor of loads. */
    .macro spread_pair to, from
    dup v\to\().2d, \from
    .endm

/* IN_ORDER_* of the cores that a function is for; 0: all. */
    .set kind, 0

    .macro begin_planes name, last=26, locals=32
    begin_function \name
    save_registers 4, \last, \locals
    ldp src, dst, [job, #job.src]
    ldp row, dst_row, [job, #job.row]
    ldp weights, w_tap, [job, #job.weights]
    ldr bias, [job, #job.bias]
    ldp bias_next, clamp, [job, #job.bias_next]
    ldp tiles, planes, [job, #job.tiles]
    ldp src_plane, dst_plane, [job, #job.src_plane]
    ldr multiplier, [job, #job.multiplier]
    mov repeats, multiplier
    .endm

/* The bias eight times, at sp + at_locals: by a general register, as vectors would take the pipes
 * of FMLA. */
    .macro begin_plane
    ldr w16, [bias]
    add bias, bias, bias_next
    orr x16, x16, x16, lsl #32
    stp x16, x16, [sp, #at_locals]
    stp x16, x16, [sp, #at_locals + 16]
    when %(kind == IN_ORDER_NARROW), mov bias_pair, x16
    .endm

/* The flags say whether it was the last one. */
    .macro next_plane
    add scratch, src, src_plane
    add dst, dst, dst_plane
    add weights, weights, #4
    subs repeats, repeats, #1
    csel src, scratch, src, eq
    csel repeats, multiplier, repeats, eq
    subs planes, planes, #1
    .endm

/* So many rows from `to` (x3) on, where they were stored: a branch for each tile would cost those
 * convolutions more that have no clamp. Rows that follow one another are one; a row's last vector
 * may be done twice. Of vectors, only sums are lost. */
    .macro clamp_rows rows
    ldp q30, q31, [clamp]
    ldr out, [job, #job.row_bytes]
    cmp out, dst_row
    b.ne 1f
    mul out, out, \rows
    mov \rows, #1
1:  mov in, to
    add base, to, out
    sub base, base, #16
2:  clamp_vector in
    add in, in, #16
    cmp in, base
    b.lo 2b
    clamp_vector base
    add to, to, dst_row
    subs \rows, \rows, #1
    b.ne 1b
    .endm
    .macro clamp_vector at
    ldr q28, [\at]
    clamp_to 28, 30, 31
    str q28, [\at]
    .endm

/* After a plane that is one block: where no clamp is, a branch to the next one is the only one. */
    .macro next_whole_plane rows, again
    next_plane
    ccmp clamp, #0, #0, ne
    b.eq \again
    cbz clamp, 94f
    sub to, dst, dst_plane
    mov scratch, #\rows
    clamp_rows scratch
    cbnz planes, \again
94:
    .endm

/* Of bands, which are lists of one tile. */
    .macro end_band rows
    cbz clamp, 93f
    ldr to, [tiles, #-16] /* where its dst begins */
    add to, to, dst
    clamp_rows \rows
93: next_tile base
    br scratch
    .endm

/* Where its source begins and its results go; its body is then at `scratch`. */
    .macro next_tile from
    ldp \from, out, [tiles], #16
    ldr scratch, [tiles], #8
    add \from, \from, src
    add out, out, dst
    ldrsw scratch, [bodies, scratch, lsl #2]
    add scratch, scratch, bodies
    .endm

/* ---- bodies of tiles or of bands, and the table of where they are, which follows all code of a
 * file: from `bodies` on, in the order in which they come ---- */

    .macro begin_bodies
    .subsection 1
    .p2align 2
98: .subsection 0
    adr bodies, 98b
    .endm
    .macro begin_body
    .p2align 4
97: accept_branch
    .subsection 1
    .word 97b - 98b
    .subsection 0
    .endm
    .macro no_bodies count
    .subsection 1
    .fill (\count), 4, 0
    .subsection 0
    .endm

/* Each plane by the bands of its list: `for_bands` says which there are, and `begin_plane_constants`
 * is each file's own. */
    .macro planes_of_bands
    begin_bodies
10: begin_plane_constants
    ldr tiles, [job, #job.tiles]
    next_tile base
    br scratch
    for_bands
95: end_band count
    begin_body
    next_plane
    b.ne 10b
    .endm
    .macro band_done R
    mov count, #\R
    b 95f
    .endm
