/* Rows of few channels as lines of values, for NEON: the tiles of lanes.h.
 *
 * Registers: the kernel's column of weights in v0 … v6; sums of R rows x V vectors in v16 … v23;
 * source in v24 … v29, three lines in turn, two of them on their way; the bias in v30. The lines'
 * addresses are in x19 … x30, at most twelve.
 *
 * Three products follow each other in a sum of a column of 3x3, twelve cycles where one takes four:
 * eight sums keep two pipes busy, but not four. So for such kernels tiles have four vectors where
 * lines are long enough: weights in v0 … v2, source in v3 … v14, the bias in v15, sums from v16 on. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/lanes/lanes_offsets.h"

    registers 0, job, w, offset, taps
at .req x4 /* in dst */
    registers 5, last, period, off, off_2, tap
from .req x10 /* in source */
    registers 11, dst, dst_row, weights, phases, clamp
apart .req x16 /* as `period`, in source */
temp .req x17
off_3 .req x25 /* where there are four vectors, and x25 has no line */
off_4 .req x26

    .macro load_line number, to, V
    load_indexed \to, \number, q, off
    when %(\V >= 2), load_indexed %(\to + 1), \number, q, off_2
    when %(\V == 4), load_indexed %(\to + 2), \number, q, off_3
    when %(\V == 4), load_indexed %(\to + 3), \number, q, off_4
    .endm

/* Line number n and the weights of kernel row n, if there are such. */
    .macro load_ahead n, KH, lines, V
    when %(\n < \KH), several ld1, 1, %(\n), w, tap
    when %(\n < \lines), load_line %(19 + \n), %(source + \n % 3 * \V), \V
    .endm

/* What line i gives to every row that has a tap there. */
    .macro reach KH, SH, R, V
    .set r, 0
    .rept \R
    .set ky, i - r * \SH
    when %(ky >= 0), when %(ky < \KH), each v, \V, fma %(16 + r * \V + v), %(source + i % 3 * \V + v), %(ky)
    .set r, r + 1
    .endr
    .endm

    .macro column KH, SH, R, V, lines
    ldr off, [offset], #8
    subs taps, taps, #1
    add off, off, from
    when %(\V >= 2), add off_2, off, apart
    when %(\V == 4), add off_3, off, apart, lsl #1
    when %(\V == 4), add off_4, off_2, apart, lsl #1
    load_ahead 0, \KH, \lines, \V
    load_ahead 1, \KH, \lines, \V
    .set i, 0
    .rept \lines
    load_ahead %(i + 2), \KH, \lines, \V
    reach \KH, \SH, \R, \V
    .set i, i + 1
    .endr
    .endm

    .macro store_row first, V
    str q\first, [temp]
    when %(\V >= 2), store_q %(\first + 1), [temp, period]
    when %(\V == 4), add off, temp, period, lsl #1
    when %(\V == 4), store_q %(\first + 2), [off]
    when %(\V == 4), store_q %(\first + 3), [off, period]
    .endm

    .macro tile KH, SH, R, V
    .set source, 24
    when %(\V == 4), .set source, 3
    for_all copy, 16, %(\R * \V), %bias
    ldp offset, taps, [job, #job.offsets]
    mov w, weights
1:  column \KH, \SH, \R, \V, %((\R - 1) * \SH + \KH)
    b.ne 1b
    cbz clamp, 2f
    ldp q0, q1, [clamp]
    clamp_all 16, %(\R * \V), 0, 1
2:  add temp, dst, at
    .set r, 0
    .rept \R
    store_row %(16 + r * \V), \V
    .set r, r + 1
    when %(r < \R), add temp, temp, dst_row
    .endr
    .endm

    .macro fours KH, SH, R
    b 8f
7:  tile \KH, \SH, \R, 4
    add at, at, period, lsl #2
    add from, from, apart, lsl #2
8:  add temp, period, period, lsl #1
    add temp, temp, at
    cmp temp, last
    b.ls 7b
    .endm

/* Vectors of the same weights, a period from each other. */
    .macro next_phase KH, SH, R
    ldp at, temp, [phases], #16
    ldp weights, from, [job, #job.weights]
    add weights, weights, temp
    load_q %bias, [from, temp]
    mov from, at
    when %(most == 4), fours \KH, \SH, \R
    b 4f
3:  tile \KH, \SH, \R, 2
    add at, at, period, lsl #1
    add from, from, apart, lsl #1
4:  add temp, at, period
    cmp temp, last
    b.ls 3b
    cmp at, last
    b.hi 5f
    tile \KH, \SH, \R, 1
5:
    .endm

    .macro function name, KH, SH, R
    .set most, 2
    .set bias, 30
    .set pairs, 1
    .if (\KH == 3) & (\SH == 1) & (\R > 1)
    .set most, 4
    .set bias, 15
    .set pairs, 4
    .endif
    begin_function \name
    save_registers %(pairs), 30
    ldp temp, dst, [job, #job.lines]
    each i, %((\R - 1) * \SH + \KH), load_x %(19 + i), [temp, #(8 * i)]
    ldp dst_row, last, [job, #job.dst_row]
    ldp period, apart, [job, #job.period]
    ldp tap, clamp, [job, #job.weights_tap]
    ldr phases, [job, #job.phases]
6:  next_phase \KH, \SH, \R
    ldr temp, [job, #job.phases_end]
    cmp phases, temp
    b.lo 6b
    pop_and_return
    end_function \name
    .endm

    .macro functions name, KH, SH
    function \name\()_4, \KH, \SH, 4
    function \name\()_2, \KH, \SH, 2
    function \name\()_1, \KH, \SH, 1
    .endm
#define KERNEL(kh, stride) functions dwconv_f32_lanes_##kh##s##stride, kh, stride
#include "kernels/depthwise/f32/lanes/lanes_list.h"
