/* What whole tiles of gemm/gemm.h in assembly share: all but the multiply-adds.
 *
 * A tile has LINES lines of VECTORS vectors: rows of C, or columns. Its sums are the last
 * registers, line by line. A file says LINES, VECTORS and LINE_STEP, which is tile.row or
 * tile.col, and has a macro `add_bias`: from `scratch`, v0 … v6 are free. */
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

/* v4 … to the vectors of every line. */
    .macro add_to_lines
    each i, %(LINES * VECTORS), add_to %(32 - LINES * VECTORS + i), %(4 + i % VECTORS)
    .endm

/* The next twelve values of B in v4 … v6, which come from the panel, or go there: by general
 * registers, since the stores of others take pipes of FMLA. */
    .macro step_of_b
    .if packing
    .irp at, 0, 16, 32
    ldp copied, copied_too, [from, #\at]
    stp copied, copied_too, [b], #16
    .endr
    ld1 {v4.4s, v5.4s, v6.4s}, [from], from_row
    .else
    ld1 {v4.4s, v5.4s, v6.4s}, [b], #48
    .endif
    .endm

/* All of k, by the file's `step va`: eight values of A are in v(va) and the next register. */
    .macro multiply_in_fours
    lsr scratch, k, #2
    and k, k, #3
    cbz scratch, 4f
3:  ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [a], #64
    step 0
    step 2
    ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [a], #64
    step 0
    step 2
    subs scratch, scratch, #1
    b.ne 3b
4:  cbz k, 6f
5:  ld1 {v0.4s, v1.4s}, [a], #32
    step 0
    subs k, k, #1
    b.ne 5b
6:
    .endm

/* Row `row` of C with a vector of B, by a lane of what has that row of A. */
    .macro multiply_row row, vector, a, lane
    fma %(32 - LINES * VECTORS + \row * VECTORS + \vector), %(4 + \vector), \a, \lane
    .endm
