/* Tiles of gemm_f32_direct.h for NEON.
 *
 * A tile of `height` rows and `vectors` vectors keeps its sums in the last height * vectors vector
 * registers, four steps of each row of A in the first `height` ones, and a group of B's vectors
 * between them. Four steps of k take `height` loads of A, four LD1 for each group of B, 4 * height *
 * vectors FMLA and two instructions of the loop: 7x12 has 84 FMLA in 97 instructions, 5x16 80 in
 * 91, 4x24 96 in 110.
 *
 * The steps after the whole rounds use lanes of the last four values of each row, so they too need
 * one load a row; only rows of fewer than four values are loaded lane by lane. */

/* Offsets in struct gemm_f32_direct. */
#define STRIP_A 0
#define STRIP_B 16
#define STRIP_GAP 32
#define STRIP_B_TAIL 40
#define STRIP_TAIL_LDB 48
#define STRIP_C 56
#define STRIP_ROUNDS 72
#define STRIP_TAIL 80
#define STRIP_TILES 88
#define STRIP_BIAS 96
#define STRIP_CLAMP 104
#define STRIP_LANES 112
#define STRIP_LOW 120

/* x4 … x7 are the groups of B, x8 … x15 the rows of A; what a tile leaves of them is for `tiles`,
 * `rounds` and `scratch`. Strides become bytes. */
strip .req x0
next .req x1
lda .req x2
ldb .req x3
c .req x16
ldc .req x17

    .altmacro
    .text

/* ---- one instruction each, registers by number ---- */

    .macro fma sum, b, a, lane
    fmla v\sum\().4s, v\b\().4s, v\a\().s[\lane]
    .endm
    .macro add_to sum, x
    fadd v\sum\().4s, v\sum\().4s, v\x\().4s
    .endm
    .macro clamp_to sum, low, high
    fmax v\sum\().4s, v\sum\().4s, v\low\().4s
    fmin v\sum\().4s, v\sum\().4s, v\high\().4s
    .endm
    .macro clear sum
    movi v\sum\().4s, #0
    .endm
    .macro load a, row
    ldr q\a, [x\row], #16
    .endm
    .macro load_last a, row
    ldr q\a, [x\row, rounds]
    .endm
    .macro load_lane a, row, lane
    ld1 {v\a\().s}[\lane], [x\row], #4
    .endm
    .macro row_after row, before
    add x\row, x\before, lda
    .endm
    .macro group_after group, before
    add x\group, x\before, scratch, lsl #2
    .endm
    .macro load_bias b
    ldr q\b, [scratch], #16
    .endm
    .macro store_vector s, offset
    str q\s, [c, #\offset]
    .endm
    .macro store_pair s0, s1, offset
    stp q\s0, q\s1, [c, #\offset]
    .endm
    .macro load_b at, count, b0, b1, b2, b3
    .if \count == 1
    ld1 {v\b0\().4s}, [x\at], ldb
    .elseif \count == 2
    ld1 {v\b0\().4s, v\b1\().4s}, [x\at], ldb
    .elseif \count == 3
    ld1 {v\b0\().4s, v\b1\().4s, v\b2\().4s}, [x\at], ldb
    .else
    ld1 {v\b0\().4s, v\b1\().4s, v\b2\().4s, v\b3\().4s}, [x\at], ldb
    .endif
    .endm
    .macro store_row count, s0, s1, s2, s3
    .if \count == 1
    st1 {v\s0\().4s}, [c], ldc
    .elseif \count == 2
    st1 {v\s0\().4s, v\s1\().4s}, [c], ldc
    .elseif \count == 3
    st1 {v\s0\().4s, v\s1\().4s, v\s2\().4s}, [c], ldc
    .else
    st1 {v\s0\().4s, v\s1\().4s, v\s2\().4s, v\s3\().4s}, [c], ldc
    .endif
    .endm

/* The first 1, 2 or 3 elements of a vector, to [scratch]; `rounds` says how many. */
    .macro store_part s
    tbz rounds, #1, 1f
    st1 {v\s\().d}[0], [scratch], #8
    tbz rounds, #0, 2f
    st1 {v\s\().s}[2], [scratch]
    b 2f
1:  st1 {v\s\().s}[0], [scratch]
2:
    .endm

/* ---- parts of a tile ---- */

    .macro step height, vectors, group, lane
    .set g, 0
    .rept \vectors / \group
    load_b %(4 + g), \group, %(\height), %(\height + 1), %(\height + 2), %(\height + 3)
    .set i, 0
    .rept \height
    .set j, 0
    .rept \group
    fma %(32 - \height * \vectors + i * \vectors + g * \group + j), %(\height + j), %(i), \lane
    .set j, j + 1
    .endr
    .set i, i + 1
    .endr
    .set g, g + 1
    .endr
    .endm

    .macro load_lanes height, lane
    .set i, 0
    .rept \height
    load_lane %(i), %(8 + i), \lane
    .set i, i + 1
    .endr
    .endm

    .macro begin_tile height, vectors, group
    mov x8, next
    .set i, 1
    .rept \height - 1
    row_after %(8 + i), %(7 + i)
    .set i, i + 1
    .endr
    ldp x4, ldb, [strip, #STRIP_B]
    lsl ldb, ldb, #2
    .if \vectors > \group
    ldr scratch, [strip, #STRIP_GAP]
    .set i, 1
    .rept \vectors / \group - 1
    group_after %(4 + i), %(3 + i)
    .set i, i + 1
    .endr
    .endif
    ldr rounds, [strip, #STRIP_ROUNDS]
    .set i, 32 - \height * \vectors
    .rept \height * \vectors
    clear %(i)
    .set i, i + 1
    .endr
    .endm

/* scratch: the number of steps, 1 … 4, and later that minus 4. */
    .macro tail_steps height, vectors, group
    .if \vectors == \group
    ldr rounds, [strip, #STRIP_B_TAIL]
    cbz rounds, 1f
    mov x4, rounds
    ldr ldb, [strip, #STRIP_TAIL_LDB]
    lsl ldb, ldb, #2
1:
    .endif
    ldr rounds, [strip, #STRIP_ROUNDS]
    sub scratch, scratch, #4
    cbnz rounds, 4f
    cbz scratch, 4f
    cmn scratch, #2
    b.lt 3f
    b.eq 2f
    load_lanes \height, 1
2:  load_lanes \height, 2
3:  load_lanes \height, 3
    b 5f
4:  lsl rounds, scratch, #2
    .set i, 0
    .rept \height
    load_last %(i), %(8 + i)
    .set i, i + 1
    .endr
5:  cmn scratch, #2
    b.lt 8f
    b.eq 7f
    cbnz scratch, 6f
    step \height, \vectors, \group, 0
6:  step \height, \vectors, \group, 1
7:  step \height, \vectors, \group, 2
8:  step \height, \vectors, \group, 3
    .endm

    .macro add_bias height, vectors
    .set j, 0
    .rept \vectors
    load_bias 0
    .set i, 0
    .rept \height
    add_to %(32 - \height * \vectors + i * \vectors + j), 0
    .set i, i + 1
    .endr
    .set j, j + 1
    .endr
    .endm

    .macro clamp height, vectors
    add scratch, strip, #STRIP_LOW
    ld1r {v0.4s}, [scratch], #4
    ld1r {v1.4s}, [scratch]
    .set i, 32 - \height * \vectors
    .rept \height * \vectors
    clamp_to %(i), 0, 1
    .set i, i + 1
    .endr
    .endm

    .macro store_whole height, vectors
    .set i, 32 - \height * \vectors
    .rept \height
    .if \vectors <= 4
    store_row \vectors, %(i), %(i + 1), %(i + 2), %(i + 3)
    .else
    .set j, 0
    .rept \vectors / 2
    store_pair %(i + j), %(i + j + 1), %(16 * j)
    .set j, j + 2
    .endr
    add c, c, ldc
    .endif
    .set i, i + \vectors
    .endr
    .endm

    .macro store_ragged height, vectors
    .set i, 32 - \height * \vectors
    .rept \height
    .set j, 0
    .rept \vectors - 1
    store_vector %(i + j), %(16 * j)
    .set j, j + 1
    .endr
    add scratch, c, #16 * (\vectors - 1)
    store_part %(i + \vectors - 1)
    add c, c, ldc
    .set i, i + \vectors
    .endr
    .endm

/* ---- a kernel ---- */

    .macro kernel name, height, vectors, group
    .set saves, 0
    .if \height * \vectors > 16
    .set saves, 1
    .endif
    .if \height + \group > 8
    .set saves, 1
    .endif
    .if \height <= 5
tiles .req x13
rounds .req x14
scratch .req x15
    .else
tiles .req x5
rounds .req x6
scratch .req x7
    .endif
    .p2align 4
    .globl gemm_f32_direct_\name\()_neon
    .hidden gemm_f32_direct_\name\()_neon
    .type gemm_f32_direct_\name\()_neon, %function
gemm_f32_direct_\name\()_neon:
    .if saves
    stp d8, d9, [sp, #-64]!
    stp d10, d11, [sp, #16]
    stp d12, d13, [sp, #32]
    stp d14, d15, [sp, #48]
    .endif
    ldp next, lda, [strip, #STRIP_A]
    ldp c, ldc, [strip, #STRIP_C]
    ldr tiles, [strip, #STRIP_TILES]
    lsl lda, lda, #2
    lsl ldc, ldc, #2
11: begin_tile \height, \vectors, \group
    cbz rounds, 13f
12: .set i, 0
    .rept \height
    load %(i), %(8 + i)
    .set i, i + 1
    .endr
    step \height, \vectors, \group, 0
    step \height, \vectors, \group, 1
    step \height, \vectors, \group, 2
    step \height, \vectors, \group, 3
    subs rounds, rounds, #1
    b.ne 12b
13: ldr scratch, [strip, #STRIP_TAIL]
    cbz scratch, 14f
    tail_steps \height, \vectors, \group
14: ldp scratch, rounds, [strip, #STRIP_BIAS]
    cbz scratch, 15f
    add_bias \height, \vectors
15: cbz rounds, 16f
    clamp \height, \vectors
16:
    .if \vectors <= 4
    ldr rounds, [strip, #STRIP_LANES]
    tbz rounds, #2, 17f
    .endif
    store_whole \height, \vectors
    .if \vectors <= 4
    b 18f
17: store_ragged \height, \vectors
18:
    .endif
    subs tiles, tiles, #1
    mov scratch, #\height
    madd next, lda, scratch, next
    b.ne 11b
    .if saves
    ldp d10, d11, [sp, #16]
    ldp d12, d13, [sp, #32]
    ldp d14, d15, [sp, #48]
    ldp d8, d9, [sp], #64
    .endif
    ret
    .size gemm_f32_direct_\name\()_neon, . - gemm_f32_direct_\name\()_neon
    .unreq tiles
    .unreq rounds
    .unreq scratch
    .endm

    kernel 1x4, 1, 1, 1
    kernel 2x4, 2, 1, 1
    kernel 3x4, 3, 1, 1
    kernel 4x4, 4, 1, 1
    kernel 5x4, 5, 1, 1
    kernel 6x4, 6, 1, 1
    kernel 7x4, 7, 1, 1
    kernel 8x4, 8, 1, 1
    kernel 1x8, 1, 2, 2
    kernel 2x8, 2, 2, 2
    kernel 3x8, 3, 2, 2
    kernel 4x8, 4, 2, 2
    kernel 5x8, 5, 2, 2
    kernel 6x8, 6, 2, 2
    kernel 7x8, 7, 2, 2
    kernel 8x8, 8, 2, 2
    kernel 1x12, 1, 3, 3
    kernel 2x12, 2, 3, 3
    kernel 3x12, 3, 3, 3
    kernel 4x12, 4, 3, 3
    kernel 5x12, 5, 3, 3
    kernel 6x12, 6, 3, 3
    kernel 7x12, 7, 3, 3
    kernel 1x16, 1, 4, 4
    kernel 2x16, 2, 4, 4
    kernel 3x16, 3, 4, 4
    kernel 4x16, 4, 4, 4
    kernel 5x16, 5, 4, 4
    kernel 1x2x12, 1, 6, 3
    kernel 2x2x12, 2, 6, 3
    kernel 3x2x12, 3, 6, 3
    kernel 4x2x12, 4, 6, 3
    kernel 1x2x16, 1, 8, 4
    kernel 2x2x16, 2, 8, 4
    kernel 3x2x16, 3, 8, 4
    kernel 1x4x12, 1, 12, 3
    kernel 1x3x16, 1, 12, 4

    .section .note.GNU-stack, "", %progbits
