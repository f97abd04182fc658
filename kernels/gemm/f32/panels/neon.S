/* Tiles of panels.h for NEON.
 *
 * A tile of `height` rows and `vectors` vectors keeps its sums in the last height * vectors vector
 * registers, values of A's rows in the first `height` ones, and a panel's vectors between them. Four
 * steps of k take `height` loads of A and four LD1 for each panel: one row of four panels has 48
 * FMLA in 67 instructions, two rows 96 in 116. */
#include "kernels/gemm/f32/panels/neon.h"

    .macro step height, vectors, group, lane, op=fmla
    panels_before_last \height, \vectors, \lane, \op
    .if last
    panel_step \height, \vectors, \lane, \op, %(last)
    .endif
    .endm

/* There is no more of bias than of columns. */
    .macro add_bias height, vectors
    add_whole_bias \height, \vectors, %(\vectors - 1)
    ldr rounds, [strip, #STRIP_LANES]
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
    ldr rounds, [strip, #STRIP_CLAMP]
    .endm

    .macro kernel height, full_, middle_, last_
    .set full, \full_
    .set middle, \middle_
    .set last, \last_
    find_widest
    rows_kernel panels_\height\()x\full_\()_\middle_\()_\last_, \height, %(3 * full + middle + last), 0, %(widest), \full_\()_\middle_\()_\last_
    .endm

#define KERNEL(height, full, middle, last) kernel height, full, middle, last;
#include "kernels/gemm/f32/panels/list.h"
