/* Tiles of f16 by FMLA, whose sums are of f16 while they are made and of f32 in memory.
 *
 * Eight rows: a vector has a column of them, since 12 columns are no whole vectors: 8x12 has 12
 * sums, two sets of them for steps in turn, two vectors of A and three of B, whose lanes two steps
 * are multiplied by; two steps take 24 multiply-accumulates and two loads. In the end columns
 * become rows by rounds of ZIP.
 *
 * Fewer rows: a vector has eight columns of a row, or its last four; four steps come together, whose
 * lanes of A are in up to four registers. */
/* clang-format off */
#include "kernels/gemm/tiles_neon.h"

    .set sums_are_integers, 0

/* Halves of four floats, and back. */
    .macro narrow to, from
    fcvtn v\to\().4h, v\from\().4s
    .endm
    .macro narrow_more to, from
    fcvtn2 v\to\().8h, v\from\().4s
    .endm
    .macro widen to, from
    fcvtl v\to\().4s, v\from\().4h
    .endm
    .macro widen_upper to, from
    fcvtl2 v\to\().4s, v\from\().8h
    .endm

    .macro mac sum, vector, lanes, lane
    fmla v\sum\().8h, v\vector\().8h, v\lanes\().h[\lane]
    .endm
    .macro zip count, width, to, first, second
    zip\count v\to\().\width, v\first\().\width, v\second\().\width
    .endm
    .macro add_halves to, sum, other
    fadd v\to\().8h, v\sum\().8h, v\other\().8h
    .endm

/* ---- fewer than eight rows: v0 … v3 have lanes of A, v4 and v5 columns ---- */

    .macro plan_rows height, vectors
    .set each, (\vectors + 1) / 2
    .set set_sums, \height * each
    .set sets, 1
    .if set_sums <= 4
    .set sets, 4
    .elseif set_sums <= 8
    .set sets, 2
    .endif
    .set first_sum, 32 - sets * set_sums
    .endm

    .macro load_columns vectors
    .if \vectors == 1
    ldr d4, [b], #8
    .else
    ldr q4, [b], #16
    .endif
    .if \vectors == 3
    ldr d5, [b], #8
    .endif
    .endm
    .macro step_of_rows height, vectors, step
    load_columns \vectors
    .set i, 0
    .rept \height
    .set lane, \step * \height + i
    .set j, 0
    .rept each
    mac %(first_sum + \step % sets * set_sums + i * each + j), %(4 + j), %(lane / 8), %(lane % 8)
    .set j, j + 1
    .endr
    .set i, i + 1
    .endr
    .endm

/* Sums of all sets to v0 …; and from there the last row first, since they are in the way of the
 * others. */
    .macro add_all_sets
    .set i, 0
    .rept set_sums
    .if sets == 1
    copy_to %(i), %(first_sum + i)
    .else
    add_halves %(i), %(first_sum + i), %(first_sum + set_sums + i)
    .endif
    .if sets == 4
    add_halves %(4 + i), %(first_sum + 2 * set_sums + i), %(first_sum + 3 * set_sums + i)
    add_halves %(i), %(i), %(4 + i)
    .endif
    .set i, i + 1
    .endr
    .endm
    .macro widen_rows height, vectors
    .set i, \height
    .rept \height
    .set i, i - 1
    widen_row \vectors, %(32 - (\height - i) * \vectors), %(i * each)
    .endr
    .endm
    .macro widen_row vectors, to, from
    widen \to, \from
    .if \vectors > 1
    widen_upper %(\to + 1), \from
    .endif
    .if \vectors > 2
    widen %(\to + 2), %(\from + 1)
    .endif
    .endm

    .macro tile_of_rows height, vectors
    plan_rows \height, \vectors
    clear_all %(first_sum), %(sets * set_sums)
    lsr scratch, groups, #2
    cbz scratch, 6f
5:  load_bytes 0, %(8 * \height), a
    .irp step, 0, 1, 2, 3
    step_of_rows \height, \vectors, \step
    .endr
    subs scratch, scratch, #1
    b.ne 5b
6:  ands groups, groups, #3
    b.eq 8f
7:  load_bytes 0, %(2 * \height), a
    step_of_rows \height, \vectors, 0
    subs groups, groups, #1
    b.ne 7b
8:  add_all_sets
    widen_rows \height, \vectors
    .endm

/* ---- one row of 12 columns, which are two steps in three vectors: the second one has the last four
 * columns of a step and the first four of the next, and is multiplied by four times either's lane. v0
 * has eight lanes of A, v3, v4, v1 and v2 those of its pairs, v5 … v7 B. v8 … have three sums for each
 * panel, and v20 … those of every other pair. Two or four panels beside each other share the lanes of
 * pairs: with four of them eight steps take 48 multiply-accumulates, 6 ZIP, and a load for each three
 * of them. Which panels are together depends on threads, so one alone has its sums in the same order.
 * In the end v1 … v4 have what a step that is alone adds to the last four columns ---- */

b_1 .req x7
b_2 .req x15
b_3 .req x16

/* All steps but a last single one: what pair, lanes. */
    .macro pairs_of_steps what
    lsr scratch, groups, #3
    cbz scratch, 6f
5:  ldr q0, [a], #16
    zip 1, 8h, 1, 0, 0
    zip 2, 8h, 2, 0, 0
    zip 1, 4s, 3, 1, 1
    zip 2, 4s, 4, 1, 1
    zip 1, 4s, 1, 2, 2
    zip 2, 4s, 2, 2, 2
    \what 0, 3
    \what 1, 4
    \what 2, 1
    \what 3, 2
    subs scratch, scratch, #1
    b.ne 5b
6:  ubfx scratch, groups, #1, #2
    cbz scratch, 7f
4:  ldr s0, [a], #4
    zip 1, 8h, 1, 0, 0
    zip 1, 4s, 3, 1, 1
    \what 0, 3
    subs scratch, scratch, #1
    b.ne 4b
7:
    .endm

    .macro mac_whole sum, vector, other
    fmla v\sum\().8h, v\vector\().8h, v\other\().8h
    .endm
    .macro step_of_panel from, panel, pair, lanes
    load_vectors 5, 3, \from
    .set sum, 8 + 3 * \panel + 12 * (\pair % 2)
    mac %(sum), 5, 0, %(2 * \pair)
    mac_whole %(sum + 1), 6, \lanes
    mac %(sum + 2), 7, 0, %(2 * \pair + 1)
    .endm
    .macro last_step_of_panel from, panel
    ldr q5, [\from], #16
    ldr d6, [\from], #8
    mac %(20 + 3 * \panel), 5, 0, 0
    times_first_lane %(1 + \panel), 6
    .endm
    .macro times_first_lane to, vector
    fmul v\to\().8h, v\vector\().8h, v0.h[0]
    .endm
    .macro add_sets sum
    add_halves %(20 + \sum), %(8 + \sum), %(20 + \sum)
    .endm

    .macro pair_of_1_panels pair, lanes
    step_of_panel b, 0, \pair, \lanes
    .endm
    .macro pair_of_2_panels pair, lanes
    pair_of_1_panels \pair, \lanes
    step_of_panel b_1, 1, \pair, \lanes
    .endm
    .macro pair_of_4_panels pair, lanes
    pair_of_2_panels \pair, \lanes
    step_of_panel b_2, 2, \pair, \lanes
    step_of_panel b_3, 3, \pair, \lanes
    .endm

/* All sums, those of panel number i in v(20 + 3 * i) and the next two. */
    .macro sum_panels count
    clear_all 8, %(3 * \count)
    clear_all 20, %(3 * \count)
    pairs_of_steps pair_of_\count\()_panels
    clear_all 1, \count
    tbz groups, #0, 8f
    ldr h0, [a], #2
    last_step_of_panel b, 0
    .if \count > 1
    last_step_of_panel b_1, 1
    .endif
    .if \count == 4
    last_step_of_panel b_2, 2
    last_step_of_panel b_3, 3
    .endif
8:  for_all add_sets, 0, %(3 * \count)
    .endm

    .macro tile_of_row
    sum_panels 1
    widen 29, 20
    widen_upper 0, 21
    add_to 29, 0
    widen_upper 30, 20
    widen 2, 22
    add_to 30, 2
    widen 31, 21
    widen_upper 3, 22
    widen 1, 1
    add_to 31, 3
    add_to 31, 1
    .endm

/* What there was, or what the row begins with, is at `at`; NULL: nothing. */
    .macro end_of_panel sum, upper, lower, more
    widen 16, \sum
    widen_upper 17, \sum
    widen_upper 5, \upper
    widen 18, \upper
    widen 6, \lower
    widen_upper 7, \lower
    widen \more, \more
    add_to 16, 5
    add_to 17, 6
    add_to 18, 7
    add_to 18, \more
    cbz at, 1f
    ld1 {v5.4s - v7.4s}, [at], #48
    add_to 16, 5
    add_to 17, 6
    add_to 18, 7
1:  st1 {v16.4s - v18.4s}, [c], #48
    .endm

/* Leaves everything at the last one of them. */
    .macro tile_of_panels count
    add b_1, b, beside
    .if \count == 4
    add b_2, b_1, beside
    add b_3, b_2, beside
    .endif
    sum_panels \count
    tst w8, #1
    csel at, c, start, ne
    .set panel, 0
    .rept \count
    end_of_panel %(20 + 3 * panel), %(21 + 3 * panel), %(22 + 3 * panel), %(1 + panel)
    .set panel, panel + 1
    .endr
    .rept \count - 1
    add begin_b, begin_b, beside
    .endr
    sub w11, w11, #\count - 1
    cbz start, 1f
    add start, start, #(\count - 1) * 48
1:
    .endm

/* ---- eight rows: v0 … v2 have lanes of B, v3 and v4 columns of A, v8 … and v20 … sums ---- */

    .macro step_of_columns vectors, step
    .set j, 0
    .rept 4 * \vectors
    .set lane, \step * 4 * \vectors + j
    mac %(8 + 12 * \step + j), %(3 + \step), %(lane / 8), %(lane % 8)
    .set j, j + 1
    .endr
    .endm
    .macro two_steps_of_columns vectors
    load_vectors 3, 2, a
    load_vectors 0, \vectors, b
    step_of_columns \vectors, 0
    step_of_columns \vectors, 1
    .endm

/* Four columns: two rows of them each in four registers. Those of the last rows are where no sums
 * in f32 will be before they are read. */
    .macro place_of_pair vectors, four, pair
    .if (\vectors == 3) & (\pair < 2)
    .set place, 20 + 2 * \four + \pair
    .elseif \vectors == 3
    .set place, 2 * \four + \pair - 2
    .else
    .set place, 4 * \four + \pair
    .endif
    .endm
    .macro pair_of_rows vectors, four, pair
    place_of_pair \vectors, \four, \pair
    .set from, 8 + 4 * \four + \pair / 2
    .if \pair % 2
    zip 2, 4s, %(place), %(from), %(from + 2)
    .else
    zip 1, 4s, %(place), %(from), %(from + 2)
    .endif
    .endm
    .macro widen_pair vectors, four, pair
    place_of_pair \vectors, \four, \pair
    .set to_row, 32 - (8 - 2 * \pair) * \vectors + \four
    widen %(to_row), %(place)
    widen_upper %(to_row + \vectors), %(place)
    .endm
    .macro for_fours op, vectors, pair
    .set four, 0
    .rept \vectors
    \op \vectors, %(four), \pair
    .set four, four + 1
    .endr
    .endm
    .macro columns_to_rows vectors
    .set j, 0
    .rept 4 * \vectors
    add_halves %(20 + j), %(8 + j), %(20 + j)
    .set j, j + 1
    .endr
    .set j, 0
    .rept 2 * \vectors
    zip 1, 8h, %(8 + 2 * j), %(20 + 2 * j), %(21 + 2 * j)
    zip 2, 8h, %(9 + 2 * j), %(20 + 2 * j), %(21 + 2 * j)
    .set j, j + 1
    .endr
    .irp pair, 0, 1, 2, 3
    for_fours pair_of_rows, \vectors, \pair
    .endr
    .irp pair, 0, 1, 2, 3
    for_fours widen_pair, \vectors, \pair
    .endr
    .endm

    .macro tile_of_columns vectors
    clear_all 8, %(4 * \vectors)
    clear_all 20, %(4 * \vectors)
    lsr scratch, groups, #3
    cbz scratch, 6f
5:  fetch_ahead 8, \vectors
    .rept 4
    two_steps_of_columns \vectors
    .endr
    subs scratch, scratch, #1
    b.ne 5b
6:  ubfx scratch, groups, #1, #2
    cbz scratch, 7f
4:  two_steps_of_columns \vectors
    subs scratch, scratch, #1
    b.ne 4b
7:  tbz groups, #0, 8f
    ldr q3, [a], #16
    load_bytes 0, %(8 * \vectors), b
    step_of_columns \vectors, 0
8:  columns_to_rows \vectors
    .endm

/* ---- sums of f32 in the last registers, row by row: what there was, or what each row begins with,
 * is added ---- */

    .macro add_row vectors, first
    several ld1, \vectors, 0, at, scratch
    .set j, 0
    .rept \vectors
    add_to %(\first + j), %(j)
    .set j, j + 1
    .endr
    .endm
    .macro end_sums height, vectors
    .set first_row, 32 - \height * \vectors
    tst w8, #1
    csel at, c, start, ne
    csel scratch, line, xzr, ne
    cbz at, 1f
    .set i, 0
    .rept \height
    add_row \vectors, %(first_row + i * \vectors)
    .set i, i + 1
    .endr
1:  cbnz end, 9f
    .set i, 0
    .rept \height
    several st1, \vectors, %(first_row + i * \vectors), c, line
    .set i, i + 1
    .endr
    b 10f
9:  end_tile lines, %(first_row), \height, \vectors
10:
    .endm

    .macro tile_body height, vectors
    .if (\height == 1) & (\vectors == 3)
    cmp w11, #2
    b.lo 2f
    cmp w11, #4
    b.lo 13f
    tile_of_panels 4
    b 3f
13: tile_of_panels 2
    b 3f
2:  tile_of_row
    .elseif \height == 8
    tile_of_columns \vectors
    .else
    tile_of_rows \height, \vectors
    .endif
    end_sums \height, \vectors
3:
    .endm

    .macro f16_tile height, vectors
    .set saves, (\height == 8) | (\height * \vectors > 14) | ((\height == 1) & (\vectors == 3))
    whole_tile .Lgemm_f16_tiles_\height\()_\vectors, \height, \vectors
    .endm

    shared_steps
    shared_lines
    begin_table gemm_f16_tiles
    .irp vectors, 1, 2, 3
    .irp height, 1, 2, 3, 4, 5, 6, 7, 8
    f16_tile \height, \vectors
    .endr
    .endr
    end_table gemm_f16_tiles
