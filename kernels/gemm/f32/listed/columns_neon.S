/* Strips of listed.h for NEON whose last one to three columns are contiguous.
 *
 * By lanes of A these columns would be multiplied as a whole vector. So a round takes four steps of
 * them together: each row's vector is multiplied with each column's, and such a sum has four parts
 * until the tile ends. 6x7 has 42 FMLA a round, instead of 48; 5x10 has 50, instead of 60.
 *
 * A tile of `height` rows, `vectors` vectors and `columns` columns keeps its sums in the last
 * height * (vectors + columns) vector registers, four steps of each row of A in the first `height`
 * ones, and what it multiplies them with between them. */
#include "kernels/gemm/f32/listed/neon.h"

/* ---- one instruction each, registers by number ---- */

    .macro add_pairs to, x, y
    faddp v\to\().4s, v\x\().4s, v\y\().4s
    .endm
/* One step's whole vectors, of a panel that has one more. */
    .macro load_vectors vectors, first
    when %(\vectors == 1), ldr q\first, [b], #32
    or_when %(\vectors == 2), load_pair \first, %(\first + 1), [b], #48
    .endm

/* The registers of a sum, of a column's address, and of what is loaded, for which there are
 * `room`, 2 or 4. */
    .macro find_sum height, vectors, columns, i, j
    .set sum, 32 - (\height - \i) * (\vectors + \columns) + \j
    .endm
    .macro find_room height, vectors, columns
    .set room, 32 - \height * (\vectors + \columns + 1)
    when %(room > 4), .set room, 4
    or_when %(room == 3), .set room, 2
    .endm

/* ---- steps ---- */

/* The sums of vector or column j of all rows, with what is in register x. */
    .macro multiply_rows height, vectors, columns, j, x, op, lane
    find_sum \height, \vectors, \columns, 0, \j
    multiply_tile \op, \height, 1, %sum, %(\vectors + \columns), \x, 0, \lane
    .endm

    .macro vectors_step height, vectors, columns, lane, op
    .set x, \height + \lane * \vectors % room
    load_vectors \vectors, %(x)
    each j, \vectors, multiply_rows \height, \vectors, \columns, %(j), %(x + j), \op, \lane
    .endm

/* Columns take so many steps as a register of this kind has. */
    .macro multiply_columns kind, bytes, height, vectors, columns, op=fmla
    .set j, 0
    .rept \columns
    .set at, 19 + 2 * j + j / 2
    .set x, \height + j % room
    load_and_step %x, %at, \kind, \bytes
    multiply_rows \height, \vectors, \columns, %(\vectors + j), %(x), \op
    .set j, j + 1
    .endr
    .endm

/* Four steps; the first one is FMUL if the sums begin here. */
    .macro round height, vectors, columns, first_op=fmla
    find_room \height, \vectors, \columns
    for_each_row load_and_step, \height, q, 16
    vectors_step \height, \vectors, \columns, 0, \first_op
    vectors_step \height, \vectors, \columns, 1, fmla
    vectors_step \height, \vectors, \columns, 2, fmla
    vectors_step \height, \vectors, \columns, 3, fmla
    multiply_columns q, 16, \height, \vectors, \columns, \first_op
    .endm

/* What is left of a segment: two steps, or one. Columns' vectors are 0 beyond them. */
    .macro last_steps kind, bytes, height, vectors, columns
    for_each_row load_and_step, \height, \kind, \bytes
    vectors_step \height, \vectors, \columns, 0, fmla
    when %(\bytes == 8), vectors_step \height, \vectors, \columns, 1, fmla
    multiply_columns \kind, \bytes, \height, \vectors, \columns
    .endm

/* ---- a tile's end ---- */

/* A row's columns to one vector, their parts added. */
    .macro sum_columns height, vectors, columns
    find_sum \height, \vectors, \columns, 0, \vectors
    each_by %(\vectors + \columns), sum, %sum, \height, sum_row \columns, %sum, %(sum + 1), %(sum + 2)
    .endm
    .macro sum_row columns, first, second, third
    when %(\columns == 1), add_pairs \first, \first, \first
    otherwise add_pairs \first, \first, \second
    when %(\columns == 3), add_pairs \third, \third, \third
    when %(\columns == 3), add_pairs \first, \first, \third
    otherwise add_pairs \first, \first, \first
    .endm

    .macro add_bias_to_tile height, vectors, columns
    .set j, 0
    .rept \vectors + 1
    several ld1, 1, 0, bias, #16
    find_sum \height, \vectors, \columns, 0, j
    each_by %(\vectors + \columns), sum, %sum, \height, add_to %sum, 0
    .set j, j + 1
    .endr
    ldr bias, [strip, #strip.bias]
    .endm

/* Columns are stored with the end of the vector before them, which is where it was. */
    .macro store_tile height, vectors, columns
    .set i, 0
    .rept \height
    find_sum \height, \vectors, \columns, i, 0
    when \vectors, store_vectors_and_columns \vectors, \columns, %(sum), %(sum + \vectors - 1), %(sum + \vectors), %(i)
    otherwise store_columns \columns, %(sum)
    add c, c, ldc
    .set i, i + 1
    .endr
    .endm
    .macro store_vectors_and_columns vectors, columns, first, before, last, joined
    several_at st1, \vectors, \first, c
    ext v\joined\().16b, v\before\().16b, v\last\().16b, #4 * \columns
    stur q\joined, [c, #16 * (\vectors - 1) + 4 * \columns]
    .endm
    .macro store_columns columns, sum
    when %(\columns == 1), str s\sum, [c]
    otherwise str d\sum, [c]
    .if \columns == 3
    add scratch, c, #8
    st1 {v\sum\().s}[2], [scratch]
    .endif
    .endm

/* ---- a kernel ---- */

    .macro kernel height, vectors, columns
    begin columns_\height\()x\vectors\()_\columns
11: mov b, b_first
    load_pointers_after 0, \height, list
    ldp x19, scratch, [strip, #strip.columns]
    when %(\columns > 1), add x21, x19, scratch, lsl #2
    when %(\columns > 2), add x24, x21, scratch, lsl #2
    mov segment, list
    ldr segments, [strip, #strip.segments]
    subs scratch, rounds, #1
    b.lo 20f
    round \height, \vectors, \columns, fmul
    b.eq 14f
13: round \height, \vectors, \columns
    subs scratch, scratch, #1
    b.ne 13b
14: tbz special, #1, 15f
    last_steps d, 8, \height, \vectors, \columns
15: tbz special, #0, 16f
    last_steps s, 4, \height, \vectors, \columns
16: subs segments, segments, #1
    b.eq 17f
    add segment, segment, #64
    load_pointers_after 0, \height, segment
    mov scratch, rounds
    cbnz scratch, 13b
    b 14b
20: clear_all %(32 - \height * (\vectors + \columns)), %(\height * (\vectors + \columns))
    b 14b
17: sum_columns \height, \vectors, \columns
    cbz bias, 18f
    add_bias_to_tile \height, \vectors, \columns
18: clamp_sums %(32 - \height * (\vectors + \columns))
    store_tile \height, \vectors, \columns
    add list, list, list_step
    subs tiles, tiles, #1
    b.ne 11b
    end columns_\height\()x\vectors\()_\columns
    .endm

#define KERNEL(height, vectors, columns) kernel height, vectors, columns;
#include "kernels/gemm/f32/listed/columns_list.h"
