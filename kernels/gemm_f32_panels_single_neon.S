/* Tiles of gemm_f32_panels.h for NEON whose last vector has a single column.
 *
 * By lanes of A a quarter of that vector would be used. So a round takes four steps of the column
 * together: their values come into one vector, which each row's vector is multiplied with, and a
 * sum has four parts until the tile ends. Four rows of a panel and five columns have 68 FMLA a
 * round instead of 80. Steps before the rounds multiply the column alone, to the first part.
 *
 * Loads of a lane do not move their address on: if they did, it would wait for the lanes before. */
    .set rounds_differ, 1
#include "kernels/gemm_f32_panels_neon.h"

    .macro multiply_scalar op, sum, x, y, lane
    \op s\sum, s\x, v\y\().s[\lane]
    .endm
    .macro load_whole count, first, panel
    .if \count == 2
    load_two_whole \first, %(\first + 1), \panel
    .else
    ldr q\first, [x\panel], #32
    .endif
    .endm
    .macro load_two_whole first, second, panel
    ldp q\first, q\second, [x\panel], #48
    .endm
    .macro load_single to, panel, offset
    ldur s\to, [x\panel, #\offset]
    .endm
    .macro load_single_lane to, lane, panel, offset
    add scratch, x\panel, #\offset
    ld1 {v\to\().s}[\lane], [scratch]
    .endm
    .macro next_round panel
    add x\panel, x\panel, #64
    .endm
    .macro add_pairs to, x, y
    faddp v\to\().4s, v\x\().4s, v\y\().4s
    .endm
    .macro store_lane sum, lane
    st1 {v\sum\().s}[\lane], [scratch], ldc
    .endm

/* The register of row i's column. */
    .macro find_single height, vectors, i
    .set single, 31 - (\height - 1 - \i) * \vectors
    .endm

/* ---- steps ---- */

/* The last panel's whole vectors. */
    .macro whole_vectors height, vectors, lane, op
    .set i, 0
    .rept \height
    .set j, 0
    .rept last - 1
    multiply \op, %(32 - (\height - i) * \vectors + done + j), %(\height + j), %(i), \lane
    .set j, j + 1
    .endr
    .set i, i + 1
    .endr
    .endm

    .macro step height, vectors, group, lane, op=fmla
    panels_before_last \height, \vectors, \lane, \op
    find_register \height, %(panel)
    load_panel %(last), \height, %(at)
    whole_vectors \height, \vectors, \lane, \op
    .set i, 0
    .rept \height
    find_single \height, \vectors, i
    multiply_scalar \op, %(single), %(\height + last - 1), %(i), \lane
    .set i, i + 1
    .endr
    .endm

/* The column's value to its lane of register `to`, and the last panel's whole vectors. */
    .macro load_panel_with_column height, lane, to
    .set offset, 16 * \lane
    .if last > 1
    .set offset, -16
    load_whole %(last - 1), \height, %(at)
    .endif
    .if \lane == 0
    load_single \to, %(at), %(offset)
    .else
    load_single_lane \to, \lane, %(at), %(offset)
    .endif
    .if (last == 1) & (\lane == 3)
    next_round %(at)
    .endif
    .endm

    .macro round_step height, vectors, group, lane
    panels_before_last \height, \vectors, \lane, fmla
    find_register \height, %(panel)
    load_panel_with_column \height, \lane, %(\height + widest)
    whole_vectors \height, \vectors, \lane, fmla
    .if \lane == 3
    .set i, 0
    .rept \height
    find_single \height, \vectors, i
    multiply fmla, %(single), %(i), %(\height + widest)
    .set i, i + 1
    .endr
    .endif
    .endm

/* ---- a tile's end ---- */

/* Rows' sums, each one's four parts, to lanes of v2, and from the fifth row on of v3. */
    .macro sum_columns height, vectors
    sum_four \height, \vectors, 0, 2
    .if \height > 4
    sum_four \height, \vectors, 4, 3
    .endif
    .endm
    .macro sum_four height, vectors, row, to
    add_rows \height, \vectors, \row, 0
    .if \height > \row + 2
    add_rows \height, \vectors, %(\row + 2), 1
    add_pairs \to, 0, 1
    .else
    add_pairs \to, 0, 0
    .endif
    .endm
/* A row's pairs and those of the next one, or its own where there is none. */
    .macro add_rows height, vectors, row, to
    find_single \height, \vectors, \row
    .set first, single
    .if \row + 1 < \height
    find_single \height, \vectors, %(\row + 1)
    .endif
    add_pairs \to, %(first), %(single)
    .endm

    .macro add_bias height, vectors
    add_whole_bias \height, \vectors
    ld1r {v0.4s}, [scratch]
    for_all add_to, 2, %(1 + \height / 5), 0
    .endm

    .macro store_single height, vectors
    add scratch, c, #16 * (\vectors - 1)
    .if \vectors > 5
    sub rounds, ldc, #16 * ((\vectors - 2) / 4 * 4)
    .endif
    .set i, 0
    .rept \height
    .if \vectors > 5
    store_fours %(\vectors - 1), %(32 - (\height - i) * \vectors), rounds
    .else
    store_row %(\vectors - 1), %(32 - (\height - i) * \vectors)
    .endif
    store_lane %(2 + i / 4), %(i % 4)
    .set i, i + 1
    .endr
    .endm

/* ---- a kernel ---- */

    .macro single_kernel name, height, vectors, registers, kind
    begin_rows_kernel \name, \height, \vectors, 0, \registers, \kind
    sum_columns \height, \vectors
    go_to_ending
14: store_single \height, \vectors
    next_tile
    cbnz tiles_low, 19f
    end_tiles
10: end_frame \height, \vectors

/* By GEMM_F32_ENDING_*. */
.Lendings_\height\()_\kind\():
29: .rept 9
    .if (. - 29b) == 20
    .word 20f - 29b
    .else
    .word 14b - 29b
    .endif
    .endr

    special_rows \height, \vectors, 0, \kind
    sum_columns \height, \vectors
20: finish_sums \height, \vectors
    cbz rounds, 14b
    for_all clamp_to, 2, %(1 + \height / 5), 0, 1
    b 14b
    end_rows_kernel \name, \height, \kind
    .endm

    .macro kernel height, full_, middle_, last_
    .set full, \full_
    .set middle, \middle_
    .set last, \last_
    find_widest
    single_kernel panels_\height\()x\full_\()_\middle_\()_\last_\()_single, \height, %(3 * full + middle + last), %(widest + 1), \full_\()_\middle_\()_\last_
    .endm

#define KERNEL(height, full, middle, last) kernel height, full, middle, last;
#include "kernels/gemm_f32_panels_single_list.h"
