/* What whole tiles of gemm/gemm.h in assembly share: all but the multiply-adds.
 *
 * A tile has LINES lines of VECTORS vectors: rows of C, or columns. Its sums are the last
 * registers, line by line. A file says LINES, VECTORS and LINE_STEP, which is tile.row or
 * tile.col. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/gemm/f32/offsets.h"

    registers 0, tile, a, b, k, c, line
    registers 9, from, from_row, copied, copied_too

/* 1 for kernels that pack B. */
    .set packing, 0

/* A line of C, at `at` and `c`, which go on by `line`; and limits in v4 and v5. */
    .macro load_line first
    several ld1, VECTORS, \first, at, line
    .endm
    .macro store_line first
    several st1, VECTORS, \first, c, line
    .endm
    .macro clamp_sums
    clamp_all %(32 - LINES * VECTORS), %(LINES * VECTORS), 4, 5
    .endm

    .macro each_line what
    each i, LINES, \what %(32 - LINES * VECTORS + VECTORS * i)
    .endm

    .macro begin_tile name
    begin_function \name
    when %(LINES * VECTORS > 16), save_registers 4
    ldp k, a, [tile, #tile.k]
    ldp b, c, [tile, #tile.b]
    ldr line, [tile, #LINE_STEP]
    ldr w8, [tile, #tile.accumulate]
    lsl line, line, #2
    .if packing
    ldp from, from_row, [tile, #tile.from]
    ldr b, [tile, #tile.to]
    lsl from_row, from_row, #2
    .endif
    cbnz w8, 1f
    clear_all %(32 - LINES * VECTORS), %(LINES * VECTORS)
    b 2f
1:  mov at, c
    each_line load_line
2:
    .endm

/* Bias from `scratch`: one value for each element of a row, or for each column. */
    .macro add_bias
    .if LINE_STEP == tile.row
    several_at ld1, VECTORS, 4, scratch
    each i, %(LINES * VECTORS), add_to %(32 - LINES * VECTORS + i), %(4 + i % VECTORS)
    .else
    several_at ld1, %(LINES / 4), 4, scratch
    each i, LINES, add_lane %(32 - (LINES - i) * VECTORS), VECTORS, %(4 + i / 4), %(i % 4)
    .endif
    .endm

/* Most callers have no clamp: limits that are both infinite are left out. */
    .macro end_tile name
    ldr scratch, [tile, #tile.bias]
    cbz scratch, 1f
    add_bias
1:  ldp s4, s5, [tile, #tile.low]
    mov w8, #0xff800000
    fmov s6, w8
    fneg s7, s6
    fcmp s4, s6
    fccmp s5, s7, #0, eq
    b.eq 2f
    dup v4.4s, v4.s[0]
    dup v5.4s, v5.s[0]
    clamp_sums
2:  each_line store_line
    when %(LINES * VECTORS > 16), restore_registers
    ret
    end_function \name
    .endm
