/* What the packers by vectors share, whatever their vectors are: the file that includes this has
 *
 *   quad                          a vector of four elements
 *   load(from), store(to, quad)   at any address
 *   transpose_4x4(quad[4])        in place
 */
#ifndef KERNELS_PACK_F32_PACK_QUADS_H
#define KERNELS_PACK_F32_PACK_QUADS_H

#include "kernels/asm/sizes.h"
#include "kernels/pack/f32/pack.h"
#include "kernels/pack/f32/pack_taps.h"

/* Steps at a time. */
enum { CHUNK = 64 };

static inline const float *lane_start(const struct pack_f32_panel *panel, size_t i)
{
    return panel->lanes ? panel->lanes[i] : panel->src + (ptrdiff_t)i * panel->lane;
}

/* ---- into a panel ---- */

/* Lane i of steps first .. last - 1, by elements. */
static void pack_lane(const struct pack_f32_panel *panel, size_t i, size_t first, size_t last)
{
    const float *from = i < panel->count ? lane_start(panel, i) : NULL;
    float *out = panel->out + i;
    for (size_t p = first; p < last; p++)
        out[p * panel->width] = from ? from[(ptrdiff_t)p * panel->step] : 0.0f;
}

static void pack_by_elements(const struct pack_f32_panel *panel)
{
    for (size_t first = 0; first < panel->k; first += CHUNK)
        for (size_t i = 0; i < panel->width; i++)
            pack_lane(panel, i, first, smaller(first + CHUNK, panel->k));
}

/* Four lanes from i on, steps first .. last - 1, a multiple of 4, with step == 1. */
static void transpose_lanes(const struct pack_f32_panel *panel, size_t i, size_t first, size_t last)
{
    static const float zeros[CHUNK];
    const float *from[4];
#pragma GCC unroll 4
    for (size_t x = 0; x < 4; x++)
        from[x] = i + x < panel->count ? lane_start(panel, i + x) + first : zeros;
    float *out = panel->out + first * panel->width + i;
    for (size_t p = 0; p < last - first; p += 4) {
        quad block[4];
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++)
            block[x] = load(from[x] + p);
        transpose_4x4(block);
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++, out += panel->width)
            store(out, block[x]);
    }
}

/* Lanes that are no whole vector, padding, and the last elements of all lanes. */
static void gather_taps(const struct pack_f32_taps *panel, size_t i, size_t last_lane, size_t first)
{
    struct tap_cursor cursor = tap_cursor(panel->width, panel->k, panel->taps, first);
    for (size_t q = first; q < panel->k * panel->taps; q++) {
        const float *from = panel->src + (ptrdiff_t)i * panel->lane + q;
        float *row = panel->out + tap_row(&cursor);
        for (size_t lane = i; lane < last_lane; lane++, from += panel->lane)
            row[lane] = lane < panel->count ? *from : 0;
    }
}

/* ---- back ---- */

static void unpack_lane(const struct unpack_f32_panel *panel, size_t i, size_t first, size_t last)
{
    float *to = panel->dst + (ptrdiff_t)i * panel->lane;
    for (size_t p = first; p < last; p++)
        to[(ptrdiff_t)p * panel->step] = panel->panel[p * panel->width + i];
}

/* Whole vectors of lanes, elements q .. q + 3 of each. */
static inline void untranspose_taps(const struct unpack_f32_taps *panel, size_t lanes, size_t q,
                                    struct tap_cursor *cursor)
{
    const float *rows[4];
    float *to = panel->dst + q;
#pragma GCC unroll 4
    for (size_t x = 0; x < 4; x++)
        rows[x] = panel->panel + tap_row(cursor);
    for (size_t i = 0; i < lanes; i += 4) {
        quad block[4];
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++)
            block[x] = load(rows[x] + i);
        transpose_4x4(block);
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++, to += panel->lane)
            store(to, block[x]);
    }
}

/* Lanes i .. last_lane - 1, elements from first on. */
static void scatter_taps(const struct unpack_f32_taps *panel, size_t i, size_t last_lane,
                         size_t first)
{
    struct tap_cursor cursor = tap_cursor(panel->width, panel->k, panel->taps, first);
    for (size_t q = first; q < panel->k * panel->taps; q++) {
        const float *row = panel->panel + tap_row(&cursor);
        for (size_t lane = i; lane < last_lane; lane++)
            panel->dst[(ptrdiff_t)lane * panel->lane + (ptrdiff_t)q] = row[lane];
    }
}

static void unpack_taps(const struct unpack_f32_taps *panel)
{
    size_t whole = panel->k * panel->taps & ~(size_t)3, lanes = panel->count & ~(size_t)3;
    struct tap_cursor cursor = tap_cursor(panel->width, panel->k, panel->taps, 0);
    for (size_t q = 0; q < whole; q += 4)
        untranspose_taps(panel, lanes, q, &cursor);
    scatter_taps(panel, 0, lanes, whole);
    if (lanes < panel->count)
        scatter_taps(panel, lanes, panel->count, 0);
}

#endif
