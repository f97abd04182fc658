/* The definition of packing and unpacking. */
#include "kernels/pack_f32.h"

static float element(const struct pack_f32_panel *panel, size_t i, size_t p)
{
    ptrdiff_t along = (ptrdiff_t)p * panel->step;
    return panel->lanes ? panel->lanes[i][along] : panel->src[(ptrdiff_t)i * panel->lane + along];
}

static void pack(const struct pack_f32_panel *panel)
{
    for (size_t p = 0; p < panel->k; p++)
        for (size_t i = 0; i < panel->width; i++)
            panel->out[p * panel->width + i] = i < panel->count ? element(panel, i, p) : 0.0f;
}

static void unpack(const struct unpack_f32_panel *panel)
{
    for (size_t p = 0; p < panel->k; p++)
        for (size_t i = 0; i < panel->count; i++)
            panel->dst[(ptrdiff_t)i * panel->lane + (ptrdiff_t)p * panel->step] =
                panel->panel[p * panel->width + i];
}

const struct pack_f32_kernel pack_f32_ref = {"pack_f32_ref", 0, pack, unpack};
