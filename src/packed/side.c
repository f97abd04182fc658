/* How matrices of elements of any type become panels. */
#include "src/packed/side.h"

#include "src/core/checked.h"
#include "src/tensor/element.h"

const char *gemm_side_init(struct gemm_side *side, neo_data_type stored,
                           const struct gemm_type *type, const struct cpu *cpu)
{
    enum element element = element_of(stored);
    *side = (struct gemm_side){.from = element_bits(element) < 8 ? ELEMENT_S8 : element,
                               .stored = element,
                               .to = type ? type->element : ELEMENT_F32,
                               .group = type ? type->group : 1};
    side->pack = pack_panel_find(cpu->features, side->from, side->to, side->group);
    return side->pack ? NULL : "elements are not converted to what is multiplied";
}

static void pack(const struct gemm_side *side, const struct gemm_side_panel *panel,
                 const void *data)
{
    side->pack(&(struct pack_panel){
        .from = side->from,
        .to = side->to,
        .group = side->group,
        .width = panel->width,
        .count = panel->count,
        .k = panel->k,
        .src = data,
        .lane = panel->lane,
        .step = panel->step,
        .out = panel->out,
        .sums = panel->sums,
    });
}

/* Halves of bytes, both kinds of which s8 has, some steps of k at a time. */
static void pack_halves(const struct gemm_side *side, const struct gemm_side_panel *panel)
{
    enum { CHUNK = 64, LANES = 24 }; /* whole groups */
    size_t bytes = element_bytes(side->to);
    for (size_t p = 0; p < panel->k; p += CHUNK) {
        int8_t values[LANES * CHUNK];
        struct gemm_side_panel part = *panel;
        part.k = min_size(CHUNK, panel->k - p);
        part.lane = CHUNK;
        part.step = 1;
        part.out = (char *)panel->out + gemm_panel_at(side->group, panel->width, 0, p) * bytes;
        for (size_t i = 0; i < panel->count; i++)
            for (size_t q = 0; q < part.k; q++)
                values[i * CHUNK + q] = (int8_t)element_read_s32(
                    side->stored, panel->data,
                    panel->first + (ptrdiff_t)i * panel->lane + (ptrdiff_t)(p + q) * panel->step);
        pack(side, &part, values);
    }
}

void gemm_side_pack(const struct gemm_side *side, const struct gemm_side_panel *panel)
{
    if (element_bits(side->stored) < 8)
        pack_halves(side, panel);
    else
        pack(side, panel,
             (const char *)panel->data + panel->first * (ptrdiff_t)element_bytes(side->stored));
}
