/* Source for cores that issue 64 bits of a load beside a multiply-add (Cortex-A53, A55), in parts:
 * the lower half; the upper one into x23 or x24 in turn; and its insertion two loads later, beside
 * the lower half of that one, which is all that A53 can pair it with. Files name `offset` and
 * `offset_high`, eight bytes more. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"

    .macro load_low into, row
    ldr d\into, [x\row, offset]
    .endm
    .macro load_high into, row
    ldr x\into, [x\row, offset_high]
    .endm
    .macro insert_high into, from
    mov v\into\().d[1], x\from
    .endm

/* `begun`: the lower half of a load is there, and nothing else; `older` and `newer`: registers that
 * wait for their upper halves, or 0. */
    .macro begin_halves
    .set loads, 0
    .set begun, 0
    .set older, 0
    .set newer, 0
    .endm

/* The next part of a load; the load is done when `begun` is 0 again. of: what files call their
 * load_low and load_high for something else than rows. */
    .macro load_part into, row, of
    .if begun
    \of\()load_high %(23 + loads % 2), \row
    .set begun, 0
    .set newer, \into
    .set loads, loads + 1
    .else
    \of\()load_low \into, \row
    insert_older
    .set begun, 1
    .endif
    .endm

    .macro insert_older
    .if older
    insert_high %older, %(23 + (loads + begun) % 2)
    .set now, now + 1
    .endif
    .set older, newer
    .set newer, 0
    .endm
/* The same out of turn: then the turn of x23 and x24 moves on. */
    .macro insert_early
    insert_older
    when %(begun == 0), .set loads, loads + 1
    .endm
