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

    .macro load_source H, W
    .set y, 0
    .rept \H
    place_at %(9 + y)
    each x, \W, several ld1, %(vectors), %((y * \W + x) * vectors), at, column
    .set y, y + 1
    .endr
    .endm

/* Number t of the taps, column by column; each has its turn of the registers. */
    .macro load_tap t
    .if \t < taps_down * taps_across
    several ld1, %(vectors), %(2 * pixels * vectors + \t % slots * vectors), w, w_row
    when %(\t % taps_down == taps_down - 1), add w, w, w_back
    .endif
    .endm

/* The tap that is dy rows below and dx columns right of the middle one. */
    .macro add_tap H, W, t, dy, dx
    .set y, 0
    .rept \H
    .set x, 0
    .rept \W
    .if (y + \dy >= 0) & (y + \dy < \H) & (x + \dx >= 0) & (x + \dx < \W)
    .set v, 0
    .rept vectors
    fma %((pixels + y * \W + x) * vectors + v), %(((y + \dy) * \W + x + \dx) * vectors + v), %(2 * pixels * vectors + \t % slots * vectors + v)
    .set v, v + 1
    .endr
    .endif
    .set x, x + 1
    .endr
    .set y, y + 1
    .endr
    .endm

    .macro add_taps H, W
    each t, AHEAD, load_tap %(t)
    .set t, 0
    .rept taps_down * taps_across
    load_tap %(t + AHEAD)
    add_tap \H, \W, %(t), %(t % taps_down - taps_down / 2), %(t / taps_down - taps_across / 2)
    .set t, t + 1
    .endr
    .endm

    .macro store_sums H, W
    .set y, 0
    .rept \H
    place_at %(12 + y)
    each x, \W, several st1, %(vectors), %((pixels + y * \W + x) * vectors), at, dst_column
    .set y, y + 1
    .endr
    .endm

    .macro load_job
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

    .macro image H, W
    .set pixels, \H * \W
    .set vectors, 2
    when %(pixels > IMAGE_FEW_PIXELS), .set vectors, 1
    .set slots, (32 - 2 * pixels * vectors) / vectors
    .set taps_down, 3
    when %(\H == 1), .set taps_down, 1
    .set taps_across, 3
    when %(\W == 1), .set taps_across, 1
    table_entry dwconv_f32_image_\H\()x\W
    begin_listed_function dwconv_f32_image_\H\()x\W
    save_registers 4
    load_job
1:  mov w, weights
    load_source \H, \W
    each p, pixels, load_one_or_two %(vectors), %((pixels + p) * vectors), bias
    add_taps \H, \W
    cbz clamp, 2f
    ldp q30, q31, [clamp]
    clamp_all %(pixels * vectors), %(pixels * vectors), 30, 31
2:  store_sums \H, \W
    for_all move_on, 9, \H
    for_all move_on, 12, \H
    add weights, weights, #16 * vectors
    add bias, bias, bias_step
    subs groups, groups, #1
    b.ne 1b
    pop_and_return
    end_function dwconv_f32_image_\H\()x\W
    .endm

/* ---- with copies of weights: [tap][2 vectors], column by column ---- */

/* Sums are all of them, or those of a row of 3x3: four taps' weights have a place beside them. */
    .macro load_copy tap, turn
    .set here, 2 * (H * W + sums) + \turn % slots * 2
    load_pair %(here), %(here + 1), [weights, #(32 * (\tap))]
    .endm

/* Number \tap, whose turn it is, to sums of the rows from `from` on. */
    .macro add_copy tap, turn
    .set dy, (\tap) % 3 - 1
    .set dx, (\tap) / 3 - 1
    .set p, 0
    .rept sums
    .set y, from + p / W
    .set x, p % W
    .if (y + dy >= 0) & (y + dy < H) & (x + dx >= 0) & (x + dx < W)
    .set v, 0
    .rept 2
    fma %(2 * (H * W + p) + v), %(2 * ((y + dy) * W + x + dx) + v), %(2 * (H * W + sums) + \turn % slots * 2 + v)
    .set v, v + 1
    .endr
    .endif
    .set p, p + 1
    .endr
    .endm

/* So many taps of a column, from number `top` on: those that have a row of source for one of these
 * rows. */
    .macro load_turn turn, top, down
    when %(\turn < 3 * \down), load_copy %(\turn / \down * 3 + \turn % \down + \top), \turn
    .endm
    .macro add_copies top, down
    each n, %(slots - 1), load_turn %(n), \top, \down
    .set n, 0
    .rept 3 * \down
    load_turn %(n + slots - 1), \top, \down
    add_copy %(n / \down * 3 + n % \down + \top), %n
    .set n, n + 1
    .endr
    .endm

    .macro store_copied_sums
    .set p, 0
    .rept sums
    when %(p % W == 0), place_at %(12 + from + p / W)
    several st1, 2, %(2 * (H * W + p)), at, dst_column
    .set p, p + 1
    .endr
    .endm

    .macro copied_image height, width
    .set H, \height
    .set W, \width
    .set vectors, 2
    .set sums, H * W
    when %(sums > 6), .set sums, W
    .set slots, 16 - H * W - sums
    table_entry dwconv_f32_image_copied_\height\()x\width
    begin_listed_function dwconv_f32_image_copied_\height\()x\width
    save_registers 4
    load_job
1:  load_source H, W
    .set from, 0
    .rept H * W / sums
    .set top, 0
    .set down, 3
    .if sums == W
    when %(from == 0), .set top, 1
    when %((from == 0) | (from == H - 1)), .set down, 2
    .endif
    each p, sums, load_one_or_two 2, %(2 * (H * W + p)), bias
    add_copies %(top), %(down)
    cbz clamp, 2f
    .set here, 2 * (H * W + sums)
    load_pair %(here), %(here + 1), [clamp]
    clamp_all %(2 * H * W), %(2 * sums), %(here), %(here + 1)
2:  store_copied_sums
    .set from, from + sums / W
    .endr
    for_all move_on, 9, H
    for_all move_on, 12, H
    add weights, weights, #9 * 32
    add bias, bias, bias_step
    subs groups, groups, #1
    b.ne 1b
    pop_and_return
    end_function dwconv_f32_image_copied_\height\()x\width
    .endm

    begin_table dwconv_f32_image_copied_functions
    copied_image 2, 3
    copied_image 3, 2
    copied_image 3, 3
    end_table dwconv_f32_image_copied_functions

    begin_table dwconv_f32_image_functions
    image 1, 1
    image 1, 2
    image 1, 3
    image 2, 1
    image 2, 2
    image 2, 3
    image 3, 1
    image 3, 2
    image 3, 3
    end_table dwconv_f32_image_functions
