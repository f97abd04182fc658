/* One step of 3x3 along the columns: what slides along rows and tiles of some columns share. The
 * files name the registers.
 *
 * Vector registers: weights [row][column][vector], then sums [row][output][vector]; v30, v31:
 * source, and the limits of a clamp. L outputs are under way: three of stride 1, two of stride 2.
 */
/* clang-format off */
#ifndef KERNELS_DEPTHWISE_F32_STEPS_NEON_H
#define KERNELS_DEPTHWISE_F32_STEPS_NEON_H

#include "kernels/asm/assembly_neon.h"

/* edge: not 0 where a column may be padding; then files say where it is loaded from. */
    .set edge, 0
    .macro load_vectors V, first, row, step
    when %(edge), load_edge \V, \first, \row
    otherwise several ld1, \V, \first, x\row, \step
    .endm
    .macro store_vectors V, first, row
    several st1, \V, \first, x\row, dst_column
    .endm

/* What row i of source gives to outputs of row r in a slot of sums by the weights of column kx; slot
 * 9: nothing. */
    .macro tap V, L, slot, kx
    when %(\slot < 9), each v, \V, fma %(9 * \V + (r * \L + \slot) * \V + v), %(30 + v), %(((i - r * S) * 3 + \kx) * \V + v)
    .endm

/* A column of source: the slots of sums that its values reach with kx = 0, 1, 2. Of its rows the first
 * `rows_above` and the last `rows_below` are padding and left out. */
    .set rows_above, 0
    .set rows_below, 0
    .macro take V, L, R, slot0, slot1, slot2
    .set S, 4 - \L
    .set i, rows_above
    .rept (\R - 1) * (4 - \L) + 3 - rows_above - rows_below
    load_vectors \V, 30, %(9 + i), column
    each r, \R, when %((i - r * S < 3) & (i - r * S >= 0)), taps \V, \L, \slot0, \slot1, \slot2
    .set i, i + 1
    .endr
    .endm
    .macro taps V, L, slots:vararg
    .set kx, 0
    .irp slot, \slots
    tap \V, \L, \slot, %kx
    .set kx, kx + 1
    .endr
    .endm

    .macro init V, L, R, slot
    each r, \R, load_one_or_two \V, %(9 * \V + (r * \L + \slot) * \V), bias
    .endm

    .macro finish V, L, R, slot
    each r, \R, store_vectors \V, %(9 * \V + (r * \L + \slot) * \V), %(14 + r)
    .endm

/* All outputs from x9 on, before x14, and as many from as far before x15 on: a clamp takes them from where
 * they were stored, as a branch for each output would cost those convolutions more that have none. */
    .macro clamp_stored V, R
    ldp q30, q31, [clamp]
    when %(\R == 2), sub x10, x15, x14
1:  load_one_or_two \V, %(9 * \V), x9
    .if \R == 2
    add x11, x9, x10
    load_one_or_two \V, %(10 * \V), x11
    .endif
    clamp_all %(9 * \V), %(\R * \V), 30, 31
    when %(\R == 2), several_at st1, \V, %(10 * \V), x11
    several st1, \V, %(9 * \V), x9, dst_column
    cmp x9, x14
    b.ne 1b
    .endm

#endif
