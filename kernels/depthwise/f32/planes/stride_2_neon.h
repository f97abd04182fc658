/* What the bands of kernels/depthwise/f32/planes/stride_2_tiles_neon.S and _a55_neon.S have in
 * common: registers, weights, and the table of bands. Whoever includes this defines `band`. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/neon.h"

/* Vector registers: even and odd columns of nine rows of source in v0 … v17; weights of a column of the
 * kernel in lanes, and two sets of sums; limits. */
    .set WEIGHTS, 18
    .set SUMS, 21
    .set OTHER_SUMS, 25
    .set LOW, 30
    .set HIGH, 31

to .req x3
vectors .req x6
last_src .req x7
last_dst .req x8

    .macro move_on sum, begun_sum
    ext v\sum\().16b, v\sum\().16b, v\begun_sum\().16b, #12
    .endm

    .macro band_entry R, top
    .word .Lband_\R\()_\top - .Lbands
    .endm

/* In the order of PLANES_BAND. */
    .macro for_bands what
    for_paddings \what, 1
    for_paddings \what, 2
    for_paddings \what, 3
    for_paddings \what, 4
    .endm
    .macro for_paddings what, R
    \what \R, 0
    \what \R, 1
    .ifc \what, band_entry
    .word 0, 0
    .endif
    .endm

/* LDR first: it depends on nothing that was in the register. */
    .macro load_weight kx, ky
    .if \ky == 0
    ldr s\kx, [in]
    .else
    ld1 {v\kx\().s}[\ky], [to], scratch
    .endif
    .endm
    .macro load_weights
    ldr scratch, [job, #JOB_WEIGHTS_ROW]
    mov in, weights
    .set kx, 0
    .rept 3
    add to, in, scratch
    .set ky, 0
    .rept 3
    load_weight %(WEIGHTS + kx), %(ky)
    .set ky, ky + 1
    .endr
    .if kx < 2
    add in, in, w_tap
    .endif
    .set kx, kx + 1
    .endr
    .endm

/* Each plane by the bands of its list, and where these are. */
    .macro planes_of_bands
10: begin_plane
    load_weights
    ldr tiles, [job, #JOB_TILES]
    next_tile base
    br scratch
    for_bands band
.Lend:
    accept_branch
    next_plane
    b.ne 10b
    .endm
    .macro band_table
    .p2align 2
.Lbands:
    for_bands band_entry
    .rept 3 * 4
    .word 0
    .endr
    .word .Lend - .Lbands
    .endm
