/* Whole 8x8 tiles of gemm_f32.h (m = 8, n = 8, rows of C contiguous) for NEON cores that issue in
 * order; for the others the compiler's order is as good (gemm_f32_rows_neon.c). The head of
 * gemm_f32_8x12_neon.S says what these cores can do in a cycle.
 *
 * Registers: 16 sums in v16 … v31, row i in v(16 + 2 i) and the next; x1 the packed rows of A, x2 the
 * panel of B; v0 … v3 rows of A, v4 and v5 vectors of B. */

/* Offsets in struct gemm_f32_tile. */
#define TILE_K 0
#define TILE_C 24
#define TILE_BIAS 64
#define TILE_ACCUMULATE 72
#define TILE_LOW 76

tile .req x0
a .req x1
b .req x2
k .req x3
c .req x4
row .req x5
half .req x6
at .req x7

    .altmacro
    .text

    .macro fma sum, b, a, lane
    fmla v\sum\().4s, v\b\().4s, v\a\().s[\lane]
    .endm
    .macro clear sum
    movi v\sum\().4s, #0
    .endm
    .macro load_row s0, s1
    ldp q\s0, q\s1, [at]
    add at, at, row
    .endm
    .macro store_row s0, s1
    stp q\s0, q\s1, [c]
    add c, c, row
    .endm
    .macro add_row s0, s1
    fadd v\s0\().4s, v\s0\().4s, v4.4s
    fadd v\s1\().4s, v\s1\().4s, v5.4s
    .endm
    .macro clamp_row s0, s1
    fmax v\s0\().4s, v\s0\().4s, v4.4s
    fmax v\s1\().4s, v\s1\().4s, v4.4s
    fmin v\s0\().4s, v\s0\().4s, v5.4s
    fmin v\s1\().4s, v\s1\().4s, v5.4s
    .endm
    .macro each_row what
    .set i, 16
    .rept 8
    \what %(i), %(i + 1)
    .set i, i + 2
    .endr
    .endm
    .macro clear_row s0, s1
    clear \s0
    clear \s1
    .endm

    .macro begin name
    .p2align 4
    .globl \name
    .hidden \name
    .type \name, %function
\name\():
    ldp k, a, [tile, #TILE_K]
    ldp b, c, [tile, #TILE_C - 8]
    ldr row, [tile, #TILE_C + 8]
    ldr w8, [tile, #TILE_ACCUMULATE]
    lsl row, row, #2
    cbnz w8, 1f
    each_row clear_row
    b 2f
1:  mov at, c
    each_row load_row
2:
    .endm

    .macro end name
    ldr at, [tile, #TILE_BIAS]
    cbz at, 1f
    ldp q4, q5, [at]
    each_row add_row
1:  ldp s4, s5, [tile, #TILE_LOW]
    mov w8, #0xff800000
    fmov s6, w8
    fneg s7, s6
    fcmp s4, s6
    fccmp s5, s7, #0, eq
    b.eq 2f
    dup v4.4s, v4.s[0]
    dup v5.4s, v5.s[0]
    each_row clamp_row
2:  each_row store_row
    ret
    .size \name, . - \name
    .endm

/* ---- a 64-bit load beside a multiply-add ---- */

/* Rows 2 pair and 2 pair + 1, a pair of A in each of v0 … v3. */
    .macro first pair, vector
    fma %(16 + 4 * \pair + \vector), %(4 + \vector), \pair, 0
    .endm
    .macro second pair, vector
    fma %(18 + 4 * \pair + \vector), %(4 + \vector), \pair, 1
    .endm

/* All rows with the first vector of B; the second one and the last rows of A come in. */
    .macro first_vector
    first 0, 0
    ldr d5, [b, #16]
    second 0, 0
    ldr half, [b, #24]
    first 1, 0
    second 1, 0
    ldr d3, [a, #24]
    first 2, 0
    add a, a, #32
    second 2, 0
    mov v5.d[1], half
    first 3, 0
    add b, b, #32
    second 3, 0
    .endm

    begin gemm_f32_8x8_a55_neon
    cbz k, 6f
    ldr d0, [a]
    ldr d1, [a, #8]
    ldr d2, [a, #16]
    ldr q4, [b]
    b 4f
3:  first 0, 1
    ldr d4, [b]
    second 0, 1
    ldr half, [b, #8]
    first 1, 1
    ldr d0, [a]
    second 1, 1
    first 2, 1
    ldr d1, [a, #8]
    second 2, 1
    mov v4.d[1], half
    first 3, 1
    ldr d2, [a, #16]
    second 3, 1
4:  subs k, k, #1
    first_vector
    b.ne 3b
    .set i, 0
    .rept 4
    first %(i), 1
    second %(i), 1
    .set i, i + 1
    .endr
6:
    end gemm_f32_8x8_a55_neon

/* ---- a 128-bit load beside two multiply-adds ---- */

/* Rows 4 quad … 4 quad + 3 with a vector of B, and one other instruction in their midst. */
    .macro four quad, vector, other:vararg
    fma %(16 + 8 * \quad + \vector), %(4 + \vector), \quad, 0
    fma %(18 + 8 * \quad + \vector), %(4 + \vector), \quad, 1
    \other
    fma %(20 + 8 * \quad + \vector), %(4 + \vector), \quad, 2
    fma %(22 + 8 * \quad + \vector), %(4 + \vector), \quad, 3
    .endm

    begin gemm_f32_8x8_a510_neon
    cbz k, 6f
    ldr q0, [a]
    ldr q4, [b]
    b 4f
3:  four 1, 0, ldr q0, [a, #32]
    add a, a, #32
    four 1, 1, ldr q4, [b, #32]
    add b, b, #32
4:  four 0, 0, ldr q5, [b, #16]
    subs k, k, #1
    four 0, 1, ldr q1, [a, #16]
    b.ne 3b
    four 1, 0
    four 1, 1
6:
    end gemm_f32_8x8_a510_neon

    .section .note.GNU-stack, "", %progbits
