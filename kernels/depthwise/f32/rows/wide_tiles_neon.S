/* Depthwise convolution of planes by tiles of neighbouring columns, for NEON: see wide.h.
 *
 * A tile of R rows of V vectors keeps its sums in v16 … v31. Taps of stride 1, one below the other,
 * come in pairs: their weights are lanes of v0, and R + 1 rows of source go to v2 … v5 and v6 … v9 in
 * turn for 2 R V FMLA. Others come one by one, with a load of V vectors for V FMLA. Tiles of one and
 * two vectors have seven rows, too. */

#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/rows/wide_offsets.h"

job .req x0
in .req x1
row .req x2
back .req x3
w .req x4
taps .req x5
out .req x6
dst_row .req x7
tiles .req x8
bodies .req x9
dst .req x10
constants .req x11
inner .req x12
clamp .req x13
back_sum .req x14
from .req x15
to .req x16
scratch .req x17
src_offset .req x19
planes .req x20
src_plane .req x21
dst_plane .req x22
weights .req x23
bias .req x24
copies .req x25
copies_left .req x26
outer .req x25 /* of a tile */
outer_step .req x26
rest .req x27
second .req x28 /* stride 1: from tap to tap */
chunks .req x29
quads .req x30

/* ---- a plane's preparation ---- */

/* The bias sixteen times, and the weights in the order of steps, by general registers. */
    .macro spread_constants
    ld1r {v4.4s}, [bias]
    stp q4, q4, [constants]
    stp q4, q4, [constants, #32]
    mov from, weights
    add to, constants, #64
    ldp scratch, back, [job, #JOB_WEIGHTS_ROW]
    ldr copies, [job, #JOB_OUTER]
1:  mov taps, inner
2:  ldr copies_left, [job, #JOB_KERNEL_ROWS]
3:  ldr w6, [from]
    add from, from, scratch
    str w6, [to], #4
    subs copies_left, copies_left, #1
    b.ne 3b
    add from, from, back
    subs taps, taps, #1
    b.ne 2b
    ldr x6, [job, #JOB_WEIGHTS_OUTER]
    subs copies, copies, #1
    add from, from, x6
    b.ne 1b
    .endm

/* Of rows of 16 values and more, and of rows of four or eight and as many to their end. Rows that
 * have one way each are one block. */
    .macro next_copy
    ldp from, to, [copies], #16
    add from, from, src_offset
    .endm
    .macro until_copied label
    subs copies_left, copies_left, #1
    b.ne \label
    .endm

    .macro copy_rows_1
    ldp copies, copies_left, [job, #JOB_COPIES]
    cbz copies_left, 5f
    cbz chunks, 3f
1:  next_copy
    mov scratch, chunks
2:  ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [from], #64
    subs scratch, scratch, #1
    st1 {v0.4s, v1.4s, v2.4s, v3.4s}, [to], #64
    b.ne 2b
    cbz rest, 6f
    add from, from, rest
    add to, to, rest
    ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [from]
    st1 {v0.4s, v1.4s, v2.4s, v3.4s}, [to]
6:  until_copied 1b
    b 5f
3:  tbz quads, #1, 4f
7:  next_copy
    ldp q0, q1, [from]
    add from, from, rest
    stp q0, q1, [to]
    ldp q2, q3, [from]
    add to, to, rest
    stp q2, q3, [to]
    until_copied 7b
    b 5f
4:  next_copy
    ldr q0, [from]
    ldr q1, [from, rest]
    str q0, [to]
    str q1, [to, rest]
    until_copied 4b
5:
    .endm

    .macro copy_rows_2
    ldp copies, copies_left, [job, #JOB_COPIES]
    cbz copies_left, 5f
1:  ldp from, to, [copies], #16
    mov scratch, chunks
    add from, from, src_offset
    add out, to, second
2:  ld2 {v0.4s, v1.4s}, [from], #32
    subs scratch, scratch, #1
    str q0, [to], #16
    str q1, [out], #16
    b.ne 2b
    cbz rest, 3f
    add from, from, rest
    add to, to, rest, asr #1
    add out, out, rest, asr #1
    ld2 {v0.4s, v1.4s}, [from], #32
    str q0, [to], #16
    str q1, [out]
3:  cbz quads, 4f
    ldr s0, [from]
    str s0, [to]
4:  subs copies_left, copies_left, #1
    b.ne 1b
5:
    .endm

/* ---- a tile ---- */

/* What the rows of source for two rows of the kernel give to the rows of dst, the upper one first. */
    .macro take_two_taps V, R
    ldr d0, [w], #8
    mov from, in
    .set r, 0
    .rept \R + 1
    several ld1, \V, %(2 + r % 2 * 4), from, row
    .if r < \R
    take_row \V, %(16 + r * \V), %(2 + r % 2 * 4), 0
    .endif
    .if r > 0
    take_row \V, %(16 + r * \V - \V), %(2 + r % 2 * 4), 1
    .endif
    .set r, r + 1
    .endr
    add in, in, row, lsl #1
    .endm

/* The same for one row of the kernel. */
    .macro take_tap S, V, R
    ld1r {v0.4s}, [w], #4
    mov from, in
    .set r, 0
    .rept \R
    several_at ld1, \V, %(2 + r % 2 * 4), from
    .if r + 1 < \R
    add from, from, row, lsl #(\S - 1)
    .endif
    take_row \V, %(16 + r * \V), %(2 + r % 2 * 4), 0
    .set r, r + 1
    .endr
    .if \S == 1
    add in, in, second
    .else
    add in, in, row
    .endif
    .endm
    .macro take_row V, sum, x, tap
    .set v, 0
    .rept \V
    fma %(\sum + v), %(\x + v), 0, \tap
    .set v, v + 1
    .endr
    .endm

    .macro next_tile
    ldp in, out, [tiles], #16
    ldr scratch, [tiles], #8
    add out, out, dst
    ldrsw scratch, [bodies, scratch, lsl #2]
    add scratch, scratch, bodies
    br scratch
    .endm

/* In each step the copy is walked down, as many rows as the kernel has. */
    .macro body name, S, V, R, height
    .p2align 4
\name\()_\V\()_\R\():
    accept_branch
    .set r, 0
    .rept \R
    several_at ld1, \V, %(16 + r * \V), constants
    .set r, r + 1
    .endr
    add w, constants, #64
    ldp back, back_sum, [job, #JOB_BACK]
    ldp outer, outer_step, [job, #JOB_OUTER]
0:  mov taps, inner
1:  ldp to, scratch, [job, #JOB_SINGLES]
2:  take_tap \S, \V, \R
    subs to, to, #1
    b.ne 2b
    .if \S == 1
    cbz scratch, 5f
4:  take_two_taps \V, \R
    subs scratch, scratch, #1
    b.ne 4b
    .endif
5:  add in, in, back
    .if \S == 2
    sub back, back_sum, back
    .endif
    subs taps, taps, #1
    b.ne 1b
    add in, in, outer_step
    subs outer, outer, #1
    b.ne 0b
    cbz clamp, 3f
    ldp q0, q1, [clamp]
    clamp_all 16, %(\R * \V), 0, 1
3:
    .set i, 16
    .rept \R
    several st1, \V, %(i), out, dst_row
    .set i, i + \V
    .endr
    next_tile
    .endm

    .macro bodies_of name, S, V
    .if \V <= 2
    body \name, \S, \V, 7, 0
    .endif
    body \name, \S, \V, 4, 1
    body \name, \S, \V, 2, 2
    body \name, \S, \V, 1, 3
    .endm
    .macro body_offsets name, V
    .if \V <= 2
    .word \name\()_\V\()_7 - \name\()_bodies
    .else
    .word 0
    .endif
    .word \name\()_\V\()_4 - \name\()_bodies, \name\()_\V\()_2 - \name\()_bodies
    .word \name\()_\V\()_1 - \name\()_bodies
    .endm

    .macro function name, S
    begin_function dwconv_f32_wide_\name
    save_registers 1, 30, 16
    ldp chunks, quads, [job, #JOB_CHUNKS]
    ldp rest, second, [job, #JOB_REST]
    ldr row, [job, #JOB_ROW]
    ldp dst, dst_row, [job, #JOB_DST]
    ldr weights, [job, #JOB_WEIGHTS]
    ldp inner, bias, [job, #JOB_INNER]
    ldp clamp, constants, [job, #JOB_CLAMP]
    ldp planes, src_plane, [job, #JOB_PLANES]
    ldr dst_plane, [job, #JOB_DST_PLANE]
    mov src_offset, #0
    adr bodies, .L\name\()_bodies
10: ldr scratch, [job, #JOB_MULTIPLIER]
    str scratch, [sp, #at_locals]
    copy_rows_\S
12: spread_constants
    ldr tiles, [job, #JOB_TILES]
    next_tile
    bodies_of .L\name, \S, 1
    bodies_of .L\name, \S, 2
    bodies_of .L\name, \S, 3
    bodies_of .L\name, \S, 4
.L\name\()_end:
    accept_branch
    ldr scratch, [job, #JOB_BIAS_NEXT]
    add dst, dst, dst_plane
    add weights, weights, #4
    add bias, bias, scratch
    subs planes, planes, #1
    b.eq 13f
    ldr scratch, [sp, #at_locals]
    subs scratch, scratch, #1
    str scratch, [sp, #at_locals]
    b.ne 12b
    add src_offset, src_offset, src_plane
    b 10b
13: pop_and_return
    .p2align 2
.L\name\()_bodies:
    body_offsets .L\name, 1
    body_offsets .L\name, 2
    body_offsets .L\name, 3
    body_offsets .L\name, 4
    .word .L\name\()_end - .L\name\()_bodies
    end_function dwconv_f32_wide_\name
    .endm

    function s1, 1
    function s2, 2
