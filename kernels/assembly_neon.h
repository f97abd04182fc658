/* What every assembly file shares: functions, the registers they have to keep, and the commonest
 * instructions with their registers by number.
 *
 * Vector registers are often computed: `fma %(8 + i), 4, 0` in alternate macro mode is FMLA v8 + i.
 * Loops over them are written with .rept and a symbol that counts. */
/* clang-format off */
#ifndef KERNELS_ASSEMBLY_NEON_H
#define KERNELS_ASSEMBLY_NEON_H

    .altmacro
    .section .note.GNU-stack, "", %progbits
    .text

/* As in arch/cpu.h, for what lists of kernels say. */
    .set IN_ORDER_NARROW, 1
    .set IN_ORDER_WIDE, 2

/* ---- functions ---- */

/* One that C calls by its name, within the library only. */
    .macro begin_function name
    .p2align 4
    .globl \name
    .hidden \name
    .type \name, %function
\name\():
    .endm
    .macro end_function name
    .size \name, . - \name
    .endm

/* Callers keep the lower halves of v8 … v15, and x19 … x30. These push `pairs` pairs of registers
 * from d8 on, x19 … x(last), and `locals` bytes (a multiple of 16) that are at sp + at_locals; and
 * pop what the last save_registers in the file has pushed. */
    .macro save_registers pairs, last=18, locals=0
    .set saved_pairs, \pairs
    .set saved_last, \last
    .set at_locals, 16 * saved_pairs + (saved_last - 17) / 2 * 16
    .set saved_bytes, at_locals + \locals
    push_pair %(saved_bytes)
    all_but_first stp, str
    .endm
    .macro restore_registers
    all_but_first ldp, ldr
    pop_pair %(saved_bytes)
    .endm

    .macro push_pair bytes
    stp d8, d9, [sp, #-\bytes]!
    .endm
    .macro pop_pair bytes
    ldp d8, d9, [sp], #\bytes
    .endm

    .macro all_but_first pair_op, op
    .set saved, 1
    .rept saved_pairs - 1
    move_pair \pair_op, d, %(8 + 2 * saved), %(9 + 2 * saved), %(16 * saved)
    .set saved, saved + 1
    .endr
    .set saved, 19
    .rept (saved_last - 18) / 2
    move_pair \pair_op, x, %(saved), %(saved + 1), %(16 * saved_pairs + 8 * (saved - 19))
    .set saved, saved + 2
    .endr
    .if saved == saved_last
    move_one \op, %(saved), %(16 * saved_pairs + 8 * (saved - 19))
    .endif
    .endm
    .macro move_pair op, kind, first, second, at
    \op \kind\first, \kind\second, [sp, #\at]
    .endm
    .macro move_one op, register, at
    \op x\register, [sp, #\at]
    .endm

/* ---- one instruction each ---- */

/* By a lane of y, or without one by all of it. op: FMLA, or FMUL where a sum begins. */
    .macro multiply op, sum, x, y, lane
    .ifb \lane
    \op v\sum\().4s, v\x\().4s, v\y\().4s
    .else
    \op v\sum\().4s, v\x\().4s, v\y\().s[\lane]
    .endif
    .endm
    .macro fma sum, x, y, lane
    multiply fmla, \sum, \x, \y, \lane
    .endm
    .macro add_to sum, x
    fadd v\sum\().4s, v\sum\().4s, v\x\().4s
    .endm
    .macro at_least sum, low
    fmax v\sum\().4s, v\sum\().4s, v\low\().4s
    .endm
    .macro at_most sum, high
    fmin v\sum\().4s, v\sum\().4s, v\high\().4s
    .endm
    .macro clamp_to sum, low, high
    at_least \sum, \low
    at_most \sum, \high
    .endm
    .macro clear sum
    movi v\sum\().4s, #0
    .endm

/* LD1 or ST1 of `count` vectors, 1 … 4, from v(first) on: one instruction, which adds `step` to the
 * address in register `at`. */
    .macro several op, count, first, at, step
    .if \count == 1
    \op {v\first\().4s}, [\at], \step
    .else
    several_to \op, \first, %(\first + \count - 1), \at, \step
    .endif
    .endm
    .macro several_to op, first, last, at, step
    \op {v\first\().4s - v\last\().4s}, [\at], \step
    .endm
/* The same, which leaves the address as it is. */
    .macro several_at op, count, first, at
    .if \count == 1
    \op {v\first\().4s}, [\at]
    .else
    several_at_to \op, \first, %(\first + \count - 1), \at
    .endif
    .endm
    .macro several_at_to op, first, last, at
    \op {v\first\().4s - v\last\().4s}, [\at]
    .endm

/* LDR or LDP of one or two vectors. */
    .macro load_one_or_two count, first, at
    .if \count == 2
    load_two \first, %(\first + 1), \at
    .else
    ldr q\first, [\at]
    .endif
    .endm
    .macro load_two first, second, at
    ldp q\first, q\second, [\at]
    .endm

/* ---- the same for `count` registers from number `first` on ---- */

    .macro for_all op, first, count, others:vararg
    .set one, \first
    .rept \count
    .ifb \others
    \op %(one)
    .else
    \op %(one), \others
    .endif
    .set one, one + 1
    .endr
    .endm
    .macro clear_all first, count
    for_all clear, \first, \count
    .endm
    .macro clamp_all first, count, low, high
    for_all clamp_to, \first, \count, \low, \high
    .endm
/* The same for `count` rows: row i in v(i), its address in x(8 + i). */
    .macro for_each_row op, count, others:vararg
    .set i, 0
    .rept \count
    .ifb \others
    \op %(i), %(8 + i)
    .else
    \op %(i), %(8 + i), \others
    .endif
    .set i, i + 1
    .endr
    .endm

/* op: at_least or at_most the value that is `offset` bytes from `base`; v0 and `temp` are lost. */
    .macro limit_all op, first, count, base, offset, temp
    add \temp, \base, #\offset
    ld1r {v0.4s}, [\temp]
    for_all \op, \first, \count, 0
    .endm

#endif
