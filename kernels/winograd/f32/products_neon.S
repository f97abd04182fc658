/* The products of winograd.h for NEON, in an order for cores that reorder instructions and one
 * for cores that do not.
 *
 * Registers: a group of four values of k of each row of A from v0 on, as they lie in memory, used by
 * lanes; then the sums, row by row; B in a ring of vectors that ends at v31. Four steps of k
 * of 7 x 12 take 84 FMLA, two loads of A, three of B (four vectors each, so a load may end within a
 * step of k) and, as the loop does eight steps, one instruction more. One or two rows have two or
 * four sets of sums, or each FMLA would wait for the one before. So have four rows, two sets, in the
 * order for cores that have sixteen FMLA under way: four rows are all that an image of 7 x 7 gives.
 *
 * A function does all rows of all points and of some panels of weights: what would be spent on
 * calling it for a tile is a good part of a tile of few channels. */

#include "kernels/asm/assembly_neon.h"
#include "kernels/winograd/f32/winograd_offsets.h"

    registers 0, task, a, b, c, heights, count
    registers 6, pairs, rest, table, at, a_point, b_point
    registers 12, c_panel, heights_point, panels, step, b_base, row
    registers 19, back, half
    registers 20, ahead, ahead_step, panel_bytes

/* 1 for functions that fetch what comes next. */
    .set fetching, 0

    /* Once in a group. */
    .macro fetch_ahead
    .if fetching
    prfm pldl2keep, [ahead]
    prfm pldl2keep, [ahead, ahead_step]
    add ahead, ahead, ahead_step, lsl #1
    .endif
    .endm

    /* While a panel is multiplied the next one is fetched, or the next point's first one. */
    .macro begin_fetching
    .if fetching
    ldr at, [task, #task.point]
    add ahead, b_point, panel_bytes
    add at, b_base, at, lsl #2
    cmp panels, #1
    csel ahead, at, ahead, eq
    .endif
    .endm

    /* What follows in memory. */
    .macro load_some count, first, from
    several ld1, \count, \first, \from, #16 * \count
    .endm

    /* On to what the list of heights says. */
    .macro next
    ldrb w9, [heights], #1
    ldrsw at, [table, at, lsl #2]
    add at, table, at
    br at
    .endm

    /* A's next group. */
    .macro load_rows height
    .if \height > 4
    load_some 4, 0, a
    load_some %(\height - 4), 4, a
    .else
    load_some \height, 0, a
    .endif
    .endm

    /* One vector of B, of step k of a group, times all rows. */
    .macro column height, width, vector, k, column
    .set set, first + (\k % sets) * \height * \width
    each r, \height, fma %(set + r * \width + \column), \vector, %(r), \k
    .endm

    /* Four steps of k: 4 width vectors of B. */
    .macro group height, width
    fetch_ahead
    load_rows \height
    .set j, 0
    .rept 4 * \width
    when %(j % 4 == 0), load_some 4, %(32 - ring + j % ring), b
    column \height, \width, %(32 - ring + j % ring), %(j / \width), %(j % \width)
    .set j, j + 1
    .endr
    .endm

    .macro one_k height, width, k
    load_some \width, 28, b
    each i, \width, column \height, \width, %(28 + i), \k, %(i)
    .endm

    /* Columns of a row of C. */

    /* What is left of four steps of k, and all sets into the first one. */
    .macro end_sums height, width
    tst rest, #3
    b.eq 4f
    load_rows \height
    one_k \height, \width, 0
    and count, rest, #3
    subs count, count, #1
    b.eq 4f
    one_k \height, \width, 1
    subs count, count, #1
    b.eq 4f
    one_k \height, \width, 2
4:
    each_from s, 1, %(sets - 1), each_from i, first, %(\height * \width), add_to %(i), %(i + s * \height * \width)
    .endm

    /* A tile; width is of vectors. */
    .macro tile height, width, deep
    .set first, 7
    .set sets, 1
    when %((\height > 2) & (\height <= 4) & \deep), .set first, \height
    when %(\height == 1), .set sets, 4
    or_when %((\height == 2) | ((\height <= 4) & \deep)), .set sets, 2
    .set ring, 8
    when %(sets * \height * \width > 17), .set ring, 4
    clear_all %(first), %(sets * \height * \width)
    mov b, b_point
    mov count, pairs
    cbz pairs, 2f
    .p2align 4
1:  group \height, \width
    group \height, \width
    subs count, count, #1
    b.ne 1b
2:  tbz rest, #2, 3f
    group \height, \width
3:  end_sums \height, \width
    each_by \width, i, first, \height, several st1, \width, %i, c, row
    next
    .endm

/* ---- for cores that do not reorder ---- */

/* All of B's ring is filled ahead of its use, and a row of A as soon as the last step of a group is
 * through with it. So a step is done row by row: w FMLA of each. Only 7 x 12 has too few registers
 * for two steps of B: its other steps go column by column, 7 FMLA of each vector of B.
 *
 * Loads of a group are in a list: first the rows of A that the group before had no time for, then B
 * and, of the next group, B and A. Each is issued as early as its register is free, yet one vector
 * in the time of three FMLA, in halves, for a 128-bit load takes both issue slots for two cycles.
 * The second half goes by way of a general register; its insertion goes beside the next vector's
 * first half, which is all that A53 can pair it with. Four steps of 4 x 12 are 48 FMLA and 16
 * loads. */

    .macro plan_in_order height, width
    .set first, \height
    .set sets, 1
    .set by_columns, 0
    .set ring, 4 * \width
    when %(\height * \width == 21), .set by_columns, 1
    when %(\height * \width < 4), .set sets, 4
    or_when %(\height * \width < 8), .set sets, 2
    or_when %(\height * \width == 18), .set ring, 6
    or_when %(\height * \width == 21), .set ring, 4
    .set ahead, ring - \width
    .set late, 0
    .set lower, (\height - 1) * \width
    when %(\height * \width < 4), .set ahead, ring
    or_when %((lower - \width > 3) & (lower > 6) & (by_columns == 0)), .set late, 2
    or_when %(lower > 3), .set late, 1
    .endm

    /* FMLA number n of a group. */
    .macro multiply_number height, width
    .if (by_columns > 0) & (n < 9 * \height)
    .set j, n / \height
    .set r, n % \height
    .else
    .set r, n / \width % \height
    .set j, n / (\width * \height) * \width + n % \width
    .endif
    .set missing, ((j >= ahead) & (l <= (late + j - ahead))) | ((r >= (\height - late)) & (l <= (r - \height + late)))
    .if missing | (waiting == r) | (waiting == (32 - ring + j % ring))
    .error "a vector is used before it is loaded"
    .endif
    fma %(first + j / \width % sets * \height * \width + r * \width + j % \width), %(32 - ring + j % ring), %r, %(j / \width)
    .endm

    /* When the register that B's vector number j goes to is read for the last time. */
    .macro find_free height, width
    .set free, -1
    .if j >= ring
    .set free, (j - ring) / \width * \width * \height + (\height - 1) * \width + (j - ring) % \width
    when %((by_columns > 0) & (j - ring < 9)), .set free, (j - ring) * \height + \height - 1
    .endif
    .endm

    /* Load number l: its register `into`, whether it is of A, its place, and when it may begin. */
    .macro find_load height, width
    .set of_a, 1
    .set free, -1
    .if l < late
    .set into, \height - late + l
    .set place, 16 * into
    .elseif l < late + 4 * \width
    .set of_a, 0
    .set j, l - late + ahead
    .set into, 32 - ring + j % ring
    .set place, 16 * j
    find_free \height, \width
    .else
    .set into, l - late - 4 * \width
    .set place, 16 * (\height + into)
    .set free, (3 * \height + into + 1) * \width - 1
    .endif
    .endm

    .macro load_half into, from:vararg
    ldr half, \from
    .endm
    .macro insert_waiting
    .if waiting >= 0
    set_upper %waiting, half
    .set waiting, -1
    .endif
    .endm
    .macro load_part what
    when %of_a, \what %into, [a, #(place - moved)]
    otherwise \what %into, [b, #place]
    .endm

    /* The next part of load l: `begun` says that its first half was loaded at FMLA `since`. */
    .macro load_next
    .if begun == 0
    load_part load_d
    insert_waiting
    .set begun, 1
    .set since, n
    .else
    .set place, place + 8
    load_part load_half
    .set waiting, into
    .set begun, 0
    .set since, n
    .set l, l + 1
    .endif
    .endm

    /* Where no load is due: what counts, and moves on to the next group. */
    .macro move_on height, width
    .if spare == 0
    subs count, count, #1
    .set spare, 1
    .elseif (spare == 1) & (l >= (late + 4 * \width))
    add b, b, #64 * \width
    .set spare, 2
    .elseif spare == 2
    add a, a, #16 * \height
    .set moved, 16 * \height
    .set spare, 3
    .endif
    .endm

    /* After FMLA n: what is its turn. */
    .macro load_in_turn height, width
    .if l < loads
    find_load \height, \width
    when %begun, when %(n > since), load_next
    or_when %((free <= n) & (n - since > 1)), load_next
    .elseif n - since > 1
    insert_waiting
    .endif
    .endm

    /* Four steps of k; the last ones of a tile load nothing for the next ones. */
    .macro group_in_order height, width, is_last
    .set l, 0
    .set begun, 0
    .set since, -2
    .set waiting, -1
    .set moved, 0
    .set spare, \is_last
    .set loads, late + 4 * \width + \height - late
    when \is_last, .set loads, late + 4 * \width - ahead
    .set n, 0
    .rept 4 * \height * \width
    multiply_number \height, \width
    load_in_turn \height, \width
    .set n, n + 1
    .endr
    .if begun
    find_load \height, \width
    load_next
    .endif
    .rept loads - l
    find_load \height, \width
    load_part load_q
    .set l, l + 1
    .endr
    insert_waiting
    .set l, late + 4 * \width
    times 3, move_on \height, \width
    .endm

    /* What the first group finds loaded. */
    .macro load_first height, width
    each i, %(\height - late), load_q %i, [a, #(16 * i)]
    each i, ahead, load_q %(32 - ring + i), [b, #(16 * i)]
    .endm

    .macro store_rows_in_order height, width
    .set i, 0
    .rept \height * \width
    .set at_c, i / \width * 48 + i % \width * 16
    .set is_pair, (\width > 1) & (i % 2 == 0) & ((i + 1) < (\height * \width))
    when %is_pair, store_pair %(first + i), %(first + i + 1), [c, #at_c]
    or_when %((\width == 1) | (i % 2 == 0)), store_q %(first + i), [c, #at_c]
    .set i, i + 1
    .endr
    add c, c, #48 * \height
    .endm

    /* pairs counts groups of four steps. */
    .macro tile_in_order height, width
    plan_in_order \height, \width
    clear_all %(first), %(sets * \height * \width)
    mov b, b_point
    subs count, pairs, #1
    b.lo 3f
    load_first \height, \width
    b.eq 2f
    .p2align 4
1:  group_in_order \height, \width, 0
    b.ne 1b
2:  group_in_order \height, \width, 1
3:  end_sums \height, \width
    store_rows_in_order \height, \width
    next
    .endm

/* ---- all tiles ---- */

    /* `deep`: a second name for cores that have sixteen FMLA under way, where three and four rows differ. */
    .macro products name, width, kind, deep
    .ifnb \deep
    begin_function \deep
    adr table, 91f
    b 70f
    end_function \deep
    .endif
    begin_function \name
    adr table, 90f
70:
    when %fetching, save_registers 4, 22
    otherwise save_registers 4, 20
    ldp rest, a, [task, #task.k]
    ldr b_base, [task, #task.b]
    ldp c, step, [task, #task.c]
    ldp panels, heights, [task, #task.panels]
    lsl step, step, #2
    sub back, panels, #1
    mul back, back, step
    mov row, #48
    .if fetching
    ldr ahead_step, [task, #task.ahead_step]
    mul panel_bytes, rest, row
    .endif
    when %(\kind == 0), lsr pairs, rest, #3
    otherwise lsr pairs, rest, #2
    and rest, rest, #7
    b 82f

    /* A panel is done: the next one of this point, or the first one of the next point. */
80: accept_branch
    subs panels, panels, #1
    b.eq 81f
    mov a, a_point
    mov heights, heights_point
    mov b_point, b
    add c_panel, c_panel, step
    mov c, c_panel
    begin_fetching
    next
81: ldr at, [task, #task.point]
    ldr panels, [task, #task.panels]
    add b_base, b_base, at, lsl #2
    sub c, c, back
82: mov a_point, a
    mov b_point, b_base
    mov c_panel, c
    mov heights_point, heights
    begin_fetching
    next

    each_from h, 1, 7, body 7, %(h), \width, \kind
    .ifnb \deep
    body 6, 3, \width, 3
    body 6, 4, \width, 3
    .endif

88: accept_branch
    pop_and_return
    .p2align 2
90: .word 80b - 90b, 71b - 90b, 72b - 90b, 73b - 90b, 74b - 90b, 75b - 90b, 76b - 90b, 77b - 90b
    .word 88b - 90b
    .ifnb \deep
91: .word 80b - 91b, 71b - 91b, 72b - 91b, 63b - 91b, 64b - 91b, 75b - 91b, 76b - 91b, 77b - 91b
    .word 88b - 91b
    .endif
    end_function \name
    .endm

    .macro body tens, height, width, kind
    .p2align 4
\tens\()\height\():
    accept_branch
    when %(\kind == 0), tile \height, \width, 0
    or_when %(\kind == 3), tile \height, \width, 1
    otherwise tile_in_order \height, \width
    .endm

    products winograd_f32_products_12_neon, 3, 0, winograd_f32_products_12_deep_neon
    products winograd_f32_products_8_neon, 2, 0, winograd_f32_products_8_deep_neon
    products winograd_f32_products_4_neon, 1, 0, winograd_f32_products_4_deep_neon
    .set fetching, 1
    products winograd_f32_products_12_fetching_neon, 3, 0, winograd_f32_products_12_deep_fetching_neon
    .set fetching, 0
    products winograd_f32_products_12_a55_neon, 3, 1
    products winograd_f32_products_8_a55_neon, 2, 1
    products winograd_f32_products_4_a55_neon, 1, 1
