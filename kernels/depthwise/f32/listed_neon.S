/* Depthwise convolution by lists of taps, for NEON: the tiles of listed.h.
 *
 * Registers: weights of a tap in v0 … v3; pixels in v4 … v7 and v8 … v11, in turn, so that one is on
 * its way while the other is multiplied; sums from v16 on. A tap of four pixels and four vectors is
 * 16 FMLA, 5 LD1 and 4 more. A pixel of eight vectors is done as two halves. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/listed_offsets.h"

    registers 0, job, run, runs_end
    registers 3, src, w /* of a tap */
at .req x5 /* of a pixel */
    registers 6, between, step, w_step, count, code
from .req x11 /* of a group */
    registers 12, weights, dst, bias, clamp, dst_pixel, left
    registers 19, groups, repeats
    registers 21, first_from, first_dst /* of a repeat */
    registers 23, bias_next, goes_on

/* ---- taps of pixels A to B - 1 ---- */

    .macro load_pixel p, B, V
    when %(\p < \B), several ld1, \V, %(4 + \p % 2 * 4), at, between
    .endm
    .macro add_pixel p, V
    each v, \V, fma %(16 + \p * \V + v), %(4 + \p % 2 * 4 + v), %v
    .endm
    .macro tap A, B, V
    several ld1, \V, 0, w, w_step
    mov at, src
    load_pixel \A, \B, \V
    add src, src, step
    each_from p, \A, %(\B - \A), take_pixel %p, \B, \V
    .endm
    .macro take_pixel p, B, V
    load_pixel %(\p + 1), \B, \V
    add_pixel \p, \V
    .endm

/* One pixel of eight vectors. */
    .macro tap_of_halves
    several_at ld1, 4, 0, w
    several_at ld1, 4, 4, src
    add at, w, #64
    add_pixel 0, 4
    several_at ld1, 4, 0, at
    add at, src, #64
    several_at ld1, 4, 8, at
    add w, w, w_step
    add src, src, step
    add_pixel 1, 4
    .endm

/* The next run of taps, or what comes after the last one. */
    .macro go_on name
    cmp run, runs_end
    b.eq \name\()_finish
    ldp src, w, [run], #16
    ldp code, count, [run], #16
    add src, src, from
    add w, w, weights
    br code
    .endm

    .macro taps name, A, B, V
    table_entry 1f
1:  accept_branch
2:  subs count, count, #1
    when %(\V == 8), tap_of_halves
    otherwise tap \A, \B, \V
    b.ne 2b
    go_on \name
    .endm

/* All ranges of P pixels. */
    .macro ranges name, P, V
    begin_table \name\()_codes
    each first, \P, ranges_from %first, \name, \P, \V
    end_table \name\()_codes
    .endm
    .macro ranges_from first, name, P, V
    no_entries \first
    each_from end, %(\first + 1), %(\P - \first), taps \name, \first, %end, \V
    .endm

/* ---- before and after ---- */

/* V vectors from v(first) on, of which there may be eight. */
    .macro vectors op, V, first, step
    .if \V == 8
    several \op, 4, \first, at, \step
    several \op, 4, %(\first + 4), at, \step
    .else
    several \op, \V, \first, at, \step
    .endif
    .endm

/* Sums of as many pixels as the tile has: of one pixel, with what is in dst or goes there. */
    .macro all_pixels op, P, V
    mov at, dst
    .if \P == 1
    vectors \op, \V, 16, #64
    .else
    ldr left, [job, #job.pixels]
    each p, %(\P - 1), next_pixel \op, \V
    vectors \op, \V, %(16 + p * \V), dst_pixel
3:
    .endif
    .endm
    .macro next_pixel op, V
    vectors \op, \V, %(16 + p * \V), dst_pixel
    subs left, left, #1
    b.eq 3f
    .endm
    .macro begin_sums P, V
    cbnz goes_on, 4f
    mov at, bias
    when %(\V == 8), vectors ld1, 8, 16, #64
    otherwise vectors ld1, \V, 16, bias_next
    each_from sum, %(16 + \V), %((\P - 1) * \V), copy %sum, %(sum - \V)
    b 5f
4:  all_pixels ld1, \P, \V
5:  add bias, bias, bias_next
    .endm

    .macro function name, P, V
    begin_function \name
    save_registers 2, 24
    ldp run, runs_end, [job, #job.runs]
    ldp first_from, weights, [job, #job.src]
    ldp between, step, [job, #job.between]
    ldp w_step, clamp, [job, #job.weights_step]
    ldp first_dst, dst_pixel, [job, #job.dst]
    ldp bias, bias_next, [job, #job.bias]
    ldp repeats, src, [job, #job.repeats]
    ldr goes_on, [job, #job.goes_on]
\name\()_repeat:
    ldr weights, [job, #job.weights]
    ldr bias, [job, #job.bias]
    ldr groups, [job, #job.groups]
    mov from, first_from
    mov dst, first_dst
\name\()_group:
    begin_sums \P, \V
    go_on \name
    ranges \name, \P, \V
\name\()_finish:
    cbz clamp, 6f
    ldp q0, q1, [clamp]
    clamp_all 16, %(\P * \V), 0, 1
6:  all_pixels st1, \P, \V
    ldr run, [job, #job.runs]
    add from, from, #16 * \V
    add weights, weights, #16 * \V
    add dst, dst, #16 * \V
    subs groups, groups, #1
    b.ne \name\()_group
    ldr at, [job, #job.src_repeat]
    ldr left, [job, #job.dst_repeat]
    add first_from, first_from, at
    add first_dst, first_dst, left
    subs repeats, repeats, #1
    b.ne \name\()_repeat
    pop_and_return
    end_function \name
    .endm

    function dwconv_f32_listed_4x4, 4, 4
    function dwconv_f32_listed_8x1, 8, 1
    function dwconv_f32_listed_1x8, 1, 8
