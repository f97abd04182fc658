/* Whole 8x12 tiles of gemm_f32.h (m = 8, n = 12, columns of C contiguous) for NEON.
 *
 * Registers: 24 sums in v8 … v31, column j in v(8 + 2 j) and v(9 + 2 j); x1 the packed rows of A,
 * x2 the panel of B. Rows of A are the vectors and columns of B the lanes; else all is as in
 * gemm_f32_8x12_whole_neon: four steps of k take 96 FMLA, six loads of several registers and two
 * instructions of the loop. */

/* Offsets in struct gemm_f32_tile. */
#define TILE_K 0
#define TILE_B 16
#define TILE_COLUMN 40
#define TILE_BIAS 64
#define TILE_ACCUMULATE 72
#define TILE_LOW 76

tile .req x0
a .req x1
b .req x2
k .req x3
c .req x4
column .req x5
scratch .req x7
at .req x8

    .altmacro
    .text

    .macro fma sum, a, b, lane
    fmla v\sum\().4s, v\a\().4s, v\b\().s[\lane]
    .endm
    .macro clear sum
    movi v\sum\().4s, #0
    .endm
    .macro load_column s0, s1
    ld1 {v\s0\().4s, v\s1\().4s}, [at], column
    .endm
    .macro store_column s0, s1
    st1 {v\s0\().4s, v\s1\().4s}, [c], column
    .endm
    .macro add_column s0, s1, b, lane
    dup v0.4s, v\b\().s[\lane]
    fadd v\s0\().4s, v\s0\().4s, v0.4s
    fadd v\s1\().4s, v\s1\().4s, v0.4s
    .endm
    .macro clamp_one s
    fmax v\s\().4s, v\s\().4s, v4.4s
    fmin v\s\().4s, v\s\().4s, v5.4s
    .endm

/* Rows of A in va and va + 1. */
    .macro step va
    ld1 {v4.4s, v5.4s, v6.4s}, [b], #48
    .set j, 0
    .rept 12
    fma %(8 + 2 * j), %(\va), %(4 + j / 4), %(j % 4)
    fma %(9 + 2 * j), %(\va + 1), %(4 + j / 4), %(j % 4)
    .set j, j + 1
    .endr
    .endm

    .p2align 4
    .globl gemm_f32_8x12_columns_whole_neon
    .hidden gemm_f32_8x12_columns_whole_neon
    .type gemm_f32_8x12_columns_whole_neon, %function
gemm_f32_8x12_columns_whole_neon:
    stp d8, d9, [sp, #-64]!
    stp d10, d11, [sp, #16]
    stp d12, d13, [sp, #32]
    stp d14, d15, [sp, #48]
    ldp k, a, [tile, #TILE_K]
    ldp b, c, [tile, #TILE_B]
    ldr column, [tile, #TILE_COLUMN]
    ldr w8, [tile, #TILE_ACCUMULATE]
    lsl column, column, #2
    cbnz w8, 1f
    .set i, 8
    .rept 24
    clear %(i)
    .set i, i + 1
    .endr
    b 2f
1:  mov at, c
    .set i, 8
    .rept 12
    load_column %(i), %(i + 1)
    .set i, i + 2
    .endr

2:  lsr scratch, k, #2
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

6:  ldr scratch, [tile, #TILE_BIAS]
    cbz scratch, 7f
    ld1 {v4.4s, v5.4s, v6.4s}, [scratch]
    .set j, 0
    .rept 12
    add_column %(8 + 2 * j), %(9 + 2 * j), %(4 + j / 4), %(j % 4)
    .set j, j + 1
    .endr
7:  ldp s4, s5, [tile, #TILE_LOW]
    mov w8, #0xff800000
    fmov s6, w8
    fneg s7, s6
    fcmp s4, s6
    fccmp s5, s7, #0, eq
    b.eq 8f
    dup v4.4s, v4.s[0]
    dup v5.4s, v5.s[0]
    .set i, 8
    .rept 24
    clamp_one %(i)
    .set i, i + 1
    .endr
8:  .set i, 8
    .rept 12
    store_column %(i), %(i + 1)
    .set i, i + 2
    .endr
    ldp d10, d11, [sp, #16]
    ldp d12, d13, [sp, #32]
    ldp d14, d15, [sp, #48]
    ldp d8, d9, [sp], #64
    ret
    .size gemm_f32_8x12_columns_whole_neon, . - gemm_f32_8x12_columns_whole_neon

    .section .note.GNU-stack, "", %progbits
