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
    .macro load_low b, group, at
    ldr d\b, [x\group, #\at]
    .endm
    .macro load_high temp, group, at
    ldr x\temp, [x\group, #\at]
    .endm
    .macro insert_high b, temp
    ins v\b\().d[1], x\temp
    .endm
    .macro move_on group
    add x\group, x\group, ldb
    .endm

/* Instruction `op` of those that load a row of B to register `to` and the following: low 0, high 0,
 * then low q, insert q - 1, high q for each other vector, the next row's address, the last
 * insertion. */
    .macro load_op vectors, to, op
    .set q, (\op + 1) / 3
    .set part, (\op + 1) % 3
    .if \op == 0
    load_low %(\to), 4, 0
    .elseif \op == 1
    load_high 19, 4, 8
    .elseif \op == 3 * \vectors - 1
    move_on 4
    .elseif \op == 3 * \vectors
    insert_high %(\to + \vectors - 1), %(19 + (\vectors - 1) % 2)
    .elseif part == 0
    load_low %(\to + q), 4, %(16 * q)
    .elseif part == 1
    insert_high %(\to + q - 1), %(19 + (q - 1) % 2)
    .else
    load_high %(19 + q % 2), 4, %(16 * q + 8)
    .endif
    .endm

/* The same for one and two rows, of which a vector takes longer to load than to multiply: low q,
 * insert q - 2, high q, as nothing else comes before the insertion would wait. */
    .macro low_tiles_op vectors, group, to, op
    .set q, 2 + (\op - 4) / 3
    .set part, (\op - 4) % 3
    .if \op < 4
    .set q, \op / 2
    .set part, \op % 2 * 2
    .endif
    .set at, 16 * (q % \group)
    .set rest, \op - (3 * \vectors - 2) /* of addresses, then insertions */
    .if \vectors == 1
    .set rest, \op - 2
    .endif
    .if rest >= (\vectors / \group)
    .set q, \op - 2 * \vectors - \vectors / \group
    insert_high %(\to + q), %(19 + q % 2)
    .elseif rest >= 0
    move_on %(4 + rest)
    .elseif part == 0
    load_low %(\to + q), %(4 + q / \group), %(at)
    .elseif part == 1
    insert_high %(\to + q - 2), %(19 + q % 2)
    .else
    load_high %(19 + q % 2), %(4 + q / \group), %(at + 8)
    .endif
    .endm

/* The number of them that come before multiply-add number f + 1: low q comes with the first one of
 * its vector, the other two then, or after the second one. */
    .macro find_due height, vectors, f
    .set q, \f / \height
    .set due, 3 * q + 1
    .if q == 0
    .set due, 2
    .endif
    .if (\height == 2) & (\f % 2 == 0)
    .set due, due - 2
    .if q < 2
    .set due, 2 * q + 1
    .endif
    .endif
    .if \f == (\height * \vectors - 1)
    .set due, ops
    .endif
    .endm

/* Loads that belong before multiply-add number f + 1 of a step; where there is room all are done a
 * little before its end. */
    .macro loads_until height, vectors, group, to, f
    .set ops, 3 * \vectors + \vectors / \group
    .if \height <= 2
    find_due \height, \vectors, \f
    .rept due - op
    low_tiles_op \vectors, \group, \to, %(op)
    .set op, op + 1
    .endr
    .else
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
    .endif
    .endm

/* One step of k from A's values at register `a` and B's row at `from`; loads the next one to `to`
 * unless that is 0, and the next two steps of A to `next` unless that is -1. */
    .macro spread_step height, vectors, group, lane, a, from, to, next, fop=fmla
    .set op, 0
    .set f, 0
    .set i, 0
    .rept \height
    .set j, 0
    .rept \vectors
    multiply \fop, %(32 - \height * \vectors + f), %(\from + j), %(\a + i), \lane
    .if \to
    loads_until \height, \vectors, \group, \to, %(f)
    .endif
    .set f, f + 1
    .set j, j + 1
    .endr
    .if \next >= 0
    load_two_steps %(\next + i), %(8 + i)
    .endif
    .set i, i + 1
    .endr
    .endm

    .macro begin_steps height, vectors, group, from
    for_each_row load_two_steps, \height
    .set g, 0
    .rept \vectors / \group
    load_b %(4 + g), \group, %(\from + g * \group)
    .set g, g + 1
    .endr
    .endm

    .macro high_tile name, height, vectors, b0, b1
    begin_kernel \name, \height, \vectors, %(\height + 2 * \vectors), 1
11: begin_tile \height, \vectors, \vectors
    cbz rounds, 16f
    begin_steps \height, \vectors, \vectors, \b0
    lsl rounds, rounds, #1
    sub rounds, rounds, #1
    spread_step \height, \vectors, \vectors, 0, 0, \b0, \b1, -1, fmul
12: subs rounds, rounds, #1
    spread_step \height, \vectors, \vectors, 1, 0, \b1, \b0, 0
    spread_step \height, \vectors, \vectors, 0, 0, \b0, \b1, -1
    b.ne 12b
    spread_step \height, \vectors, \vectors, 1, 0, \b1, 0, -1
    end_kernel \name, \height, \vectors, \vectors
    .endm

/* One and two rows are multiplied too fast for their values to be replaced in time: there are two
 * registers for each, at 0 and a1. */
    .macro low_tile name, height, vectors, group, a1, b0, b1
    begin_kernel \name, \height, \vectors, %(2 * \height + 2 * \vectors), 1
11: begin_tile \height, \vectors, \group
    cbz rounds, 16f
    begin_steps \height, \vectors, \group, \b0
    spread_step \height, \vectors, \group, 0, 0, \b0, \b1, \a1, fmul
    subs rounds, rounds, #1
    b.eq 9f
12: subs rounds, rounds, #1
    spread_step \height, \vectors, \group, 1, 0, \b1, \b0, -1
    spread_step \height, \vectors, \group, 0, \a1, \b0, \b1, 0
    spread_step \height, \vectors, \group, 1, \a1, \b1, \b0, -1
    spread_step \height, \vectors, \group, 0, 0, \b0, \b1, \a1
    b.ne 12b
9:  spread_step \height, \vectors, \group, 1, 0, \b1, \b0, -1
    spread_step \height, \vectors, \group, 0, \a1, \b0, \b1, -1
    spread_step \height, \vectors, \group, 1, \a1, \b1, 0, -1
    end_kernel \name, \height, \vectors, \group
    .endm

    .macro kernel name, height, vectors, group
    .if \height <= 2
    low_tile direct_\name\()_narrow, \height, \vectors, \group, \height, %(2 * \height), %(2 * \height + \vectors)
    .else
    high_tile direct_\name\()_narrow, \height, \vectors, \height, %(\height + \vectors)
    .endif
    .endm

#define KERNEL(height, width) kernel height##x##width, height, %(width / 4), %(width / 4);
#include "kernels/gemm_f32_direct_in_order_list.h"
#undef KERNEL
#define KERNEL(name, height, vectors, group) kernel name, height, vectors, group;
#include "kernels/gemm_f32_direct_groups_list.h"
