/* Panels of four-bit weights. */
#include "kernels/gemm/s4/s4.h"

void gemm_s4_starts(const int8_t *a, size_t mr, size_t blocks, size_t block, int32_t *starts)
{
    for (size_t g = 0; g < blocks; g++, a += block * mr)
        for (size_t i = 0; i < mr; i++) {
            int32_t sum = 0;
            for (size_t p = 0; p < block; p++)
                sum += a[(p / 4 * mr + i) * 4 + p % 4];
            starts[g * mr + i] = gemm_s4_start(sum);
        }
}

/* The byte of column j at step p, and whether it is the high half. */
static size_t place(size_t p, size_t j)
{
    return p / 4 * (2 * GEMM_S4_NR) + j / 8 * 16 + j % 4 * 4 + p % 4;
}

static int is_high(size_t j)
{
    return j % 8 >= 4;
}

int32_t gemm_s4_weight(const uint8_t *block, size_t p, size_t j)
{
    uint8_t byte = block[place(p, j)];
    return is_high(j) ? ((byte >> 4) ^ 8) - 8 : (byte & 15) - 8;
}

float gemm_s4_scale(const uint8_t *block_bytes, size_t block, enum element scale, size_t j)
{
    return element_read_f32(scale, block_bytes + GEMM_S4_NR * block / 2, (ptrdiff_t)j);
}

void gemm_s4_write(uint8_t *block, size_t p, size_t j, int32_t value)
{
    block[place(p, j)] |= (uint8_t)(is_high(j) ? (uint32_t)value << 4 : (uint32_t)(value + 8));
}

static int32_t weight(const struct pack_s4_panel *panel, size_t p, size_t j)
{
    if (p >= panel->k || j >= panel->count)
        return 0;
    ptrdiff_t at = panel->first + (ptrdiff_t)j * panel->lane + (ptrdiff_t)p * panel->step;
    return element_half(panel->src, at, panel->from == ELEMENT_S4) -
           (panel->from == ELEMENT_U4 ? 8 : 0);
}

static void pack_block(const struct pack_s4_panel *panel, size_t g, uint8_t *out)
{
    memset(out, 0, gemm_s4_block_bytes(panel->block, panel->scale));
    for (size_t j = 0; j < GEMM_S4_NR; j++) {
        for (size_t p = 0; p < panel->block; p++)
            gemm_s4_write(out, p, j, weight(panel, g * panel->block + p, j));
        ptrdiff_t at = panel->scale_first + (ptrdiff_t)j * panel->scale_lane +
                       (ptrdiff_t)g * panel->scale_step;
        if (j < panel->count)
            element_write_f32(panel->scale, out + GEMM_S4_NR * panel->block / 2, (ptrdiff_t)j,
                              element_read_f32(panel->scale_from, panel->scales, at));
    }
}

void pack_s4_panel(const struct pack_s4_panel *panel)
{
    size_t bytes = gemm_s4_block_bytes(panel->block, panel->scale);
    for (size_t g = 0; g * panel->block < panel->k; g++)
        pack_block(panel, g, panel->out + g * bytes);
}
