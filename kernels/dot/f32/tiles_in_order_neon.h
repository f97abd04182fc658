/* What the tiles of dot.h for cores that issue in order share: while one group of rows is
 * multiplied, the next one comes. The file that includes this has
 *
 *   load_group_0 R, C               all loads of a round's first group
 *   multiply_group R, C, g, next, last=0
 *   begin_rounds                    what comes before those of a tile */

/* clang-format off */
#include "kernels/dot/f32/tiles_neon.h"

/* Rows are multiplied in groups of eight, or of all if there are fewer; a round has two vectors of
 * k. */
    .macro count_groups R
    .set group, \R
    when %(\R > 8), .set group, 8
    .set groups, 2 * \R / group
    .endm

    .macro all_groups R, C, next, last=0
    each g, %(groups - 1), multiply_group \R, \C, %(g), %(g + 1)
    multiply_group \R, \C, %(g), \next, \last
    .endm

/* All rounds, of which the last one loads nothing. */
    .macro rounds_of R, C
    load_group_0 \R, \C
    subs rounds, rounds, #1
    b.eq 2f
1:  all_groups \R, \C, 0, 1
    b.ne 1b
2:  all_groups \R, \C, -1
    .endm

    .macro store_sums R, C
    each g, %(\R * \C / 2), store_pair %(32 - \R * \C + 2 * g), %(33 - \R * \C + 2 * g), [sums, #(32 * g)]
    .endm

    .macro all_rounds R, C
    begin_rounds
    rounds_of \R, \C
    .endm

    .macro tile R, C, kind
    count_groups \R
    begin_tile \R\()x\C\()_\kind, \R, \C
    cbz rounds, 3f
    all_rounds \R, \C
3:  store_sums \R, \C
    end_tile \R\()x\C\()_\kind
    .endm

    .macro all_tiles kind
    tile 16, 1, \kind
    tile 4, 1, \kind
    tile 8, 2, \kind
    tile 4, 2, \kind
    tile 4, 3, \kind
    tile 4, 4, \kind
    use_registers_of_4x4
    count_groups 4
    tiles_below rows_of_4_\kind, 4, 4, store_rows
    tiles_below columns_4x4_\kind, 4, 4, store_columns
    .set adding, 1
    tiles_below adding_rows_of_4_\kind, 4, 4, store_rows
    tiles_below adding_columns_4x4_\kind, 4, 4, store_columns
    .set adding, 0
    tiles_below dense_4x3_\kind, 4, 3, store_dense
    tiles_below columns_4x3_\kind, 4, 3, store_columns
    use_registers_of_8x2
    count_groups 8
    tiles_below dense_8x2_\kind, 8, 2, store_dense
    tiles_below columns_8x2_\kind, 8, 2, store_columns
    use_registers_of_16x1
    count_groups 16
    tiles_below columns_16x1_\kind, 16, 1, store_dense
    .endm
