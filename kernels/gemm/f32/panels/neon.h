/* What the tiles of panels.h share, beside what they share with other tiles: where the
 * panels are. A file sets `full`, `middle` and `last` for each kernel. */
/* clang-format off */
    .set columns_vary, 1
#include "kernels/gemm/f32/rows_neon.h"

    .macro load_panel count, first, panel
    several ld1, \count, \first, x\panel, #16 * \count
    .endm
    .macro next_panel panel, before, shift
    add x\panel, x\before, scratch, lsl #\shift
    .endm
    .macro load_bias_vector
    ldr q0, [scratch], #16
    .endm

/* The register of a panel's address: x4 and those after it, between which rows of A may lie, and
 * for high tiles what counts. */
    .macro find_register height, panel
    .set at, 4 + \panel
    .if (\height > 5) & (\panel == 1)
    .set at, 16
    .elseif \panel > 3
    .set at, 5 + \panel
    .endif
    .endm
    .macro find_panel height, panel, shift
    find_register \height, %(\panel - 1)
    .set from, at
    find_register \height, \panel
    next_panel %(at), %(from), \shift
    .endm

    .macro find_columns height, vectors, group
    ldr scratch, [strip, #STRIP_GAP]
    .set panel, 1
    .rept 5
    .if (panel < full) | ((panel == full) & (last > 0))
    find_panel \height, %(panel), 2
    .set panel, panel + 1
    .endif
    .endr
    .if middle
    ldr scratch, [strip, #STRIP_LDB]
    find_panel \height, %(panel), %(1 + middle)
    .set panel, panel + 1
    .endif
    .ifdef has_tail
    find_tail \height, %(panel - 1)
    .endif
    .endm

/* Sums of `count` vectors from number `done` on, which panel number `panel` has. */
    .macro panel_step height, vectors, lane, op, count
    find_register \height, %(panel)
    load_panel \count, %(\height), %(at)
    .set i, 0
    .rept \height
    .set j, 0
    .rept \count
    multiply \op, %(32 - (\height - i) * \vectors + done + j), %(\height + j), %(i), \lane
    .set j, j + 1
    .endr
    .set i, i + 1
    .endr
    .set done, done + \count
    .set panel, panel + 1
    .endm

/* All but the last one. */
    .macro panels_before_last height, vectors, lane, op
    .set done, 0
    .set panel, 0
    .rept full
    panel_step \height, \vectors, \lane, \op, 3
    .endr
    .if middle
    panel_step \height, \vectors, \lane, \op, %(middle)
    .endif
    .endm

/* To the first vectors of a row; scratch goes on to the bias of what follows. */
    .macro add_whole_bias height, vectors, whole
    .set j, 0
    .rept \whole
    load_bias_vector
    add_bias_at \height, \vectors, %(j)
    .set j, j + 1
    .endr
    .endm
    .macro add_bias_at height, vectors, j
    .set i, 0
    .rept \height
    add_to %(32 - (\height - i) * \vectors + \j), 0
    .set i, i + 1
    .endr
    .endm

/* Vectors of a panel at once, at most. */
    .macro find_widest
    .set widest, 3
    .if full == 0
    .set widest, 2
    .endif
    .endm
