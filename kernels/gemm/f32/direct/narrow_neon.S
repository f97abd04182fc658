/* Tiles of direct.h for cores that issue in order, two instructions a cycle: Cortex-A53 and
 * A55 issue 64 bits of a load with a multiply-add. So a vector of B takes two loads, the upper half
 * by way of a general register, and an insertion; nothing is used soon after its load.
 *
 * Of B there are two rows of the strip in registers, of which one is multiplied while the other one
 * comes; of A two steps of each row, which are replaced as soon as the row is through with them. So
 * a tile takes height * (vectors + 1) + 2 * vectors registers. Loads lie between multiply-adds as
 * evenly as they can: 4x16 has 16 FMLA for 13 + 2 such instructions, 6x12 18 for 10 + 3. */
    .set high_temp, 19
#include "kernels/gemm/f32/direct/neon.h"
#include "kernels/gemm/f32/steps_in_order_neon.h"

in .req x4
    .macro next_vectors
    add in, in, ldb
    .endm

/* Loads that belong before multiply-add number f + 1 of a step; where there is room all are done a
 * little before its end. */
    .macro loads_until height, vectors, to, f
    .set ops, 3 * \vectors + 1
    .set room, \height * \vectors
    when %(room - 2 > ops), .set room, room - 2
    .rept ops
    .if (op < ops) & (op * room < (\f + 1) * ops)
    vector_op \vectors, \to
    .endif
    .endr
    .endm

/* One step of k from A's values at register `a` and B's row at `from`; loads the next one to `to`
 * unless that is 0, and the next two steps of A to `next` unless that is -1. */
    .macro spread_step height, vectors, lane, a, from, to, next, fop=fmla
    .set op, 0
    .set f, 0
    .set i, 0
    .rept \height
    .set j, 0
    .rept \vectors
    multiply \fop, %(32 - \height * \vectors + f), %(\from + j), %(\a + i), \lane
    when \to, loads_until \height, \vectors, \to, %(f)
    .set f, f + 1
    .set j, j + 1
    .endr
    when %(\next >= 0), load_and_step %(\next + i), %(8 + i), d, 8
    .set i, i + 1
    .endr
    .endm

    .macro begin_steps height, vectors, group, from
    for_each_row load_and_step, \height, d, 8
    each g, %(\vectors / \group), load_b %(4 + g), \group, %(\from + g * \group)
    .endm

    .macro high_tile name, height, vectors, b0, b1
    begin_kernel \name, \height, \vectors, %(\height + 2 * \vectors), 1
11: begin_tile \height, \vectors, \vectors
    cbz rounds, 16f
    begin_steps \height, \vectors, \vectors, \b0
    lsl rounds, rounds, #1
    sub rounds, rounds, #1
    spread_step \height, \vectors, 0, 0, \b0, \b1, -1, fmul
12: subs rounds, rounds, #1
    spread_step \height, \vectors, 1, 0, \b1, \b0, 0
    spread_step \height, \vectors, 0, 0, \b0, \b1, -1
    b.ne 12b
    spread_step \height, \vectors, 1, 0, \b1, 0, -1
    end_kernel \name, \height, \vectors, \vectors
    .endm

/* ---- one and two rows, of which a vector takes longer to load than to multiply ---- */

/* Vectors come in the order of their multiply-adds: in each group the first one last, as its lower
 * half moves the address on, unless there are so few that it would be waited for. Each load is
 * beside a multiply-add or an insertion, which is that of one of the two vectors that came before:
 * `latest` and `earlier` (0: none) wait for them. */
    .macro load_low_and_move b, group
    ld1 {v\b\().2s}, [x\group], ldb
    .endm
    .macro load_waiting_high group, at
    temp_of turn
    load_indexed %temp, \group, x, #\at
    .endm
/* One of the registers that neither two rows nor three groups take. */
    .macro temp_of turn
    .set temp, 10 + (\turn) % 4
    when %(temp == 13), .set temp, 7
    .endm

/* One of the two loads of vector `vector` to register `to`. */
    .macro load_half half, group, to
    .set moves, 0
    when %((vector % \group == 0) & (few == 0)), .set moves, 1
    when %((moves) & (\half == 0)), load_waiting_high %(4 + vector / \group), 8
    or_when %moves, load_low_and_move %(\to), %(4 + vector / \group)
    or_when %(\half == 0), load_indexed \to, %(4 + vector / \group), d, #(16 * (vector % \group))
    otherwise load_waiting_high %(4 + vector / \group), %(16 * (vector % \group) + 8)
    .endm
    .macro insert_waiting
    .if earlier
    temp_of turn + 2
    insert_half %(earlier), %(temp)
    .endif
    .set earlier, 0
    .endm
    .macro age_waiting
    .set earlier, latest
    .set latest, 0
    .endm

/* What comes after multiply-add number i of a vector's. Where there are few, the next step needs
 * the last vectors too soon for two to wait. */
    .macro load_beside height, vectors, group, to, i
    when %(\i == 0), load_half 0, \group, \to
    .if \i == \height - 1
    insert_waiting
    load_half 1, \group, \to
    age_waiting
    .set latest, \to
    .set turn, turn + 1
    .if \vectors < 6
    age_waiting
    .set turn, turn + 1
    .endif
    .endif
    .endm

/* As spread_step; but the next two steps of A come to `next` behind it. */
    .macro low_step height, vectors, group, lane, a, from, to, next, fop=fmla
    .set few, 0
    when %(\vectors < 3), .set few, 1
    .set j, 0
    .rept \vectors
    .set vector, j - j % \group + (j + 1) % \group
    .set i, 0
    .rept \height
    multiply \fop, %(32 - \height * \vectors + i * \vectors + vector), %(\from + vector), %(\a + i), \lane
    .if \to
    load_beside \height, \vectors, \group, %(\to + vector), %(i)
    .elseif i == 0
    insert_waiting
    age_waiting
    .set turn, turn + 1
    .endif
    .set i, i + 1
    .endr
    .set j, j + 1
    .endr
    when %((few) & (\to > 0)), add x4, x4, ldb
    when %(\next >= 0), each i, \height, load_and_step %(\next + i), %(8 + i), d, 8
    when %few, insert_waiting
    .endm

/* They are multiplied too fast for their values to be replaced in time, too: there are two registers
 * for each, at 0 and a1. */
    .macro low_tile name, height, vectors, group, a1, b0, b1
    begin_kernel \name, \height, \vectors, %(2 * \height + 2 * \vectors), 0
11: begin_tile \height, \vectors, \group
    cbz rounds, 16f
    begin_steps \height, \vectors, \group, \b0
    .set latest, 0
    .set earlier, 0
    .set turn, 0
    low_step \height, \vectors, \group, 0, 0, \b0, \b1, \a1, fmul
    subs rounds, rounds, #1
    b.eq 9f
12: low_step \height, \vectors, \group, 1, 0, \b1, \b0, -1
    low_step \height, \vectors, \group, 0, \a1, \b0, \b1, 0
    subs rounds, rounds, #1
    low_step \height, \vectors, \group, 1, \a1, \b1, \b0, -1
    low_step \height, \vectors, \group, 0, 0, \b0, \b1, \a1
    b.ne 12b
9:  low_step \height, \vectors, \group, 1, 0, \b1, \b0, -1
    low_step \height, \vectors, \group, 0, \a1, \b0, \b1, -1
    low_step \height, \vectors, \group, 1, \a1, \b1, 0, -1
    end_kernel \name, \height, \vectors, \group
    .endm

    .macro kernel name, height, vectors, group
    when %(\height <= 2), low_tile direct_\name\()_narrow, \height, \vectors, \group, \height, %(2 * \height), %(2 * \height + \vectors)
    otherwise high_tile direct_\name\()_narrow, \height, \vectors, \height, %(\height + \vectors)
    .endm

#define KERNEL(height, width, vectors, group) kernel height##x##width, height, vectors, group;
#include "kernels/gemm/f32/direct/in_order_list.h"
