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

#include "kernels/asm/in_order_neon.h"
#include "kernels/winograd/f32/winograd_offsets.h"

    registers 0, task, a, b, c, heights, count
    registers 6, pairs, rest, table, at, a_point, b_point
    registers 12, c_panel, heights_point, panels, step, b_base, row
    registers 19, fetched, ahead_step, panel_bytes, back

/* 1 for functions that fetch what comes next. */
    .set fetching, 0

/* Kinds of tiles: PLAIN and DEEP ones, for cores that have sixteen FMLA under way, are in an order for
 * cores that reorder. */
    .set PLAIN, 0
    .set DEEP, 1
    .set IN_ORDER, 2

    /* Once in a group. */
    .macro fetch_ahead
    .if fetching
    prfm pldl2keep, [fetched]
    prfm pldl2keep, [fetched, ahead_step]
    add fetched, fetched, ahead_step, lsl #1
    .endif
    .endm

    /* While a panel is multiplied the next one is fetched, or the next point's first one. */
    .macro begin_fetching
    .if fetching
    ldr at, [task, #task.point]
    add fetched, b_point, panel_bytes
    add at, b_base, at, lsl #2
    cmp panels, #1
    csel fetched, at, fetched, eq
    .endif
    .endm

    /* What follows in memory. */
    .macro load_vectors count, first, from
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
    load_vectors 4, 0, a
    load_vectors %(\height - 4), 4, a
    .else
    load_vectors \height, 0, a
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
    when %(j % 4 == 0), load_vectors 4, %(32 - ring + j % ring), b
    column \height, \width, %(32 - ring + j % ring), %(j / \width), %(j % \width)
    .set j, j + 1
    .endr
    .endm

    .macro one_k height, width, k
    load_vectors \width, 28, b
    each i, \width, column \height, \width, %(28 + i), \k, %(i)
    .endm

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

    .macro plan height, width, deep
    .set first, 7
    .set sets, 1
    when %((\height > 2) & (\height <= 4) & \deep), .set first, \height
    when %(\height == 1), .set sets, 4
    or_when %((\height == 2) | ((\height <= 4) & \deep)), .set sets, 2
    .set ring, 8
    when %(sets * \height * \width > 17), .set ring, 4
    .endm

    /* pairs counts pairs of groups. */
    .macro groups height, width
    mov count, pairs
    cbz pairs, 2f
    .p2align 4
1:  group \height, \width
    group \height, \width
    subs count, count, #1
    b.ne 1b
2:  tbz rest, #2, 3f
    group \height, \width
    .endm

/* ---- for cores that do not reorder ---- */

/* Column by column: a vector of B times all rows. B's ring is filled ahead of its use. Of A there are
 * two steps of each row, the lower half of a register; they come while those before them are used,
 * or, if there are not enough registers for both, as soon as the last column is through with them.
 * One or two sums of each kind would wait for these loads: then a whole group comes ahead.
 *
 * Four steps of 4 x 12 are 48 FMLA and 44 loads and insertions. */
    .macro plan_in_order height, width
    .set rows, \height
    .set vectors, \width
    .set sets, 1
    .set ring, 4 * vectors
    when %(rows * vectors < 4), .set sets, 4
    or_when %(rows * vectors < 8), .set sets, 2
    or_when %(rows * vectors > 18), .set ring, 4
    or_when %(rows * vectors > 14), .set ring, 6
    .set ahead, ring - 2
    when %(sets > 1), .set ahead, ring
    .set halves, 2
    when %((2 + sets * vectors) * rows + ring > 32), .set halves, 1
    .set first, halves * rows
    .endm

    .macro multiply_next op
    .set j, n / rows
    .set r, n % rows
    multiply \op, %(first + (j / vectors % sets * rows + r) * vectors + j % vectors), %(32 - ring + j % ring), %(j / vectors / 2 % halves * rows + r), %(j / vectors % 2)
    .endm

/* Loads of A by number: the second half of each row, then the next group's first half. */
    .macro find_load_of_a
    .set pair, load_a / rows
    .set r, load_a % rows
    .set a_is_free, (2 * vectors * (pair + 1) - 1) * rows + r
    when %(halves == 2), .set a_is_free, 2 * vectors * rows * pair - 1
    .endm
    .macro load_next_of_a
    load_d %((pair + 1) % halves * rows + r), [a, #(16 * r + 8 + pair * (16 * rows - 8))]
    .set load_a, load_a + 1
    .endm
    .macro load_next_of_b
    load_some %(32 - ring + load_b % ring), b, %(16 * load_b)
    count_if_whole load_b
    .endm

/* Where no load is due: what counts, and moves on to the next group. */
    .macro move_on
    .if move == 0
    subs count, count, #1
    .set move, 1
    .elseif (move == 1) & (load_b >= end_b)
    add b, b, #64 * vectors
    .set move, 2
    .elseif (move == 2) & (load_a >= end_a)
    add a, a, #16 * rows
    .set move, 3
    .endif
    .endm

    .macro next_other
    find_load_of_a
    when %((waiting > 0) & (waiting_until <= n)), insert_upper
    or_when %((load_a < end_a) & (a_is_free <= n)), load_next_of_a
    or_when %((load_b < end_b) & (waiting < 2) & ((load_b - ring + 1) * rows <= n + 1)), load_next_of_b
    otherwise move_on
    .endm

/* Four steps of k; the last ones of a tile load nothing for the next ones. */
    .macro group_in_order is_last
    .set load_a, 0
    .set end_a, (2 - \is_last) * rows
    .set load_b, ahead
    .set end_b, 4 * vectors + (1 - \is_last) * ahead
    .set move, \is_last
    multiply_all fmla, %(4 * rows * vectors)
    .endm

/* What the first group finds loaded. */
    .macro load_first
    each r, rows, load_d %r, [a, #(16 * r)]
    each j, ahead, load_q %(32 - ring + j), [b, #(16 * j)]
    .endm

    /* pairs counts groups. */
    .macro groups_in_order
    subs count, pairs, #1
    b.lo 3f
    load_first
    b.eq 2f
    .p2align 4
1:  group_in_order 0
    b.ne 1b
2:  group_in_order 1
    .endm

/* ---- all tiles ---- */

    /* deep: a second name, for DEEP tiles of three and four rows. */
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
    save_registers 4, 22
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
    when %(\kind == IN_ORDER), lsr pairs, rest, #2
    otherwise lsr pairs, rest, #3
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

    each_from h, 1, 7, tile 7, %(h), \width, \kind
    .ifnb \deep
    tile 6, 3, \width, DEEP
    tile 6, 4, \width, DEEP
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

    /* A tile; width is of vectors. */
    .macro tile tens, height, width, kind
    .p2align 4
\tens\height\():
    accept_branch
    when %(\kind == IN_ORDER), plan_in_order \height, \width
    otherwise plan \height, \width, %(\kind == DEEP)
    clear_all %(first), %(sets * \height * \width)
    mov b, b_point
    when %(\kind == IN_ORDER), groups_in_order
    otherwise groups \height, \width
3:  end_sums \height, \width
    each_by \width, i, first, \height, several st1, \width, %i, c, row
    next
    .endm

    products winograd_f32_products_12_neon, 3, PLAIN, winograd_f32_products_12_deep_neon
    products winograd_f32_products_8_neon, 2, PLAIN, winograd_f32_products_8_deep_neon
    products winograd_f32_products_4_neon, 1, PLAIN, winograd_f32_products_4_deep_neon
    .set fetching, 1
    products winograd_f32_products_12_fetching_neon, 3, PLAIN, winograd_f32_products_12_deep_fetching_neon
    .set fetching, 0
    products winograd_f32_products_12_a55_neon, 3, IN_ORDER
    products winograd_f32_products_8_a55_neon, 2, IN_ORDER
    products winograd_f32_products_4_a55_neon, 1, IN_ORDER
