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

    .macro load_row y
    place_at %(9 + \y)
    each x, W, several ld1, vectors, %((\y * W + x) * vectors), at, column
    .endm

/* The place of the tap whose turn it is. */
    .macro find_weights turn
    .set weights_at, (2 * pixels + \turn % slots) * vectors
    .endm

    .macro store_row y
    place_at %(12 + \y)
    each x, W, several st1, vectors, %((pixels + \y * W + x) * vectors), at, dst_column
    .endm

/* Number t of the taps, column by column. */
    .macro load_tap t
    .if \t < taps_down * taps_across
    find_weights \t
    several ld1, vectors, %weights_at, w, w_row
    when %(\t % taps_down == taps_down - 1), add w, w, w_back
    .endif
    .endm
/* What it gives to pixel p. */
    .macro take_tap t
    load_tap %(\t + AHEAD)
    find_weights \t
    each p, pixels, add_pixel %(p / W + \t % taps_down - taps_down / 2), %(p % W + \t / taps_down - taps_across / 2)
    .endm
    .macro add_pixel y, x
    .if (\y >= 0) & (\y < H) & (\x >= 0) & (\x < W)
    each v, vectors, fma %((pixels + p) * vectors + v), %((\y * W + \x) * vectors + v), %(weights_at + v)
    .endif
    .endm

/* An image of H x W pixels of so many vectors. Taps' weights have `slots` places behind the sums, in
 * turn. */
    .macro image height, width
    .set H, \height
    .set W, \width
    .set pixels, H * W
    .set vectors, 2
    when %(pixels > IMAGE_FEW_PIXELS), .set vectors, 1
    .set slots, (32 - 2 * pixels * vectors) / vectors
    .set taps_down, 3
    when %(H == 1), .set taps_down, 1
    .set taps_across, 3
    when %(W == 1), .set taps_across, 1
    named_image dwconv_f32_image_\height\()x\width
    .endm
    .macro named_image name
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
1:  mov w, weights
    each y, H, load_row %y
    each p, pixels, load_one_or_two %vectors, %((pixels + p) * vectors), bias
    each t, AHEAD, load_tap %(t)
    each t, %(taps_down * taps_across), take_tap %t
    cbz clamp, 2f
    ldp q30, q31, [clamp]
    clamp_all %(pixels * vectors), %(pixels * vectors), 30, 31
2:  each y, H, store_row %y
    for_all move_on, 9, H
    for_all move_on, 12, H
    add weights, weights, #16 * vectors
    add bias, bias, bias_step
    subs groups, groups, #1
    b.ne 1b
    pop_and_return
    end_function \name
    .endm

    begin_table dwconv_f32_image_functions
    .irp height, 1, 2, 3
    .irp width, 1, 2, 3
    image \height, \width
    .endr
    .endr
    end_table dwconv_f32_image_functions
