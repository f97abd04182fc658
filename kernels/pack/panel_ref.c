/* The definition of packing and unpacking of panels. */
#include "kernels/pack/panel.h"

#include "kernels/gemm/types.h"

static int32_t read_s8(enum element element, const void *from, ptrdiff_t i)
{
    return element == ELEMENT_U8 ? ((const uint8_t *)from)[i] - 128 : ((const int8_t *)from)[i];
}

/* Lane i of the source, and where its values are. */
static const void *lane_of(const struct pack_panel *panel, size_t i, ptrdiff_t *first)
{
    *first = panel->lanes ? 0 : (ptrdiff_t)i * panel->lane;
    return panel->lanes ? panel->lanes[i] : panel->src;
}

/* One value, bit by bit where the types are the same. */
static void pack_one(const struct pack_panel *panel, const void *from, ptrdiff_t at, size_t place)
{
    size_t bytes = element_bytes(panel->from);
    if (panel->to == panel->from)
        memcpy((char *)panel->out + place * bytes, (const char *)from + at * (ptrdiff_t)bytes,
               bytes);
    else
        element_write_f32(panel->to, panel->out, (ptrdiff_t)place,
                          element_read_f32(panel->from, from, at));
}

static void pack_lane(const struct pack_panel *panel, size_t i)
{
    ptrdiff_t at;
    const void *from = lane_of(panel, i, &at);
    for (size_t p = 0; p < panel->k; p++, at += panel->step) {
        size_t place = gemm_panel_at(panel->group, panel->width, i, p);
        if (panel->to != ELEMENT_S8) {
            pack_one(panel, from, at, place);
            continue;
        }
        int32_t value = read_s8(panel->from, from, at);
        ((int8_t *)panel->out)[place] = (int8_t)value;
        if (panel->sums)
            panel->sums[i] += value;
    }
}

static void pack(const struct pack_panel *panel)
{
    size_t groups = (panel->k + panel->group - 1) / panel->group;
    memset(panel->out, 0, groups * panel->group * panel->width * element_bytes(panel->to));
    for (size_t i = 0; i < panel->count; i++)
        pack_lane(panel, i);
}

const struct pack_panel_kernel pack_panel_ref[PACK_PANEL_REFS] = {
    {"pack_s8_s8_ref", 0, ELEMENT_S8, ELEMENT_S8, 0, pack},
    {"pack_u8_s8_ref", 0, ELEMENT_U8, ELEMENT_S8, 0, pack},
    {"pack_f32_f32_ref", 0, ELEMENT_F32, ELEMENT_F32, 0, pack},
    {"pack_f16_f32_ref", 0, ELEMENT_F16, ELEMENT_F32, 0, pack},
    {"pack_bf16_f32_ref", 0, ELEMENT_BF16, ELEMENT_F32, 0, pack},
    {"pack_s8_f32_ref", 0, ELEMENT_S8, ELEMENT_F32, 0, pack},
    {"pack_u8_f32_ref", 0, ELEMENT_U8, ELEMENT_F32, 0, pack},
    {"pack_f32_f16_ref", 0, ELEMENT_F32, ELEMENT_F16, 0, pack},
    {"pack_f16_f16_ref", 0, ELEMENT_F16, ELEMENT_F16, 0, pack},
    {"pack_s8_f16_ref", 0, ELEMENT_S8, ELEMENT_F16, 0, pack},
    {"pack_u8_f16_ref", 0, ELEMENT_U8, ELEMENT_F16, 0, pack},
    {"pack_f32_bf16_ref", 0, ELEMENT_F32, ELEMENT_BF16, 0, pack},
    {"pack_bf16_bf16_ref", 0, ELEMENT_BF16, ELEMENT_BF16, 0, pack},
    {"pack_s8_bf16_ref", 0, ELEMENT_S8, ELEMENT_BF16, 0, pack},
    {"pack_u8_bf16_ref", 0, ELEMENT_U8, ELEMENT_BF16, 0, pack},
};

static void unpack_one(const struct unpack_panel *panel, const char *from, ptrdiff_t at)
{
    char *out = (char *)panel->dst + at * (ptrdiff_t)element_bytes(panel->to);
    if (panel->from == panel->to)
        memcpy(out, from, element_bytes(panel->to));
    else if (panel->from == ELEMENT_S8)
        *out = (char)(*from ^ 0x80);
    else
        element_write_f32(panel->to, panel->dst, at, element_read_f32(panel->from, from, 0));
}

static void unpack_lane(const struct unpack_panel *panel, size_t i)
{
    const char *from = panel->panel;
    size_t bytes = element_bytes(panel->from);
    for (size_t p = 0; p < panel->k; p++)
        unpack_one(panel, from + gemm_panel_at(panel->group, panel->width, i, p) * bytes,
                   (ptrdiff_t)i * panel->lane + (ptrdiff_t)p * panel->step);
}

void unpack_panel(const struct unpack_panel *panel)
{
    for (size_t i = 0; i < panel->count; i++)
        unpack_lane(panel, i);
}
