/* Convolution of eight pixels by pointer, for cores that issue in order: strips of
 * gemm/f32/listed/listed.h, whose rows are the pixels and whose segments are the taps. */
#include <arm_neon.h>
#include <math.h>
#include <stdbool.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/gemm/f32/listed/listed.h"
#include "kernels/indirect/f32/indirect.h"

enum {
    PIXELS = INDIRECT_F32_PIXELS,
    WIDTH = INDIRECT_F32_WIDTH,
    HEIGHT = GEMM_F32_LISTED_HEIGHT,
    TAPS = 16, /* whose pointers are moved on to a group's channels at a time */
};
_Static_assert((int)PIXELS == (int)GEMM_F32_LIST, "pixels are listed like rows");
_Static_assert(sizeof(float *) == sizeof(uint64_t), "two pointers are a vector");

/* Four loads, then what uses them: each one alone would be waited for. */
static void add_offset(const float **to, const struct indirect_f32_tile *tile, size_t first,
                       size_t taps)
{
    enum { PAIRS = PIXELS / 2 };
    uint64x2_t offset = vdupq_n_u64(tile->offset * sizeof(float)), x[PAIRS];
    const uint64_t *from = (const uint64_t *)(const void *)(tile->pixels + first * PIXELS);
    uint64_t *out = (uint64_t *)(void *)to;
    for (; taps; taps--, from += PIXELS, out += PIXELS) {
#pragma GCC unroll 4
        for (size_t p = 0; p < PAIRS; p++)
            x[p] = vld1q_u64(from + 2 * p);
#pragma GCC unroll 4
        for (size_t p = 0; p < PAIRS; p++)
            vst1q_u64(out + 2 * p, vaddq_u64(x[p], offset));
    }
}

/* More rows than a tile has are two tiles. */
static void run_rows(const struct gemm_f32_listed_kernels *kernels, struct gemm_f32_listed *strip,
                     size_t count)
{
    const float *const *rows = strip->rows;
    float *c = strip->c;
    size_t most = strip->width == WIDTH ? kernels->height : HEIGHT;
    size_t height = count > most ? (count + 1) / 2 : count;
    for (size_t i = 0; i < count; i += height) {
        height = left(count, i) < height ? left(count, i) : height;
        strip->height = (uint32_t)height;
        strip->rows = rows + i;
        strip->c = c + i * strip->ldc;
        gemm_f32_listed_run(kernels, height, strip->width)(strip);
    }
    strip->c = c;
}

/* All taps; of a group other than the first one some at a time, as their pointers are elsewhere. */
static void run_taps(const struct gemm_f32_listed_kernels *kernels,
                     const struct indirect_f32_tile *tile, struct gemm_f32_listed *strip,
                     const float *bias)
{
    const float *list[TAPS * PIXELS];
    size_t most = tile->offset ? TAPS : tile->taps, first = 0;
    uint32_t clamp =
        (tile->low > -INFINITY ? GEMM_F32_LOW : 0u) | (tile->high < INFINITY ? GEMM_F32_HIGH : 0u);
    do {
        size_t taps = left(tile->taps, first) < most ? left(tile->taps, first) : most;
        bool last = first + taps == tile->taps;
        strip->rows = tile->pixels + first * PIXELS;
        if (tile->offset) {
            add_offset(list, tile, first, taps);
            strip->rows = list;
        }
        strip->segments = taps ? taps : 1;
        strip->b = tile->weights + first * tile->channels * tile->width;
        strip->accumulate = first > 0;
        strip->bias = last ? bias : NULL;
        strip->clamp = last ? clamp : 0;
        run_rows(kernels, strip, tile->count);
        first += taps;
    } while (first < tile->taps);
}

static void run_with(const struct gemm_f32_listed_kernels *kernels,
                     const struct indirect_f32_tile *tile)
{
    float copy[PIXELS * WIDTH], bias[WIDTH] = {0};
    bool whole = tile->n == tile->width;
    struct gemm_f32_listed strip = {
        .rounds = tile->taps ? tile->channels / 4 : 0,
        .tail = tile->taps ? tile->channels % 4 : 0,
        .c = whole ? tile->dst : copy,
        .ldc = whole ? tile->row : tile->width,
        .tiles = 1,
        .panels = 1,
        .low = tile->low,
        .high = tile->high,
        .width = (uint32_t)tile->width,
    };
    if (tile->bias && !whole)
        for (size_t j = 0; j < tile->n; j++)
            bias[j] = tile->bias[j];
    run_taps(kernels, tile, &strip, tile->bias && !whole ? bias : tile->bias);
    for (size_t i = 0; !whole && i < tile->count; i++)
        for (size_t j = 0; j < tile->width; j += 4)
            store_part(tile->dst + i * tile->row + j, vld1q_f32(copy + i * tile->width + j),
                       left(tile->n, j));
}

static void run_narrow(const struct indirect_f32_tile *tile)
{
    run_with(&gemm_f32_listed_narrow_neon, tile);
}

const struct indirect_f32_kernel indirect_f32_narrow_neon = {
    "indirect_f32_narrow_neon", CPU_NEON, IN_ORDER_NARROW, 1, 5, {HEIGHT, HEIGHT, 6}, run_narrow};
