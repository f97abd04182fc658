/* Packing of f32 into panels of bf16, by the instruction that rounds. */
#include "kernels/pack/panel_neon.h"

INLINE uint8x16_t load_f32_bf16(const void *from)
{
    const float *values = from;
    bfloat16x8_t low = vcvtq_low_bf16_f32(vld1q_f32(values));
    return vreinterpretq_u8_bf16(vcvtq_high_bf16_f32(low, vld1q_f32(values + 4)));
}

PACK_PANEL_ALONE(pack_2, load_f32_bf16, 4, 2, 4)
PACK_PANEL_ALONE(pack_4, load_f32_bf16, 8, 2, 4)

const struct pack_panel_kernel pack_panel_bf16[PACK_PANEL_BF16] = {
    {"pack_f32_bf16_2_bf16", CPU_NEON | CPU_BF16, ELEMENT_F32, ELEMENT_BF16, 2, pack_2},
    {"pack_f32_bf16_4_bf16", CPU_NEON | CPU_BF16, ELEMENT_F32, ELEMENT_BF16, 4, pack_4},
};
