/* Whole 8x12 tiles of gemm_f32.h (m = 8, n = 12, rows of C contiguous) for NEON, in three orders
 * of instructions that compute the same.
 *
 * Registers: 24 sums in v8 … v31, row i in v(8 + 3 i) …; x1 the packed rows of A, x2 the panel of B.
 *
 * gemm_f32_8x12_whole_neon is for cores that reorder: four steps of k take 96 FMLA, six loads of
 * several registers and two instructions of the loop.
 *
 * gemm_f32_8x12_a55_neon is for cores that do not. There a 128-bit load takes both issue slots for
 * two cycles, while a 64-bit load into a vector register, one into a general register, or an insert
 * from there shares a cycle with an FMLA (on a Cortex-A53 only the second kind does; there a vector
 * load and an insert share one with each other). So pairs of rows of A are 64-bit loads, used by
 * lanes 0 and 1, and vectors of B come in halves. Each register is loaded again right after its
 * last use: in a step the first 8 FMLA use v4, the next v5, the last v6, each with the pairs of rows
 * in v0 … v3. So while a step runs the others come in:
 *
 *   FMLA  0 …  7   own v3 and v6
 *   FMLA  8 … 15   next v4
 *   FMLA 16 … 23   next v5, v0, v1, v2
 *
 * gemm_f32_8x12_a510_neon is for cores that issue in order but have a 128-bit load beside two FMLA
 * in a cycle (Cortex-A510, A520). A load of several registers would stop them; single ones, spread
 * over the step, cost nothing. A step is six groups of four FMLA, rows 0 … 3 with each vector of B,
 * then rows 4 … 7; each register is loaded again right after the last group that uses it, at least
 * three cycles before the next one. */

/* Offsets in struct gemm_f32_tile. */
#define TILE_K 0
#define TILE_C 24
#define TILE_BIAS 64
#define TILE_ACCUMULATE 72
#define TILE_LOW 76
#define TILE_HIGH 80

tile .req x0
a .req x1
b .req x2
k .req x3
c .req x4
row .req x5
half .req x6
scratch .req x7
at .req x8

    .altmacro
    .text

    .macro fma sum, b, a, lane
    fmla v\sum\().4s, v\b\().4s, v\a\().s[\lane]
    .endm
    .macro clear sum
    movi v\sum\().4s, #0
    .endm
    .macro load_row s0, s1, s2
    ld1 {v\s0\().4s, v\s1\().4s, v\s2\().4s}, [at], row
    .endm
    .macro store_row s0, s1, s2
    st1 {v\s0\().4s, v\s1\().4s, v\s2\().4s}, [c], row
    .endm
    .macro add_row s0, s1, s2
    fadd v\s0\().4s, v\s0\().4s, v4.4s
    fadd v\s1\().4s, v\s1\().4s, v5.4s
    fadd v\s2\().4s, v\s2\().4s, v6.4s
    .endm
    .macro clamp_one s
    fmax v\s\().4s, v\s\().4s, v4.4s
    fmin v\s\().4s, v\s\().4s, v5.4s
    .endm

    .macro begin name
    .p2align 4
    .globl \name
    .hidden \name
    .type \name, %function
\name\():
    stp d8, d9, [sp, #-64]!
    stp d10, d11, [sp, #16]
    stp d12, d13, [sp, #32]
    stp d14, d15, [sp, #48]
    ldp k, a, [tile, #TILE_K]
    ldp b, c, [tile, #TILE_C - 8]
    ldr row, [tile, #TILE_C + 8]
    ldr w8, [tile, #TILE_ACCUMULATE]
    lsl row, row, #2
    cbnz w8, 1f
    .set i, 8
    .rept 24
    clear %(i)
    .set i, i + 1
    .endr
    b 2f
1:  mov at, c
    .set i, 8
    .rept 8
    load_row %(i), %(i + 1), %(i + 2)
    .set i, i + 3
    .endr
2:
    .endm

    .macro end name
    ldr scratch, [tile, #TILE_BIAS]
    cbz scratch, 1f
    ld1 {v4.4s, v5.4s, v6.4s}, [scratch]
    .set i, 8
    .rept 8
    add_row %(i), %(i + 1), %(i + 2)
    .set i, i + 3
    .endr
1:  ldp s4, s5, [tile, #TILE_LOW]
    mov w8, #0xff800000
    fmov s6, w8
    fneg s7, s6
    fcmp s4, s6
    fccmp s5, s7, #0, eq
    b.eq 2f
    dup v4.4s, v4.s[0]
    dup v5.4s, v5.s[0]
    .set i, 8
    .rept 24
    clamp_one %(i)
    .set i, i + 1
    .endr
2:  .set i, 8
    .rept 8
    store_row %(i), %(i + 1), %(i + 2)
    .set i, i + 3
    .endr
    ldp d10, d11, [sp, #16]
    ldp d12, d13, [sp, #32]
    ldp d14, d15, [sp, #48]
    ldp d8, d9, [sp], #64
    ret
    .size \name, . - \name
    .endm

/* ---- for cores that reorder ---- */

/* Rows of A in va and va + 1. */
    .macro step va
    ld1 {v4.4s, v5.4s, v6.4s}, [b], #48
    .set i, 0
    .rept 8
    .set j, 0
    .rept 3
    fma %(8 + 3 * i + j), %(4 + j), %(\va + i / 4), %(i % 4)
    .set j, j + 1
    .endr
    .set i, i + 1
    .endr
    .endm

    begin gemm_f32_8x12_whole_neon
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
    end gemm_f32_8x12_whole_neon

/* ---- for cores that do not ---- */

/* The multiply-adds of rows 2 pair and 2 pair + 1 with a vector of B, and what shares their cycles. */
    .macro two pair, vector
    fma %(8 + 6 * \pair + \vector), %(4 + \vector), \pair, 0
    .endm
    .macro and_two pair, vector
    fma %(11 + 6 * \pair + \vector), %(4 + \vector), \pair, 1
    .endm

/* The first third of a step, with the loads that are its own. A half of a vector is inserted three
 * cycles or more after the other one was loaded. */
    .macro own_loads
    two 0, 0
    ldr d6, [b, #32]
    and_two 0, 0
    ldr half, [b, #40]
    two 1, 0
    and_two 1, 0
    ldr d3, [a, #24]
    mov v6.d[1], half
    two 2, 0
    and_two 2, 0
    two 3, 0
    and_two 3, 0
    .endm

/* The rest of it, with the loads of the next step. */
    .macro next_loads
    two 0, 1
    ldr d4, [b, #48]
    subs k, k, #1
    and_two 0, 1
    ldr half, [b, #56]
    two 1, 1
    and_two 1, 1
    two 2, 1
    and_two 2, 1
    two 3, 1
    and_two 3, 1
    two 0, 2
    ldr d5, [b, #64]
    mov v4.d[1], half
    and_two 0, 2
    ldr half, [b, #72]
    two 1, 2
    ldr d0, [a, #32]
    add b, b, #48
    and_two 1, 2
    two 2, 2
    ldr d1, [a, #40]
    mov v5.d[1], half
    and_two 2, 2
    two 3, 2
    ldr d2, [a, #48]
    add a, a, #32
    and_two 3, 2
    .endm

    begin gemm_f32_8x12_a55_neon
    cbz k, 6f
    ldr d0, [a]
    ldr d1, [a, #8]
    ldr d2, [a, #16]
    ldp q4, q5, [b]
    subs k, k, #1
    b.eq 4f
3:  own_loads
    next_loads
    b.ne 3b
4:  own_loads
    .set j, 1
    .rept 2
    .set i, 0
    .rept 4
    two %(i), %(j)
    and_two %(i), %(j)
    .set i, i + 1
    .endr
    .set j, j + 1
    .endr
6:
    end gemm_f32_8x12_a55_neon

/* ---- for cores that issue in order, a 128-bit load beside two multiply-adds ---- */

/* Rows 4 half … 4 half + 3 with a vector of B, and one other instruction in their midst. */
    .macro four half, vector, other:vararg
    fma %(8 + 12 * \half + \vector), %(4 + \vector), \half, 0
    fma %(11 + 12 * \half + \vector), %(4 + \vector), \half, 1
    \other
    fma %(14 + 12 * \half + \vector), %(4 + \vector), \half, 2
    fma %(17 + 12 * \half + \vector), %(4 + \vector), \half, 3
    .endm

/* The groups of rows 0 … 3, with the loads that are the step's own. */
    .macro upper_rows
    four 0, 0, ldr q6, [b, #32]
    four 0, 1, ldr q1, [a, #16]
    four 0, 2, subs k, k, #1
    .endm

    begin gemm_f32_8x12_a510_neon
    cbz k, 6f
    ldr q0, [a]
    ldp q4, q5, [b]
    b 4f
3:  four 1, 0, ldr q0, [a, #32]
    add a, a, #32
    four 1, 1, ldr q4, [b, #48]
    add b, b, #48
    four 1, 2, ldr q5, [b, #16]
4:  upper_rows
    b.ne 3b
    four 1, 0
    four 1, 1
    four 1, 2
6:
    end gemm_f32_8x12_a510_neon

    .section .note.GNU-stack, "", %progbits
