/* The products of winograd_f32.h for NEON.
 *
 * Registers: a group of four values of k of each row of A in v0 … v6, as they lie in memory, used by
 * lanes; the sums from v7 on, row by row; B in a ring of vectors that ends at v31. Four steps of k
 * of 7 x 12 take 84 FMLA, two loads of A, three of B (four vectors each, so a load may end within a
 * step of k) and, as the loop does eight steps, one instruction more. One or two rows have two or
 * four sets of sums, or each FMLA would wait for the one before.
 *
 * A function does all rows of all points and of some panels of weights: what would be spent on
 * calling it for a tile is a good part of a tile of few channels. */

/* Offsets in struct winograd_f32_products. */
#define TASK_K 0
#define TASK_A 8
#define TASK_B 16
#define TASK_POINT 24
#define TASK_C 32
#define TASK_PANEL 40
#define TASK_PANELS 48
#define TASK_HEIGHTS 56

task .req x0
a .req x1
b .req x2
c .req x3
heights .req x4
count .req x5
pairs .req x6
rest .req x7
table .req x8
at .req x9
a_point .req x10
b_point .req x11
c_panel .req x12
heights_point .req x13
panels .req x14
step .req x15
b_base .req x16
row .req x17
back .req x19

    .altmacro
    .text

    .macro fma_to sum, b, a, lane
    fmla v\sum\().4s, v\b\().4s, v\a\().s[\lane]
    .endm
    .macro clear sum
    movi v\sum\().4s, #0
    .endm
    .macro add_set sum, other
    fadd v\sum\().4s, v\sum\().4s, v\other\().4s
    .endm
    .macro load_4 v0, v1, v2, v3, from
    ld1 {v\v0\().4s, v\v1\().4s, v\v2\().4s, v\v3\().4s}, [\from], #64
    .endm
    .macro load_3 v0, v1, v2, from
    ld1 {v\v0\().4s, v\v1\().4s, v\v2\().4s}, [\from], #48
    .endm
    .macro load_2 v0, v1, from
    ld1 {v\v0\().4s, v\v1\().4s}, [\from], #32
    .endm
    .macro load_1 v0, from
    ld1 {v\v0\().4s}, [\from], #16
    .endm
    .macro load_some count, first, from
    .if \count == 4
    load_4 %(\first), %(\first + 1), %(\first + 2), %(\first + 3), \from
    .elseif \count == 3
    load_3 %(\first), %(\first + 1), %(\first + 2), \from
    .elseif \count == 2
    load_2 %(\first), %(\first + 1), \from
    .elseif \count == 1
    load_1 %(\first), \from
    .endif
    .endm
    .macro store_3 s0, s1, s2
    st1 {v\s0\().4s, v\s1\().4s, v\s2\().4s}, [c], row
    .endm
    .macro store_2 s0, s1
    st1 {v\s0\().4s, v\s1\().4s}, [c], row
    .endm
    .macro store_1 s0
    st1 {v\s0\().4s}, [c], row
    .endm

    /* On to what the list of heights says. */
    .macro next
    ldrb w9, [heights], #1
    ldrsw at, [table, at, lsl #2]
    add at, table, at
    br at
    .endm

    /* A's next group. */
    .macro load_rows height
    .if \height > 4
    load_some 4, 0, a
    load_some %(\height - 4), 4, a
    .else
    load_some \height, 0, a
    .endif
    .endm

    /* One vector of B, of step k of a group, times all rows. */
    .macro column height, width, vector, k, column
    .set set, 7 + (\k % sets) * \height * \width
    .set r, 0
    .rept \height
    fma_to %(set + r * \width + \column), \vector, %(r), \k
    .set r, r + 1
    .endr
    .endm

    /* Four steps of k: 4 width vectors of B. */
    .macro group height, width
    load_rows \height
    .set j, 0
    .rept 4 * \width
    .if j % 4 == 0
    load_some 4, %(32 - ring + j % ring), b
    .endif
    column \height, \width, %(32 - ring + j % ring), %(j / \width), %(j % \width)
    .set j, j + 1
    .endr
    .endm

    .macro one_k height, width, k
    load_some \width, 28, b
    .set i, 0
    .rept \width
    column \height, \width, %(28 + i), \k, %(i)
    .set i, i + 1
    .endr
    .endm

    /* A tile; width is of vectors. */
    .macro tile height, width
    .set sets, 1
    .if \height == 2
    .set sets, 2
    .elseif \height == 1
    .set sets, 4
    .endif
    .set ring, 8
    .if \height * \width > 17
    .set ring, 4
    .endif
    .set i, 7
    .rept sets * \height * \width
    clear %(i)
    .set i, i + 1
    .endr
    mov b, b_point
    mov count, pairs
    cbz pairs, 2f
    .p2align 4
1:  group \height, \width
    group \height, \width
    subs count, count, #1
    b.ne 1b
2:  tbz rest, #2, 3f
    group \height, \width
3:  tst rest, #3
    b.eq 4f
    load_rows \height
    one_k \height, \width, 0
    and count, rest, #3
    subs count, count, #1
    b.eq 4f
    one_k \height, \width, 1
    subs count, count, #1
    b.eq 4f
    one_k \height, \width, 2
4:
    .set s, 1
    .rept sets - 1
    .set i, 7
    .rept \height * \width
    add_set %(i), %(i + s * \height * \width)
    .set i, i + 1
    .endr
    .set s, s + 1
    .endr
    .set i, 7
    .rept \height
    .if \width == 3
    store_3 %(i), %(i + 1), %(i + 2)
    .elseif \width == 2
    store_2 %(i), %(i + 1)
    .else
    store_1 %(i)
    .endif
    .set i, i + \width
    .endr
    next
    .endm

    .macro products name, width
    .p2align 4
    .globl \name
    .hidden \name
    .type \name, %function
\name\():
    stp d8, d9, [sp, #-80]!
    stp d10, d11, [sp, #16]
    stp d12, d13, [sp, #32]
    stp d14, d15, [sp, #48]
    str x19, [sp, #64]
    ldp rest, a, [task, #TASK_K]
    ldr b_base, [task, #TASK_B]
    ldp c, step, [task, #TASK_C]
    ldp panels, heights, [task, #TASK_PANELS]
    lsl step, step, #2
    sub back, panels, #1
    mul back, back, step
    adr table, 90f
    mov row, #48
    lsr pairs, rest, #3
    and rest, rest, #7
    b 82f

    /* A panel is done: the next one of this point, or the first one of the next point. */
80: subs panels, panels, #1
    b.eq 81f
    mov a, a_point
    mov heights, heights_point
    mov b_point, b
    add c_panel, c_panel, step
    mov c, c_panel
    next
81: ldr at, [task, #TASK_POINT]
    ldr panels, [task, #TASK_PANELS]
    add b_base, b_base, at, lsl #2
    sub c, c, back
82: mov a_point, a
    mov b_point, b_base
    mov c_panel, c
    mov heights_point, heights
    next

    .set h, 1
    .rept 7
    body %(h), \width
    .set h, h + 1
    .endr

88: ldr x19, [sp, #64]
    ldp d10, d11, [sp, #16]
    ldp d12, d13, [sp, #32]
    ldp d14, d15, [sp, #48]
    ldp d8, d9, [sp], #80
    ret
    .p2align 2
90: .word 80b - 90b, 71b - 90b, 72b - 90b, 73b - 90b, 74b - 90b, 75b - 90b, 76b - 90b, 77b - 90b
    .word 88b - 90b
    .size \name, . - \name
    .endm

    .macro body height, width
    .p2align 4
7\height\():
    tile \height, \width
    .endm

    products winograd_f32_products_12_neon, 3
    products winograd_f32_products_8_neon, 2
    products winograd_f32_products_4_neon, 1

    .section .note.GNU-stack, "", %progbits
