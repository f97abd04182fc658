/* How tiles of neon.h store their sums to C. */

/* clang-format off */
/* Where a file sets stores_are_pairs before this header, its cores take longer for one ST1. */
    .ifndef stores_are_pairs
    .set stores_are_pairs, 0
    .endif
/* The first `count` vectors of a row to c, which goes on to the next row; `step` is a register for
 * what is left to that after four vectors at a time, and find_step fills it. */
    .macro find_step count, step
    when %((\count > 4) & (stores_are_pairs == 0)), sub \step, ldc, #16 * ((\count - 1) / 4 * 4)
    .endm
    .macro store_vectors count, first, step
    .if stores_are_pairs
    each_by 2, j, 0, %(\count / 2), store_pair %(\first + j), %(\first + j + 1), [c, #(16 * j)]
    when %(\count % 2), store_q %(\first + j), [c, #(16 * j)]
    add c, c, ldc
    .else
    each_by 4, j, 0, %((\count - 1) / 4), several st1, 4, %(\first + j), c, #64
    when %(\count > 4), several st1, %(\count - j), %(\first + j), c, \step
    otherwise store_row \count, \first
    .endif
    .endm

    .macro store_whole height, vectors
    find_step \vectors, scratch
    each_by \vectors, i, %(32 - \height * \vectors), \height, store_vectors \vectors, %(i), scratch
    .endm

/* The first `lanes` elements of a single vector, of each row: at `scratch`, and a third at
 * `rounds`. */
    .macro store_lanes height, lanes
    when %(\lanes == 3), add rounds, scratch, #8
    .set i, 32 - \height
    .rept \height
    when %(\lanes == 1), store_one %(i), 0, scratch
    otherwise store_two %(i), scratch
    when %(\lanes == 3), store_one %(i), 2, rounds
    .set i, i + 1
    .endr
    .endm

/* Where there is a vector to its left, the last one is stored with the end of that, which is where
 * it was: at `scratch`, 16 bytes that end where the row does. rounds: the number of lanes */
    .macro store_joined height, vectors
    adr scratch, .Lbytes_in_order
    add scratch, scratch, rounds, lsl #2
    ldr q0, [scratch]
    add scratch, c, rounds, lsl #2
    when %(\vectors > 2), add scratch, scratch, #16 * (\vectors - 2)
    find_step %(\vectors - 1), rounds
    .set i, 32 - \height * \vectors
    .rept \height
    store_vectors %(\vectors - 1), %(i), rounds
    join %(i + \vectors - 1), %(i + \vectors - 2)
    .if stores_are_pairs
    store_q %(i + \vectors - 1), [scratch]
    add scratch, scratch, ldc
    .else
    several st1, 1, %(i + \vectors - 1), scratch, ldc
    .endif
    .set i, i + \vectors
    .endr
    .endm
    .macro join last, before
    tbl v\last\().16b, {v\before\().16b, v\last\().16b}, v0.16b
    .endm
/* From byte 4 * lanes on: what of two vectors is stored. */
.Lbytes_in_order:
    each i, 32, .byte i

/* rounds: the number of lanes */
    .macro store_ragged height, vectors
    .if \vectors > 1
    store_joined \height, \vectors
    .else
    mov scratch, c
    tbz rounds, #1, 1f
    tbz rounds, #0, 2f
    store_lanes \height, 3
    b 3f
2:  store_lanes \height, 2
    b 3f
1:  store_lanes \height, 1
3:  mov c, scratch
    .endif
    .endm
