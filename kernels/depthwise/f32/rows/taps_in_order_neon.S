/* Rows of many taps, for cores that issue in order: the tiles of taps.h.
 *
 * A tap is P multiply-adds and two loads: of the column that is wanted by the last multiply-add of
 * the next tap, and of the weights of the third tap from here. Between multiply-adds go parts of
 * loads: the lower half; the upper one into a general register; and its insertion three or more
 * cycles later, beside the lower half of the next load, which is all that Cortex-A53 can pair it
 * with.
 *
 * Sums are in v0 …, then columns of source, up to v23; weights in v24 … v27, bias in v28, the limits
 * of a clamp in v29 and v30. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/rows/taps_offsets.h"

    registers 0, job, src, w, taps, out
    registers 5, tiles, dst, dst_column, clamp
two_columns .req x11
/* x9, x10: upper halves of columns and of weights */
entry .req x16

#define WEIGHTS 24
#define AHEAD 3 /* taps, that weights are loaded */

/* ---- one instruction each, registers by number ---- */

/* Addresses that stores step would be waited for. */
    .macro store_sum sum
    .if \sum % 2
    str q\sum, [out, dst_column]
    add out, out, two_columns
    .else
    str q\sum, [out]
    .endif
    .endm

/* ---- taps ---- */

/* Tap t of a round, with stride S; `into`: the register it is done with, `late`: what weights come
 * to. The last tap may be any one. */
    .macro tap P, S, t
    .set into, \P + (\t) % (\S * \P)
    .set column_at, 16 * ((\t) + \S * \P)
    .set late, WEIGHTS + ((\t) + AHEAD) % 4
    .set weights_at, 16 * ((\t) + AHEAD)
    .set p, 0
    .rept \P
    fma %p, %(\P + (\S * p + (\t)) % (\S * \P)), %(WEIGHTS + (\t) % 4)
    when %(p == 0), load_d %into, [src, #column_at]
    when %(p == 0), insert_half %(WEIGHTS + ((\t) + AHEAD - 1) % 4), 10
    when %(p == 1), load_x 9, [src, #(column_at + 8)]
    when %(p == 3), subs taps, taps, #1
    when %(p == 4), load_d %late, [w, #weights_at]
    when %(p == 4), insert_half %into, 9
    when %(p == 5), load_x 10, [w, #(weights_at + 8)]
    .set p, p + 1
    .endr
    b.eq .Ltaps_done_\P\()_\S
    .endm

/* ---- what a tile begins with ---- */

/* Load number n: the weights of the first taps, then columns. */
    .macro first_load P
    when %(n < AHEAD), first_of %(WEIGHTS + n), w, %(16 * n)
    otherwise first_of %(\P + n - AHEAD), src, %(16 * (n - AHEAD))
    when %(n < \P), copy %n, 28
    .endm
    .macro first_of into, from, at
    load_d \into, [\from, #\at]
    when %n, insert_half %waiting, %(9 + (n - 1) % 2)
    load_x %(9 + n % 2), [\from, #(\at + 8)]
    .set waiting, \into
    .endm

    .macro next_tile
    ldp src, w, [tiles, #tile.src]
    ldr out, [tiles, #tile.dst]
    ldp entry, taps, [tiles], #40
    add out, out, dst
    br entry
    .endm

/* ---- tiles ---- */

    .macro tile P, S
    table_entry .Ltaps_\P\()_\S
    table_entry .Ltaps_none_\P\()_\S
.Ltaps_\P\()_\S\():
    accept_branch
    each n, %(AHEAD + \S * \P), first_load \P
    insert_half %waiting, %(9 + (n - 1) % 2)
    load_x 10, [w, #(16 * AHEAD - 8)]
1:  each t, %(\S * \P), tap \P, \S, %t
    add src, src, #(16 * \S * \P)
    add w, w, #(16 * \S * \P)
    b 1b
.Ltaps_none_\P\()_\S\():
    accept_branch
    for_all copy, 0, \P, 28
.Ltaps_done_\P\()_\S\():
    cbz clamp, 1f
    clamp_all 0, \P, 29, 30
1:  for_all store_sum, 0, \P
    next_tile
    .endm

    begin_function dwconv_f32_taps_in_order
    save_registers 4
    ldp tiles, dst, [job, #job.tiles]
    ldp dst_column, src, [job, #job.dst_column]
    ldr clamp, [job, #job.clamp]
    add two_columns, dst_column, dst_column
    ldr q28, [src]
    cbz clamp, 1f
    ldp q29, q30, [clamp]
1:  next_tile
    begin_table dwconv_f32_taps_in_order_entries
    tile 12, 1
    tile 8, 1
    tile 8, 2
.Ltaps_end:
    table_entry .Ltaps_end
    accept_branch
    pop_and_return
    end_table dwconv_f32_taps_in_order_entries
    end_function dwconv_f32_taps_in_order
