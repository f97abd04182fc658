/* The definition of packing and unpacking. */
#include "kernels/pack_f32.h"

#include <stdbool.h>
#include <string.h>

/* Lane by lane through pointers, which any strides go with. */
static void pack_lanes(const struct pack_f32_panel *panel)
{
    for (size_t p = 0; p < panel->k; p++)
        for (size_t i = 0; i < panel->width; i++)
            panel->out[p * panel->width + i] =
                i < panel->count ? panel->lanes[i][(ptrdiff_t)p * panel->step] : 0.0f;
}

/* lane == 1: a step is one copy, most often of a full panel of the usual width. */
static void pack_neighbours(const struct pack_f32_panel *panel)
{
    enum { USUAL = 12 };
    size_t bytes = panel->count * sizeof(float);
    size_t padding = (panel->width - panel->count) * sizeof(float);
    bool usual = panel->width == USUAL && panel->count == USUAL;
    float *out = panel->out;
    for (size_t p = 0; p < panel->k; p++, out += panel->width) {
        const float *from = panel->src + (ptrdiff_t)p * panel->step;
        if (usual) {
            memcpy(out, from, USUAL * sizeof(float));
            continue;
        }
        memcpy(out, from, bytes);
        memset(out + panel->count, 0, padding);
    }
}

static void pack(const struct pack_f32_panel *panel)
{
    if (panel->lanes) {
        pack_lanes(panel);
        return;
    }
    if (panel->lane == 1 && panel->count) {
        pack_neighbours(panel);
        return;
    }
    float *out = panel->out;
    for (size_t p = 0; p < panel->k; p++, out += panel->width) {
        const float *from = panel->src + (ptrdiff_t)p * panel->step;
        size_t i = 0;
        for (; i < panel->count; i++, from += panel->lane)
            out[i] = *from;
        for (; i < panel->width; i++)
            out[i] = 0.0f;
    }
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

const struct pack_f32_kernel pack_f32_ref = {"pack_f32_ref", 0, pack, pack_taps, unpack};
