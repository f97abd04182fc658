/* Rows of pixels of rowconv_f32.h for NEON, a tile of 8 pixels × 12, 8 or 4 output channels at a
 * time, in an order for cores that reorder instructions and one for cores that do not.
 *
 * Registers: sums in v8 … v31 (pixel i in v(8 + 3 i) …), v16 … v31 or v24 … v31; source in v0 … v4,
 * used by lanes; weights of a tap in v5 … v7.
 *
 * The taps of a kernel row read values i × stride + t of a row of a plane, for pixels i < 8: 21
 * values, six vectors, at stride 2 and seven taps, and fewer otherwise. So a row of the kernel takes
 * two or three loads of source, and one of weights for 24 (16, 8) FMLA. The sixth vector takes the
 * place of the first, which taps from the fourth on do not read. The first tap of all multiplies
 * without adding, so that sums need not be cleared. */

#include "kernels/assembly_neon.h"
#include "kernels/rowconv_f32_offsets.h"

task .req x0
rows .req x1
channels .req x2
kernel_rows .req x3
weights .req x4
dst .req x5
pixel .req x6
channel .req x7
tiles .req x8
offset .req x9
b .req x10
step .req x11
at .req x12
table .req x13
c .req x14
r .req x15
panel .req x16
extras .req x17
half .req x19
next .req x20

    .set IN_ORDER_NARROW, 1
    .set IN_ORDER_WIDE, 2

/* Bits of extras: what there is to do after the sums. */
#define ADDS_BIAS 0
#define HAS_LOW 1
#define HAS_HIGH 2

/* ---- sums ---- */

    .macro tap op, t, stride, vectors
    several ld1, \vectors, 5, b, step
    .set i, 0
    .rept 8
    .set value, i * \stride + \t
    .set v, 0
    .rept \vectors
    multiply \op, %(32 - 8 * \vectors + \vectors * i + v), %(5 + v), %((value / 4) % 5), %(value % 4)
    .set v, v + 1
    .endr
    .set i, i + 1
    .endr
    .endm

    .macro load_row stride, taps
    ldr at, [table], #8
    add at, at, offset
    .if 7 * \stride + \taps <= 12
    ld1 {v0.4s, v1.4s, v2.4s}, [at]
    .else
    ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [at]
    .endif
    .if 7 * \stride + \taps > 16
    ldr q4, [at, #64]
    .endif
    .endm

    .macro other_taps stride, taps, vectors
    .set t, 1
    .rept \taps - 1
    .if ((t == 4) & (7 * \stride + \taps > 20)) != 0
    ldr q0, [at, #80]
    .endif
    tap fmla, %t, \stride, \vectors
    .set t, t + 1
    .endr
    .endm

/* ---- after them ---- */

    .macro add_pixel i, vectors
    .set v, 0
    .rept \vectors
    add_to %(32 - 8 * \vectors + \vectors * \i + v), %(5 + v)
    .set v, v + 1
    .endr
    .endm
    .macro finish vectors
    cbz extras, 3f
    tbz extras, #ADDS_BIAS, 1f
    ldr at, [task, #TASK_BIAS]
    several_at ld1, \vectors, 5, at
    .set i, 0
    .rept 8
    add_pixel %i, \vectors
    .set i, i + 1
    .endr
1:  tbz extras, #HAS_LOW, 2f
    limit_all at_least, %(32 - 8 * \vectors), %(8 * \vectors), task, TASK_LOW, at
2:  tbz extras, #HAS_HIGH, 3f
    limit_all at_most, %(32 - 8 * \vectors), %(8 * \vectors), task, TASK_HIGH, at
3:
    .endm

/* Pairs, which Cortex-A510 stores in a cycle; ST1 of three takes five. */
    .macro store_pixels_in_pairs vectors
    .set i, 32 - 8 * \vectors
    .rept 8
    store_pixel_in_pairs %i, %(i + 1), %(i + 2), \vectors
    .set i, i + \vectors
    .endr
    .endm
    .macro store_pixel_in_pairs s0, s1, s2, vectors
    stp q\s0, q\s1, [dst]
    .if \vectors == 3
    str q\s2, [dst, #32]
    .endif
    add dst, dst, pixel
    .endm
    .macro store_pixels vectors
    .set i, 32 - 8 * \vectors
    .rept 8
    several st1, \vectors, %i, dst, pixel
    .set i, i + \vectors
    .endr
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
    ldr at, [task, #TASK_BIAS]
    ldp w13, w14, [task, #TASK_LOW]
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

    .macro begin name, vectors
    begin_function \name
    .if \vectors == 3
    save_registers 4
    .endif
    find_extras
    ldp rows, channels, [task, #TASK_ROWS]
    ldp kernel_rows, weights, [task, #TASK_KERNEL_ROWS]
    ldp dst, pixel, [task, #TASK_DST]
    ldp channel, tiles, [task, #TASK_CHANNEL]
    ldr offset, [task, #TASK_FROM]
    lsl pixel, pixel, #2
    lsl channel, channel, #2
    lsl offset, offset, #2
    mov step, #16 * \vectors
    mul step, step, channels
    .endm

/* What follows the sums of a tile; the next one is at 4. */
    .macro end_tile stride, vectors, in_order
    finish \vectors
    add offset, offset, #32 * \stride
    sub tiles, tiles, #1
    cmp pixel, #4
    b.eq 8f
    .if \in_order == 2
    store_pixels_in_pairs \vectors
    .else
    store_pixels \vectors
    .endif
    cbnz tiles, 4b
    b 9f
8:  store_channels \vectors
    cbnz tiles, 4b
9:
    .endm

    .macro end name, vectors
    .if \vectors == 3
    restore_registers
    .endif
    ret
    end_function \name
    .endm

/* ---- for cores that reorder ---- */

    .macro kernel_out_of_order name, stride, taps, vectors
    begin \name, \vectors
4:  mov table, rows
    mov b, weights
    add panel, weights, #16 * \vectors
    mov c, channels
    mov r, kernel_rows
    load_row \stride, \taps
    tap fmul, 0, \stride, \vectors
    b 7f
5:  mov b, panel
    add panel, panel, #16 * \vectors
    mov r, kernel_rows
6:  load_row \stride, \taps
    tap fmla, 0, \stride, \vectors
7:  other_taps \stride, \taps, \vectors
    subs r, r, #1
    b.ne 6b
    subs c, c, #1
    b.ne 5b
    end_tile \stride, \vectors, 0
    end \name, \vectors
    .endm

/* ---- for cores that do not ---- */

/* A tap is as many groups of eight FMLA as there are vectors of weights, one vector a group. What
 * comes after FMLA n of tap t shares its cycle, or, if it is a 128-bit load, at least does not wait:
 *
 *   group 0        this tap's last vector of weights; then b goes to the next tap
 *   group 1        the next tap's first vector
 *   group 2        its second one
 *   last of all    the next row's source, each vector after the last FMLA that reads the one before
 *
 * narrow cores (Cortex-A53, A55) load weights in halves, as 128-bit loads take both issue slots for
 * two cycles. The last row of a tile has nothing to load ahead. */

    .macro load_ahead n, first, vector, place, kind
    .if \kind == IN_ORDER_NARROW
    .if \n == \first
    ldr d\vector, [b, #\place]
    .elseif \n == (\first + 1)
    ldr half, [b, #\place + 8]
    .elseif \n == (\first + 4)
    mov v\vector\().d[1], half
    .endif
    .elseif \n == \first
    ldr q\vector, [b, #\place]
    .endif
    .endm

/* The taps of a channel's rows follow each other; after the last row come the next channel's. */
    .macro next_weights n, is_last, vectors
    .if !\is_last
    .if \n == 2
    add b, b, step
    .endif
    .elseif \n == 2
    subs r, r, #1
    add next, b, step
    .elseif \n == 3
    csel b, panel, next, eq
    add next, panel, #16 * \vectors
    .elseif \n == 5
    csel panel, next, panel, eq
    csel r, kernel_rows, r, eq
    .elseif \n == 6
    ldr at, [table], #8
    .elseif \n == 7
    add at, at, offset
    .endif
    .endm

    .macro load_source register
    ldr q\register, [at, #16 * \register]
    .endm

/* The pixel that is number n of a group; a sixth vector of source goes where the first one was, so
 * the pixel that reads it comes first. */
    .macro order_pixel n, stride, taps, is_last
    .set px, \n % 8
    .if \is_last * (7 * \stride + \taps) > 20
    .set px, (\n + 7) % 8
    .endif
    .endm

    .macro source_ahead n, stride, taps
    .set value, px * \stride + \taps - 1
    .set own, value / 4
    order_pixel %(\n + 1), \stride, \taps, 1
    .set value, px * \stride + \taps - 1
    .if ((\n % 8 == 7) | (value / 4 != own)) != 0
    load_source %(own % 5)
    .endif
    .if ((\n % 8 == 0) & (own > 0) & (own < 5)) != 0
    load_source 0
    .endif
    .endm

    .macro tap_in_order t, stride, taps, vectors, kind, ahead
    .set last, (\t + 1) / \taps
    .set n, 0
    .rept 8 * \vectors
    order_pixel %n, \stride, \taps, %last
    .set value, px * \stride + \t
    multiply fmla, %(32 - 8 * \vectors + \vectors * px + n / 8), %(5 + n / 8), %((value / 4) % 5), %(value % 4)
    load_ahead %n, 0, %(4 + \vectors), %(16 * \vectors - 16), \kind
    .if \ahead + 1 > last
    next_weights %n, %last, \vectors
    load_ahead %n, 8, 5, 0, \kind
    .if \vectors == 3
    load_ahead %n, 16, 6, 16, \kind
    .endif
    .endif
    .if \ahead * last * (n / 8) == (\vectors - 1)
    source_ahead %n, \stride, \taps
    .endif
    .set n, n + 1
    .endr
    .if ((\t == 3) & (7 * \stride + \taps > 20)) != 0
    ldr q0, [at, #80]
    .endif
    .endm

    .macro taps_in_order stride, taps, vectors, kind, ahead
    .set t, 0
    .rept \taps
    tap_in_order %t, \stride, \taps, \vectors, \kind, \ahead
    .set t, t + 1
    .endr
    .endm

    .macro kernel_in_order name, stride, taps, vectors, kind
    begin \name, \vectors
    stp x19, x20, [sp, #-16]!
4:  mov table, rows
    mov b, weights
    add panel, weights, #16 * \vectors
    mov r, kernel_rows
    mul c, channels, kernel_rows
    load_row \stride, \taps
    ldr q5, [b]
    .if \vectors == 3
    ldr q6, [b, #16]
    .endif
    clear_all %(32 - 8 * \vectors), %(8 * \vectors)
    subs c, c, #1
    b.eq 6f
5:  taps_in_order \stride, \taps, \vectors, \kind, 1
    sub c, c, #1
    cbnz c, 5b
6:  taps_in_order \stride, \taps, \vectors, \kind, 0
    end_tile \stride, \vectors, \kind
    ldp x19, x20, [sp], #16
    end \name, \vectors
    .endm

/* ---- all ---- */

    .macro kernel name, taps, stride, width, in_order
    .if \in_order
    kernel_in_order \name, \stride, \taps, %(\width / 4), \in_order
    .else
    kernel_out_of_order \name, \stride, \taps, %(\width / 4)
    .endif
    .endm
#define KERNEL(taps, stride, width, isa, in_order) \
    kernel rowconv_f32_##taps##s##stride##_8x##width##_##isa, taps, stride, width, in_order;
#include "kernels/rowconv_f32_list.h"
