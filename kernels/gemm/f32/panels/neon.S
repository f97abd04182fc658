/* Tiles of panels.h for NEON.
 *
 * A tile of `height` rows and `vectors` vectors keeps its sums in the last height * vectors vector
 * registers, values of A's rows in the first `height` ones, and a panel's vectors between them. Four
 * steps of k take `height` loads of A and four LD1 for each panel: one row of four panels has 48
 * FMLA in 67 instructions, two rows 96 in 116. */
    .set columns_vary, 1
#include "kernels/gemm/f32/rows_neon.h"

    .macro load_panel count, first, panel
    several ld1, \count, \first, x\panel, #16 * \count
    .endm
/* The register of a panel's address: x4 and those after it, between which rows of A may lie, and
 * for high tiles what counts. */
    .macro find_register height, panel
    .set at, 4 + \panel
    when %((\height > 5) & (\panel == 1)), .set at, 16
    or_when %(\panel > 3), .set at, 5 + \panel
    .endm
    .macro find_panel height, panel, shift
    find_register \height, %(\panel - 1)
    .set from, at
    find_register \height, \panel
    add_x %at, %from, scratch, lsl #\shift
    .endm

    .macro find_columns height, vectors, group
    ldr scratch, [strip, #strip.gap]
    .set panel, 1
    .rept 5
    .if (panel < full) | ((panel == full) & (last > 0))
    find_panel \height, %(panel), 2
    .set panel, panel + 1
    .endif
    .endr
    .if middle
    ldr scratch, [strip, #strip.ldb]
    find_panel \height, %(panel), %(1 + middle)
    .set panel, panel + 1
    .endif
    .endm

/* Sums of `count` vectors from number `done` on, which panel number `panel` has. */
    .macro panel_step height, vectors, lane, op, count
    find_register \height, %(panel)
    load_panel \count, %(\height), %(at)
    .set sum, 32 - \height * \vectors + done
    multiply_tile \op, \height, \count, %sum, \vectors, \height, 0, \lane
    .set done, done + \count
    .set panel, panel + 1
    .endm

/* All but the last one. */
    .macro panels_before_last height, vectors, lane, op
    .set done, 0
    .set panel, 0
    times full, panel_step \height, \vectors, \lane, \op, 3
    when %middle, panel_step \height, \vectors, \lane, \op, %(middle)
    .endm

    .macro step height, vectors, group, lane, op=fmla
    panels_before_last \height, \vectors, \lane, \op
    when %last, panel_step \height, \vectors, \lane, \op, %(last)
    .endm

/* There is no more of bias than of columns. */
    .macro add_bias height, vectors
    add_whole_bias \height, \vectors, %(\vectors - 1)
    ldr rounds, [strip, #strip.lanes]
    movi v0.4s, #0
    tbnz rounds, #2, 3f
    tbz rounds, #1, 1f
    ldr d0, [scratch], #8
    tbz rounds, #0, 4f
    ld1 {v0.s}[2], [scratch]
    b 4f
1:  ldr s0, [scratch]
    b 4f
3:  ldr q0, [scratch]
4:  add_bias_at \height, \vectors, %(\vectors - 1)
    ldr rounds, [strip, #strip.clamp]
    .endm

/* widest: vectors of a panel at once, at most. */
    .macro kernel height, full_, middle_, last_
    .set full, \full_
    .set middle, \middle_
    .set last, \last_
    .set widest, 3
    when %(full == 0), .set widest, 2
    rows_kernel panels_\height\()x\full_\()_\middle_\()_\last_, \height, %(3 * full + middle + last), 0, %(widest), \full_\()_\middle_\()_\last_
    .endm

#define KERNEL(height, full, middle, last) kernel height, full, middle, last;
#include "kernels/gemm/f32/panels/list.h"
