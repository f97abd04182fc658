/* Depthwise 3x3 of whole images of one to three rows and columns, for NEON: see image.h.
 *
 * Registers: src [row][column][vector] from v0 on, then sums in the same order; weights of some taps
 * in turn in what is left. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/lanes/image_offsets.h"

    registers 0, job, at, column, dst_column, w
    registers 5, weights, w_row, w_back, bias
/* x9 … x11: rows of src; x12 … x14: of dst */
    registers 15, bias_step, groups, clamp

    .set AHEAD, 4 /* taps whose weights are loaded before they are needed */

    .macro place_at register
    mov at, x\register
    .endm
    .macro move_on register
    add x\register, x\register, #16 * vectors
    .endm

/* An image of H x W pixels of so many vectors. What sums are there at the same time: all of them, or
 * those of the rows from `from` on. Taps' weights have `slots` places behind them, in turn. */
    .macro find_places height, width
    .set H, \height
    .set W, \width
    .set from, 0
    .set sums, H * W
    .endm

    .macro load_source
    .set y, 0
    .rept H
    place_at %(9 + y)
    each x, W, several ld1, vectors, %((y * W + x) * vectors), at, column
    .set y, y + 1
    .endr
    .endm

    .macro begin_sums
    each p, sums, load_one_or_two %vectors, %((H * W + p) * vectors), bias
    .endm

/* The place of the tap whose turn it is. */
    .macro find_weights turn
    .set weights_at, (H * W + sums + \turn % slots) * vectors
    .endm

/* The tap that is dy rows below and dx columns right of the middle one. */
    .macro add_tap turn, dy, dx
    find_weights \turn
    .set p, 0
    .rept sums
    .set y, from + p / W + \dy
    .set x, p % W + \dx
    when %((y >= 0) & (y < H) & (x >= 0) & (x < W)), add_product %((H * W + p) * vectors), %((y * W + x) * vectors)
    .set p, p + 1
    .endr
    .endm
    .macro add_product sum, source
    each v, vectors, fma %(\sum + v), %(\source + v), %(weights_at + v)
    .endm

    .macro store_sums
    .set p, 0
    .rept sums
    when %(p % W == 0), place_at %(12 + from + p / W)
    several st1, vectors, %((H * W + p) * vectors), at, dst_column
    .set p, p + 1
    .endr
    .endm

    .macro begin_image name
    table_entry \name
    begin_listed_function \name
    save_registers 4
    ldp x9, x10, [job, #image.rows]
    ldp x11, column, [job, #image.rows + 16]
    ldp weights, w_row, [job, #image.weights]
    ldp w_back, bias, [job, #image.weights_back]
    ldp bias_step, x12, [job, #image.bias_step]
    ldp at, dst_column, [job, #image.dst_row]
    ldp groups, clamp, [job, #image.groups]
    add x13, x12, at
    add x14, x13, at
    .endm
/* The next group of channels, at 1. */
    .macro end_image name, bytes
    for_all move_on, 9, H
    for_all move_on, 12, H
    add weights, weights, #\bytes
    add bias, bias, bias_step
    subs groups, groups, #1
    b.ne 1b
    pop_and_return
    end_function \name
    .endm

/* ---- weights in place ---- */

/* Number t of the taps, column by column. */
    .macro load_tap t
    .if \t < taps_down * taps_across
    find_weights \t
    several ld1, vectors, %weights_at, w, w_row
    when %(\t % taps_down == taps_down - 1), add w, w, w_back
    .endif
    .endm
    .macro add_taps
    each t, AHEAD, load_tap %(t)
    .set t, 0
    .rept taps_down * taps_across
    load_tap %(t + AHEAD)
    add_tap %t, %(t % taps_down - taps_down / 2), %(t / taps_down - taps_across / 2)
    .set t, t + 1
    .endr
    .endm

    .macro image height, width
    find_places \height, \width
    .set vectors, 2
    when %(sums > IMAGE_FEW_PIXELS), .set vectors, 1
    .set slots, (32 - 2 * sums * vectors) / vectors
    .set taps_down, 3
    when %(H == 1), .set taps_down, 1
    .set taps_across, 3
    when %(W == 1), .set taps_across, 1
    begin_image dwconv_f32_image_\height\()x\width
1:  mov w, weights
    load_source
    begin_sums
    add_taps
    cbz clamp, 2f
    ldp q30, q31, [clamp]
    clamp_all %(sums * vectors), %(sums * vectors), 30, 31
2:  store_sums
    end_image dwconv_f32_image_\height\()x\width, %(16 * vectors)
    .endm

/* ---- copies of weights: [tap][2 vectors], column by column ---- */

/* So many taps of a column, from number `top` on: those that have a row of source for one of these
 * rows. */
    .macro find_copy turn, top, down
    .set tap, \turn / \down * 3 + \turn % \down + \top
    .endm
    .macro load_copy turn, top, down
    .if \turn < 3 * \down
    find_copy \turn, \top, \down
    find_weights \turn
    load_pair %weights_at, %(weights_at + 1), [weights, #(32 * tap)]
    .endif
    .endm
    .macro add_copies top, down
    each n, %(slots - 1), load_copy %(n), \top, \down
    .set n, 0
    .rept 3 * \down
    load_copy %(n + slots - 1), \top, \down
    find_copy n, \top, \down
    add_tap %n, %(tap % 3 - 1), %(tap / 3 - 1)
    .set n, n + 1
    .endr
    .endm

/* Sums are all of them, or those of a row of 3x3: four taps' weights have a place beside them. */
    .macro copied_image height, width
    find_places \height, \width
    .set vectors, 2
    when %(sums > 6), .set sums, W
    .set slots, 16 - H * W - sums
    begin_image dwconv_f32_image_copied_\height\()x\width
1:  load_source
    .rept H * W / sums
    .set top, 0
    .set down, 3
    .if sums == W
    when %(from == 0), .set top, 1
    when %((from == 0) | (from == H - 1)), .set down, 2
    .endif
    begin_sums
    add_copies %(top), %(down)
    cbz clamp, 2f
    .set here, 2 * (H * W + sums)
    load_pair %(here), %(here + 1), [clamp]
    clamp_all %(2 * H * W), %(2 * sums), %(here), %(here + 1)
2:  store_sums
    .set from, from + sums / W
    .endr
    end_image dwconv_f32_image_copied_\height\()x\width, %(9 * 32)
    .endm

    begin_table dwconv_f32_image_copied_functions
    copied_image 2, 3
    copied_image 3, 2
    copied_image 3, 3
    end_table dwconv_f32_image_copied_functions

    begin_table dwconv_f32_image_functions
    .irp height, 1, 2, 3
    .irp width, 1, 2, 3
    image \height, \width
    .endr
    .endr
    end_table dwconv_f32_image_functions
