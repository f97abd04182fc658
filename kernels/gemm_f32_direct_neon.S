/* Tiles of gemm_f32_direct.h for NEON.
 *
 * A tile of `height` rows and `vectors` vectors keeps its sums in the last height * vectors vector
 * registers, four steps of each row of A in the first `height` ones, and a group of B's vectors
 * between them. Four steps of k take `height` loads of A, four LD1 for each group of B, 4 * height *
 * vectors FMLA and two instructions of the loop: 7x12 has 84 FMLA in 97 instructions, 5x16 80 in
 * 91, 4x24 96 in 110.
 *
 * The steps that do not make a round, or one whole round, come first: four values of each row are
 * loaded, and the address moves on by so many bytes as steps take. So k decides no more than where
 * these steps end, and the very first one multiplies without adding, so that nothing need be
 * cleared. Only rows of fewer than four values are loaded lane by lane, and rows of B from a copy
 * multiplied at the end. */
#include "kernels/gemm_f32_direct_neon.h"

    .macro load_first a, row
    ld1 {v\a\().4s}, [x\row], scratch
    .endm

/* The rows of a tile, B, and how its steps are divided: scratch bytes of each row first. */
    .macro begin_rows height, vectors, group
    find_rows \height
    find_row 1, \height
    ldr x4, [sp, #KEPT_B]
    .if \vectors > \group
    ldr scratch, [strip, #STRIP_GAP]
    .set i, 1
    .rept \vectors / \group - 1
    group_after %(4 + i), %(3 + i)
    .set i, i + 1
    .endr
    .endif
    ldp scratch, rounds, [strip, #STRIP_FIRST]
    .endm

/* 1 … 4 steps, then 12: for rounds, or 13. */
    .macro first_steps height, vectors, group
    .set i, 0
    .rept \height
    load_first %(i), %(8 + i)
    .set i, i + 1
    .endr
    step \height, \vectors, \group, 0, fmul
    cmp scratch, #8
    b.lo 12f
    step \height, \vectors, \group, 1
    b.eq 12f
    step \height, \vectors, \group, 2
    tbz scratch, #4, 12f
    step \height, \vectors, \group, 3
    cbz rounds, 13f
    .endm

    .macro round height, vectors, group
    .set i, 0
    .rept \height
    load %(i), %(8 + i)
    .set i, i + 1
    .endr
    step \height, \vectors, \group, 0
    step \height, \vectors, \group, 1
    step \height, \vectors, \group, 2
    step \height, \vectors, \group, 3
    .endm

/* The last vector's lanes, of which rounds is the number, and on to the next tile. */
    .macro store_ragged_tile height, vectors
    add scratch, c, #16 * (\vectors - 1)
    tbz rounds, #1, 1f
    tbz rounds, #0, 2f
    end_ragged \height, \vectors, 3
2:  end_ragged \height, \vectors, 2
1:  end_ragged \height, \vectors, 1
    .endm
    .macro end_ragged height, vectors, lanes
    store_rows \height, \vectors, \lanes
    .if \vectors == 1
    mov c, scratch
    .endif
    subs tiles, tiles, #1
    b.gt 11b
    b 24f
    .endm

/* Where rows are shorter than four values the number of tiles is negative, and begins at 2^63. */
    .macro kernel name, height, vectors, group
    begin_frame direct_\name, \height, \vectors, %(\height + \group), 0
    stp x4, x2, [sp, #KEPT_BIAS]
    ldr rounds, [strip, #STRIP_FIRST]
    load_strides
    cbz rounds, 18f
11: begin_rows \height, \vectors, \group
    first_steps \height, \vectors, \group
12: round \height, \vectors, \group
    subs rounds, rounds, #1
    b.ne 12b
13: ldr scratch, [strip, #STRIP_SPECIAL]
    cbnz scratch, 20f
    store_whole \height, \vectors
    subs tiles, tiles, #1
    b.ne 11b
10: end_frame \height, \vectors

18: orr tiles, tiles, #1 << 63
19: begin_rows \height, \vectors, \group
    row_tails \height, \vectors, \group
9:  end_tail \vectors, \group
    b 21f
20: tbz scratch, #0, 25f
    .if \vectors == \group
    ldr rounds, [strip, #STRIP_B_TAIL]
    ldr scratch, [strip, #STRIP_TAIL]
    cbnz rounds, 17b
    .endif
21: finish_sums \height, \vectors
    ldr rounds, [strip, #STRIP_LANES]
    tbnz rounds, #2, 23f
25: ldr rounds, [strip, #STRIP_LANES]
    store_ragged_tile \height, \vectors
23: store_whole \height, \vectors
    subs tiles, tiles, #1
    b.gt 11b
24: tbz tiles, #63, 10b
    cbnz tiles_low, 19b
    b 10b
    end_function gemm_f32_direct_\name\()_neon
    end_names
    .endm

#define KERNEL(name, height, vectors, group) kernel name, height, vectors, group;
#include "kernels/gemm_f32_direct_list.h"
