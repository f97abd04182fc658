/* Depthwise convolution of bytes, a group of kernel rows after the other: columns of src stay in
 * registers while pixels have them as another of their columns. What does not depend on the
 * instruction that multiplies.
 *
 * Before it is included a file has GROUP, REGISTERS of a column, and struct way: what is constant
 * after inlining, columns (0: any) and stride among it. After it the file has the functions that
 * are only declared here. */
#include <arm_neon.h>

#include "kernels/asm/inline.h"
#include "kernels/depthwise/taps.h"

enum { MOST_COLUMNS = 5, UNIT = GROUP * DEPTHWISE_BLOCK };

/* A group of rows, from a channel of the block on. */
struct pass {
    const void *const *lines;
    const int8_t *weights;
    const int32_t *from; /* what sums begin with: pixel i's at from + i * from_row */
    size_t from_row, offset, channel;
};

/* Where it is: column x is in place x % columns; so after `columns` pixels everything is at its
 * place again. */
struct slide {
    const struct depthwise_taps *taps;
    struct pass pass;
    size_t left;
    int32_t *to;
    int8x16_t weights[MOST_COLUMNS][REGISTERS], column[MOST_COLUMNS][REGISTERS];
};

/* Weights, and the columns that the first pixel has before its new ones. */
INLINE void slide_begin(struct slide *slide, struct way way);

/* A pixel, number u of `columns` ones: as many new columns as the stride says, and its sums. */
INLINE void slide_pixel(struct slide *slide, int u, struct way way);

/* Every pixel for itself. */
INLINE void step(const struct depthwise_taps *taps, struct pass pass, struct way way);

INLINE void load_sums(const int32_t *from, int vectors, int32x4_t *sums)
{
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++)
        sums[v] = vld1q_s32(from + 4 * v);
}

INLINE void store_sums(int32_t *to, int vectors, const int32x4_t *sums)
{
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++)
        vst1q_s32(to + 4 * v, sums[v]);
}

/* The next pixel, if there is one. */
INLINE int slide_on(struct slide *slide, int u, struct way way)
{
    if (u >= way.columns)
        return 1;
    if (slide->left-- == 0)
        return 0;
    slide_pixel(slide, u, way);
    slide->pass.from += slide->pass.from_row;
    slide->to += slide->taps->row;
    return 1;
}

/* Pixels one after the other. */
INLINE void slide(const struct depthwise_taps *taps, struct pass pass, struct way way)
{
    struct slide slide;
    slide.taps = taps;
    slide.pass = pass;
    slide.left = taps->pixels;
    slide.to = (int32_t *)taps->sums + pass.channel;
    slide_begin(&slide, way);
    while (slide_on(&slide, 0, way) && slide_on(&slide, 1, way) && slide_on(&slide, 2, way) &&
           slide_on(&slide, 3, way) && slide_on(&slide, 4, way))
        continue;
}

/* All groups of rows. */
INLINE void run_groups(const struct depthwise_taps *taps, size_t channel, struct way way)
{
    for (size_t g = 0; g < taps->groups; g++) {
        const int32_t *from = g ? (const int32_t *)taps->sums : (const int32_t *)taps->start;
        struct pass pass = {
            .lines = taps->lines + g * taps->list,
            .weights = (const int8_t *)taps->weights + g * taps->columns * UNIT + channel * GROUP,
            .from = from + channel,
            .from_row = g ? taps->row : 0,
            .offset = taps->offset + channel,
            .channel = channel,
        };
        if (way.columns)
            slide(taps, pass, way);
        else
            step(taps, pass, way);
    }
}
