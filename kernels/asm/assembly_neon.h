/* What every assembly file shares: functions, the registers they have to keep, and the commonest
 * instructions with their registers by number.
 *
 * Vector registers are often computed: `fma %(8 + i), 4, 0` in alternate macro mode is FMLA v8 + i.
 * Loops over them are `each i, \count, store_sum %i`, in which `i` counts from 0, and conditions
 * are `when %(i > 0), next_row`, `or_when …`, `otherwise …`; what takes more than a line is written
 * with .rept and .if. General registers have names by `registers 4, column, tap`, and members of
 * structures are `job.column` (kernels/asm/offsets.h). */
/* clang-format off */
#ifndef KERNELS_ASM_ASSEMBLY_NEON_H
#define KERNELS_ASM_ASSEMBLY_NEON_H

    .altmacro
    .section .note.GNU-stack, "", %progbits
    .text

/* ---- loops and conditions of the assembler ---- */

/* `what`, so many times; each: with a symbol that counts, from 0 or another number on. */
    .macro each_by step, counter, first, count, what:vararg
    .set \counter, \first
    .rept \count
    \what
    .set \counter, \counter + \step
    .endr
    .endm
    .macro each_from counter, first, count, what:vararg
    each_by 1, \counter, \first, \count, \what
    .endm
    .macro times count, what:vararg
    .rept \count
    \what
    .endr
    .endm
    .macro each counter, count, what:vararg
    each_from \counter, 0, \count, \what
    .endm
/* The first `what` of these, in lines that follow each other, whose condition is not 0. */
    .macro when condition, what:vararg
    .if \condition
    \what
    .endif
    .set chosen, \condition /* after what may have conditions of its own */
    .endm
    .macro or_when condition, what:vararg
    otherwise when \condition, \what
    .endm
    .macro otherwise what:vararg
    .if chosen == 0
    \what
    .endif
    .endm

/* As in arch/cpu.h, for what lists of kernels say. */
    .set IN_ORDER_NARROW, 1

/* Names for x(first) and those that follow. */
    .macro registers first, names:vararg
    .set named, \first
    .irp name, \names
    name_register \name, %named
    .set named, named + 1
    .endr
    .endm
    .macro name_register name, number
\name .req x\number
    .endm

/* OFFSETS of kernels/asm/offsets.h. */
    .macro name_offsets name, at, size, members:vararg
    .set offset_of_member, \at
    .irp member, \members
    .set \name\().\member, offset_of_member
    .set offset_of_member, offset_of_member + \size
    .endr
    .endm

/* ---- branch protection, where the compiler is asked for it (-mbranch-protection) ---- */

    .set branches_protected, 0
    .set returns_protected, 0
#ifdef __ARM_FEATURE_BTI_DEFAULT
    .set branches_protected, 1
#endif
#ifdef __ARM_FEATURE_PAC_DEFAULT
    .set returns_protected, 1
#endif

/* A place where calls by address may go, and one for branches to what is in a register; and what
 * keeps a return address that is on the stack. All are hints, which other cores take for NOP. */
    .macro accept_call
    when %branches_protected, hint #34 /* BTI c */
    .endm
    .macro accept_branch
    when %branches_protected, hint #36 /* BTI j */
    .endm
    .macro sign_return
    when %returns_protected, hint #25 /* PACIASP */
    .endm
    .macro check_return
    when %returns_protected, hint #29 /* AUTIASP */
    .endm

/* For the linker, which protects a program if all of its files say that they are. */
    .set protected, branches_protected + 2 * returns_protected
    .if protected
    .section .note.gnu.property, "a", %note
    .p2align 3
    .word 4, 16, 5
    .asciz "GNU"
    .word 0xc0000000, 4, protected, 0
    .text
    .endif

/* ---- functions ---- */

/* One that C calls by its name, within the library only. */
    .macro begin_function name
    .globl \name
    .hidden \name
    .type \name, %function
    begin_listed_function \name
    .endm
/* One that C finds in a table. */
    .macro begin_listed_function name
    .p2align 4
\name\():
    accept_call
    .endm
    .macro end_function name
    .size \name, . - \name
    .endm

/* Callers keep the lower halves of v8 … v15, and x19 … x30. These push `pairs` pairs of registers
 * from d8 on, x19 … x(last), and `locals` bytes (a multiple of 16) that are at sp + at_locals; and
 * pop what the last save_registers in the file has pushed. There are no unwind tables: nothing here
 * calls or throws, and tiles of some kernels go on in the frame of others. */
    .macro save_registers pairs, last=18, locals=0
    .set saved_pairs, \pairs
    .set saved_last, \last
    .set at_locals, 16 * saved_pairs + (saved_last - 17) / 2 * 16
    .set saved_bytes, at_locals + \locals
    .if saved_last == 30
    sign_return
    .endif
    push_pair %(saved_bytes)
    all_but_first stp, str
    .endm
    .macro restore_registers
    all_but_first ldp, ldr
    pop_pair %(saved_bytes)
    .if saved_last == 30
    check_return
    .endif
    .endm
    .macro pop_and_return
    restore_registers
    ret
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

/* ---- tables of addresses, which C knows by their names ---- */

/* Between these two entries are added from among the code that they are for. */
    .macro begin_table name
    .pushsection .data.rel.ro, "aw"
    .p2align 3
    .globl \name
    .hidden \name
    .type \name, %object
\name\():
    .popsection
    .endm
    .macro end_table name
    .pushsection .data.rel.ro, "aw"
    .size \name, . - \name
    .popsection
    .endm
    .macro table_entry address
    .pushsection .data.rel.ro, "aw"
    .xword \address
    .popsection
    .endm
    .macro no_entries count
    .pushsection .data.rel.ro, "aw"
    .fill (\count), 8, 0
    .popsection
    .endm

/* ---- one instruction each ---- */

/* An instruction of three vectors of a shape, such as 8h. */
    .macro vectors_of shape, op, to, x, y
    \op v\to\().\shape, v\x\().\shape, v\y\().\shape
    .endm
    .macro floats op, to, x, y
    vectors_of 4s, \op, \to, \x, \y
    .endm
/* By a lane of y, or without one by all of it. op: FMLA, or FMUL where a sum begins. */
    .macro multiply op, sum, x, y, lane
    .ifb \lane
    floats \op, \sum, \x, \y
    .else
    \op v\sum\().4s, v\x\().4s, v\y\().s[\lane]
    .endif
    .endm
    .macro fma sum, x, y, lane
    multiply fmla, \sum, \x, \y, \lane
    .endm
/* Sums of `height` rows of `count` vectors, rows `apart` registers from each other: row i by a lane
 * of v(a + i), vector j with v(b + j). */
    .macro multiply_tile op, height, count, sum, apart, b, a, lane
    each at_row, \height, multiply_row_by \op, \count, %(\sum + at_row * \apart), \b, %(\a + at_row), \lane
    .endm
    .macro multiply_row_by op, count, sum, b, a, lane
    each at_vector, \count, multiply \op, %(\sum + at_vector), %(\b + at_vector), \a, \lane
    .endm
    .macro add_to sum, x
    floats fadd, \sum, \sum, \x
    .endm
/* To `count` sums, from v(first) on, a lane of v(from), by way of v0. */
    .macro add_lane first, count, from, lane
    dup v0.4s, v\from\().s[\lane]
    for_all add_to, \first, \count, 0
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
    .macro copy to, from
    mov v\to\().16b, v\from\().16b
    .endm
    .macro set_upper to, from
    mov v\to\().d[1], \from
    .endm
/* From a register by its number. */
    .macro insert_half to, from
    set_upper \to, x\from
    .endm
    .macro clear sum
    movi v\sum\().4s, #0
    .endm

/* Loads and stores of vectors, of their lower halves, and of general registers; from: as it is
 * written in the instruction. */
    .macro load_q to, from:vararg
    ldr q\to, \from
    .endm
    .macro load_d to, from:vararg
    ldr d\to, \from
    .endm
    .macro load_x to, from:vararg
    ldr x\to, \from
    .endm
    .macro load_pair first, second, from:vararg
    ldp q\first, q\second, \from
    .endm
    .macro load_pair_x first, second, from:vararg
    ldp x\first, x\second, \from
    .endm
    .macro store_q from, to:vararg
    str q\from, \to
    .endm
    .macro store_pair first, second, to:vararg
    stp q\first, q\second, \to
    .endm

/* Loads of a register of any kind (q, d, s, x) from where x(row) says: `offset` behind it, or
 * there, and then x(row) moves on. And an addition to x(from). */
    .macro load_indexed to, row, kind, offset
    ldr \kind\to, [x\row, \offset]
    .endm
    .macro load_and_step to, row, kind, bytes
    ldr \kind\to, [x\row], #\bytes
    .endm
    .macro add_x to, from, by:vararg
    add x\to, x\from, \by
    .endm

/* LD1 or ST1 of `count` vectors, 1 … 4, from v(first) on: one instruction, which adds `step` to the
 * address in register `at`. */
    .macro several op, count, first, at, step
    when %(\count == 1), \op {v\first\().4s}, [\at], \step
    otherwise several_to \op, \first, %(\first + \count - 1), \at, \step
    .endm
    .macro several_to op, first, last, at, step
    \op {v\first\().4s - v\last\().4s}, [\at], \step
    .endm
/* The same, which leaves the address as it is. */
    .macro several_at op, count, first, at
    when %(\count == 1), \op {v\first\().4s}, [\at]
    otherwise several_at_to \op, \first, %(\first + \count - 1), \at
    .endm
    .macro several_at_to op, first, last, at
    \op {v\first\().4s - v\last\().4s}, [\at]
    .endm

/* LDR or LDP of one or two vectors. */
    .macro load_one_or_two count, first, at
    when %(\count == 2), load_pair \first, %(\first + 1), [\at]
    otherwise ldr q\first, [\at]
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

/* ---- code that all tiles of a file share, whose sums are the last registers: it does the same to each
 * of v7 … v31, and a tile enters at its first one ---- */

    .set FIRST_SHARED, 7
    .set SHARED, 25
    .macro shared name, op, others:vararg
    .p2align 4
.L\name\():
    for_all \op, FIRST_SHARED, SHARED, \others
    ret
    .endm
/* instructions: for one sum, or for each pair of them. */
    .macro on_sums name, first, instructions
    .if \first < FIRST_SHARED
    .error "a tile has more sums than the shared code"
    .endif
    bl .L\name + 4 * \instructions * (\first - FIRST_SHARED)
    .endm
/* For tiles that keep their return address elsewhere meanwhile. */
    .macro on_sums_by link, name, first, instructions
    mov \link, x30
    on_sums \name, \first, \instructions
    mov x30, \link
    .endm
/* op: at_least or at_most the value that is `offset` bytes from `base`; v0 and `temp` are lost. A
 * file that has this has shared_limits once. */
    .macro shared_limits
    shared at_least, at_least, 0
    shared at_most, at_most, 0
    .endm
    .macro limit_sums op, first, base, offset, temp
    add \temp, \base, #\offset
    ld1r {v0.4s}, [\temp]
    on_sums_by \temp, \op, \first, 1
    .endm

#endif
