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

/* Steps at a time. */
enum { CHUNK = 64 };

static inline const float *lane_start(const struct pack_f32_panel *panel, size_t i)
{
    return panel->lanes ? panel->lanes[i] : panel->src + (ptrdiff_t)i * panel->lane;
}

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

#endif
