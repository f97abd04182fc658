/* Rows of pixels of rowconv.h for NEON, for cores that issue in order.
 *
 * All that is no multiply-add comes where it takes no cycle of its own: after each multiply-add;
 * vectors are loaded in halves, as 128-bit loads take both issue slots for two cycles. There is
 * room for all of it, as a tap has eight multiply-adds for each vector of weights:
 *
 *   every tap               its last vector of weights; then b goes to the next tap, whose first
 *                           vector comes when the first eight are done, a second one after sixteen
 *   the one before the last where the next row of source and its weights are
 *   the last                the next row's source, each vector after the last multiply-add that
 *                           reads the one before; so a pixel's last sums come together there, and
 *                           the second vector of weights waits for the tap after it
 *
 * The last row of a tile has nothing to load ahead. */

#include "kernels/asm/in_order_neon.h"
#include "kernels/first_layer/f32/neon.h"

delta .req x16 /* from the weights of a row's last tap to the next row's */
wrap .req x21  /* the same at the end of a channel */

/* The kernel: */
    .set stride, 0
    .set taps, 0
    .set vectors, 0
    .set later, 0 /* vectors of a tap's weights after the first one */
    .set reach, 0 /* values of a row that a tile reads: 7 * stride + taps */
/* What is assembled of it, where n is the multiply-add of the tap: */
    .set t, 0     /* the tap */
    .set last, 0  /* is it the last one of the row? */
    .set ahead, 0 /* is there a next row? */

/* ---- multiply-adds ---- */

/* Pixel number `place` of a tap. A sixth vector of source is where the first one was, so the pixel
 * that reads it comes first in the last tap. */
    .macro find_pixel place
    .set px, \place
    when %((last != 0) & (reach > 20)), .set px, (px + 7) % 8
    .set value, px * stride + t
    .endm

/* One vector of weights after the other, but for the later ones of the last tap. */
    .macro multiply_next op
    .set v, n / 8
    .set place, n % 8
    .if (last != 0) & (n >= 8)
    .set v, 1 + (n - 8) % later
    .set place, (n - 8) / later
    .endif
    find_pixel place
    multiply \op, %(32 - 8 * vectors + vectors * px + v), %(5 + v), %((value / 4) % 5), %(value % 4)
    .endm

/* ---- loads, one after the other: number `load` ---- */

    .set OWN_SECOND, 0 /* of the tap's weights */
    .set OWN_LAST, 1
    .set SIXTH, 2 /* of source */
    .set NEXT_FIRST, 3
    .set NEXT_SECOND, 4
    .set SOURCE, 5 /* … 9 */
    .set NO_LOAD, 99

/* The next one that the tap has. */
    .macro find_load
    when %((load == OWN_SECOND) & ((t != 0) | (vectors != 3))), .set load, OWN_LAST
    when %((load == SIXTH) & ((t != 4) | (reach <= 20))), .set load, NEXT_FIRST
    when %((load == NEXT_FIRST) & (last > ahead)), .set load, NO_LOAD
    when %((load == NEXT_SECOND) & ((last != 0) | (vectors != 3))), .set load, SOURCE
    .set from, 4 * (load - SOURCE)
    when %((from >= 0) & ((last * ahead == 0) | (from == 20) | (from >= reach))), .set load, NO_LOAD
    .endm

/* ready: the multiply-add after which it may come. */
    .macro find_ready
    .set ready, 0
    .if load == NEXT_FIRST
    .set ready, 7
    .elseif load == NEXT_SECOND
    .set ready, 15
    .elseif load >= SOURCE
    .set before, 0
    .rept 8
    find_pixel before
    .set before, before + 1
    when %((value / 4) % 5 == (load - SOURCE)), .set ready, 7 + before * later
    .endr
    .endif
    .endm

    .macro load_it
    .set source, load - SOURCE
    when %((load == OWN_SECOND) | (load == NEXT_SECOND)), load_some 6, b, 16
    or_when %(load == OWN_LAST), load_some %(4 + vectors), b, %(16 * vectors - 16)
    or_when %(load == NEXT_FIRST), load_some 5, b, 0
    or_when %(load == SIXTH), load_some 0, at, 80, 0
    otherwise load_some %source, at, %(16 * source), %(reach - 4 * source > 2)
    count_if_whole load
    .endm

/* ---- other instructions, one after the other: number `move` ---- */

    .macro move_on
    when %((move == 0) & (last * ahead != 0)), add b, b, delta
    or_when %((move == 0) & (last == 0)), add b, b, step
    or_when %((move == 1) & (last * ahead != 0)), subs c, c, #1
    or_when %((t == taps - 2) & (ahead != 0)), find_next_row
    .set move, move + 1
    .endm
    .macro find_next_row
    when %(move == 1), ldr at, [table], #8
    or_when %(move == 2), subs r, r, #1
    or_when %(move == 3), csel delta, wrap, step, eq
    or_when %(move == 4), csel r, kernel_rows, r, eq
    or_when %(move == 5), add at, at, offset
    .endm

/* ---- a tap ---- */

/* What comes next. The tap's own weights are loaded before b moves on, as there are registers for
 * halves of both. */
    .macro next_other
    find_load
    find_ready
    when %((waiting > 0) & (waiting_until <= n)), insert_upper
    or_when %((load != NO_LOAD) & (ready <= n) & (waiting < 2)), load_it
    otherwise move_on
    .endm

    .macro tap op, number, has_next
    .set t, \number
    .set last, 0
    when %(t == taps - 1), .set last, 1
    .set ahead, \has_next
    .set load, OWN_SECOND
    .set move, 0
    multiply_all \op, %(8 * vectors)
    .endm

    .macro other_taps has_next
    each_from number, 1, %(taps - 1), tap fmla, %number, \has_next
    .endm

/* ---- a kernel ---- */

    .macro begin_kernel name
    begin_function \name
    when %(vectors == 3), save_registers 4, 21
    otherwise save_registers 1, 21
    load_task %vectors
    mov at, #taps
    mov wrap, #16 * vectors
    mul at, at, kernel_rows
    mul channels, channels, kernel_rows
    sub at, at, #1
    msub wrap, at, step, wrap
    .endm

    .macro kernel_in_order name
    begin_kernel \name
4:  mov table, rows
    mov b, weights
    mov r, kernel_rows
    load_row %stride, %taps
    ldr q5, [b]
    sub c, channels, #1
    tap fmul, 0, 1
    cbz c, 6f
5:  other_taps 1
    tap fmla, 0, 1
    b.ne 5b
6:  other_taps 0
    end_tile %stride, %vectors
    pop_and_return
    end_function \name
    .endm

/* ---- all ---- */

    .macro kernel name, number_of_taps, pixel_stride, width, in_order
    .if \in_order
    .set taps, \number_of_taps
    .set stride, \pixel_stride
    .set vectors, \width / 4
    .set reach, 7 * stride + taps
    .set later, vectors - 1
    kernel_in_order \name
    .endif
    .endm
#define KERNEL(taps, stride, width, isa, in_order) \
    kernel rowconv_f32_##taps##s##stride##_8x##width##_##isa, taps, stride, width, in_order;
#include "kernels/first_layer/f32/list.h"
