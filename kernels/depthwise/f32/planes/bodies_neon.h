/* Functions of tiles of planes in place (planes.h), whatever is in a tile: lists of
 * tiles, and planes of 7x7, which are one tile. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/in_order_neon.h"

    .macro body K, V, R, side, padding
    .p2align 4
.Lplanes_\K\()_\V\()_\R\()_\side\()_\padding\():
    accept_branch
    take_columns \K, \V, \R, \side, \padding
    .if kind
    store_and_next_tile \V, \R
    .else
    store_rows \V, \R, \side, out
    next_tile base
    mov w, weights
    .endif
    cbnz clamp, .Lclamp_\K\()_\V\()_\R
    br scratch
    .endm

/* A clamp stores a tile's sums a second time; where, its entry of the list says, which is the last but
 * one that was read. A branch before the first time would keep those stores from going on beside the
 * products. */
    .macro clamp_tile K, V, R
.Lclamp_\K\()_\V\()_\R:
    limit \V, \R
    ldr in, [tiles, #-40]
    add in, in, dst
    store_rows \V, \R, MIDDLE, in
    br scratch
    .endm
    .macro clamp_tiles K
    clamp_tile \K, 1, 7
    clamp_tile \K, 2, 7
    .if \K == 3
    clamp_tile \K, 1, 4
    clamp_tile \K, 2, 4
    .endif
    .endm

/* Planes of 7x7 are one tile, and one block of instructions. */
    .macro whole_planes K
    begin_plane
    mov base, src
    mov out, dst
    mov w, weights
    take_columns \K, 2, 7, WHOLE, 3
    store_rows 2, 7, WHOLE, out
    cbz clamp, 1f
    limit 2, 7
    mov out, dst
    store_rows 2, 7, WHOLE, out
1:  next_plane
    .endm

/* ---- which bodies there are; the same list is their code and the table of it ---- */

    .macro entry K, V, R, side, padding
    .word .Lplanes_\K\()_\V\()_\R\()_\side\()_\padding - .Lplanes_\K\()_bodies
    .endm
    .macro for_rows what, K, V, side
    \what \K, \V, 7, \side, 0
    \what \K, \V, 7, \side, 1
    \what \K, \V, 7, \side, 2
    .if \K == 3
    \what \K, \V, 4, \side, 2
    .else
    .ifc \what, entry
    .word 0
    .endif
    .endif
    .endm
    .macro for_bodies what, K
    for_rows \what, \K, 2, 0
    for_rows \what, \K, 2, 1
    for_rows \what, \K, 2, 2
    for_rows \what, \K, 1, 2
    .endm

    .macro function name, K
    begin_planes dwconv_f32_planes_\name, %(26 + 2 * kind)
    begin_tiles \K
    cbz tiles, 20f
    adr bodies, .Lplanes_\K\()_bodies
10: begin_plane
    next_tile base
    mov w, weights
    br scratch
    for_bodies body, \K
    clamp_tiles \K
.Lplanes_\K\()_end:
    accept_branch
    ldr tiles, [job, #JOB_TILES]
    next_plane
    b.ne 10b
    b 30f
20: whole_planes \K
    b.ne 20b
30: pop_and_return
    .p2align 2
.Lplanes_\K\()_bodies:
    for_bodies entry, \K
    .word .Lplanes_\K\()_end - .Lplanes_\K\()_bodies
    end_function dwconv_f32_planes_\name
    .endm
