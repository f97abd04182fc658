/* What the assembly for planes in place with stride 2 in pairs shares (planes.h): lists of bands,
 * and their columns.
 *
 * To separate even columns from odd ones takes the pipes of FMLA. So most columns are used as they
 * lie: two pairs of neighbours in a vector go with the weights of two neighbouring columns of the
 * kernel, twice. Even and odd lanes have sums of their own, and one FADDP of two vectors of them
 * makes four values of dst. Only the column of the kernel that is left over wants every other
 * column of source, by one UZP1 for four of them; it then serves all rows of dst it reaches.
 *
 * A band is four or seven rows of dst, a tile four columns of it. Files have
 *
 *   tile R, padding, side            which leaves `base` and `out` at the tile to the right
 *   begin_function_constants         vectors that all planes share
 *   begin_plane_constants            the bias and weights of one
 *   whole_planes                     what is done without a list, to label 12 */
/* clang-format off */
#include "kernels/depthwise/f32/planes/neon.h"

to .req x3
/* x4 … x7: from a row's first weight to the others; and to the next row */
weights_row .req x8

/* Left of the first tile are zeros; behind the last one are so for 5x5, and for 3x3 where an image
 * ends with an even column. */
    .set MIDDLE, 0
    .set LEFT, 1
    .set RIGHT, 2
    .set RIGHT_EVEN, 3

    registers 27, count, vectors, last_src, last_dst

/* The bias of a plane; its upper half is zero. */
    .macro load_bias to
    ldr \to, [bias]
    add bias, bias, bias_next
    .endm

/* The last tile overlaps the one before unless it is whole. */
    .macro whole_tiles R, padding
    mov count, vectors
    ldr scratch, [job, #job.left]
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
    .macro last_tile R, padding, side
    add base, base, last_src
    add out, out, last_dst
    tile \R, \padding, \side
    .endm
    .macro band_body R, padding
    whole_tiles \R, \padding
    .if KERNEL == 5
    last_tile \R, \padding, RIGHT
    .else
    ldr scratch, [job, #job.ends_even]
    cbnz scratch, 5f
    cbz last_src, 3f
    last_tile \R, \padding, MIDDLE
3:  band_done \R
5:  last_tile \R, \padding, RIGHT_EVEN
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
    times \count, .word 0
    .endif
    .endm

/* In the order of PLANES_BAND. */
    .macro for_bands what
    each_from height, 1, PLANES_HIGHEST_BAND, for_height \what, %(height)
    .endm
    .macro for_height what, R
    .if (\R == 4) | (\R == 7)
    \what \R, 0
    \what \R, 1
    .if (\R == 7) & (KERNEL == 3)
    no_bands \what, 1
    .else
    \what \R, 2
    .endif
    .else
    no_bands \what, 3
    .endif
    .endm

    .macro function name
    begin_planes \name, 30, %(48 + KERNEL / 5 * 224)
    ldr weights_row, [job, #job.weights_row]
    ldr vectors, [job, #job.vectors]
    ldp last_src, last_dst, [job, #job.last_src]
    begin_function_constants
    adr bodies, .Lbands
    cbz tiles, 13f
    planes_of_bands
12: pop_and_return
13: whole_planes
    .p2align 2
.Lbands:
    for_bands band_entry
    .word .Lend - .Lbands
    end_function \name
    .endm
