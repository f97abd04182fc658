/* Whole tiles of indirect.h, with a bias, of the first pixels, whose channels are fours, for
 * cores that issue two instructions in order: 8x4, 7x8, and all with fewer pixels but one and two.
 *
 * A step multiplies four channels of all pixels by their weights, one channel after the other. After
 * each multiply-add comes what is none: what the next step needs, each as soon as its register is
 * free, and what there was no register for in the step before. A pixel's channels are two halves,
 * the second of which comes in its own step, as lanes need no whole vectors. 7x8 leaves registers
 * for weights of two channels only. */
#include "kernels/asm/in_order_neon.h"
#include "kernels/indirect/f32/neon.h"

steps .req x2 /* taps becomes that */
at_high .req x8

/* The kernel: */
    .set P, 0
    .set V, 0
    .set sums, 0
    .set weights_at, 0
    .set sets, 0         /* channels whose weights there are registers for */
    .set single, 0       /* a tap has four channels: one step */
/* What is assembled of it: */
    .set has_next, 0
    .set moved, 0        /* are weights those of the next step already? */
    .set channel, 0

/* ---- multiply-adds ---- */

    .macro multiply_next op
    .set c, n / (P * V)
    .set i, n % (P * V) / V
    .set v, n % V
    multiply \op, %(sums + i * V + v), %(weights_at + c % sets * V + v), %(i + c / 2 * P), %(c % 2)
    .endm

/* ---- all else, one after the other: number `item` ---- */

    .set NOTHING, 0
    .set WEIGHTS, 1  /* of channel `channel`, 4 …: of the next step */
    .set PIXELS, 2   /* the lower halves of the next step's */
    .set UPPER, 3    /* the upper ones, of this step */
    .set POINTERS, 4
    .set COUNT, 5    /* to the next step's weights, channels and tap */

/* The next `count` are `what`, from multiply-add `after` on; one by one every `apart`. */
    .macro some count, what, after, apart=0
    .if (found == NOTHING) & (among < \count)
    .set found, \what
    .set ready, \after + among * \apart
    .elseif found == NOTHING
    .set among, among - \count
    .endif
    .endm
/* Of the first channel that begins without them, or of a later one: number `later`. */
    .macro some_weights later
    when %(found == NOTHING), .set channel, sets - 1 + \later
    when %(has_next | (channel < 4)), some V, WEIGHTS, %((channel - sets + 1) * P * V - 1)
    .endm

    .macro find_counts
    .set pairs, (P + 1) / 2
    .set counts, 9
    when %single, .set counts, 3
    .endm
/* What number `item` is, and number `among` of its kind. */
    .macro find_item
    .set found, NOTHING
    .set among, item
    some_weights 0
    some P, UPPER, 0
    some_weights 1
    when %has_next, some counts, COUNT, 0
    when %has_next, some pairs, POINTERS, 0
    some_weights 2
    when %has_next, some P, PIXELS, %(P * V + V - 1), V
    some_weights 3
    .endm

    .macro load_pointers k
    when %(2 * \k + 1 < P), load_pair_x %(9 + 2 * \k), %(10 + 2 * \k), [pixels, #(16 * \k)]
    otherwise load_x %(9 + 2 * \k), [pixels, #(16 * \k)]
    .endm

    .macro count_on k
    when %(\k == 0), .set moved, 1
    when %(\k == 0), add weights, weights, #64 * V
    or_when %(\k == counts - 1), subs steps, steps, #1
    or_when %single, add pixels, pixels, #64
    or_when %(\k == 1), subs left, left, #1
    or_when %(\k == 2), add at, at, #16
    or_when %(\k == 3), csel at, offset, at, eq
    or_when %(\k == 4), csel left, quads, left, eq
    or_when %(\k == 5), cset scratch, eq
    or_when %(\k == 6), add pixels, pixels, scratch, lsl #6
    otherwise add at_high, at, #8
    .endm

    .macro do_item
    .set place, 16 * ((channel - 4 * moved) * V + among)
    when %(found == WEIGHTS), load_some %(weights_at + channel % sets * V + among), weights, %place
    or_when %(found == PIXELS), load_indexed %among, %(9 + among), d, at
    or_when %(found == UPPER), load_indexed %(P + among), %(9 + among), d, at_high
    or_when %(found == POINTERS), load_pointers among
    or_when %(found == COUNT), count_on among
    count_if_whole item
    .endm

    .macro next_other
    find_item
    when %((waiting > 0) & (waiting_until <= n)), insert_upper
    or_when %((found != NOTHING) & (ready <= n) & ((waiting < 2) | (found != WEIGHTS))), do_item
    .endm

    .macro step next
    .set has_next, \next
    .set item, 0
    .set moved, 0
    find_counts
    multiply_all fmla, %(4 * P * V)
    .endm

/* ---- a kernel ---- */

/* What has to be there before the first step. */
    .macro first_loads
    find_counts
    each k, pairs, load_pointers k
    each k, %((sets - 1) * V), load_q %(weights_at + k), [weights, #(16 * k)]
    each k, P, load_indexed %k, %(9 + k), d, at
    .endm

/* steps >= 1. */
    .macro all_steps one
    .set single, \one
    first_loads
    subs steps, steps, #1
    b.eq 3f
2:  step 1
    b.ne 2b
3:  step 0
    .endm

    .macro store_sums
    ldp x9, x10, [tile, #tile.dst]
    lsl x10, x10, #2
    .set k, 0
    .rept P
    when %(V == 2), store_pair %(sums + 2 * k), %(sums + 2 * k + 1), [x9]
    otherwise store_q %(sums + k), [x9]
    add x9, x9, x10
    .set k, k + 1
    .endr
    .endm

    .macro tile_kernel name
    begin_function \name
    save_registers 4, 20
    ldp taps, quads, [tile, #tile.taps]
    ldp pixels, offset, [tile, #tile.pixels]
    ldr weights, [tile, #tile.weights]
    lsl at, offset, #2
    lsr left, quads, #2
    lsl offset, offset, #2
    cmp left, #1
    mul steps, taps, left
    mov quads, left
    add at_high, at, #8
    clear_all %sums, %(P * V)
    cbz steps, 5f
    b.ne 1f
    all_steps 1
    b 5f
1:  all_steps 0
5:  add_bias %sums, %P, %V
    clamp_sums %sums, %(P * V)
    store_sums
    pop_and_return
    end_function \name
    .endm

    .macro kernel name, pixel_count, columns
    .set P, \pixel_count
    .set V, \columns / 4
    .set sums, 32 - P * V
    .set weights_at, 2 * P
    .set sets, 4
    when %((P == 7) & (V == 2)), .set sets, 2
    tile_kernel \name
    .endm

#define KERNEL(pixels, columns) kernel indirect_f32_##pixels##x##columns##_narrow_neon, pixels, columns;
#include "kernels/indirect/f32/in_order_list.h"
