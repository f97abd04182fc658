/* Tiles of direct.h for cores that issue two instructions in order. What is no multiply-add comes
 * after each of them; vectors are loaded in halves.
 *
 * A column is two vectors of four values, which overlap if it has fewer than eight: the upper rows
 * take theirs from the first, `later` rows from the second. A step multiplies the later rows first,
 * and meanwhile the first vector comes; then the upper rows, and meanwhile the next column's second
 * vector and the next row of B, each vector when the upper rows are through with the one before. So
 * 8x12 takes five registers beside its sums. */
    .set stores_are_pairs, 1
#include "kernels/gemm/f32/outer/neon.h"
#include "kernels/asm/in_order_neon.h"

/* The kernel; is there a step after the one that is assembled? n is its multiply-add. */
    .set rows, 0
    .set vectors, 0
    .set later, 0
    .set own_last, 0 /* does a step load its own last vector of B? */
    .set has_next, 0

/* ---- multiply-adds: a vector of B after the other, for the later rows, then the upper ones ---- */

    .macro multiply_next op
    .if n < later * vectors
    .set q, n / later
    .set row, rows - later + n % later
    .set value, 1
    .set lane, row - (rows - 4)
    .else
    .set upper, rows - later
    .set q, (n - later * vectors) / upper
    .set row, (n - later * vectors) % upper
    .set value, 0
    .set lane, row
    .endif
    multiply \op, %(32 - rows * vectors + row * vectors + q), %(2 + q), %value, %lane
    .endm

/* ---- loads: number 0 is the column's first vector, 1 the next one's second, then B's ---- */

/* The third vector of B would come when there are no more multiply-adds, so the next step loads it,
 * number -1, if it has enough rows before this is needed.
 *
 * ready: the multiply-add after which it may come; known: what has to have moved on. */
    .macro find_load
    .set ready, 0
    .set known, 0
    .if load > 0
    .set ready, later * vectors - 1
    .set known, 1
    .endif
    .if load > 1
    .set ready, later * vectors + (rows - later) * (load - 1) - 1
    .set known, 2
    .endif
    .endm
    .macro load_it
    when %(load < 0), load_some %(1 + vectors), x4, %(16 * vectors - 16)
    or_when %(load == 0), load_some 0, x8, 0
    or_when %(load == 1), load_some 1, x8, %(4 * (rows - 4))
    otherwise load_some %load, x4, %(16 * (load - 2))
    count_if_whole load
    .endm

/* ---- other instructions: number `move` ---- */

    .macro move_on
    .if (move == 0) & (load > 0)
    add x8, x8, lda
    .set move, 1
    .elseif move == 1
    add x4, x4, ldb
    .set move, 2
    .elseif (move == 2) & (has_next != 0)
    subs rounds, rounds, #1
    .set move, 3
    .endif
    .endm

/* ---- a step ---- */

    .macro next_other
    .set loads, 1
    when %has_next, .set loads, 2 + vectors - own_last
    find_load
    when %((waiting > 0) & (waiting_until <= n)), insert_upper
    or_when %((load < loads) & (ready <= n) & (known <= move) & (waiting < 2)), load_it
    otherwise move_on
    .endm

    .macro in_order_step op, first, next
    .set has_next, \next
    .set load, 0
    when %(!\first), .set load, 0 - own_last
    .set move, 0
    multiply_all \op, %(rows * vectors)
    .endm

/* What there has to be before the first one. */
    .macro first_loads
    load_later %(4 * (rows - 4))
    several_at ld1, vectors, 2, x4
    .endm
    .macro load_later place
    ldr q1, [x8, #\place]
    .endm

/* ---- what is left of k, one step after the other ---- */

    .macro one_step height, vectors_of_tile
    ldr q0, [x8]
    load_later %(4 * (rows - 4))
    several_at ld1, vectors, 2, x4
    add x8, x8, lda
    add x4, x4, ldb
    each n, %(rows * vectors), multiply_next fmla
    .endm
/* ---- a kernel: the first step, those with a next one, the last one of whole rounds ---- */

    .macro kernel_in_order name
    begin_kernel outer_\name, %rows, %vectors, %(2 + vectors), 1
11: mov x8, next
    ldp x4, rounds, [sp, #KEPT_B]
    cbz rounds, 16f
    first_loads
    lsl rounds, rounds, #2
    sub rounds, rounds, #1
    in_order_step fmul, 1, 1
12: in_order_step fmla, 0, 1
    b.ne 12b
    in_order_step fmla, 0, 0
    end_kernel outer_\name, %rows, %vectors, %vectors, columns_tails, next_columns
    .endm

    .macro kernel name, height, width
    .set rows, \height
    .set vectors, \width / 4
    .set later, rows / 2
    .set own_last, 0
    when %((vectors == 3) & (rows >= 6)), .set own_last, 1
    kernel_in_order \name
    .endm
#define KERNEL(height, width) kernel height##x##width##_narrow, height, width;
#include "kernels/gemm/f32/outer/in_order_list.h"
