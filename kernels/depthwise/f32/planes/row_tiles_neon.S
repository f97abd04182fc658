/* Depthwise convolution of rows of planes, by tiles of up to sixteen vectors of columns, for NEON:
 * see row.h.
 *
 * Registers: weights in v0, source in v2 … v7, in pairs of which one is in use while the next two are
 * loaded; sums from v16 on. Four taps of sixteen vectors are 64 FMLA, 32 LDP and 7 more. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/planes/row_offsets.h"

job .req x0
in .req x1
w .req x2
steps .req x3
tap .req x4
fours .req x5
taps .req x6
code .req x7
dst .req x8
clamp .req x9
last .req x10
scratch .req x11

    .set SUMS, 16
    .set PAIRS, 3 /* of registers for source */
    .set AHEAD, 2 /* of which so many are loaded before they are needed */

    .macro next_step
    ldp code, taps, [steps], #16
    br code
    .endm

/* ---- the beginning ---- */

    .macro begin_sum sum
    mov v\sum\().16b, v16.16b
    .endm
    .macro begin_tile N
    table_entry .Lbegin_\N
.Lbegin_\N\():
    accept_branch
    for_all begin_sum, 17, %(\N - 1)
    next_step
    .endm

/* ---- taps ---- */

    .macro load_at left, to, second, at
    .if \left > 1
    ldp q\to, q\second, [in, #\at]
    .else
    ldr q\to, [in, #\at]
    .endif
    .endm

/* Pair number u of vectors: those of one tap, then those of the next one. */
    .macro load_unit u, from, to
    .set place, \u % units
    .if (place == 0) & (\u > 0)
    add in, in, tap
    .endif
    .set slot, 2 + 2 * (\u % PAIRS)
    .set first, \from + 2 * place
    load_at %(\to - first), %(slot), %(slot + 1), %(16 * first)
    .endm
    .macro add_unit u, from, to
    .set place, \u % units
    .set slot, 2 + 2 * (\u % PAIRS)
    .set first, \from + 2 * place
    fma %(SUMS + first), %(slot), 0, %(\u / units)
    .if first + 1 < \to
    fma %(SUMS + first + 1), %(slot + 1), 0, %(\u / units)
    .endif
    .endm
    .macro add_taps count, from, to
    .set units, (\to - \from + 1) / 2
    .set n, 0
    .rept \count * units + AHEAD
    .if n < \count * units
    load_unit %(n), \from, \to
    .endif
    .if n >= AHEAD
    add_unit %(n - AHEAD), \from, \to
    .endif
    .set n, n + 1
    .endr
    add in, in, tap
    .endm

    .macro some_taps from, to
    table_entry .Ltaps_\from\()_\to
    .p2align 4
.Ltaps_\from\()_\to\():
    accept_branch
    lsr fours, taps, #2
    ands taps, taps, #3
    cbz fours, 2f
1:  ldr q0, [w], #16
    subs fours, fours, #1
    add_taps 4, \from, \to
    b.ne 1b
    cbz taps, 3f
2:  ldr s0, [w], #4
    subs taps, taps, #1
    add_taps 1, \from, \to
    b.ne 2b
3:  next_step
    .endm

/* ---- the end ---- */

/* The last vector's first columns are stored by what is in v1. */
    .macro store_tile N
    table_entry .Lstore_\N
.Lstore_\N\():
    accept_branch
    cbz clamp, 1f
    ldp q0, q1, [clamp]
    clamp_all SUMS, \N, 0, 1
1:
    .set i, 0
    .rept (\N - 1) / 2
    several st1, 2, %(SUMS + i), dst, #32
    .set i, i + 2
    .endr
    .if i < \N - 1
    several st1, 1, %(SUMS + i), dst, #16
    .endif
    store_last %(SUMS + \N - 1)
    .endm
    .macro store_last sum
    tbz last, #2, 2f
    str q\sum, [dst]
    ret
2:  mov v1.16b, v\sum\().16b
    b .Lstore_columns
    .endm

    .macro for_all_sizes what
    .set N, 1
    .rept 16
    \what %(N)
    .set N, N + 1
    .endr
    .endm
    .macro taps_from from
    .if \from
    no_entries \from
    .endif
    .set N, \from + 1
    .rept 16 - \from
    some_taps \from, %(N)
    .set N, N + 1
    .endr
    .endm

    begin_function dwconv_f32_planes_row
    ldr scratch, [job, #JOB_BIAS]
    ldp in, dst, [job, #JOB_SRC]
    ldp w, steps, [job, #JOB_WEIGHTS]
    ld1r {v16.4s}, [scratch]
    ldr tap, [job, #JOB_TAP]
    ldp clamp, last, [job, #JOB_CLAMP]
    next_step

    begin_table dwconv_f32_planes_row_codes
    for_all_sizes begin_tile
    for_all_sizes store_tile
    taps_from 0
    taps_from 4
    taps_from 8
    taps_from 12
    end_table dwconv_f32_planes_row_codes

.Lstore_columns:
    tbz last, #1, 1f
    str d1, [dst], #8
    mov d1, v1.d[1]
1:  tbz last, #0, 2f
    str s1, [dst]
2:  ret
    end_function dwconv_f32_planes_row
