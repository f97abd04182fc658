/* Kernels of gemm/f32/direct/direct.h for one small depth each, for NEON: 1 … 4 steps of k, where a
 * tile would be stored as soon as it is begun.
 *
 * The strip's whole B, depth * vectors registers, stays in the last vector registers while rows of
 * A and C go by, four, two or one at a time as far as the registers go. A row takes one load of A
 * (two of 3 values), depth * vectors multiply-accumulates and one store: 4x16 has 32 in
 * 39 instructions for two rows. */

#include "kernels/asm/assembly_neon.h"
#include "kernels/gemm/f32/direct/offsets.h"

/* a2: where the second load of a row begins. Strides become bytes. */
    registers 0, strip, a, b, c, bias
    registers 5, lda, ldc, rows, special, scratch
    registers 10, a2, ldb, last, third, lanes

/* ---- one instruction each, registers by number ---- */

    .macro load_a depth, a0
    when %(\depth == 1), ld1r {v\a0\().4s}, [a], lda
    or_when %(\depth < 4), ld1 {v\a0\().2s}, [a], lda
    otherwise ld1 {v\a0\().4s}, [a], lda
    when %(\depth == 3), ld1 {v\a0\().s}[2], [a2], lda
    .endm
    .macro store_two s, at
    st1 {v\s\().d}[0], [\at], ldc
    .endm
    .macro store_one s, lane, at
    st1 {v\s\().s}[\lane], [\at], ldc
    .endm
    .macro load_limits low, high
    ld1r {v\low\().4s}, [scratch], #4
    ld1r {v\high\().4s}, [scratch]
    .endm

/* ---- rows ----
 *
 * count rows at once: sums are the first count * vectors registers, rows of A follow. */

    .macro step op, depth, vectors, count, p
    .set row_of_b, 32 - (\depth - \p) * \vectors
    multiply_tile \op, \count, \vectors, 0, \vectors, %row_of_b, %(\count * \vectors), \p
    .endm

    .macro multiply_rows depth, vectors, count
    each i, \count, load_a \depth, %(\count * \vectors + i)
    step fmul, \depth, \vectors, \count, 0
    each_from p, 1, %(\depth - 1), step fmla, \depth, \vectors, \count, %(p)
    .endm

/* Two registers behind the sums are free now: of A's rows, or of sums that one row does not have. */
    .macro finish_rows depth, vectors, count
    cbz bias, 1f
    mov scratch, bias
    .set j, 0
    .rept \vectors
    load_q %(\count * \vectors), [scratch], #16
    each i, \count, add_to %(i * \vectors + j), %(\count * \vectors)
    .set j, j + 1
    .endr
1:  ldr scratch, [strip, #strip.clamp]
    cbz scratch, 2f
    add scratch, strip, #strip.low
    load_limits %(\count * \vectors), %(\count * \vectors + 1)
    clamp_all 0, %(\count * \vectors), %(\count * \vectors), %(\count * \vectors + 1)
2:
    .endm

    .macro store_rows vectors, count
    each i, \count, several st1, \vectors, %(i * \vectors), c, ldc
    .endm

/* The last vector's first `lanes` elements go to `last`, and a third one to `third`. */
    .macro store_ragged vectors, count
    each i, \count, when %(\vectors > 1), several st1, %(\vectors - 1), %(i * \vectors), c, ldc
    tbnz lanes, #1, 3f
    each i, \count, store_one %(i * \vectors + \vectors - 1), 0, last
    b 4f
3:
    each i, \count, store_two %(i * \vectors + \vectors - 1), last
    tbz lanes, #0, 4f
    each i, \count, store_one %(i * \vectors + \vectors - 1), 2, third
4:
    .endm

    .macro finish_and_store depth, vectors, count
    finish_rows \depth, \vectors, \count
    tbz lanes, #2, 5f
    store_rows \vectors, \count
    b 6f
5:  store_ragged \vectors, \count
6:
    .endm
    .macro store_plain depth, vectors, count
    store_rows \vectors, \count
    .endm

/* ---- a kernel ---- */

    .macro load_strip depth, vectors
    ldr scratch, [strip, #strip.b_tail]
    cbz scratch, 1f
    mov b, scratch
    ldr ldb, [strip, #strip.tail_ldb]
    lsl ldb, ldb, #2
1:
    each p, \depth, several ld1, \vectors, %(32 - \depth * \vectors + p * \vectors), b, ldb
    .endm

/* All rows, `count` at once, then one by one: `store` is what becomes of their sums. */
    .macro each_row store, depth, vectors, count, done
    subs rows, rows, #\count
    b.lo 12f
11: multiply_rows \depth, \vectors, \count
    \store \depth, \vectors, \count
    subs rows, rows, #\count
    b.hs 11b
12: adds rows, rows, #\count
    b.eq \done
13: multiply_rows \depth, \vectors, 1
    \store \depth, \vectors, 1
    subs rows, rows, #1
    b.ne 13b
    .endm

/* As many rows at once as there are registers for their sums and their values of A. */
    .macro kernel name, depth, vectors
    .set count, 4
    when %(\depth * \vectors + 4 * \vectors + 4 > 32), .set count, 2
    kernel_by \name, %(count), \depth, \vectors
    .endm

    .macro kernel_by name, count, depth, vectors
    .set saves, (\depth * \vectors > 16) | (\count * \vectors + \count > 8)
    begin_function gemm_f32_shallow_\name\()_neon
    when %saves, save_registers 4
    ldp lda, ldc, [strip, #strip.lda]
    ldp ldb, rows, [strip, #strip.ldb]
    ldr special, [strip, #strip.special]
    lsl lda, lda, #2
    lsl ldc, ldc, #2
    lsl ldb, ldb, #2
    when %(\depth == 3), add a2, a, #8
    load_strip \depth, \vectors
    cbnz special, 14f
    each_row store_plain, \depth, \vectors, \count, 15f
15:
    when %saves, restore_registers
    ret

14: ldr lanes, [strip, #strip.lanes]
    add last, c, #16 * (\vectors - 1)
    add third, last, #8
    each_row finish_and_store, \depth, \vectors, \count, 15b
    b 15b
    end_function gemm_f32_shallow_\name\()_neon
    .endm

#define KERNEL(depth, width) kernel depth##x##width, depth, %(width / 4);
#include "kernels/gemm/f32/shallow_list.h"
