/* Depthwise convolution of bytes, a group of kernel rows after the other: what does not depend on
 * the instruction that multiplies.
 *
 * Before it is included a file has GROUP, and struct way: what is constant after inlining. After it
 * the file has the function that is only declared here. */
#include <arm_neon.h>

#include "kernels/asm/inline.h"
#include "kernels/depthwise/taps.h"

enum { UNIT = GROUP * DEPTHWISE_BLOCK, VECTORS = 4 };

/* A group of rows, from a channel of the block on. */
struct pass {
    const void *const *lines;
    const int8_t *weights;
    const int32_t *from; /* what sums begin with: pixel i's at from + i * from_row */
    size_t from_row, offset;
};

/* Sums of all pixels. */
INLINE void run_pass(const struct depthwise_taps *taps, struct pass pass, struct way way);

INLINE void load_sums(const int32_t *from, int32x4_t *sums)
{
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++)
        sums[v] = vld1q_s32(from + 4 * v);
}

INLINE void store_sums(int32_t *to, const int32x4_t *sums)
{
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++)
        vst1q_s32(to + 4 * v, sums[v]);
}

/* All groups of rows. */
INLINE void run_groups(const struct depthwise_taps *taps, struct way way)
{
    for (size_t g = 0; g < taps->groups; g++) {
        const int32_t *from = g ? (const int32_t *)taps->sums : (const int32_t *)taps->start;
        struct pass pass = {
            .lines = taps->lines + g * taps->list,
            .weights = (const int8_t *)taps->weights + g * taps->columns * UNIT,
            .from = from,
            .from_row = g ? taps->row : 0,
            .offset = taps->offset,
        };
        run_pass(taps, pass, way);
    }
}
