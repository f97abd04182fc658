/* How tiles of kernels/gemm/types.h end where all of k is in their sums: these become results while
 * they are in registers, as kernels/gemm/finish.h says.
 *
 * The sums of a tile are the last registers, row by row. So all tiles of a width share the code for
 * what becomes of them: it has a part for each row, or for each two rows that are squares or become
 * bytes, and a tile enters at its first one; what is done to all sums alike has a step for each of
 * v7 … v31. One row alone, and a first one that has no other beside it, has such code itself, but
 * for the latter.
 *
 * A file says sums_are_integers; then dst is f32, s8 or u8; else it is f32 or halves, and the file
 * has
 *
 *   ends_in_halves       ELEMENT_* of them
 *   narrow to, from      four floats to the lower halves of v(to)
 *   narrow_more to, from and to the upper ones */
/* clang-format off */

    registers 13, end, to
rows_at .req x17
kept_link .req x0 /* the tile's address is not wanted once its members are loaded */
to_line .req x15
word .req w16

/* ---- what tiles share ---- */

    .macro to_float sum
    scvtf v\sum\().4s, v\sum\().4s
    .endm
    .macro less_start sum
    fsub v\sum\().4s, v\sum\().4s, v0.4s
    .endm
    .macro times_and_plus sum
    fmul v\sum\().4s, v\sum\().4s, v1.4s
    fadd v\sum\().4s, v\sum\().4s, v2.4s
    .endm
    .macro divide_and_add sum
    fdiv v\sum\().4s, v\sum\().4s, v0.4s
    fadd v\sum\().4s, v\sum\().4s, v2.4s
    .endm
/* Two sums, by both parts of the reciprocal. */
    .macro by_reciprocal first, second
    fmul v3.4s, v\first\().4s, v0.4s
    fmul v4.4s, v\second\().4s, v0.4s
    fmla v3.4s, v\first\().4s, v1.4s
    fmla v4.4s, v\second\().4s, v1.4s
    fadd v\first\().4s, v3.4s, v2.4s
    fadd v\second\().4s, v4.4s, v2.4s
    .endm

/* From v8 on: tiles that have this begin at an even one. */
    .set FIRST_PAIRED, FIRST_SHARED + 1
    .macro shared_by_pairs name, op
    .p2align 4
.L\name\():
    each_by 2, one, FIRST_PAIRED, %(SHARED / 2), \op %(one), %(one + 1)
    ret
    .endm
    .macro shared_steps
    .if sums_are_integers
    shared to_float, to_float
    shared less_start, less_start
    .endif
    shared clamp, clamp_to, 0, 1
    shared times_and_plus, times_and_plus
    shared divide, divide_and_add
    shared_by_pairs by_reciprocal, by_reciprocal
    .endm

/* The parts of `rows` rows, each of so many registers, which end at v31. what: a macro that takes
 * the first of a row's registers, how many there are, whether the row is the last one, and others
 * or `none`, since clang takes nothing behind a comma for an argument. */
    .macro shared_rows name, what, width, rows, others:vararg
    .p2align 4
    .set row_number, 0
    .rept \rows
    shared_row \name, \what, \width, %(row_number), %(32 - (\rows - row_number) * \width), %(row_number + 1 == \rows), \others
    .set row_number, row_number + 1
    .endr
    ret
    .endm
    .macro shared_row name, what, width, number, first, is_last, others:vararg
.L\name\()_\width\()_\number\():
    \what \first, \width, \is_last, \others
    .endm
    .macro on_rows name, width, first_row
    bl .L\name\()_\width\()_\first_row
    .endm
    .macro columns_of_row first, width, is_last, op
    each j, \width, on_sum \op, %(\first + j), %(j)
    .endm

    .macro on_pairs name, first, instructions
    bl .L\name + 4 * \instructions * ((\first - FIRST_PAIRED) / 2)
    .endm

/* ---- values, whatever their rows and columns ---- */

    .macro values_of_sums first
    .if sums_are_integers
    ldr word, [end, #finish.is_float]
    cbz word, 31f
    movi v0.4s, #0x4b, lsl #24
    orr v0.4s, #0x40, lsl #16
    on_sums less_start, \first, 1
    b 32f
31: on_sums to_float, \first, 1
32:
    .endif
    .endm

    .macro load_same register, offset
    add at, end, #\offset
    ld1r {v\register\().4s}, [at]
    .endm
    .macro clamp_values first
    ldr word, [end, #finish.is_clamped]
    cbz word, 31f
    load_same 0, finish.low
    load_same 1, finish.high
    on_sums clamp, \first, 2
31:
    .endm

    .macro requantize first
    ldr word, [end, #finish.is_requantized]
    cbz word, 34f
    load_same 1, finish.reciprocal
    load_same 2, finish.zero
    ldp word, w6, [end, #finish.reciprocal]
    cbz word, 32f
    cbz w6, 31f
    load_same 0, finish.rest
    on_pairs by_reciprocal, \first, 6
    b 34f
31: on_sums times_and_plus, \first, 2
    b 34f
32: load_same 0, finish.divisor
    on_sums divide, \first, 2
34:
    .endm

/* by_rows, by_columns: macros that take an operation, a height and a width. */
    .macro finish_sums first, by_rows, by_columns, height, vectors
    values_of_sums \first
    cbz rows_at, 36f
    \by_rows \first, \height, \vectors
36: ldr at, [end, #finish.scales]
    cbz at, 37f
    \by_columns fmul, \first, \height, \vectors
37: ldr at, [end, #finish.offsets]
    cbz at, 38f
    \by_columns fadd, \first, \height, \vectors
38: clamp_values \first
    requantize \first
    .endm

    .macro on_sum op, sum, other
    \op v\sum\().4s, v\sum\().4s, v\other\().4s
    .endm

/* Goes to 35 for f32. */
    .macro choose_dst
    ldr to_line, [end, #finish.dst_row]
    ldr word, [end, #finish.to]
    cmp word, #ELEMENT_F32
    b.eq 35f
    when %(!sums_are_integers), lsl to_line, to_line, #1
    .endm

/* ---- stores of a row of 4, 8 or 12 values, which are in v(low), and for halves in v(low + 1); at:
 * where the last third of the row goes ---- */

    .macro find_third bytes, vectors
    when %(\vectors == 3), add at, to, #2 * \bytes
    .endm
    .macro store_row_of_bytes vectors, row
    when %(\vectors == 1), st1 {v\row\().s}[0], [to], to_line
    otherwise st1 {v\row\().8b}, [to], to_line
    when %(\vectors == 3), st1 {v\row\().s}[2], [at], to_line
    .endm
    .macro store_row_of_halves vectors, row, third
    when %(\vectors == 1), st1 {v\row\().4h}, [to], to_line
    otherwise st1 {v\row\().8h}, [to], to_line
    when %(\vectors == 3), st1 {v\third\().4h}, [at], to_line
    .endm

/* ---- registers that are four columns of a row each ---- */

    .macro by_rows_of_lines first, height, vectors
    load_bytes 0, %(4 * \height), rows_at
    each i, \height, each j, \vectors, times_lane %(\first + i * \vectors + j), %(i / 4), %(i % 4)
    .endm
    .macro times_lane sum, row, lane
    fmul v\sum\().4s, v\sum\().4s, v\row\().s[\lane]
    .endm

    .macro by_columns_of_lines op, first, height, vectors
    several_at ld1, \vectors, 0, at
    when %(\height == 1), columns_of_row \first, \vectors, 1, \op
    otherwise on_rows \op, \vectors, %(8 - \height)
    .endm

/* Conversions and what narrows them take turns, since cores have other pipes for them. */
    .macro to_integer sum
    fcvtns v\sum\().4s, v\sum\().4s
    .endm
    .macro bytes_of_line vectors, narrow_last, row, first, second, third
    for_all to_integer, \first, \vectors
    sqxtn v\row\().4h, v\first\().4s
    second_halves \vectors, \row, \second
    third_halves \vectors, \first, \third
    \narrow_last v\row\().8b, v\row\().8h
    when %(\vectors > 2), \narrow_last\()2 v\row\().16b, v\first\().8h
    .endm
    .macro line_of_bytes first, vectors, is_last, narrow_last
    bytes_of_line \vectors, \narrow_last, %(\first / \vectors % 4), \first, %(\first + 1), %(\first + 2)
    store_row_of_bytes \vectors, %(\first / \vectors % 4)
    .endm
/* Two rows step by step, as each step waits for the one before. */
    .macro two_lines_of_bytes first, width, is_last, narrow_last
    lines_of_bytes %(\width / 2), \narrow_last, %(\first / (\width / 2) % 4), %((\first / (\width / 2) + 1) % 4), \first, %(\first + \width / 2)
    .endm
    .macro lines_of_bytes vectors, narrow_last, row, next, first, below
    for_all to_integer, \first, \vectors
    for_all to_integer, \below, \vectors
    sqxtn v\row\().4h, v\first\().4s
    sqxtn v\next\().4h, v\below\().4s
    third_halves \vectors, \first, %(\first + 2)
    third_halves \vectors, \below, %(\below + 2)
    second_halves \vectors, \row, %(\first + 1)
    second_halves \vectors, \next, %(\below + 1)
    \narrow_last v\row\().8b, v\row\().8h
    \narrow_last v\next\().8b, v\next\().8h
    .if \vectors > 2
    \narrow_last\()2 v\row\().16b, v\first\().8h
    \narrow_last\()2 v\next\().16b, v\below\().8h
    .endif
    store_row_of_bytes \vectors, \row
    store_row_of_bytes \vectors, \next
    .endm
    .macro second_halves vectors, row, second
    when %(\vectors > 1), sqxtn2 v\row\().8h, v\second\().4s
    .endm
    .macro third_halves vectors, to, third
    when %(\vectors > 2), sqxtn v\to\().4h, v\third\().4s
    .endm
    .macro store_lines_of_bytes first, height, vectors, narrow_last
    find_third 4, \vectors
    when %(\height % 2), line_of_bytes \first, \vectors, %(\height == 1), \narrow_last
    when %(\height > 1), on_rows two_\narrow_last, %(2 * \vectors), %(4 - \height / 2)
    .endm

    .macro halves_of_line vectors, row, first, second, third
    narrow \row, \first
    when %(\vectors > 1), narrow_more \row, \second
    when %(\vectors > 2), narrow \first, \third
    store_row_of_halves \vectors, \row, \first
    .endm
    .macro line_of_halves first, vectors, is_last, none
    halves_of_line \vectors, %(\first / \vectors % 4), \first, %(\first + 1), %(\first + 2)
    .endm
    .macro store_lines_of_halves first, height, vectors
    find_third 8, \vectors
    when %(\height == 1), line_of_halves \first, \vectors, 1
    otherwise on_rows halves, \vectors, %(8 - \height)
    .endm

    .macro store_lines_of_floats first, height, vectors
    each i, \height, several st1, \vectors, %(\first + i * \vectors), to, to_line
    .endm

    .macro shared_lines
    .irp vectors, 1, 2, 3
    shared_rows fmul, columns_of_row, \vectors, 8, fmul
    shared_rows fadd, columns_of_row, \vectors, 8, fadd
    .if sums_are_integers
    shared_rows two_sqxtn, two_lines_of_bytes, %(2 * \vectors), 4, sqxtn
    shared_rows two_sqxtun, two_lines_of_bytes, %(2 * \vectors), 4, sqxtun
    .else
    shared_rows halves, line_of_halves, \vectors, 8
    .endif
    .endr
    .endm

/* ---- registers that are squares of two rows and two columns; `word` says that there is only the
 * upper one of the last two rows ---- */

    .macro by_rows_of_squares first, height, vectors
    .set pair, 0
    .rept (\height + 1) / 2
    when %(2 * pair + 2 > \height), ldr s7, [rows_at], #4
    otherwise ldr d7, [rows_at], #8
    zip1 v7.4s, v7.4s, v7.4s
    each j, %(2 * \vectors), on_sum fmul, %(\first + 2 * pair * \vectors + j), 7
    .set pair, pair + 1
    .endr
    .endm

    .macro two_columns register
    ld1r {v\register\().2d}, [at], #8
    .endm
    .macro by_columns_of_squares op, first, height, vectors
    for_all two_columns, 0, %(2 * \vectors)
    on_rows \op, %(2 * \vectors), %(4 - (\height + 1) / 2)
    .endm

/* Two rows from v0 … v(vectors - 1), which have two squares each: to v3 and v5, the last third of
 * halves to v4 and v6. */
    .macro part_bytes vectors, narrow_last
    \narrow_last v0.8b, v0.8h
    when %(\vectors > 1), \narrow_last\()2 v0.16b, v1.8h
    .if \vectors > 2
    \narrow_last v1.8b, v2.8h
    uzp1 v3.8h, v0.8h, v1.8h
    uzp2 v5.8h, v0.8h, v1.8h
    .else
    uzp1 v3.8h, v0.8h, v0.8h
    uzp2 v5.8h, v0.8h, v0.8h
    .endif
    .endm
    .macro part_halves vectors
    .if \vectors > 1
    uzp1 v3.4s, v0.4s, v1.4s
    uzp2 v5.4s, v0.4s, v1.4s
    .else
    uzp1 v3.4s, v0.4s, v0.4s
    uzp2 v5.4s, v0.4s, v0.4s
    .endif
    .if \vectors > 2
    uzp1 v4.4s, v2.4s, v2.4s
    uzp2 v6.4s, v2.4s, v2.4s
    .endif
    .endm
    .macro narrow_integers to, first, second
    to_integer \first
    to_integer \second
    sqxtn v\to\().4h, v\first\().4s
    sqxtn2 v\to\().8h, v\second\().4s
    .endm
    .macro narrow_floats to, first, second
    narrow \to, \first
    narrow_more \to, \second
    .endm
    .macro narrow_squares op, first, vectors
    each j, \vectors, \op %(j), %(\first + 2 * j), %(\first + 2 * j + 1)
    .endm

    .macro on_squares name, height, vectors
    mov word, #\height % 2
    on_rows \name, %(2 * \vectors), %(4 - (\height + 1) / 2)
    .endm

    .macro pair_of_bytes first, width, is_last, narrow_last
    narrow_squares narrow_integers, \first, %(\width / 2)
    part_bytes %(\width / 2), \narrow_last
    store_row_of_bytes %(\width / 2), 3
    unless_alone \is_last
    store_row_of_bytes %(\width / 2), 5
1:
    .endm
    .macro unless_alone is_last
    when \is_last, cbnz word, 1f
    .endm
    .macro store_squares_of_bytes first, height, vectors, narrow_last
    find_third 4, \vectors
    on_squares \narrow_last, \height, \vectors
    .endm

    .macro pair_of_halves first, width, is_last, none
    narrow_squares narrow_floats, \first, %(\width / 2)
    part_halves %(\width / 2)
    store_row_of_halves %(\width / 2), 3, 4
    unless_alone \is_last
    store_row_of_halves %(\width / 2), 5, 6
1:
    .endm
    .macro store_squares_of_halves first, height, vectors
    find_third 8, \vectors
    on_squares halves, \height, \vectors
    .endm

    .macro squares_to_rows first, second, square, next
    trn1 v\first\().2d, v\square\().2d, v\next\().2d
    trn2 v\second\().2d, v\square\().2d, v\next\().2d
    .endm
    .macro pair_of_floats first, width, is_last, none
    each j, %(\width / 2), squares_to_rows %(j), %(3 + j), %(\first + 2 * j), %(\first + 2 * j + 1)
    several st1, %(\width / 2), 0, to, to_line
    unless_alone \is_last
    several st1, %(\width / 2), 3, to, to_line
1:
    .endm
    .macro store_squares_of_floats first, height, vectors
    on_squares floats, \height, \vectors
    .endm

    .macro shared_squares
    .irp width, 2, 4, 6
    shared_rows fmul, columns_of_row, \width, 4, fmul
    shared_rows fadd, columns_of_row, \width, 4, fadd
    shared_rows floats, pair_of_floats, \width, 4
    .if sums_are_integers
    shared_rows sqxtn, pair_of_bytes, \width, 4, sqxtn
    shared_rows sqxtun, pair_of_bytes, \width, 4, sqxtun
    .else
    shared_rows halves, pair_of_halves, \width, 4
    .endif
    .endr
    .endm

/* ---- a tile, whose registers are lines or squares ---- */

    .macro end_tile registers, first, height, vectors
    finish_sums \first, by_rows_of_\registers, by_columns_of_\registers, \height, \vectors
    choose_dst
    .if sums_are_integers
    cmp word, #ELEMENT_U8
    b.eq 36f
    store_\registers\()_of_bytes \first, \height, \vectors, sqxtn
    b 39f
36: store_\registers\()_of_bytes \first, \height, \vectors, sqxtun
    b 39f
    .else
    store_\registers\()_of_halves \first, \height, \vectors
    b 39f
    .endif
35: lsl to_line, to_line, #2
    store_\registers\()_of_floats \first, \height, \vectors
/* To the next tile's sums. */
39: mov scratch, #\height
    madd c, line, scratch, c
    .endm
