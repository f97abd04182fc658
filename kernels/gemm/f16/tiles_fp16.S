/* Tiles of f16 by FMLA, whose sums are of f16 while they are made: a vector has eight columns of a
 * row, so panels of B are 8, 16 or 24 columns wide.
 *
 * 8x24 has 24 sums, v8 … v31. Four steps come together, whose lanes of A are in up to four registers,
 * v0 … v3; v4 … v6 have a step of B. Four steps take 96 multiply-accumulates, a load of A and four
 * of B. Smaller tiles have two or four sets of sums, for steps in turn, so that an instruction does
 * not wait for the one before.
 *
 * Sums end as halves in registers if there is nothing to do but offsets and limits, which are halves
 * then, too; else as f32 in memory (tiles_neon.c). */
/* clang-format off */
    .set vector_columns, 8
#include "kernels/gemm/tiles_neon.h"

    .macro mac sum, vector, lanes, lane
    fmla v\sum\().8h, v\vector\().8h, v\lanes\().h[\lane]
    .endm
    .macro add_halves to, sum, other
    fadd v\to\().8h, v\sum\().8h, v\other\().8h
    .endm
    .macro clamp_halves sum
    fmax v\sum\().8h, v\sum\().8h, v0.8h
    fmin v\sum\().8h, v\sum\().8h, v1.8h
    .endm

/* ---- sums ---- */

    .macro plan_sums height, vectors
    .set set_sums, \height * \vectors
    .set sets, 1
    when %(set_sums <= 4), .set sets, 4
    or_when %(set_sums <= 12), .set sets, 2
    .set first_sum, 32 - sets * set_sums
    .set last_set, 32 - set_sums
    .set together, 4 /* steps */
    when %(\height == 1), .set together, 8
    .endm

    .macro multiply_step height, vectors, step
    load_vectors 4, \vectors, b
    .set i, 0
    .rept \height
    .set lane, \step * \height + i
    .set j, 0
    .rept \vectors
    mac %(first_sum + \step % sets * set_sums + i * \vectors + j), %(4 + j), %(lane / 8), %(lane % 8)
    .set j, j + 1
    .endr
    .set i, i + 1
    .endr
    .endm

/* The last set has them in the end. */
    .macro add_all_sets
    .set i, 0
    .rept (sets / 2) * set_sums
    .set from, first_sum + i
    when %(sets == 4), .set from, from + (i / set_sums) * set_sums
    add_halves %(from + set_sums), %(from), %(from + set_sums)
    .set i, i + 1
    .endr
    .if sets == 4
    each i, set_sums, add_halves %(last_set + i), %(first_sum + set_sums + i), %(last_set + i)
    .endif
    .endm

    .macro multiply_all height, vectors
    clear_all %(first_sum), %(sets * set_sums)
    when %(together == 8), lsr scratch, groups, #3
    otherwise lsr scratch, groups, #2
    cbz scratch, 6f
5:  fetch_ahead \height, \vectors
    load_bytes 0, %(2 * together * \height), a
    each step, together, multiply_step \height, \vectors, %(step)
    subs scratch, scratch, #1
    b.ne 5b
6:  ands groups, groups, #together - 1
    b.eq 8f
7:  load_bytes 0, %(2 * \height), a
    multiply_step \height, \vectors, 0
    subs groups, groups, #1
    b.ne 7b
8:  add_all_sets
    .endm

/* ---- ends; all tiles of a width share what is done by rows, as ends_neon.h says ---- */

    .macro halve_offsets j
    ldp q4, q5, [at, #32 * \j]
    fcvtn v\j\().4h, v4.4s
    fcvtn2 v\j\().8h, v5.4s
    .endm
    .macro add_offsets first, width, is_last, none
    each j, \width, add_halves %(\first + j), %(\first + j), %(j)
    .endm
    .macro load_limits
    ldr s0, [end, #finish.low]
    ldr s1, [end, #finish.high]
    fcvt h0, s0
    fcvt h1, s1
    dup v0.8h, v0.h[0]
    dup v1.8h, v1.h[0]
    .endm

    .macro store_halves first, width, is_last, none
    several st1, \width, \first, to, to_line
    .endm
    .macro end_in_halves height, vectors
    ldr at, [end, #finish.offsets]
    cbz at, 1f
    for_all halve_offsets, 0, \vectors
    on_rows add_offsets, \vectors, %(8 - \height)
1:  ldr word, [end, #finish.is_clamped]
    cbz word, 2f
    load_limits
    on_sums clamp_halves, %(last_set), 2
2:  ldr to_line, [end, #finish.dst_row]
    lsl to_line, to_line, #1
    on_rows store_halves, \vectors, %(8 - \height)
    .endm

/* To f32 in memory, at c: what there was, or what each row begins with, is at `at`, and that of the
 * next row `scratch` behind it; NULL: nothing. */
    .macro store_floats first, width, is_last, none
    each j, \width, widen %(2 * j), %(\first + j)
    cbz at, 1f
    each j, \width, add_two %(2 * j), %(2 * j + 1), %(32 * j)
    add at, at, scratch
1:  each j, \width, store_pair %(2 * j), %(2 * j + 1), [c, #(32 * j)]
    add c, c, line
    .endm
    .macro widen to, from
    widen_to \to, %(\to + 1), \from
    .endm
    .macro widen_to low, high, from
    fcvtl v\low\().4s, v\from\().4h
    fcvtl2 v\high\().4s, v\from\().8h
    .endm
    .macro add_two first, second, offset
    ldp q6, q7, [at, #\offset]
    add_to \first, 6
    add_to \second, 7
    .endm

    .macro end_sums height, vectors
    cbnz end, 9f
    tst w8, #1
    csel at, c, start, ne
    csel scratch, line, xzr, ne
    on_rows store_floats, \vectors, %(8 - \height)
    b 10f
9:  end_in_halves \height, \vectors
10:
    .endm

/* ---- tiles ---- */

    .macro tile_body height, vectors
    multiply_all \height, \vectors
    end_sums \height, \vectors
    .endm

    .macro f16_tile height, vectors
    plan_sums \height, \vectors
    .set saves, first_sum < 16
    whole_tile .Lgemm_f16_tiles_\height\()_\vectors, \height, \vectors
    .endm

    .macro shared_by_rows vectors
    shared_rows add_offsets, add_offsets, \vectors, 8
    shared_rows store_halves, store_halves, \vectors, 8
    shared_rows store_floats, store_floats, \vectors, 8
    .endm

    shared clamp_halves, clamp_halves
    .irp vectors, 1, 2, 3
    shared_by_rows \vectors
    .endr
    begin_table gemm_f16_tiles
    .irp vectors, 1, 2, 3
    .irp height, 1, 2, 3, 4, 5, 6, 7, 8
    f16_tile \height, \vectors
    .endr
    .endr
    end_table gemm_f16_tiles
