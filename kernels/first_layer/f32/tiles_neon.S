/* Rows of pixels of rowconv.h for NEON, for cores that reorder instructions: a row of the kernel
 * takes two or three loads of source, and one of weights for 24 (16, 8) FMLA. */

#include "kernels/first_layer/f32/neon.h"

panel .req x16

/* ---- sums ---- */

    .macro tap op, t, stride, vectors
    several ld1, \vectors, 5, b, step
    .set i, 0
    .rept 8
    .set value, i * \stride + \t
    multiply_row_by \op, \vectors, %(32 - (8 - i) * \vectors), 5, %((value / 4) % 5), %(value % 4)
    .set i, i + 1
    .endr
    .endm

    .macro other_taps stride, taps, vectors
    .set t, 1
    .rept \taps - 1
    when %(((t == 4) & (7 * \stride + \taps > 20)) != 0), ldr q0, [at, #80]
    tap fmla, %t, \stride, \vectors
    .set t, t + 1
    .endr
    .endm

/* ---- a kernel ---- */

    .macro kernel_out_of_order name, stride, taps, vectors
    begin_function \name
    when %(\vectors == 3), save_registers 4
    load_task \vectors
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
    end_tile \stride, \vectors
    when %(\vectors == 3), restore_registers
    ret
    end_function \name
    .endm

/* ---- all ---- */

    .macro kernel name, taps, stride, width, in_order
    when %(!\in_order), kernel_out_of_order \name, \stride, \taps, %(\width / 4)
    .endm
#define KERNEL(taps, stride, width, isa, in_order) \
    kernel rowconv_f32_##taps##s##stride##_8x##width##_##isa, taps, stride, width, in_order;
#include "kernels/first_layer/f32/list.h"
