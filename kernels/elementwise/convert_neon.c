/* Conversions of eight elements at a time: one load, two vectors of f32. What is left of a line is
 * converted one by one, which gives the same bits. */
#include "kernels/asm/vector_neon.h"
#include "kernels/elementwise/bf16_neon.h"
#include "kernels/elementwise/convert.h"

enum { STEP = 8 };

typedef float32x4x2_t load_fn(const void *src);
typedef void store_fn(float32x4x2_t values, void *dst);

INLINE void load_line(enum element element, load_fn *load, size_t n, const void *src, float *dst)
{
    size_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        float32x4x2_t values = load((const uint8_t *)src + i * element_bits(element) / 8);
        vst1q_f32(dst + i, values.val[0]);
        vst1q_f32(dst + i + 4, values.val[1]);
    }
    for (; i < n; i++)
        dst[i] = element_read_f32(element, src, (ptrdiff_t)i);
}

INLINE void store_line(enum element element, store_fn *store, size_t n, const float *src, void *dst)
{
    size_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        float32x4x2_t values = {{vld1q_f32(src + i), vld1q_f32(src + i + 4)}};
        store(values, (uint8_t *)dst + i * element_bytes(element));
    }
    for (; i < n; i++)
        element_write_f32(element, dst, (ptrdiff_t)i, src[i]);
}

/* ---- eight elements ---- */

static inline float32x4x2_t widen_s16(int16x8_t x)
{
    return (float32x4x2_t){
        {vcvtq_f32_s32(vmovl_s16(vget_low_s16(x))), vcvtq_f32_s32(vmovl_high_s16(x))}};
}

/* Rounded, and saturated to s16: farther than any s8 or u8. */
static inline int16x8_t narrow_s16(float32x4x2_t x)
{
    int32x4_t low = vcvtnq_s32_f32(x.val[0]), high = vcvtnq_s32_f32(x.val[1]);
    return vqmovn_high_s32(vqmovn_s32(low), high);
}

/* Each byte's halves, its low one first. */
static inline uint8x8_t halves(const void *src)
{
    uint32_t four;
    memcpy(&four, src, sizeof four);
    uint8x8_t bytes = vreinterpret_u8_u32(vdup_n_u32(four));
    return vzip1_u8(vand_u8(bytes, vdup_n_u8(15)), vshr_n_u8(bytes, 4));
}

static inline float32x4x2_t load_8_f32(const void *src)
{
    return vld1q_f32_x2(src);
}

static inline float32x4x2_t load_8_f16(const void *src)
{
    float16x8_t x = vreinterpretq_f16_u16(vld1q_u16(src));
    return (float32x4x2_t){{vcvt_f32_f16(vget_low_f16(x)), vcvt_high_f32_f16(x)}};
}

static inline float32x4x2_t load_8_bf16(const void *src)
{
    uint16x8_t x = vld1q_u16(src);
    return (float32x4x2_t){{vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(x), 16)),
                            vreinterpretq_f32_u32(vshll_high_n_u16(x, 16))}};
}

static inline float32x4x2_t load_8_s32(const void *src)
{
    const int32_t *from = src;
    return (float32x4x2_t){{vcvtq_f32_s32(vld1q_s32(from)), vcvtq_f32_s32(vld1q_s32(from + 4))}};
}

static inline float32x4x2_t load_8_s8(const void *src)
{
    return widen_s16(vmovl_s8(vld1_s8(src)));
}

static inline float32x4x2_t load_8_u8(const void *src)
{
    return widen_s16(vreinterpretq_s16_u16(vmovl_u8(vld1_u8(src))));
}

static inline float32x4x2_t load_8_s4(const void *src)
{
    int8x8_t sign = vdup_n_s8(8), x = vreinterpret_s8_u8(halves(src));
    return widen_s16(vsubl_s8(veor_s8(x, sign), sign));
}

static inline float32x4x2_t load_8_u4(const void *src)
{
    return widen_s16(vreinterpretq_s16_u16(vmovl_u8(halves(src))));
}

static inline void store_8_f32(float32x4x2_t values, void *dst)
{
    vst1q_f32_x2(dst, values);
}

static inline void store_8_f16(float32x4x2_t values, void *dst)
{
    float16x8_t x = vcvt_high_f16_f32(vcvt_f16_f32(values.val[0]), values.val[1]);
    vst1q_u16(dst, vreinterpretq_u16_f16(x));
}

static inline void store_8_bf16(float32x4x2_t values, void *dst)
{
    vst1q_u16(dst, vcombine_u16(round_bf16(values.val[0]), round_bf16(values.val[1])));
}

static inline void store_8_s32(float32x4x2_t values, void *dst)
{
    int32_t *to = dst;
    vst1q_s32(to, vcvtnq_s32_f32(values.val[0]));
    vst1q_s32(to + 4, vcvtnq_s32_f32(values.val[1]));
}

static inline void store_8_s8(float32x4x2_t values, void *dst)
{
    vst1_s8(dst, vqmovn_s16(narrow_s16(values)));
}

static inline void store_8_u8(float32x4x2_t values, void *dst)
{
    vst1_u8(dst, vqmovun_s16(narrow_s16(values)));
}

/* ---- lines ---- */

#define LOAD(name, element)                                        \
    static void load_##name(size_t n, const void *src, float *dst) \
    {                                                              \
        load_line(element, load_8_##name, n, src, dst);            \
    }
#define BOTH(name, element)                                         \
    LOAD(name, element)                                             \
    static void store_##name(size_t n, const float *src, void *dst) \
    {                                                               \
        store_line(element, store_8_##name, n, src, dst);           \
    }
BOTH(f32, ELEMENT_F32)
BOTH(f16, ELEMENT_F16)
BOTH(bf16, ELEMENT_BF16)
BOTH(s32, ELEMENT_S32)
BOTH(s8, ELEMENT_S8)
BOTH(u8, ELEMENT_U8)
LOAD(s4, ELEMENT_S4)
LOAD(u4, ELEMENT_U4)
#undef BOTH
#undef LOAD

const struct convert_kernel convert_neon[ELEMENTS] = {
    [ELEMENT_F32] = {"convert_f32_neon", CPU_NEON, load_f32, store_f32},
    [ELEMENT_F16] = {"convert_f16_neon", CPU_NEON, load_f16, store_f16},
    [ELEMENT_BF16] = {"convert_bf16_neon", CPU_NEON, load_bf16, store_bf16},
    [ELEMENT_S32] = {"convert_s32_neon", CPU_NEON, load_s32, store_s32},
    [ELEMENT_S8] = {"convert_s8_neon", CPU_NEON, load_s8, store_s8},
    [ELEMENT_U8] = {"convert_u8_neon", CPU_NEON, load_u8, store_u8},
    [ELEMENT_S4] = {"convert_s4_neon", CPU_NEON, load_s4, NULL},
    [ELEMENT_U4] = {"convert_u4_neon", CPU_NEON, load_u4, NULL},
};
