/* Rows of few channels as lines of values, for NEON: the tiles of lanes.h.
 *
 * Registers: the kernel's column of weights in v0 … v6; sums of R rows x V vectors in v16 … v23;
 * source in v24 … v29, three lines in turn, two of them on their way; the bias in v30. The lines'
 * addresses are in x19 … x30, at most twelve.
 *
 * Three products follow each other in a sum of a 3x3 kernel's column, twelve cycles where one takes
 * four: eight sums keep two pipes busy, but not four. So kernels of up to three rows have functions
 * with tiles of four vectors, too: weights in v0 … v2, source in v3 … v14, sums in v16 … v31, the
 * bias in v15. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/lanes/lanes_offsets.h"

job .req x0
w .req x1
offset .req x2
taps .req x3
at .req x4 /* in dst */
last .req x5
period .req x6
off .req x7
off_2 .req x8
tap .req x9
from .req x10 /* in source */
dst .req x11
dst_row .req x12
weights .req x13
phases .req x14
clamp .req x15
apart .req x16 /* as `period`, in source */
temp .req x17

/* Where four vectors are: not lines' addresses then. */
off_3 .req x25
off_4 .req x26

    .macro load_line number, to, V
    load_at \to, \number, off
    .if \V >= 2
    load_at %(\to + 1), \number, off_2
    .endif
    .if \V == 4
    load_at %(\to + 2), \number, off_3
    load_at %(\to + 3), \number, off_4
    .endif
    .endm
    .macro load_at to, number, offset
    ldr q\to, [x\number, \offset]
    .endm

/* Line number n and the weights of kernel row n, if there are such. */
    .macro load_ahead n, KH, lines, V
    .if \n < \KH
    several ld1, 1, %(\n), w, tap
    .endif
    .if \n < \lines
    load_line %(19 + \n), %(source + \n % 3 * \V), \V
    .endif
    .endm

/* What line i gives to every row that has a tap there. */
    .macro reach KH, SH, R, V
    .set r, 0
    .rept \R
    .set ky, i - r * \SH
    .if ky >= 0
    .if ky < \KH
    .set v, 0
    .rept \V
    fma %(16 + r * \V + v), %(source + i % 3 * \V + v), %(ky)
    .set v, v + 1
    .endr
    .endif
    .endif
    .set r, r + 1
    .endr
    .endm

    .macro column KH, SH, R, V, lines
    ldr off, [offset], #8
    subs taps, taps, #1
    add off, off, from
    .if \V >= 2
    add off_2, off, apart
    .endif
    .if \V == 4
    add off_3, off, apart, lsl #1
    add off_4, off_2, apart, lsl #1
    .endif
    load_ahead 0, \KH, \lines, \V
    load_ahead 1, \KH, \lines, \V
    .set i, 0
    .rept \lines
    load_ahead %(i + 2), \KH, \lines, \V
    reach \KH, \SH, \R, \V
    .set i, i + 1
    .endr
    .endm

    .macro copy_bias sum, bias
    mov v\sum\().16b, v\bias\().16b
    .endm
    .macro store_row first, V
    store_vectors \first, temp, %(\V > 1)
    .if \V == 4
    add off, temp, period, lsl #1
    store_vectors %(\first + 2), off, 1
    .endif
    .endm
    .macro store_vectors first, to, are_two
    str q\first, [\to]
    .if \are_two
    store_second %(\first + 1), \to
    .endif
    .endm
    .macro store_second second, to
    str q\second, [\to, period]
    .endm

    .macro tile KH, SH, R, V
    .set source, 24
    .if \V == 4
    .set source, 3
    .endif
    for_all copy_bias, 16, %(\R * \V), %(bias)
    ldp offset, taps, [job, #JOB_OFFSETS]
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
    .if r < \R
    add temp, temp, dst_row
    .endif
    .endr
    .endm

    .macro load_address number, place
    ldr x\number, [temp, #\place]
    .endm

    .macro fours KH, SH, R
    b 8f
7:  tile \KH, \SH, \R, 4
    add at, at, period, lsl #2
    add from, from, apart, lsl #2
8:  add temp, at, period
    add temp, temp, period, lsl #1
    cmp temp, last
    b.ls 7b
    .endm

/* Vectors of the same weights, a period from each other. */
    .macro load_bias number
    ldr q\number, [from, temp]
    .endm
    .macro next_phase KH, SH, R, most
    ldp at, temp, [phases], #16
    ldp weights, from, [job, #JOB_WEIGHTS]
    add weights, weights, temp
    load_bias %(bias)
    mov from, at
    .if \most == 4
    fours \KH, \SH, \R
    .endif
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

/* Tiles of two vectors, or of `most`. */
    .macro function name, KH, SH, R, most
    begin_function \name
    .if \most == 4
    save_registers 4, 30
    .set bias, 15
    .else
    save_registers 1, 30
    .set bias, 30
    .endif
    ldp temp, dst, [job, #JOB_LINES]
    .set i, 0
    .rept (\R - 1) * \SH + \KH
    load_address %(19 + i), %(8 * i)
    .set i, i + 1
    .endr
    ldp dst_row, last, [job, #JOB_DST_ROW]
    ldp period, apart, [job, #JOB_PERIOD]
    ldp tap, clamp, [job, #JOB_WEIGHTS_TAP]
    ldr phases, [job, #JOB_PHASES]
6:  next_phase \KH, \SH, \R, \most
    ldr temp, [job, #JOB_PHASES_END]
    cmp phases, temp
    b.lo 6b
    pop_and_return
    end_function \name
    .endm

    .macro functions name, KH, SH, most
    function \name\()_4, \KH, \SH, 4, \most
    function \name\()_2, \KH, \SH, 2, \most
    function \name\()_1, \KH, \SH, 1, \most
    .endm
#define KERNEL(kh, stride) functions dwconv_f32_lanes_##kh##s##stride, kh, stride, 2
#define LONG_KERNEL(kh, stride) \
    KERNEL(kh, stride) ; \
    functions dwconv_f32_lanes_long_##kh##s##stride, kh, stride, 4
#include "kernels/depthwise/f32/lanes/lanes_list.h"
