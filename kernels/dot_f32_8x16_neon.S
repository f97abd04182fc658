/* The whole rounds of dot_f32.h for eight rows: void (rows, stride, x, rounds, sums), where a round
 * is sixteen values of k, and sums are eight vectors, one a row. 32 FMLA in 43 instructions: x comes
 * in v0 … v3, rows alternate between v4 … v7 and v24 … v27, sums are v16 … v23. */
stride .req x1
x .req x2
rounds .req x3
sums .req x4

    .altmacro
    .text

    .macro next_row row, before
    add x\row, x\before, stride
    .endm
    .macro clear sum
    movi v\sum\().4s, #0
    .endm
    .macro add_row row, sum, a0, a1, a2, a3
    ld1 {v\a0\().4s, v\a1\().4s, v\a2\().4s, v\a3\().4s}, [x\row], #64
    fmla v\sum\().4s, v\a0\().4s, v0.4s
    fmla v\sum\().4s, v\a1\().4s, v1.4s
    fmla v\sum\().4s, v\a2\().4s, v2.4s
    fmla v\sum\().4s, v\a3\().4s, v3.4s
    .endm

    .p2align 4
    .globl dot_f32_8x16_neon
    .hidden dot_f32_8x16_neon
    .type dot_f32_8x16_neon, %function
dot_f32_8x16_neon:
    lsl stride, stride, #2
    mov x8, x0
    .set i, 9
    .rept 7
    next_row %(i), %(i - 1)
    .set i, i + 1
    .endr
    .set i, 16
    .rept 8
    clear %(i)
    .set i, i + 1
    .endr
    cbz rounds, 2f
1:  ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [x], #64
    .set i, 0
    .rept 4
    add_row %(8 + i), %(16 + i), 4, 5, 6, 7
    .set i, i + 1
    add_row %(8 + i), %(16 + i), 24, 25, 26, 27
    .set i, i + 1
    .endr
    subs rounds, rounds, #1
    b.ne 1b
2:  st1 {v16.4s, v17.4s, v18.4s, v19.4s}, [sums], #64
    st1 {v20.4s, v21.4s, v22.4s, v23.4s}, [sums]
    ret
    .size dot_f32_8x16_neon, . - dot_f32_8x16_neon

    .section .note.GNU-stack, "", %progbits
