/* What the assembly files of planes.h share. A tile of V vectors of rows and `width`
 * columns keeps its sums in the last V * width vector registers, column after column; rows of A are
 * the vectors, in the first registers, and values of B the lanes. */

/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/gemm/f32/planes/planes_offsets.h"

    registers 0, strip, a, a_step, rounds, tail, b_panel
    registers 6, c, ldc, tiles, bias, special
    registers 11, in, b, count, middle, column

    .macro begin_strip name
    begin_function gemm_f32_planes_\name\()_neon
    save_registers 4
    ldp a, a_step, [strip, #strip.a]
    ldp rounds, tail, [strip, #strip.rounds]
    ldp b_panel, c, [strip, #strip.b]
    ldp ldc, tiles, [strip, #strip.ldc]
    ldr bias, [strip, #strip.bias]
    ldr w10, [strip, #strip.clamp]
    lsl a_step, a_step, #2
    lsl ldc, ldc, #2
    orr special, special, bias
    .endm

/* One step of k from v(a) and the lanes from number `lane` of v4 … v7 on; in a round, these are
 * loaded when they come to their end. */
    .macro products op, V, width, a, lane, loads
    .set j, 0
    .rept \width
    .set l, \lane + j
    when \loads, when %(l % 16 == 0), several ld1, 4, 4, b, #64
    multiply_row_by \op, \V, %(32 - (\width - j) * \V), \a, %(4 + l / 4 % 4), %(l % 4)
    .set j, j + 1
    .endr
    .endm

    .macro single_step V, width
    several ld1, \V, 0, in, a_step
    several ld1, %(\width / 4), 4, b, #(4 * \width)
    products fmla, \V, \width, 0, 0, 0
    .endm

    .macro store_columns V, width
    mov column, c
    each_by \V, i, %(32 - \V * \width), \width, several st1, \V, %(i), column, ldc
    .endm

    .macro begin_tile
    mov in, a
    mov b, b_panel
    .endm
    .macro next_tile V
    add a, a, #(16 * \V)
    add c, c, #(16 * \V)
    subs tiles, tiles, #1
    .endm

    .macro add_bias V, width
    several_at ld1, %(\width / 4), 4, bias
    each j, \width, add_lane %(32 - (\width - j) * \V), \V, %(4 + j / 4), %(j % 4)
    .endm

/* Bias and limits, as far as there are any. */
    shared_limits
    .macro finish_sums V, width
    cbz bias, 23f
    add_bias \V, \width
23: ldr w15, [strip, #strip.clamp]
    tbz w15, #0, 24f
    limit_sums at_least, %(32 - \V * \width), strip, strip.low, column
    ldr w15, [strip, #strip.clamp]
24: tbz w15, #1, 25f
    limit_sums at_most, %(32 - \V * \width), strip, strip.high, column
25:
    .endm

/* By the file's macro: name, vectors of rows, width. */
    .macro all_kernels
    kernel 8x12, 2, 12
    kernel 12x8, 3, 8
    kernel 16x4, 4, 4
    kernel 4x12, 1, 12
    kernel 4x8, 1, 8
    kernel 4x4, 1, 4
    .endm
