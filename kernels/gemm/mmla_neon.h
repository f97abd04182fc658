/* Tiles whose instructions multiply two rows of A by two columns of B: SMMLA, BFMMLA.
 *
 * A vector of A has eight bytes of each of two rows, one of B those of two columns, and one of sums
 * is a square of two rows and two columns. 8x12: 24 sums, four vectors of A and three of B; two
 * groups take 48 multiply-accumulates, six loads of several registers and two instructions of the
 * loop. An odd height's last row is alone in its vectors.
 *
 * One row alone would leave half of each product unused. It takes the instruction for lanes, whose
 * vectors have two sums for each column, as those of B have two columns; the row's eight bytes come
 * twice, by a general register, since other ways of it take pipes that SDOT needs.
 *
 * A file has
 *
 *   mmla sum, a, b       squares
 *   dot sum, b, a        one row
 *   add_sums sum, other  sum += other
 *   add_pairs sum, low, high   four columns from two vectors of two sums each */
/* clang-format off */
#include "kernels/gemm/tiles_neon.h"

    registers 15, row, next_row

    .macro plan_squares height, vectors
    .set pairs, (\height + 1) / 2
    .set squares, 2 * \vectors
    .set first_sum, 32 - pairs * squares
    .endm

/* ---- rows of C, and the squares they are in: the upper row in the lower half ---- */

/* Squares in pairs: four columns of rows 2 pair and 2 pair + 1 are in v(square) and the next one;
 * v4 and v5 have those rows. */
    .macro rows_to_squares square, next
    trn1 v\square\().2d, v4.2d, v5.2d
    trn2 v\next\().2d, v4.2d, v5.2d
    .endm

/* Of a pair of rows; in the last one there may be only the upper one. */
    .macro pair_of_sums first, width, is_last, none
    mov at, c
    add c, c, line
    .set j, 0
    .rept \width / 2
    ldr q4, [at, #16 * j]
    load_lower_row %(16 * j), \is_last
    rows_to_squares %(\first + 2 * j), %(\first + 2 * j + 1)
    .set j, j + 1
    .endr
    add c, c, line
    .endm
    .macro load_lower_row offset, is_last
    .if \is_last
    movi v5.4s, #0
    cbnz word, 1f
    .endif
    ldr q5, [c, #\offset]
1:
    .endm
    .macro load_squares height, vectors
    mov scratch, c
    on_squares sums, \height, \vectors
    mov c, scratch
    .endm

    .macro store_squares height, vectors
    mov to, c
    mov to_line, line
    on_squares floats, \height, \vectors
    mov c, to
    .endm

/* Two columns of what all rows begin with, twice. */
    .macro begin_column square
    ld1r {v\square\().2d}, [scratch], #8
    .endm

    .macro begin_squares height, vectors
    tbnz w8, #0, 2f
    cbnz scratch, 1f
    clear_all %(first_sum), %(pairs * squares)
    b 3f
1:  for_all begin_column, %(first_sum), %(squares)
    .set i, squares
    .rept (pairs - 1) * squares
    copy %(first_sum + i), %(first_sum + i - squares)
    .set i, i + 1
    .endr
    b 3f
2:  load_squares \height, \vectors
3:
    .endm

/* ---- groups of k ---- */

    .macro multiply_columns count, first_column, first_b
    .set j, 0
    .rept \count
    .set pair, 0
    .rept pairs
    mmla %(first_sum + pair * squares + \first_column + j), %(pair), %(\first_b + j)
    .set pair, pair + 1
    .endr
    .set j, j + 1
    .endr
    .endm
    .macro group_of_squares height, vectors
    when %(\height > 1), load_vectors 0, %(\height / 2), a
    when %(\height % 2), load_d %(\height / 2), [a], #8
    .if \vectors == 3
    load_vectors 4, 3, b
    multiply_columns 3, 0, 4
    load_vectors 4, 3, b
    multiply_columns 3, 3, 4
    .else
    load_vectors 4, %(2 * \vectors), b
    multiply_columns %(2 * \vectors), 0, 4
    .endif
    .endm

    .macro square_tile height, vectors
    plan_squares \height, \vectors
    begin_squares \height, \vectors
    lsr scratch, groups, #1
    cbz scratch, 6f
5:  fetch_ahead \height, \vectors
    group_of_squares \height, \vectors
    group_of_squares \height, \vectors
    subs scratch, scratch, #1
    b.ne 5b
6:  tbz groups, #0, 8f
    group_of_squares \height, \vectors
8:  cbnz end, 9f
    store_squares \height, \vectors
    b 10f
9:  end_tile squares, %(first_sum), \height, \vectors
10:
    .endm

/* ---- one row: two sums a column, two sets of them; v0 has the row, v1 … columns ---- */

    .macro dot_columns count, first, set
    each j, \count, dot %(first_sum + \set * squares + \first + j), %(1 + \first + j), 0
    .endm
    .macro group_of_row vectors, set, row
    dup v0.2d, \row
    .if \vectors == 3
    load_vectors 1, 3, b
    dot_columns 3, 0, \set
    load_vectors 4, 3, b
    dot_columns 3, 3, \set
    .else
    load_vectors 1, %(2 * \vectors), b
    dot_columns %(2 * \vectors), 0, \set
    .endif
    .endm
    .macro two_groups_of_row vectors
    ldp row, next_row, [a], #16
    group_of_row \vectors, 0, row
    group_of_row \vectors, 1, next_row
    .endm

/* What there was, or what the row begins with, is added in the end. */
    .macro row_tile vectors
    .set squares, 2 * \vectors
    .set first_sum, 32 - 2 * squares
    clear_all %(first_sum), %(2 * squares)
    tst w8, #1
    csel at, c, scratch, ne
    lsr scratch, groups, #2
    cbz scratch, 6f
5:  two_groups_of_row \vectors
    two_groups_of_row \vectors
    subs scratch, scratch, #1
    b.ne 5b
6:  ands groups, groups, #3
    b.eq 8f
7:  ldr row, [a], #8
    group_of_row \vectors, 0, row
    subs groups, groups, #1
    b.ne 7b
8:  .set j, 0
    .rept squares
    add_sums %(first_sum + j), %(first_sum + squares + j)
    .set j, j + 1
    .endr
    each j, \vectors, add_pairs %(32 - \vectors + j), %(first_sum + 2 * j), %(first_sum + 2 * j + 1)
    cbz at, 9f
    several_at ld1, \vectors, 4, at
    each j, \vectors, add_sums %(32 - \vectors + j), %(4 + j)
9:  cbnz end, 9f
    several st1, \vectors, %(32 - \vectors), c, line
    b 10f
9:  end_tile lines, %(32 - \vectors), 1, \vectors
10:
    .endm

    .macro tile_body height, vectors
    when %(\height == 1), row_tile \vectors
    otherwise square_tile \height, \vectors
    .endm

    .macro mmla_tile name, height, vectors
    plan_squares \height, \vectors
    .set saves, pairs * squares > 16
    whole_tile .L\name\()_\height\()_\vectors, \height, \vectors
    .endm
    .macro mmla_tiles name
    shared_steps
    shared_squares
    .irp width, 2, 4, 6
    shared_rows sums, pair_of_sums, \width, 4
    .endr
    begin_table \name
    .irp vectors, 1, 2, 3
    .irp height, 1, 2, 3, 4, 5, 6, 7, 8
    mmla_tile \name, \height, \vectors
    .endr
    .endr
    end_table \name
    .endm
