/* Convolution of eight pixels by pointer, for cores that issue in order: strips of
 * gemm/f32/listed/listed.h, whose rows are the pixels and whose segments are the taps. */
#include <math.h>

#include "kernels/gemm/f32/listed/listed.h"
#include "kernels/indirect/f32/whole_neon.h"

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

/* All taps; of a group other than the first one some at a time, as their pointers are elsewhere. */
static void run_taps(const struct indirect_f32_tile *tile, struct gemm_f32_listed *strip,
                     gemm_f32_listed_fn *run)
{
    const float *list[TAPS * PIXELS];
    size_t most = tile->offset ? TAPS : tile->taps, first = 0;
    uint32_t clamp =
        (tile->low > -INFINITY ? GEMM_F32_LOW : 0u) | (tile->high < INFINITY ? GEMM_F32_HIGH : 0u);
    do {
        size_t taps = left(tile->taps, first) < most ? left(tile->taps, first) : most;
        int last = first + taps == tile->taps;
        strip->rows = tile->pixels + first * PIXELS;
        if (tile->offset) {
            add_offset(list, tile, first, taps);
            strip->rows = list;
        }
        strip->segments = taps ? taps : 1;
        strip->b = tile->weights + first * tile->channels * tile->width;
        strip->accumulate = first > 0;
        strip->bias = last ? tile->bias : NULL;
        strip->clamp = last ? clamp : 0;
        run(strip);
        first += taps;
    } while (first < tile->taps);
}

static void run_whole(const struct indirect_f32_tile *tile)
{
    const struct gemm_f32_listed_kernels *kernels = &gemm_f32_listed_narrow_neon;
    struct gemm_f32_listed strip = {
        .rounds = tile->taps ? tile->channels / 4 : 0,
        .tail = tile->taps ? tile->channels % 4 : 0,
        .c = tile->dst,
        .ldc = tile->row,
        .tiles = 1,
        .panels = 1,
        .low = tile->low,
        .high = tile->high,
        .height = (uint32_t)tile->count,
        .width = (uint32_t)tile->width,
    };
    if (tile->count > (tile->width == WIDTH ? kernels->height : HEIGHT))
        run_halves(tile, run_whole);
    else
        run_taps(tile, &strip, gemm_f32_listed_run(kernels, tile->count, tile->width));
}

static void run_narrow(const struct indirect_f32_tile *tile)
{
    run_by(tile, run_whole);
}

const struct indirect_f32_kernel indirect_f32_narrow_neon = {
    "indirect_f32_narrow_neon", CPU_NEON, IN_ORDER_NARROW, 1, 5, {HEIGHT, HEIGHT, 6}, run_narrow};
