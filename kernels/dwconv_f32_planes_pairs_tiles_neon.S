/* Depthwise 3x3 and 5x5 convolution of planes in place with stride 2, for NEON: see
 * dwconv_f32_planes.h. Lists of bands, and planes of 7x7 and 14x14, which are one block. */
#include "kernels/dwconv_f32_planes_pairs_tiles_neon.h"

/* ---- a band ---- */

/* The last tile overlaps the one before unless columns are a multiple of four. */
    .macro last_tile K, R, padding, clamps
    .if \K == 3
    tile \K, \R, \padding, MIDDLE, \clamps
    .else
    tile \K, \R, \padding, RIGHT, \clamps
    .endif
    .endm
    .macro band_body K, R, padding, clamps
    mov count, vectors
    ldr scratch, [job, #JOB_LEFT]
    cbz scratch, 1f
    tile \K, \R, \padding, LEFT, \clamps
    cbz count, 2f
1:  tile \K, \R, \padding, MIDDLE, \clamps
    subs count, count, #1
    b.ne 1b
2:  ldr scratch, [job, #JOB_ENDS_EVEN]
    cbnz scratch, 5f
    .if \K == 3
    cbz last_src, 3f
    .endif
    add base, base, last_src
    add out, out, last_dst
    last_tile \K, \R, \padding, \clamps
3:  next_tile base
    br scratch
5:  add base, base, last_src
    add out, out, last_dst
    tile \K, \R, \padding, RIGHT_EVEN, \clamps
    next_tile base
    br scratch
    .endm

    .macro band K, R, padding
    .p2align 4
.Lband_\K\()_\R\()_\padding\():
    cbnz clamp, 4f
    band_body \K, \R, \padding, 0
4:  band_body \K, \R, \padding, 1
    .endm

    .macro band_entry K, R, padding
    .word .Lband_\K\()_\R\()_\padding - .Lbands_\K
    .endm
    .macro no_bands what, count
    .ifc \what, band_entry
    .rept \count
    .word 0
    .endr
    .endif
    .endm

/* In the order of PLANES_BAND. */
    .macro for_paddings what, K, R
    \what \K, \R, 0
    \what \K, \R, 1
    \what \K, \R, 2
    .if \K == 5
    \what \K, \R, 4
    .else
    no_bands \what, 1
    .endif
    .endm
    .macro for_bands what, K
    for_paddings \what, \K, 1
    for_paddings \what, \K, 2
    for_paddings \what, \K, 3
    for_paddings \what, \K, 4
    .if \K == 3
    for_paddings \what, \K, 5
    for_paddings \what, \K, 6
    for_paddings \what, \K, 7
    .else
    no_bands \what, 3 * 4
    .endif
    .endm

/* ---- a plane ---- */

    .macro load_weight register, kx
    .if \kx == 0
    ldr \register, [in]
    .else
    load_weight_at \register, %(3 + \kx)
    .endif
    .endm
    .macro load_weight_at register, offset
    ldr \register, [in, x\offset]
    .endm
    .macro load_pair_of_weights vector, kx
    load_weight w16, \kx
    load_weight w3, %(\kx + 1)
    orr x16, x16, x3, lsl #32
    dup v\vector\().2d, x16
    .endm
    .macro load_single_weight vector, kx
    load_weight s\vector, \kx
    .endm

    .macro load_weights K
    mov in, weights
    .set ky, 0
    .rept \K
    .set pair, 0
    .rept \K / 2
    load_pair_of_weights %(WEIGHTS + pair * \K + ky), %(\K / 2 % 2 + 2 * pair)
    .set pair, pair + 1
    .endr
    load_single_weight %(WEIGHTS + \K / 2 * \K + ky), %((\K / 2 + 1) % 2 * (\K - 1))
    add in, in, weights_row
    .set ky, ky + 1
    .endr
    .endm

/* Planes of 14x14 with 3x3, and of 7x7 with 5x5, are one block of instructions: the weights of one are
 * loaded while multiply-adds of the one before go on. */
    .macro whole_band K, R, padding, y, size, clamps
    .if \y
    mov scratch, #(2 * \y - \K / 2)
    madd base, row, scratch, src
    mov scratch, #\y
    madd out, dst_row, scratch, dst
    .else
    mov base, src
    mov out, dst
    .endif
    tile \K, \R, \padding, LEFT, \clamps
    .rept \size / 4 - 1
    tile \K, \R, \padding, MIDDLE, \clamps
    .endr
    .if \size == 14
    half_tile \R, \padding, \clamps
    .else
    sub base, base, #8
    sub out, out, #4
    last_tile \K, \R, \padding, \clamps
    .endif
    .endm
    .macro whole_planes K, size, clamps
5:  spread_bias_to_pairs
    load_weights \K
    whole_band \K, 4, 1, 0, \size, \clamps
    .if \size == 7
    whole_band \K, 3, 2, 4, \size, \clamps
    .else
    whole_band \K, 4, 0, 4, \size, \clamps
    whole_band \K, 3, 0, 8, \size, \clamps
    whole_band \K, 3, 0, 11, \size, \clamps
    .endif
    next_plane
    b.ne 5b
    b 12b
    .endm
    .macro whole_or_clamped_planes K, size
    cbnz clamp, 6f
    whole_planes \K, \size, 0
6:  whole_planes \K, \size, 1
    .endm

    .macro function name, K
    begin_planes \name, 30
    ldr weights_row, [job, #JOB_WEIGHTS_ROW]
    lsl x5, w_tap, #1
    add x6, x5, w_tap
    lsl x7, w_tap, #2
    ldr vectors, [job, #JOB_VECTORS]
    ldp last_src, last_dst, [job, #JOB_LAST_SRC]
    movi v8.4s, #0
    .if \K == 3
    adr bodies, .Lleft_bytes
    ldr q29, [bodies]
    .endif
    adr bodies, .Lbands_\K
    cbz tiles, 13f
10: spread_bias_to_pairs
    load_weights \K
    ldr tiles, [job, #JOB_TILES]
    next_tile base
    br scratch
    for_bands band, \K
.Lend_\K\():
    next_plane
    b.ne 10b
12: restore_registers
    ret
13:
    whole_or_clamped_planes \K, %(21 - 7 * (\K / 2))
    .p2align 2
.Lbands_\K\():
    for_bands band_entry, \K
    .word .Lend_\K - .Lbands_\K
    end_function \name
    .endm

/* The odd columns of two vectors behind a zero, as TBL has one for bytes that do not exist. */
    .p2align 4
.Lleft_bytes:
    .word 0xffffffff, 0x07060504, 0x0f0e0d0c, 0x17161514

    .set WEIGHTS, 23
    function dwconv_f32_planes_pairs_3x3, 3
    .set WEIGHTS, 17
    function dwconv_f32_planes_pairs_5x5, 5
