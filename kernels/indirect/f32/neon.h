/* What the assembly files of indirect.h's tiles share: where their arguments are, and what
 * becomes of sums. A tile of P pixels and V vectors keeps them in P * V vector registers from
 * number `first` on, pixel after pixel, and the pointers of a tap in x9 …. */

/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/indirect/f32/offsets.h"

/* at: of the next channels, in bytes from a pixel's pointer. */
    registers 0, tile, pixels, taps, weights
    registers 4, at, offset, quads, left
scratch .req x17

    .macro add_bias first, pixel_count, vectors
    ldr scratch, [tile, #tile.bias]
    several ld1, \vectors, 0, scratch, %(16 * \vectors)
    each v, %(\pixel_count * \vectors), add_to %(\first + v), %(v % \vectors)
    .endm

/* Only if there is one: low is not -infinity or high not infinity. */
    .macro clamp_sums first, count
    ldp w9, w10, [tile, #tile.low]
    mov w11, #0x7f800000
    eor w9, w9, #0x80000000
    cmp w9, w11
    ccmp w10, w11, #0, eq
    b.eq 7f
    add scratch, tile, #tile.low
    ld1r {v0.4s}, [scratch], #4
    ld1r {v1.4s}, [scratch]
    clamp_all \first, \count, 0, 1
7:
    .endm
