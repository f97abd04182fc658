/* Tiles of gemm_f32_panels.h for NEON.
 *
 * A tile of `height` rows and `vectors` vectors keeps its sums in the last height * vectors vector
 * registers, values of A's rows in the first `height` ones, and a panel's vectors between them. Four
 * steps of k take `height` loads of A and four LD1 for each panel: one row of four panels has 48
 * FMLA in 67 instructions, two rows 96 in 116. The first step multiplies without adding, so that
 * nothing need be cleared; what is left of k goes step by step. */
#include "kernels/assembly_neon.h"
#include "kernels/gemm_f32_direct_offsets.h"

/* Arguments; x8 … x13 are the panels of B, x17, x16 … x14 the rows of A. */
strip .req x0
a .req x1
b .req x2
c .req x3
bias .req x4
rounds .req x5
tiles .req x6
scratch .req x7

/* Bytes from row to row, in two registers that neither panels nor rows need. */
    .macro set_strides a_register, c_register
lda .req x\a_register
ldc .req x\c_register
    ldp lda, ldc, [strip, #STRIP_LDA]
    lsl lda, lda, #2
    lsl ldc, ldc, #2
    .endm

    .macro load_panel count, first, panel, bytes
    several ld1, \count, \first, x\panel, #\bytes
    .endm
    .macro load_one row, from
    ldr s\row, [x\from], #4
    .endm
    .macro load_four row, from
    ldr q\row, [x\from], #16
    .endm
    .macro next_panel panel, before, shift
    add x\panel, x\before, scratch, lsl #\shift
    .endm
    .macro next_row row, before
    add x\row, x\before, lda
    .endm
    .macro load_rows op, height
    .set i, 0
    .rept \height
    \op %(i), %(17 - i)
    .set i, i + 1
    .endr
    .endm

/* Sums of `count` vectors from number `done` on, which panel number `panel` has. */
    .macro panel_step op, lane, height, count
    load_panel \count, %(\height), %(8 + panel), %(16 * \count)
    .set i, 0
    .rept \height
    .set j, 0
    .rept \count
    multiply \op, %(32 - (\height - i) * vectors + done + j), %(\height + j), %(i), \lane
    .set j, j + 1
    .endr
    .set i, i + 1
    .endr
    .set done, done + \count
    .set panel, panel + 1
    .endm

    .macro step op, lane, height, full, middle, last
    .set done, 0
    .set panel, 0
    .rept \full
    panel_step \op, \lane, \height, 3
    .endr
    .if \middle
    panel_step \op, \lane, \height, \middle
    .endif
    .if \last
    panel_step \op, \lane, \height, \last
    .endif
    .endm

    .macro round op, height, full, middle, last
    load_rows load_four, \height
    step \op, 0, \height, \full, \middle, \last
    step fmla, 1, \height, \full, \middle, \last
    step fmla, 2, \height, \full, \middle, \last
    step fmla, 3, \height, \full, \middle, \last
    .endm

    .macro find_panels full, middle, last
    mov x8, b
    ldr scratch, [strip, #STRIP_GAP]
    .set panel, 1
    .rept 5
    .if (panel < \full) + (panel == \full) * \last
    next_panel %(8 + panel), %(7 + panel), 2
    .set panel, panel + 1
    .endif
    .endr
    .if \middle
    ldr scratch, [strip, #STRIP_LDB]
    next_panel %(8 + panel), %(7 + panel), %(1 + \middle)
    .endif
    .endm

    .macro find_rows height
    mov x17, a
    .set i, 1
    .rept \height - 1
    next_row %(17 - i), %(18 - i)
    .set i, i + 1
    .endr
    .endm

/* To A's rows of the next tile. */
    .macro next_tile height
    .if \height % 2
    add a, a, lda
    .endif
    .if \height / 2 % 2
    add a, a, lda, lsl #1
    .endif
    .if \height / 4
    add a, a, lda, lsl #2
    .endif
    .endm

    .macro add_bias_at height, j
    .set i, 0
    .rept \height
    add_to %(32 - (\height - i) * vectors + \j), 0
    .set i, i + 1
    .endr
    .endm

/* rounds: the number of lanes */
    .macro add_bias height
    mov x8, bias
    .set j, 0
    .rept vectors - 1
    load_four 0, 8
    add_bias_at \height, %(j)
    .set j, j + 1
    .endr
    movi v0.4s, #0
    tbnz rounds, #2, 3f
    tbz rounds, #1, 1f
    ldr d0, [x8], #8
    tbz rounds, #0, 4f
    ld1 {v0.s}[2], [x8]
    b 4f
1:  ldr s0, [x8]
    b 4f
3:  ldr q0, [x8]
4:  add_bias_at \height, %(vectors - 1)
    .endm

/* At scratch, which goes on, by as few instructions as there can be, as even as they can be. */
    .macro store_vectors first, count
    .set chunks, (\count + 3) / 4
    .set stored, 0
    .rept (\count + 3) / 4
    .set chunk, (\count - stored + chunks - 1) / chunks
    store_chunk %(chunk), %(\first + stored), %(16 * chunk)
    .set stored, stored + chunk
    .set chunks, chunks - 1
    .endr
    .endm
    .macro store_chunk count, first, bytes
    several st1, \count, \first, scratch, #\bytes
    .endm
    .macro store_lanes sum, lanes
    .if \lanes == 1
    str s\sum, [scratch]
    .elseif \lanes == 2
    str d\sum, [scratch]
    .else
    str d\sum, [scratch], #8
    st1 {v\sum\().s}[2], [scratch]
    .endif
    .endm

    .macro store_tile height, lanes
    .set i, 0
    .rept \height
    mov scratch, c
    .if \lanes == 4
    store_vectors %(32 - (\height - i) * vectors), %(vectors)
    .else
    store_vectors %(32 - (\height - i) * vectors), %(vectors - 1)
    store_lanes %(31 - (\height - i - 1) * vectors), \lanes
    .endif
    add c, c, ldc
    .set i, i + 1
    .endr
    .endm

    .macro kernel height, full, middle, last
    .set vectors, 3 * \full + \middle + \last
    begin_function gemm_f32_panels_\height\()x\full\()_\middle\()_\last\()_neon
    .if \height * vectors > 16
    save_registers 4
    .endif
    set_strides %(17 - \height), %(16 - \height)
    ldr tiles, [strip, #STRIP_TILES]
11: find_panels \full, \middle, \last
    find_rows \height
    ldr rounds, [strip, #STRIP_ROUNDS]
    cbz rounds, 18f
    round fmul, \height, \full, \middle, \last
    subs rounds, rounds, #1
    b.eq 13f
12: round fmla, \height, \full, \middle, \last
    subs rounds, rounds, #1
    b.ne 12b
13: ldp scratch, rounds, [strip, #STRIP_TAIL]
    cbnz scratch, 17f
14: cbnz rounds, 20f
15: store_tile \height, 4
16: next_tile \height
    subs tiles, tiles, #1
    b.ne 11b
    .if \height * vectors > 16
    restore_registers
    .endif
    ret

17: load_rows load_one, \height
    step fmla, 0, \height, \full, \middle, \last
    subs scratch, scratch, #1
    b.ne 17b
    b 14b
18: ldp scratch, rounds, [strip, #STRIP_TAIL]
    cbz scratch, 19f
    load_rows load_one, \height
    step fmul, 0, \height, \full, \middle, \last
    subs scratch, scratch, #1
    b.ne 17b
    b 14b
19: clear_all %(32 - \height * vectors), %(\height * vectors)
    b 14b

20: ldr rounds, [strip, #STRIP_LANES]
    cbz bias, 21f
    add_bias \height
21: ldr scratch, [strip, #STRIP_CLAMP]
    cbz scratch, 22f
    add scratch, strip, #STRIP_LOW
    ld1r {v0.4s}, [scratch], #4
    ld1r {v1.4s}, [scratch]
    clamp_all %(32 - \height * vectors), %(\height * vectors), 0, 1
22: tbnz rounds, #2, 15b
    tbz rounds, #1, 24f
    tbz rounds, #0, 23f
    store_tile \height, 3
    b 16b
23: store_tile \height, 2
    b 16b
24: store_tile \height, 1
    b 16b
    .unreq lda
    .unreq ldc
    end_function gemm_f32_panels_\height\()x\full\()_\middle\()_\last\()_neon
    .endm

#define KERNEL(height, full, middle, last) kernel height, full, middle, last;
#include "kernels/gemm_f32_panels_list.h"
