/* The definition of packing and unpacking. */
#include "kernels/pack_f32.h"

/* Lane by lane through pointers, which any strides go with. */
static void pack_lanes(const struct pack_f32_panel *panel)
{
    for (size_t p = 0; p < panel->k; p++)
        for (size_t i = 0; i < panel->width; i++)
            panel->out[p * panel->width + i] =
                i < panel->count ? panel->lanes[i][(ptrdiff_t)p * panel->step] : 0.0f;
}

static void pack(const struct pack_f32_panel *panel)
{
    if (panel->lanes) {
        pack_lanes(panel);
        return;
    }
    float *out = panel->out;
    for (size_t p = 0; p < panel->k; p++, out += panel->width) {
        const float *from = panel->src + (ptrdiff_t)p * panel->step;
        for (size_t i = 0; i < panel->count; i++)
            out[i] = from[(ptrdiff_t)i * panel->lane];
        for (size_t i = panel->count; i < panel->width; i++)
            out[i] = 0.0f;
    }
}

static void pack_taps(const struct pack_f32_taps *panel)
{
    for (size_t p = 0; p < panel->k; p++)
        for (size_t t = 0; t < panel->taps; t++) {
            const float *from = panel->src + p * panel->taps + t;
            float *out = panel->out + (t * panel->k + p) * panel->width;
            for (size_t i = 0; i < panel->width; i++)
                out[i] = i < panel->count ? from[(ptrdiff_t)i * panel->lane] : 0.0f;
        }
}

static void unpack(const struct unpack_f32_panel *panel)
{
    for (size_t p = 0; p < panel->k; p++)
        for (size_t i = 0; i < panel->count; i++)
            panel->dst[(ptrdiff_t)i * panel->lane + (ptrdiff_t)p * panel->step] =
                panel->panel[p * panel->width + i];
}

const struct pack_f32_kernel pack_f32_ref = {"pack_f32_ref", 0, pack, pack_taps, unpack};
