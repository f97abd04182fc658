/* Lists of bands of planes with stride 2 in pairs (planes.h): what the assembly of 3x3
 * and of 5x5 shares. A band is three or four rows of dst, of 3x3 also seven, a tile four columns of
 * it. Files have
 *
 *   tile R, padding, side            which leaves `base` and `out` at the tile to the right
 *   begin_function_constants         vectors that all planes share
 *   begin_plane_constants            the bias and weights of one
 *   whole_planes                     3x3: what is done without a list, to label 12 */
/* clang-format off */
#include "kernels/depthwise/f32/planes/pairs_neon.h"

/* Left of the first tile are zeros; behind the last one are so for 5x5, and one more where an image ends
 * with an even column. 5x5: the last one may also have two columns only, behind whole tiles. */
    .set MIDDLE, 0
    .set LEFT, 1
    .set RIGHT, 2
    .set RIGHT_EVEN, 3
    .set RIGHT_HALF, 4

count .req x27
vectors .req x28
last_src .req x29
last_dst .req x30

/* The last tile overlaps the one before unless it is whole, or half of one. */
    .macro whole_tiles R, padding
    mov count, vectors
    ldr scratch, [job, #JOB_LEFT]
    cbz scratch, 1f
    tile \R, \padding, LEFT
    cbz count, 2f
1:  tile \R, \padding, MIDDLE
    subs count, count, #1
    b.ne 1b
2:
    .endm
    .macro band_done R
    mov count, #\R
    b .Lnext_band
    .endm
    .macro band_body R, padding
    whole_tiles \R, \padding
    ldr scratch, [job, #JOB_ENDS]
    cbnz scratch, 5f
    .if KERNEL == 3
    cbz last_src, 3f
    .endif
    add base, base, last_src
    add out, out, last_dst
    tile \R, \padding, %(KERNEL / 5 * RIGHT)
3:  band_done \R
5:
    .if KERNEL == 5
    tbnz scratch, #1, 6f /* PLANES_ENDS_HALF */
    .endif
    add base, base, last_src
    add out, out, last_dst
    tile \R, \padding, RIGHT_EVEN
    .if KERNEL == 5
    band_done \R
6:  tile \R, \padding, RIGHT_HALF
    .endif
    band_done \R
    .endm

    .macro band R, padding
    .p2align 4
.Lband_\R\()_\padding\():
    accept_branch
    band_body \R, \padding
    .endm

    .macro no_bands what, count
    .ifc \what, band_entry
    .rept \count
    .word 0
    .endr
    .endif
    .endm

/* In the order of PLANES_BAND. */
    .macro for_paddings what, R
    \what \R, 0
    \what \R, 1
    \what \R, 2
    .if KERNEL == 5
    \what \R, 4
    .else
    no_bands \what, 1
    .endif
    .endm
    .macro for_bands what
    .set height, 1
    .rept PLANES_HIGHEST_BAND
    for_height \what, %(height)
    .set height, height + 1
    .endr
    .endm
    .macro for_height what, R
    .if (\R == 3) | (\R == 4) | ((KERNEL == 3) & (\R % 7 == 0))
    for_paddings \what, \R
    .else
    no_bands \what, 4
    .endif
    .endm

    .macro function name
    begin_planes \name, 30, 48
    ldr weights_row, [job, #JOB_WEIGHTS_ROW]
    ldr vectors, [job, #JOB_VECTORS]
    ldp last_src, last_dst, [job, #JOB_LAST_SRC]
    begin_function_constants
    adr bodies, .Lbands
    .if KERNEL == 3
    cbz tiles, 13f
    .endif
    planes_of_bands
12: pop_and_return
    .if KERNEL == 3
13: whole_planes
    .endif
    .p2align 2
.Lbands:
    for_bands band_entry
    .word .Lend - .Lbands
    end_function \name
    .endm
