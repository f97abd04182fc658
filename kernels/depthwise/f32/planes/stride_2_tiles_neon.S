/* Depthwise 3x3 convolution of planes in place with stride 2, for NEON: see planes.h.
 *
 * A band is R rows of dst. For four columns of them LD2 brings 2 R + 1 rows of source as even and odd
 * columns, in pairs of v0 … v17. With column x of dst go the odd column before it, its even and its
 * odd one: the first is that of the vector before, moved on by a lane. So the sums of the first
 * column of the kernel are begun in the places of the column before (`begun`, which the next
 * vector needs) and moved by one EXT for each row of dst, not of source. Four rows: 36 FMLA, 9 LD2,
 * 4 EXT. Deinterleaving takes the pipes of FMLA, and this is the least of it.
 *
 * The band's last vector, if there are no whole ones left, overlaps the one before; there the odd
 * columns are moved instead. */
#include "kernels/depthwise/f32/planes/stride_2_neon.h"

    .set MOVED, 29 /* a vector register */
count .req x5

    .macro load_bias sum
    ldr q\sum, [sp, #at_locals]
    .endm
    .macro load_pair even, odd
    ld2 {v\even\().4s, v\odd\().4s}, [in], row
    .endm
    .macro store sum
    st1 {v\sum\().4s}, [to], dst_row
    .endm

/* Rows of source: all but the first one if that is padding. */
    .macro load_rows R, top
    .set i, \top
    .rept 2 * \R + 1 - \top
    load_pair %(2 * i), %(2 * i + 1)
    .set i, i + 1
    .endr
    .endm

/* One column of the kernel for all R sums; `odd` columns of source, or even ones. */
    .macro take_column R, top, kx, sums, odd
    .set ky, 0
    .rept 3
    .set r, 0
    .rept \R
    .if 2 * r + ky >= \top
    fma %(\sums + r), %(4 * r + 2 * ky + \odd), %(WEIGHTS + \kx), %(ky)
    .endif
    .set r, r + 1
    .endr
    .set ky, ky + 1
    .endr
    .endm

    .macro finish_vector R, top, sums, clamps
    take_column \R, \top, 1, \sums, 0
    take_column \R, \top, 2, \sums, 1
    .if \clamps
    clamp_all \sums, \R, %(LOW), %(HIGH)
    .endif
    mov to, out
    for_all store, \sums, \R
    add out, out, #16
    .endm

/* `sums` are what the vector before has begun; this one leaves what it begins in `begun`. */
    .macro next_vector R, top, sums, begun, clamps
    mov in, base
    add base, base, #32
    load_rows \R, \top
    for_all load_bias, \begun, \R
    take_column \R, \top, 0, \begun, 1
    .set r, 0
    .rept \R
    move_on %(\sums + r), %(\begun + r)
    .set r, r + 1
    .endr
    finish_vector \R, \top, \sums, \clamps
    .endm
    .macro first_vector R, top, sums, begun, clamps
    for_all load_bias, \sums, \R
    next_vector \R, \top, \sums, \begun, \clamps
    .endm

/* The odd columns before the vector's: lane 3 of what is 16 bytes before, and three of its own. */
    .macro load_moved odd
    ld1 {v29.4s}, [to], row
    ext v29.16b, v29.16b, v\odd\().16b, #12
    .endm
    .macro take_moved R, row_number
    .set r, 0
    .rept \R
    .if \row_number >= 2 * r
    .if \row_number <= 2 * r + 2
    fma %(SUMS + r), %(MOVED), %(WEIGHTS), %(\row_number - 2 * r)
    .endif
    .endif
    .set r, r + 1
    .endr
    .endm
    .macro last_vector R, top, clamps
    add in, base, last_src
    add out, out, last_dst
    sub to, in, #16
    load_rows \R, \top
    for_all load_bias, SUMS, \R
    .set i, \top
    .rept 2 * \R + 1 - \top
    load_moved %(2 * i + 1)
    take_moved \R, %(i)
    .set i, i + 1
    .endr
    finish_vector \R, \top, SUMS, \clamps
    .endm

/* The first vector or the first two, then pairs, so that the sums change places without moves. */
    .macro band_body R, top, clamps
    lsr count, vectors, #1
    tbz vectors, #0, 1f
    first_vector \R, \top, SUMS, OTHER_SUMS, \clamps
    cbnz count, 2f
    b 3f
1:  first_vector \R, \top, OTHER_SUMS, SUMS, \clamps
    next_vector \R, \top, SUMS, OTHER_SUMS, \clamps
    subs count, count, #1
    b.eq 3f
2:  next_vector \R, \top, OTHER_SUMS, SUMS, \clamps
    next_vector \R, \top, SUMS, OTHER_SUMS, \clamps
    subs count, count, #1
    b.ne 2b
3:  cbz last_src, 4f
    last_vector \R, \top, \clamps
4:
    .endm

    .macro band R, top
    .p2align 4
.Lband_\R\()_\top\():
    accept_branch
    cbnz clamp, 5f
    band_body \R, \top, 0
    next_tile base
    br scratch
5:  ldp q30, q31, [clamp]
    band_body \R, \top, 1
    next_tile base
    br scratch
    .endm
/* Planes of 7x7 and 14x14 are one block of instructions: four rows, four (of 14), three, three (of
 * 14), each a vector, two more (of 14) and the last one. */
    .macro whole_band R, top, at, size, clamps
    .if \at
    mov scratch, #(2 * \at - 1)
    madd base, row, scratch, src
    mov scratch, #\at
    madd out, dst_row, scratch, dst
    .else
    mov base, src
    mov out, dst
    .endif
    first_vector \R, \top, SUMS, OTHER_SUMS, \clamps
    .if \size == 14
    next_vector \R, \top, OTHER_SUMS, SUMS, \clamps
    next_vector \R, \top, SUMS, OTHER_SUMS, \clamps
    .endif
    last_vector \R, \top, \clamps
    .endm
    .macro whole_planes size, clamps
    .if \clamps
    ldp q30, q31, [clamp]
    .endif
6:  begin_plane
    load_weights
    whole_band 4, 1, 0, \size, \clamps
    .if \size == 7
    whole_band 3, 0, 4, \size, \clamps
    .else
    whole_band 4, 0, 4, \size, \clamps
    whole_band 3, 0, 8, \size, \clamps
    whole_band 3, 0, 11, \size, \clamps
    .endif
    next_plane
    b.ne 6b
    b 12b
    .endm
    .macro whole_or_clamped_planes size
    cbnz clamp, 7f
    whole_planes \size, 0
7:  whole_planes \size, 1
    .endm

    begin_planes dwconv_f32_planes_stride_2
    ldr vectors, [job, #JOB_VECTORS]
    ldp last_src, last_dst, [job, #JOB_LAST_SRC]
    cbz tiles, 11f
    adr bodies, .Lbands
    planes_of_bands
12: pop_and_return
11: cmp vectors, #1
    b.ne 13f
    whole_or_clamped_planes 7
13: whole_or_clamped_planes 14
    band_table
    end_function dwconv_f32_planes_stride_2
