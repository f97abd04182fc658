/* The definition of packing and unpacking. */
#include "kernels/pack/f32/pack.h"

static float element(const struct pack_f32_panel *panel, size_t i, size_t p)
{
    ptrdiff_t step = (ptrdiff_t)p * panel->step;
    if (i >= panel->count)
        return 0;
    return panel->lanes ? panel->lanes[i][step] : panel->src[(ptrdiff_t)i * panel->lane + step];
}

static void pack(const struct pack_f32_panel *panel)
{
    for (size_t p = 0; p < panel->k; p++)
        for (size_t i = 0; i < panel->width; i++)
            panel->out[p * panel->width + i] = element(panel, i, p);
}

static void pack_taps(const struct pack_f32_taps *panel)
{
    for (size_t p = 0; p < panel->k; p++)
        for (size_t t = 0; t < panel->taps; t++) {
            const float *from = panel->src + p * panel->taps + t;
            float *out = panel->out + (t * panel->k + p) * panel->width;
            size_t i = 0;
            for (; i < panel->count; i++, from += panel->lane)
                out[i] = *from;
            for (; i < panel->width; i++)
                out[i] = 0.0f;
        }
}

static void unpack(const struct unpack_f32_panel *panel)
{
    for (size_t p = 0; p < panel->k; p++)
        for (size_t i = 0; i < panel->count; i++)
            panel->dst[(ptrdiff_t)i * panel->lane + (ptrdiff_t)p * panel->step] =
                panel->panel[p * panel->width + i];
}

static void unpack_taps(const struct unpack_f32_taps *panel)
{
    for (size_t i = 0; i < panel->count; i++)
        for (size_t p = 0; p < panel->k; p++)
            for (size_t t = 0; t < panel->taps; t++)
                panel->dst[(ptrdiff_t)i * panel->lane + (ptrdiff_t)(p * panel->taps + t)] =
                    panel->panel[(t * panel->k + p) * panel->width + i];
}

const struct pack_f32_kernel pack_f32_ref = {"pack_f32_ref", 0,      pack,
                                             pack_taps,      unpack, unpack_taps};
