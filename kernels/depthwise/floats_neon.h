/* Depthwise convolution of floats with sums of f32, for NEON. A tile is some pixels by 8 channels:
 * its sums stay in registers, and for one kernel row after the other each line of src that the tile
 * has is read and converted once, and multiplied for every pixel of which it is a column.
 *
 * 4 pixels, 3 columns, stride 1: a row takes 6 lines, of two instructions and conversion each, 24
 * FMLA and 6 loads of weights; all of it fits into registers at once, as compilers like to have it.
 * The last pixels of a row are part of a tile that overlaps the one before, which gives the same
 * sums again.
 *
 * A file says how a line becomes f32: load_8(). */
#include <arm_neon.h>

#include "kernels/asm/inline.h"
#include "kernels/depthwise/taps.h"

enum { GROUP = 1, MOST_COLUMNS = 5, MOST_PIXELS = 4, CHANNELS = 8, VECTORS = 2 };

/* What of it is constant after inlining. columns 0: any, and any stride. */
struct way {
    int columns, stride;
};

/* 8 channels of the element type from here on. */
INLINE void load_8(const void *line, float32x4_t *out);
INLINE size_t element_size(void);

/* A tile, from channel number `channel` of the block on. */
struct tile {
    size_t pixel, channel;
    const void *const *lines; /* of kernel row 0, of the first pixel's first column */
    const float *weights;
    size_t offset;
};

INLINE void load_line(const void *const *lines, size_t offset, float32x4_t *out)
{
    load_8((const unsigned char *)*lines + offset, out);
}

INLINE void load_weights(const float *weights, float32x4_t *out)
{
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; v++)
        out[v] = vld1q_f32(weights + 4 * v);
}

INLINE void multiply(float32x4_t *sums, const float32x4_t *line, const float32x4_t *weights)
{
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; v++)
        sums[v] = vfmaq_f32(sums[v], line[v], weights[v]);
}

/* A kernel row: each of its lines once. */
INLINE void add_row(float32x4_t sums[][VECTORS], int pixels, struct way way,
                    const void *const *lines, size_t offset, const float *from)
{
    float32x4_t weights[MOST_COLUMNS][VECTORS];
#pragma GCC unroll 5
    for (int k = 0; k < way.columns; k++)
        load_weights(from + k * DEPTHWISE_BLOCK, weights[k]);
#pragma GCC unroll 16
    for (int x = 0; x < (pixels - 1) * way.stride + way.columns; x++) {
        float32x4_t line[VECTORS];
        load_line(lines + x, offset, line);
#pragma GCC unroll 4
        for (int i = 0; i < pixels; i++)
            if (x >= i * way.stride && x < i * way.stride + way.columns)
                multiply(sums[i], line, weights[x - i * way.stride]);
    }
}

/* The same for any number of columns, each with its own lines. */
INLINE void add_any_row(float32x4_t sums[][VECTORS], int pixels, const struct depthwise_taps *taps,
                        const void *const *lines, size_t offset, const float *from)
{
    for (size_t k = 0; k < taps->columns; k++, from += DEPTHWISE_BLOCK, lines += taps->dilation) {
        float32x4_t weights[VECTORS];
        load_weights(from, weights);
#pragma GCC unroll 4
        for (int i = 0; i < pixels; i++) {
            float32x4_t line[VECTORS];
            load_line(lines + (size_t)i * taps->stride, offset, line);
            multiply(sums[i], line, weights);
        }
    }
}

INLINE void run_tile(const struct depthwise_taps *taps, const struct tile *tile, int pixels,
                     struct way way)
{
    float32x4_t sums[MOST_PIXELS][VECTORS];
    const void *const *lines = tile->lines;
    const float *weights = tile->weights;
    float *to = (float *)taps->sums + tile->pixel * taps->row + tile->channel;
#pragma GCC unroll 4
    for (int i = 0; i < pixels; i++)
        load_weights((const float *)taps->start + tile->channel, sums[i]);
    for (size_t g = 0; g < taps->groups; g++) {
        if (way.columns)
            add_row(sums, pixels, way, lines, tile->offset, weights);
        else
            add_any_row(sums, pixels, taps, lines, tile->offset, weights);
        lines += taps->list;
        weights += taps->columns * DEPTHWISE_BLOCK;
    }
#pragma GCC unroll 4
    for (int i = 0; i < pixels; i++, to += taps->row)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            vst1q_f32(to + 4 * v, sums[i][v]);
}

/* Tiles of so many pixels, of which there are as many at least. */
INLINE void run_tiles(const struct depthwise_taps *taps, size_t pixels, struct way way)
{
    for (size_t channel = 0; channel < DEPTHWISE_BLOCK; channel += CHANNELS)
        for (size_t i = 0; i < taps->pixels; i += pixels) {
            size_t pixel = i + pixels > taps->pixels ? taps->pixels - pixels : i;
            struct tile tile = {
                .pixel = pixel,
                .channel = channel,
                .lines = taps->lines + pixel * taps->stride,
                .weights = (const float *)taps->weights + channel,
                .offset = taps->offset + channel * element_size(),
            };
            run_tile(taps, &tile, (int)pixels, way);
        }
}

INLINE void run_all(const struct depthwise_taps *taps, int columns, int stride)
{
    struct way way = {columns, stride};
    if (taps->pixels >= MOST_PIXELS)
        run_tiles(taps, MOST_PIXELS, way);
    else
        run_tiles(taps, 1, way);
}

#define KERNEL(name, columns, stride)                   \
    static void name(const struct depthwise_taps *taps) \
    {                                                   \
        run_all(taps, columns, stride);                 \
    }
KERNEL(run_3s1, 3, 1)
KERNEL(run_3s2, 3, 2)
KERNEL(run_5s1, 5, 1)
KERNEL(run_5s2, 5, 2)
KERNEL(run_any, 0, 0)
#undef KERNEL

/* clang-format off */
#define ROW(type, element, way, columns, stride) \
    {"depthwise_" #type "_" #way "_neon", CPU_NEON, element, GROUP, columns, stride, NULL, \
     run_##way, NULL}
#define FLOAT_KERNELS(type, element)                                  \
    {ROW(type, element, 3s1, 3, 1), ROW(type, element, 3s2, 3, 2),    \
     ROW(type, element, 5s1, 5, 1), ROW(type, element, 5s2, 5, 2),    \
     ROW(type, element, any, 0, 0)}
/* clang-format on */
