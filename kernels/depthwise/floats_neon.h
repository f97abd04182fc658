/* Depthwise convolution of floats, for NEON. A tile is some pixels by 8 channels: its sums stay in
 * registers, and for one kernel row after the other each line of src that the tile has is read and
 * converted once, and multiplied for every pixel of which it is a column. The last pixels of a row
 * are part of a tile that overlaps the one before, which gives the same sums again.
 *
 * Before it is included a file has MOST_PIXELS of a tile, what registers hold of 8 channels:
 * `eight` sums, and `factors` of them; and `weight`, which memory has. After it the file has the
 * functions that are only declared here. */
#include "kernels/asm/inline.h"
#include "kernels/depthwise/taps.h"

enum { GROUP = 1, MOST_COLUMNS = 5, CHANNELS = 8 };

/* What of it is constant after inlining. columns 0: any, and any stride. */
struct way {
    int columns, stride;
};

/* 8 channels of src; of weights, from channel number `channel` of a tap on; of what sums begin
 * with. */
INLINE factors load_8(const void *line);
INLINE factors load_weights(const weight *tap, size_t channel);
INLINE eight load_start(const float *start);
INLINE size_t element_size(void);

INLINE eight multiply_add(eight sums, factors line, factors weights);
INLINE void store_sums(float *to, eight sums);

/* Sums that end: with offsets, within limits, as elements of src's type. */
INLINE eight add_offsets(eight sums, const float *offsets);
INLINE eight clamp(eight sums, float low, float high);
INLINE void store_8(void *to, eight values);

/* A tile, from channel number `channel` of the block on. */
struct tile {
    size_t pixel, channel;
    const void *const *lines; /* of kernel row 0, of the first pixel's first column */
    const weight *weights;
    size_t offset;
};

INLINE factors load_line(const void *const *lines, size_t offset)
{
    return load_8((const unsigned char *)*lines + offset);
}

/* A kernel row: each of its lines once. */
INLINE void add_row(eight *sums, int pixels, struct way way, const struct tile *tile)
{
    factors weights[MOST_COLUMNS];
#pragma GCC unroll 5
    for (int k = 0; k < way.columns; k++)
        weights[k] = load_weights(tile->weights + k * DEPTHWISE_BLOCK, tile->channel);
#pragma GCC unroll 20
    for (int x = 0; x < (pixels - 1) * way.stride + way.columns; x++) {
        factors line = load_line(tile->lines + x, tile->offset);
#pragma GCC unroll 8
        for (int i = 0; i < pixels; i++)
            if (x >= i * way.stride && x < i * way.stride + way.columns)
                sums[i] = multiply_add(sums[i], line, weights[x - i * way.stride]);
    }
}

/* The same for any number of columns, each with its own lines. */
INLINE void add_any_row(eight *sums, int pixels, const struct depthwise_taps *taps,
                        const struct tile *tile)
{
    const void *const *lines = tile->lines;
    for (size_t k = 0; k < taps->columns; k++, lines += taps->dilation) {
        factors weights = load_weights(tile->weights + k * DEPTHWISE_BLOCK, tile->channel);
#pragma GCC unroll 8
        for (int i = 0; i < pixels; i++)
            sums[i] = multiply_add(
                sums[i], load_line(lines + (size_t)i * taps->stride, tile->offset), weights);
    }
}

/* below: how far sums or results are from where the call's are. */
INLINE void store_tile(const struct depthwise_taps *taps, const struct tile *tile, int pixels,
                       size_t below, const eight *sums)
{
    float *to = (float *)taps->sums + tile->pixel * taps->row + tile->channel + below;
#pragma GCC unroll 8
    for (int i = 0; i < pixels; i++, to += taps->row)
        store_sums(to, sums[i]);
}

INLINE void end_tile(const struct gemm_finish *end, const struct tile *tile, int pixels,
                     size_t below, eight *sums)
{
    unsigned char *to = end->dst;
    to += (tile->pixel * end->dst_row + tile->channel + below) * element_size();
    if (end->offsets)
#pragma GCC unroll 8
        for (int i = 0; i < pixels; i++)
            sums[i] = add_offsets(sums[i], end->offsets + tile->channel);
    if (end->is_clamped)
#pragma GCC unroll 8
        for (int i = 0; i < pixels; i++)
            sums[i] = clamp(sums[i], end->low, end->high);
#pragma GCC unroll 8
    for (int i = 0; i < pixels; i++, to += end->dst_row * element_size())
        store_8(to, sums[i]);
}

INLINE void begin_sums(const struct depthwise_taps *taps, const struct tile *tile, int pixels,
                       eight *sums)
{
#pragma GCC unroll 8
    for (int i = 0; i < pixels; i++)
        sums[i] = load_start((const float *)taps->start + tile->channel);
}

INLINE void finish_tile(const struct depthwise_taps *taps, const struct tile *tile, int pixels,
                        size_t below, eight *sums)
{
    if (taps->end)
        end_tile(taps->end, tile, pixels, below, sums);
    else
        store_tile(taps, tile, pixels, below, sums);
}

INLINE void run_tile(const struct depthwise_taps *taps, struct tile *tile, int pixels,
                     struct way way)
{
    eight sums[MOST_PIXELS];
    begin_sums(taps, tile, pixels, sums);
    for (size_t g = 0; g < taps->groups; g++) {
        if (way.columns)
            add_row(sums, pixels, way, tile);
        else
            add_any_row(sums, pixels, taps, tile);
        tile->lines += taps->list;
        tile->weights += taps->columns * DEPTHWISE_BLOCK;
    }
    finish_tile(taps, tile, pixels, 0, sums);
}

/* The tile of which pixel number i is the first, or the last one that there is. */
INLINE struct tile tile_at(const struct depthwise_taps *taps, size_t channel, size_t i,
                           size_t pixels)
{
    size_t pixel = i + pixels > taps->pixels ? taps->pixels - pixels : i;
    return (struct tile){
        .pixel = pixel,
        .channel = channel,
        .lines = taps->lines + pixel * taps->stride,
        .weights = taps->weights,
        .offset = taps->offset + channel * element_size(),
    };
}

/* Tiles of so many pixels, of which there are as many at least. */
INLINE void run_tiles(const struct depthwise_taps *taps, size_t pixels, struct way way)
{
    for (size_t channel = 0; channel < DEPTHWISE_BLOCK; channel += CHANNELS)
        for (size_t i = 0; i < taps->pixels; i += pixels) {
            struct tile tile = tile_at(taps, channel, i, pixels);
            run_tile(taps, &tile, (int)pixels, way);
        }
}

INLINE void run_all(const struct depthwise_taps *taps, int columns, int stride)
{
    struct way way = {columns, stride};
    if (taps->pixels >= MOST_PIXELS)
        run_tiles(taps, MOST_PIXELS, way);
    else if (MOST_PIXELS > 4 && taps->pixels >= 4)
        run_tiles(taps, 4, way);
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
#define ROW(name, needs, element, weights, sum, way, columns, stride, pair, rows) \
    {"depthwise_" name, needs, element, weights, sum, 1 << (element), GROUP, columns, stride, NULL, run_##way, pair, 0, rows}
#define FLOAT_KERNELS(type, isa, needs, element, weights, sum)                    \
    {ROW(#type "_3s1_" #isa, needs, element, weights, sum, 3s1, 3, 1, NULL, 0),      \
     ROW(#type "_3s2_" #isa, needs, element, weights, sum, 3s2, 3, 2, NULL, 0),      \
     ROW(#type "_5s1_" #isa, needs, element, weights, sum, 5s1, 5, 1, NULL, 0),      \
     ROW(#type "_5s2_" #isa, needs, element, weights, sum, 5s2, 5, 2, NULL, 0),      \
     ROW(#type "_any_" #isa, needs, element, weights, sum, any, 0, 0, NULL, 0)}
/* clang-format on */
