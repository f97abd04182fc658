/* Tiles of planes in place (dwconv_f32_planes.h): what is in their assembly files.
 *
 * A tile of R rows of V vectors keeps its sums in the last R V registers. For each column of the
 * kernel its K weights are in lane 0 of v0 … v(K - 1), and each row of source is loaded once, into
 * one of three places in v6 … v17. 3x3, eight columns, seven rows: 126 FMLA, 27 LD1 of two
 * registers and 9 loads of weights; at an edge, 9 EXT and 18 other loads more. With stride S = 2 a
 * vector is made of two by UZP1: 5x5: 350 FMLA, 85 LD1 of four registers and 170 UZP1. */
/* clang-format off */
#include "kernels/dwconv_f32_planes_neon.h"

/* Of a tile; WHOLE is columns 0 … 3 and 3 … 6 of a plane of seven. */
    .set MIDDLE, 0
    .set LEFT, 1
    .set RIGHT, 2
    .set WHOLE, 3

w .req x3
/* x5 … x8: from the first row of weights to the others */

/* ---- a row of source ---- */

    .macro load x, at
    ldur q\x, [in, #\at]
    .endm
    .macro zeros_before x, bytes
    ext v\x\().16b, v5.16b, v\x\().16b, #(16 - \bytes)
    .endm
    .macro zeros_behind x, bytes
    ext v\x\().16b, v\x\().16b, v5.16b, #\bytes
    .endm

/* The S V vectors of source that V vectors of dst need; these are `apart` bytes from each other.
 * `ahead` elements of the first one lie before the plane, or `beyond` of the last one behind it. */
    .macro load_edge S, V, x
    .set j, 0
    .rept \S * \V
    .set at, j / \S * apart + j % \S * 16
    .if j > 0
    .set at, at - 4 * ahead
    .endif
    .if j < \S * \V - 1
    .set at, at + 4 * beyond
    .endif
    load %(\x + j), %(at)
    .set j, j + 1
    .endr
    add in, in, row
    .endm
    .macro load_row S, V, x
    .if is_edge
    load_edge \S, \V, \x
    .else
    several ld1, %(\S * \V), \x, in, row
    .endif
    .endm

/* The zeros of an edge; of stride 2 every other element. */
    .macro arrange_row S, V, x
    .if ahead
    zeros_before \x, %(4 * ahead)
    .endif
    .if beyond
    zeros_behind %(\x + \S * \V - 1), %(4 * beyond)
    .endif
    .if \S == 2
    .set v, 0
    .rept \V
    every_other %(\x + v), %(\x + 2 * v), %(\x + 2 * v + 1)
    .set v, v + 1
    .endr
    .endif
    .endm
    .macro every_other x, first, second
    uzp1 v\x\().4s, v\first\().4s, v\second\().4s
    .endm

/* What row i of source, in registers from x on, gives to every output it reaches. */
    .macro reach K, S, V, R, x
    .set r, 0
    .rept \R
    .if i >= r * \S
    .if i - r * \S < \K
    .set v, 0
    .rept \V
    fma %(32 - \R * \V + r * \V + v), %(\x + v), %(i - r * \S), 0
    .set v, v + 1
    .endr
    .endif
    .endif
    .set r, r + 1
    .endr
    .endm

/* ---- a tile ---- */

    .macro load_weight ky
    .if \ky == 0
    ldr s0, [w]
    .else
    load_weight_at \ky, %(4 + \ky)
    .endif
    .endm
    .macro load_weight_at ky, offset
    ldr s\ky, [w, x\offset]
    .endm

/* What is ahead of the tile and beyond it at column kx of the kernel. */
    .macro find_edge K, S, side
    .set ahead, 0
    .set beyond, 0
    .if (\side == LEFT) + (\side == WHOLE)
    .if kx < \K / 2
    .set ahead, \K / 2 - kx
    .endif
    .endif
    .if (\side == RIGHT) + (\side == WHOLE)
    .if kx > \K / 2
    .set beyond, kx - \K / 2
    .endif
    .endif
    .set apart, 16 * \S
    .set is_edge, ahead + beyond
    .if \side == WHOLE
    .set apart, 12 * \S
    .set is_edge, 1
    .endif
    .endm

    .macro start_column K
    .if is_edge
    mov in, base
    .elseif kx < \K / 2
    sub in, base, #(4 * (\K / 2 - kx))
    .else
    add in, base, #(4 * (kx - \K / 2))
    .endif
    .endm

/* Each row is loaded while the one before is used; with stride 2 it is loaded a row earlier, and
 * arranged then. */
    .macro take_column K, S, V, R, side, padding
    find_edge \K, \S, \side
    start_column \K
    load_row \S, \V, 6
    .if \S == 2
    load_row \S, \V, %(6 + \S * \V)
    .endif
    .set ky, 0
    .rept \K
    load_weight %(ky)
    .set ky, ky + 1
    .endr
    .if kx + 1 < \K
    add w, w, w_tap
    .endif
    arrange_row \S, \V, 6
    .set i, \padding % 2 * (\K / 2)
    .set end, (\R - 1) * \S + \K - \padding / 2 * (\K / 2 + 1 - \S)
    .set slot, 0
    .rept end - i
    .if i + \S < end
    load_row \S, \V, %(6 + (slot + \S) % 3 * \S * \V)
    .endif
    .if i + 1 < end
    arrange_row \S, \V, %(6 + (slot + 1) % 3 * \S * \V)
    .endif
    reach \K, \S, \V, \R, %(6 + slot * \S * \V)
    .set slot, (slot + 1) % 3
    .set i, i + 1
    .endr
    .endm

    .macro load_bias sum, V
    .if \V == 2
    load_bias_pair \sum, %(\sum + 1)
    .else
    ldr q\sum, [sp, #at_locals]
    .endif
    .endm
    .macro load_bias_pair first, second
    ldp q\first, q\second, [sp, #at_locals]
    .endm

    .macro store_rows V, R, side
    .set i, 32 - \R * \V
    .if \side == WHOLE
    add scratch, out, #12
    .endif
    .rept \R
    .if \side == WHOLE
    several st1, 1, %(i), out, dst_row
    several st1, 1, %(i + 1), scratch, dst_row
    .else
    several st1, \V, %(i), out, dst_row
    .endif
    .set i, i + \V
    .endr
    .endm

    .macro take_columns K, S, V, R, side, padding
    .set i, 32 - \R * \V
    .rept \R
    load_bias %(i), \V
    .set i, i + \V
    .endr
    .set kx, 0
    .rept \K
    take_column \K, \S, \V, \R, \side, \padding
    .set kx, kx + 1
    .endr
    .endm

    .macro limit V, R
    ldp q0, q1, [clamp]
    clamp_all %(32 - \R * \V), %(\R * \V), 0, 1
    .endm

/* From the first row of weights to the others, and zeros. */
    .macro begin_tiles
    ldr x5, [job, #JOB_WEIGHTS_ROW]
    lsl x6, x5, #1
    add x7, x6, x5
    lsl x8, x5, #2
    movi v5.4s, #0
    .endm
