/* Tiles of gemm_f32_direct.h for cores that issue in order, two instructions a cycle: Cortex-A53 and
 * A55 issue 64 bits of a load with a multiply-add. So a vector of B takes two loads, the upper half
 * by way of a general register, and an insertion; nothing is used soon after its load.
 *
 * Of B there are two rows of the strip in registers, of which one is multiplied while the other one
 * comes; of A two steps of each row, which are replaced as soon as the row is through with them. So
 * a tile takes height * (vectors + 1) + 2 * vectors registers. Loads lie between multiply-adds as
 * evenly as they can: 4x16 has 16 FMLA for 13 + 2 such instructions, 6x12 18 for 10 + 3. */
#include "kernels/gemm_f32_direct_neon.h"

    .macro load_two_steps a, row
    ldr d\a, [x\row], #8
    .endm
    .macro load_low b, at
    ldr d\b, [x4, #\at]
    .endm
    .macro load_high temp, at
    ldr x\temp, [x4, #\at]
    .endm
    .macro insert_high b, temp
    ins v\b\().d[1], x\temp
    .endm

/* Instruction `op` of those that load a row of B to register `to` and the following: low 0, high 0,
 * then low j, insert j - 1, high j for each other vector, the next row's address, the last
 * insertion. */
    .macro load_op vectors, to, op
    .set q, (\op + 1) / 3
    .set part, (\op + 1) % 3
    .if \op == 0
    load_low %(\to), 0
    .elseif \op == 1
    load_high 19, 8
    .elseif \op == 3 * \vectors - 1
    add x4, x4, ldb
    .elseif \op == 3 * \vectors
    insert_high %(\to + \vectors - 1), %(19 + (\vectors - 1) % 2)
    .elseif part == 0
    load_low %(\to + q), %(16 * q)
    .elseif part == 1
    insert_high %(\to + q - 1), %(19 + (q - 1) % 2)
    .else
    load_high %(19 + q % 2), %(16 * q + 8)
    .endif
    .endm

/* Loads that belong before multiply-add number f + 1 of a step; where there is room all are done a
 * little before its end. */
    .macro loads_until height, vectors, to, f
    .set ops, 3 * \vectors + 1
    .set room, \height * \vectors
    .if room - 2 > ops
    .set room, room - 2
    .endif
    .rept ops
    .if (op < ops) & (op * room < (\f + 1) * ops)
    load_op \vectors, \to, %(op)
    .set op, op + 1
    .endif
    .endr
    .endm

/* One step of k from B's row at register `from`; loads the next one to `to` unless that is 0, and
 * the next two steps of A if a is 1. */
    .macro spread_step height, vectors, lane, from, to, a, fop=fmla
    .set op, 0
    .set f, 0
    .set i, 0
    .rept \height
    .set j, 0
    .rept \vectors
    multiply \fop, %(32 - \height * \vectors + f), %(\from + j), %(i), \lane
    .if \to
    loads_until \height, \vectors, \to, %(f)
    .endif
    .set f, f + 1
    .set j, j + 1
    .endr
    .if \a
    load_two_steps %(i), %(8 + i)
    .endif
    .set i, i + 1
    .endr
    .endm

    .macro begin_steps height, vectors
    .set i, 0
    .rept \height
    load_two_steps %(i), %(8 + i)
    .set i, i + 1
    .endr
    load_b 4, \vectors, \height
    .endm

    .macro kernel name, height, vectors
    begin_kernel direct_\name\()_narrow, \height, \vectors, %(\height + 2 * \vectors), 1
11: begin_tile \height, \vectors, \vectors
    cbz rounds, 16f
    begin_steps \height, \vectors
    lsl rounds, rounds, #1
    sub rounds, rounds, #1
    spread_step \height, \vectors, 0, %(\height), %(\height + \vectors), 0, fmul
12: subs rounds, rounds, #1
    spread_step \height, \vectors, 1, %(\height + \vectors), %(\height), 1
    spread_step \height, \vectors, 0, %(\height), %(\height + \vectors), 0
    b.ne 12b
    spread_step \height, \vectors, 1, %(\height + \vectors), 0, 0
    end_kernel direct_\name\()_narrow, \height, \vectors, \vectors
    .endm

#define KERNEL(height, width) kernel height##x##width, height, %(width / 4);
#include "kernels/gemm_f32_direct_in_order_list.h"
