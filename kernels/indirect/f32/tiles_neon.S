/* Whole tiles of indirect.h for NEON, with a bias, of the first pixels: 8x4, 8x8, 4x12 and all with
 * fewer pixels.
 *
 * A tile of P pixels and V vectors keeps its sums in v16 … and the pointers of a tap in x9 …; four
 * channels of each pixel are in v0 … v(P - 1), and 4 V vectors of weights behind them: 8x8 does 64
 * FMLA after 8 LDR and 2 LD1 of four registers, and 4 LDP for each tap. */
#include "kernels/indirect/f32/neon.h"

rest .req x8

    .macro load_channels count, value, pixel
    when %(\count == 4), ldr q\value, [x\pixel, at]
    or_when %(\count == 2), ldr d\value, [x\pixel, at]
    otherwise ldr s\value, [x\pixel, at]
    .endm

/* ---- a tile ---- */

    .macro load_pointers pixel_count
    each i, %(\pixel_count / 2), load_pair_x %(9 + 2 * i), %(10 + 2 * i), [pixels, #(16 * i)]
    when %(\pixel_count % 2), load_x %(8 + \pixel_count), [pixels, #(8 * \pixel_count - 8)]
    add pixels, pixels, #64
    .endm

/* One, two or four channels. */
    .macro multiply_channels count, pixel_count, vectors
    each i, \pixel_count, load_channels \count, %(i), %(9 + i)
    each v, \vectors, several ld1, \count, %(\pixel_count + v * \count), weights, %(16 * \count)
    add at, at, #4 * \count
    .set v, 0
    .rept \count * \vectors
    .set sum, 16 + v % \vectors
    multiply_tile fmla, \pixel_count, 1, %sum, \vectors, %(\pixel_count + v), 0, %(v / \vectors)
    .set v, v + 1
    .endr
    .endm

    .macro store_sums pixel_count, vectors
    ldp x9, x10, [tile, #tile.dst]
    lsl x10, x10, #2
    each i, \pixel_count, several st1, \vectors, %(16 + i * \vectors), x9, x10
    .endm

    .macro kernel name, pixel_count, vectors
    begin_function \name
    save_registers 4
    ldp taps, rest, [tile, #tile.taps]
    ldp pixels, offset, [tile, #tile.pixels]
    ldr weights, [tile, #tile.weights]
    lsl offset, offset, #2
    lsr quads, rest, #2
    clear_all 16, %(\pixel_count * \vectors)
    cbz taps, 6f
    tst rest, #3
    ccmp quads, #0, #4, eq
    b.eq 3f
    /* channels are fours: a tap's first ones are in one block with its pointers */
1:  load_pointers \pixel_count
    mov at, offset
    multiply_channels 4, \pixel_count, \vectors
    subs left, quads, #1
    b.eq 2f
0:  multiply_channels 4, \pixel_count, \vectors
    subs left, left, #1
    b.ne 0b
2:  subs taps, taps, #1
    b.ne 1b
    b 6f
    /* others, fewer than four or some left over */
3:  load_pointers \pixel_count
    mov at, offset
    mov left, quads
    cbz quads, 5f
4:  multiply_channels 4, \pixel_count, \vectors
    subs left, left, #1
    b.ne 4b
5:  tbz rest, #1, 8f
    multiply_channels 2, \pixel_count, \vectors
8:  tbz rest, #0, 9f
    multiply_channels 1, \pixel_count, \vectors
9:  subs taps, taps, #1
    b.ne 3b
6:  add_bias 16, \pixel_count, \vectors
    clamp_sums 16, %(\pixel_count * \vectors)
    store_sums \pixel_count, \vectors
    pop_and_return
    end_function \name
    .endm

#define KERNEL(pixels, columns) kernel indirect_f32_##pixels##x##columns##_neon, pixels, %(columns / 4);
#include "kernels/indirect/f32/tiles_list.h"
