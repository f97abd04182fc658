/* Packing of panels for NEON without more features. */
#include "kernels/pack/panel_neon.h"
#include "kernels/elementwise/bf16_neon.h"

INLINE uint8x16_t load_same(const void *from)
{
    return vld1q_u8(from);
}

INLINE uint8x16_t load_u8(const void *from)
{
    return veorq_u8(vld1q_u8(from), vdupq_n_u8(0x80));
}

INLINE uint8x16_t load_f16_f32(const void *from)
{
    return vreinterpretq_u8_f32(vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from))));
}

INLINE uint8x16_t load_bf16_f32(const void *from)
{
    return vreinterpretq_u8_u32(vshll_n_u16(vld1_u16(from), 16));
}

/* Four bytes, which become 0 … 3 of a vector. */
INLINE uint8x8_t load_four(const void *from)
{
    uint32_t four;
    memcpy(&four, from, sizeof four);
    return vreinterpret_u8_u32(vdup_n_u32(four));
}

INLINE uint8x16_t load_s8_f32(const void *from)
{
    int16x8_t wide = vmovl_s8(vreinterpret_s8_u8(load_four(from)));
    return vreinterpretq_u8_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(wide))));
}

INLINE uint8x16_t load_u8_f32(const void *from)
{
    uint16x8_t wide = vmovl_u8(load_four(from));
    return vreinterpretq_u8_f32(vcvtq_f32_u32(vmovl_u16(vget_low_u16(wide))));
}

/* Exactly: the lower halves of such floats are zeros. */
INLINE uint8x16_t load_integers_bf16(int16x8_t integers)
{
    float32x4_t low = vcvtq_f32_s32(vmovl_s16(vget_low_s16(integers)));
    float32x4_t high = vcvtq_f32_s32(vmovl_s16(vget_high_s16(integers)));
    return vreinterpretq_u8_u16(
        vuzp2q_u16(vreinterpretq_u16_f32(low), vreinterpretq_u16_f32(high)));
}

INLINE uint8x16_t load_s8_bf16(const void *from)
{
    return load_integers_bf16(vmovl_s8(vld1_s8(from)));
}

INLINE uint8x16_t load_u8_bf16(const void *from)
{
    return load_integers_bf16(vreinterpretq_s16_u16(vmovl_u8(vld1_u8(from))));
}

INLINE uint8x16_t load_f32_f16(const void *from)
{
    float16x4_t low = vcvt_f16_f32(vld1q_f32(from));
    return vreinterpretq_u8_f16(vcvt_high_f16_f32(low, vld1q_f32((const float *)from + 4)));
}

INLINE uint8x16_t load_f32_bf16(const void *from)
{
    const float *values = from;
    return vreinterpretq_u8_u16(
        vcombine_u16(round_bf16(vld1q_f32(values)), round_bf16(vld1q_f32(values + 4))));
}

/* Elements that stay as they are share loops by the sizes of their units, and of what is
 * interleaved. */
PACK_LANES(same_2, load_same, 2, 16)
PACK_LANES(same_4, load_same, 4, 16)
PACK_LANES(same_8, load_same, 8, 16)
PACK_LANES(same_16, load_same, 16, 16)
PACK_LANES(u8_4, load_u8, 4, 16)
PACK_LANES(u8_8, load_u8, 8, 16)
PACK_LANES(u8_16, load_u8, 16, 16)
PACK_STEPS(same_1, load_same, 1, 4, 16)
PACK_STEPS(halves_2, load_same, 2, 2, 16)
PACK_STEPS(halves_4, load_same, 4, 2, 16)
PACK_STEPS(bytes_4, load_same, 4, 1, 16)
PACK_STEPS(bytes_8, load_same, 8, 1, 16)
PACK_STEPS(bytes_16, load_same, 16, 1, 16)
PACK_STEPS(u8_4, load_u8, 4, 1, 16)
PACK_STEPS(u8_8, load_u8, 8, 1, 16)
PACK_STEPS(u8_16, load_u8, 16, 1, 16)
PACK_LAST(halves_1, 0, 1, 2)
PACK_LAST(halves_2, 0, 2, 2)
PACK_LAST(halves_4, 0, 4, 2)
PACK_LAST(bytes_4, 0, 4, 1)
PACK_LAST(bytes_8, 0, 8, 1)
PACK_LAST(bytes_16, 0, 16, 1)
PACK_LAST(u8_4, 0x80, 4, 1)
PACK_LAST(u8_8, 0x80, 8, 1)
PACK_LAST(u8_16, 0x80, 16, 1)

PACK_PANEL(pack_s8_s8_4_neon, same_4, bytes_4, bytes_4_last, 4, 1, 1, 0)
PACK_PANEL(pack_s8_s8_8_neon, same_8, bytes_8, bytes_8_last, 8, 1, 1, 0)
PACK_PANEL(pack_s8_s8_16_neon, same_16, bytes_16, bytes_16_last, 16, 1, 1, 0)
PACK_PANEL(pack_u8_s8_4_neon, u8_4, u8_4, u8_4_last, 4, 1, 1, 0x80)
PACK_PANEL(pack_u8_s8_8_neon, u8_8, u8_8, u8_8_last, 8, 1, 1, 0x80)
PACK_PANEL(pack_u8_s8_16_neon, u8_16, u8_16, u8_16_last, 16, 1, 1, 0x80)
PACK_PANEL(pack_16_bits_1_neon, same_2, same_1, halves_1_last, 2, 2, 2, 0)
PACK_PANEL(pack_16_bits_2_neon, same_4, halves_2, halves_2_last, 4, 2, 2, 0)
PACK_PANEL(pack_16_bits_4_neon, same_8, halves_4, halves_4_last, 8, 2, 2, 0)
PACK_PANEL(pack_f32_f32_neon, same_4, same_1, NULL, 4, 4, 4, 0)
PACK_PANEL_ALONE(pack_f16_f32_neon, load_f16_f32, 4, 4, 2)
PACK_PANEL_ALONE(pack_bf16_f32_neon, load_bf16_f32, 4, 4, 2)
PACK_PANEL_ALONE(pack_s8_f32_neon, load_s8_f32, 4, 4, 1)
PACK_PANEL_ALONE(pack_u8_f32_neon, load_u8_f32, 4, 4, 1)
PACK_PANEL_ALONE(pack_f32_f16_neon, load_f32_f16, 2, 2, 4)
PACK_PANEL_ALONE(pack_f32_bf16_2_neon, load_f32_bf16, 4, 2, 4)
PACK_PANEL_ALONE(pack_f32_bf16_4_neon, load_f32_bf16, 8, 2, 4)
PACK_PANEL_ALONE(pack_s8_bf16_2_neon, load_s8_bf16, 4, 2, 1)
PACK_PANEL_ALONE(pack_s8_bf16_4_neon, load_s8_bf16, 8, 2, 1)
PACK_PANEL_ALONE(pack_u8_bf16_2_neon, load_u8_bf16, 4, 2, 1)
PACK_PANEL_ALONE(pack_u8_bf16_4_neon, load_u8_bf16, 8, 2, 1)

const struct pack_panel_kernel pack_panel_neon[PACK_PANEL_NEON] = {
    {"pack_s8_s8_4_neon", CPU_NEON, ELEMENT_S8, ELEMENT_S8, 4, pack_s8_s8_4_neon},
    {"pack_s8_s8_8_neon", CPU_NEON, ELEMENT_S8, ELEMENT_S8, 8, pack_s8_s8_8_neon},
    {"pack_s8_s8_16_neon", CPU_NEON, ELEMENT_S8, ELEMENT_S8, 16, pack_s8_s8_16_neon},
    {"pack_u8_s8_4_neon", CPU_NEON, ELEMENT_U8, ELEMENT_S8, 4, pack_u8_s8_4_neon},
    {"pack_u8_s8_8_neon", CPU_NEON, ELEMENT_U8, ELEMENT_S8, 8, pack_u8_s8_8_neon},
    {"pack_u8_s8_16_neon", CPU_NEON, ELEMENT_U8, ELEMENT_S8, 16, pack_u8_s8_16_neon},
    {"pack_f16_f16_1_neon", CPU_NEON, ELEMENT_F16, ELEMENT_F16, 1, pack_16_bits_1_neon},
    {"pack_bf16_bf16_2_neon", CPU_NEON, ELEMENT_BF16, ELEMENT_BF16, 2, pack_16_bits_2_neon},
    {"pack_bf16_bf16_4_neon", CPU_NEON, ELEMENT_BF16, ELEMENT_BF16, 4, pack_16_bits_4_neon},
    {"pack_f32_f32_1_neon", CPU_NEON, ELEMENT_F32, ELEMENT_F32, 1, pack_f32_f32_neon},
    {"pack_f16_f32_1_neon", CPU_NEON, ELEMENT_F16, ELEMENT_F32, 1, pack_f16_f32_neon},
    {"pack_bf16_f32_1_neon", CPU_NEON, ELEMENT_BF16, ELEMENT_F32, 1, pack_bf16_f32_neon},
    {"pack_s8_f32_1_neon", CPU_NEON, ELEMENT_S8, ELEMENT_F32, 1, pack_s8_f32_neon},
    {"pack_u8_f32_1_neon", CPU_NEON, ELEMENT_U8, ELEMENT_F32, 1, pack_u8_f32_neon},
    {"pack_f32_f16_1_neon", CPU_NEON, ELEMENT_F32, ELEMENT_F16, 1, pack_f32_f16_neon},
    {"pack_f32_bf16_2_neon", CPU_NEON, ELEMENT_F32, ELEMENT_BF16, 2, pack_f32_bf16_2_neon},
    {"pack_f32_bf16_4_neon", CPU_NEON, ELEMENT_F32, ELEMENT_BF16, 4, pack_f32_bf16_4_neon},
    {"pack_s8_bf16_2_neon", CPU_NEON, ELEMENT_S8, ELEMENT_BF16, 2, pack_s8_bf16_2_neon},
    {"pack_s8_bf16_4_neon", CPU_NEON, ELEMENT_S8, ELEMENT_BF16, 4, pack_s8_bf16_4_neon},
    {"pack_u8_bf16_2_neon", CPU_NEON, ELEMENT_U8, ELEMENT_BF16, 2, pack_u8_bf16_2_neon},
    {"pack_u8_bf16_4_neon", CPU_NEON, ELEMENT_U8, ELEMENT_BF16, 4, pack_u8_bf16_4_neon},
};
