/* What the assembly files of rowconv.h share: a tile of 8 pixels × 12, 8 or 4 output channels
 * at a time.
 *
 * Registers: sums in v8 … v31 (pixel i in v(8 + 3 i) …), v16 … v31 or v24 … v31; source in v0 … v4,
 * used by lanes; weights of a tap in v5 … v7.
 *
 * The taps of a kernel row read values i × stride + t of a row of a plane, for pixels i < 8: 21
 * values, six vectors, at stride 2 and seven taps, and fewer otherwise. The sixth vector takes the
 * place of the first, which taps from the fourth on do not read. The first tap of all multiplies
 * without adding, so that sums need not be cleared. */

/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/first_layer/f32/offsets.h"

    registers 0, task, rows, channels, kernel_rows, weights, dst
    registers 6, pixel, channel, tiles, offset, b
    registers 11, step, at, table, c, r
extras .req x17

/* Bits of extras: what there is to do after the sums. */
#define ADDS_BIAS 0
#define HAS_LOW 1
#define HAS_HIGH 2

/* ---- source ---- */

    .macro load_row stride, taps
    ldr at, [table], #8
    add at, at, offset
    when %(7 * \stride + \taps <= 12), ld1 {v0.4s, v1.4s, v2.4s}, [at]
    otherwise ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [at]
    when %(7 * \stride + \taps > 16), ldr q4, [at, #64]
    .endm

/* ---- after them ---- */

    .macro add_pixel i, vectors
    each v, \vectors, add_to %(32 - 8 * \vectors + \vectors * \i + v), %(5 + v)
    .endm
    shared_limits
    .macro finish vectors
    cbz extras, 3f
    tbz extras, #ADDS_BIAS, 1f
    ldr at, [task, #task.bias]
    several_at ld1, \vectors, 5, at
    each i, 8, add_pixel %i, \vectors
1:  tbz extras, #HAS_LOW, 2f
    limit_sums at_least, %(32 - 8 * \vectors), task, task.low, at
2:  tbz extras, #HAS_HIGH, 3f
    limit_sums at_most, %(32 - 8 * \vectors), task, task.high, at
3:
    .endm

    .macro store_pixels vectors
    each_by \vectors, i, %(32 - 8 * \vectors), 8, several st1, \vectors, %i, dst, pixel
    .endm

/* Four output channels of four pixels, s0 … s3, become o0 … o3 with four pixels each; s0 … s3 are
 * lost, o3 is written before s1 and s3 are read for the last time. */
    .macro transpose s0, s1, s2, s3, o0, o1, o2, o3
    zip1 v\o3\().4s, v\s0\().4s, v\s2\().4s
    zip2 v\s2\().4s, v\s0\().4s, v\s2\().4s
    zip1 v\s0\().4s, v\s1\().4s, v\s3\().4s
    zip2 v\s3\().4s, v\s1\().4s, v\s3\().4s
    zip1 v\o0\().4s, v\o3\().4s, v\s0\().4s
    zip2 v\o1\().4s, v\o3\().4s, v\s0\().4s
    zip1 v\o2\().4s, v\s2\().4s, v\s3\().4s
    zip2 v\o3\().4s, v\s2\().4s, v\s3\().4s
    .endm
    .macro store_channels vectors
    mov at, dst
    .set s, 32 - 8 * \vectors
    .rept \vectors
    transpose %s, %(s + \vectors), %(s + 2 * \vectors), %(s + 3 * \vectors), 0, 2, 4, 6
    transpose %(s + 4 * \vectors), %(s + 5 * \vectors), %(s + 6 * \vectors), %(s + 7 * \vectors), 1, 3, 5, 7
    st1 {v0.4s, v1.4s}, [at], channel
    st1 {v2.4s, v3.4s}, [at], channel
    st1 {v4.4s, v5.4s}, [at], channel
    st1 {v6.4s, v7.4s}, [at], channel
    .set s, s + 1
    .endr
    add dst, dst, #32
    .endm

/* ---- a kernel ---- */

    .macro find_extras
    ldr at, [task, #task.bias]
    ldp w13, w14, [task, #task.low]
    cmp at, #0
    cset extras, ne
    mov w15, #0xff800000
    cmp w13, w15
    cset w13, ne
    mov w15, #0x7f800000
    cmp w14, w15
    cset w14, ne
    orr extras, extras, x13, lsl #HAS_LOW
    orr extras, extras, x14, lsl #HAS_HIGH
    .endm

/* What `task` says, in registers; strides in bytes. */
    .macro load_task vectors
    find_extras
    ldp rows, channels, [task, #task.rows]
    ldp kernel_rows, weights, [task, #task.kernel_rows]
    ldp dst, pixel, [task, #task.dst]
    ldp channel, tiles, [task, #task.channel]
    ldr offset, [task, #task.from]
    lsl pixel, pixel, #2
    lsl channel, channel, #2
    lsl offset, offset, #2
    mov step, #16 * \vectors
    mul step, step, channels
    .endm

/* What follows the sums of a tile; the next one is at 4. */
    .macro end_tile stride, vectors
    finish \vectors
    add offset, offset, #32 * \stride
    sub tiles, tiles, #1
    cmp pixel, #4
    b.eq 8f
    store_pixels \vectors
    cbnz tiles, 4b
    b 9f
8:  store_channels \vectors
    cbnz tiles, 4b
9:
    .endm
