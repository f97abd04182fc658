/* The intrinsics of element-wise functions, on x86 with AVX2 and FMA: each gives the bits that the
 * instruction on Arm gives (but for the payload of NaN), so that those functions can be tried with
 * every f32, which takes an emulator days. A function that uses another intrinsic needs it here. */
#ifndef TESTS_SWEEP_X86_ARM_NEON_H
#define TESTS_SWEEP_X86_ARM_NEON_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

typedef float float32x2_t __attribute__((vector_size(8)));
typedef float float32x4_t __attribute__((vector_size(16)));
typedef int32_t int32x4_t __attribute__((vector_size(16)));
typedef uint32_t uint32x4_t __attribute__((vector_size(16)));
typedef double float64x2_t __attribute__((vector_size(16)));
typedef int64_t int64x2_t __attribute__((vector_size(16)));
typedef struct float32x4x4_t {
    float32x4_t val[4];
} float32x4x4_t;

/* ---- memory, constants, parts ---- */

static inline float32x4_t vld1q_f32(const float *from)
{
    return (float32x4_t)_mm_loadu_ps(from);
}
static inline void vst1q_f32(float *to, float32x4_t x)
{
    _mm_storeu_ps(to, (__m128)x);
}
static inline float32x4x4_t vld1q_f32_x4(const float *from)
{
    return (float32x4x4_t){
        {vld1q_f32(from), vld1q_f32(from + 4), vld1q_f32(from + 8), vld1q_f32(from + 12)}};
}
static inline void vst1q_f32_x4(float *to, float32x4x4_t x)
{
    for (int i = 0; i < 4; i++)
        vst1q_f32(to + 4 * i, x.val[i]);
}
static inline float32x2_t vld1_f32(const float *from)
{
    return (float32x2_t){from[0], from[1]};
}
static inline void vst1_f32(float *to, float32x2_t x)
{
    to[0] = x[0], to[1] = x[1];
}
static inline float32x4_t vld1q_lane_f32(const float *from, float32x4_t x, int lane)
{
    x[lane] = *from;
    return x;
}
static inline void vst1q_lane_f32(float *to, float32x4_t x, int lane)
{
    *to = x[lane];
}
static inline float32x4_t vdupq_n_f32(float x)
{
    return (float32x4_t){x, x, x, x};
}
static inline float32x2_t vdup_n_f32(float x)
{
    return (float32x2_t){x, x};
}
static inline int32x4_t vdupq_n_s32(int32_t x)
{
    return (int32x4_t){x, x, x, x};
}
static inline uint32x4_t vdupq_n_u32(uint32_t x)
{
    return (uint32x4_t){x, x, x, x};
}
static inline float64x2_t vdupq_n_f64(double x)
{
    return (float64x2_t){x, x};
}
static inline int64x2_t vdupq_n_s64(int64_t x)
{
    return (int64x2_t){x, x};
}
static inline float32x2_t vget_low_f32(float32x4_t x)
{
    return (float32x2_t){x[0], x[1]};
}
static inline float32x2_t vget_high_f32(float32x4_t x)
{
    return (float32x2_t){x[2], x[3]};
}
static inline float32x4_t vcombine_f32(float32x2_t low, float32x2_t high)
{
    return (float32x4_t){low[0], low[1], high[0], high[1]};
}

static inline float32x4_t vzip1q_f32(float32x4_t x, float32x4_t y)
{
    return (float32x4_t){x[0], y[0], x[1], y[1]};
}
static inline float32x4_t vzip2q_f32(float32x4_t x, float32x4_t y)
{
    return (float32x4_t){x[2], y[2], x[3], y[3]};
}

/* ---- the same bits as another type ---- */

static inline int32x4_t vreinterpretq_s32_f32(float32x4_t x)
{
    return (int32x4_t)x;
}
static inline uint32x4_t vreinterpretq_u32_f32(float32x4_t x)
{
    return (uint32x4_t)x;
}
static inline uint32x4_t vreinterpretq_u32_s32(int32x4_t x)
{
    return (uint32x4_t)x;
}
static inline float32x4_t vreinterpretq_f32_s32(int32x4_t x)
{
    return (float32x4_t)x;
}
static inline float32x4_t vreinterpretq_f32_u32(uint32x4_t x)
{
    return (float32x4_t)x;
}
static inline int64x2_t vreinterpretq_s64_f64(float64x2_t x)
{
    return (int64x2_t)x;
}
static inline float64x2_t vreinterpretq_f64_s64(int64x2_t x)
{
    return (float64x2_t)x;
}

/* ---- bits and whole numbers ---- */

static inline uint32x4_t vandq_u32(uint32x4_t x, uint32x4_t y)
{
    return x & y;
}
static inline uint32x4_t vbicq_u32(uint32x4_t x, uint32x4_t y)
{
    return x & ~y;
}
static inline uint32x4_t veorq_u32(uint32x4_t x, uint32x4_t y)
{
    return x ^ y;
}
static inline float32x4_t vbslq_f32(uint32x4_t mask, float32x4_t x, float32x4_t y)
{
    return (float32x4_t)((mask & (uint32x4_t)x) | (~mask & (uint32x4_t)y));
}
static inline int32x4_t vaddq_s32(int32x4_t x, int32x4_t y)
{
    return (int32x4_t)((uint32x4_t)x + (uint32x4_t)y);
}
static inline int32x4_t vsubq_s32(int32x4_t x, int32x4_t y)
{
    return (int32x4_t)((uint32x4_t)x - (uint32x4_t)y);
}
static inline int64x2_t vaddq_s64(int64x2_t x, int64x2_t y)
{
    return (int64x2_t)_mm_add_epi64((__m128i)x, (__m128i)y);
}
static inline int64x2_t vsubq_s64(int64x2_t x, int64x2_t y)
{
    return (int64x2_t)_mm_sub_epi64((__m128i)x, (__m128i)y);
}
static inline int32x4_t vshlq_n_s32(int32x4_t x, int n)
{
    return (int32x4_t)_mm_slli_epi32((__m128i)x, n);
}
static inline uint32x4_t vshlq_n_u32(uint32x4_t x, int n)
{
    return x << n;
}
static inline int32x4_t vshrq_n_s32(int32x4_t x, int n)
{
    return x >> n;
}
static inline int64x2_t vshlq_n_s64(int64x2_t x, int n)
{
    return (int64x2_t)_mm_slli_epi64((__m128i)x, n);
}
static inline int64x2_t vshrq_n_s64(int64x2_t x, int n)
{
    return x >> n;
}
static inline uint32_t vminvq_u32(uint32x4_t x)
{
    uint32_t least = x[0];
    for (int i = 1; i < 4; i++)
        least = x[i] < least ? x[i] : least;
    return least;
}

/* ---- arithmetic ---- */

static inline float32x4_t vaddq_f32(float32x4_t x, float32x4_t y)
{
    return x + y;
}
static inline float32x4_t vsubq_f32(float32x4_t x, float32x4_t y)
{
    return x - y;
}
static inline float32x4_t vmulq_f32(float32x4_t x, float32x4_t y)
{
    return x * y;
}
static inline float32x4_t vmulq_n_f32(float32x4_t x, float y)
{
    return x * vdupq_n_f32(y);
}
static inline float32x4_t vdivq_f32(float32x4_t x, float32x4_t y)
{
    return x / y;
}
static inline float32x4_t vfmaq_f32(float32x4_t sum, float32x4_t x, float32x4_t y)
{
    return (float32x4_t)_mm_fmadd_ps((__m128)x, (__m128)y, (__m128)sum);
}
static inline float32x4_t vfmaq_n_f32(float32x4_t sum, float32x4_t x, float y)
{
    return vfmaq_f32(sum, x, vdupq_n_f32(y));
}
static inline float32x4_t vfmaq_laneq_f32(float32x4_t sum, float32x4_t x, float32x4_t y, int lane)
{
    return vfmaq_n_f32(sum, x, y[lane]);
}
static inline float32x4_t vfmsq_f32(float32x4_t sum, float32x4_t x, float32x4_t y)
{
    return (float32x4_t)_mm_fnmadd_ps((__m128)x, (__m128)y, (__m128)sum);
}
static inline float32x4_t vnegq_f32(float32x4_t x)
{
    return (float32x4_t)((uint32x4_t)x ^ vdupq_n_u32(0x80000000u));
}
static inline float32x4_t vabsq_f32(float32x4_t x)
{
    return (float32x4_t)((uint32x4_t)x & vdupq_n_u32(0x7fffffffu));
}
static inline float32x4_t vsqrtq_f32(float32x4_t x)
{
    return (float32x4_t)_mm_sqrt_ps((__m128)x);
}
static inline float32x4_t vrndnq_f32(float32x4_t x)
{
    return (float32x4_t)_mm_round_ps((__m128)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline float64x2_t vaddq_f64(float64x2_t x, float64x2_t y)
{
    return x + y;
}
static inline float64x2_t vsubq_f64(float64x2_t x, float64x2_t y)
{
    return x - y;
}
static inline float64x2_t vmulq_f64(float64x2_t x, float64x2_t y)
{
    return x * y;
}
static inline float64x2_t vdivq_f64(float64x2_t x, float64x2_t y)
{
    return x / y;
}
static inline float64x2_t vfmaq_f64(float64x2_t sum, float64x2_t x, float64x2_t y)
{
    return (float64x2_t)_mm_fmadd_pd((__m128d)x, (__m128d)y, (__m128d)sum);
}
static inline float64x2_t vrndnq_f64(float64x2_t x)
{
    return (float64x2_t)_mm_round_pd((__m128d)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* ---- comparisons ---- */

static inline uint32x4_t vceqq_f32(float32x4_t x, float32x4_t y)
{
    return (uint32x4_t)(x == y);
}
static inline uint32x4_t vcgtq_f32(float32x4_t x, float32x4_t y)
{
    return (uint32x4_t)(x > y);
}
static inline uint32x4_t vcgeq_f32(float32x4_t x, float32x4_t y)
{
    return (uint32x4_t)(x >= y);
}
static inline uint32x4_t vcltq_f32(float32x4_t x, float32x4_t y)
{
    return (uint32x4_t)(x < y);
}
static inline uint32x4_t vceqzq_f32(float32x4_t x)
{
    return vceqq_f32(x, vdupq_n_f32(0));
}
static inline uint32x4_t vcgtzq_f32(float32x4_t x)
{
    return vcgtq_f32(x, vdupq_n_f32(0));
}
static inline uint32x4_t vcgezq_f32(float32x4_t x)
{
    return vcgeq_f32(x, vdupq_n_f32(0));
}
static inline uint32x4_t vcltzq_f32(float32x4_t x)
{
    return vcltq_f32(x, vdupq_n_f32(0));
}
static inline uint32x4_t vcagtq_f32(float32x4_t x, float32x4_t y)
{
    return vcgtq_f32(vabsq_f32(x), vabsq_f32(y));
}
static inline uint32x4_t vcaltq_f32(float32x4_t x, float32x4_t y)
{
    return vcltq_f32(vabsq_f32(x), vabsq_f32(y));
}

/* x86 has its second operand if one is NaN or both are zeros; Arm has NaN, and -0 below 0. */
static inline float32x4_t vmaxq_f32(float32x4_t x, float32x4_t y)
{
    uint32x4_t larger = (uint32x4_t)_mm_max_ps((__m128)x, (__m128)y);
    larger = (uint32x4_t)vbslq_f32(vceqq_f32(x, y), (float32x4_t)((uint32x4_t)x & (uint32x4_t)y),
                                   (float32x4_t)larger);
    return vbslq_f32((uint32x4_t)(x != x), x, (float32x4_t)larger);
}
static inline float32x4_t vminq_f32(float32x4_t x, float32x4_t y)
{
    uint32x4_t smaller = (uint32x4_t)_mm_min_ps((__m128)x, (__m128)y);
    smaller = (uint32x4_t)vbslq_f32(vceqq_f32(x, y), (float32x4_t)((uint32x4_t)x | (uint32x4_t)y),
                                    (float32x4_t)smaller);
    return vbslq_f32((uint32x4_t)(x != x), x, (float32x4_t)smaller);
}
/* Of numbers: zeros are the second operand, which is none where this is used. */
static inline float64x2_t vmaxq_f64(float64x2_t x, float64x2_t y)
{
    return (float64x2_t)_mm_max_pd((__m128d)y, (__m128d)x);
}
static inline float64x2_t vminq_f64(float64x2_t x, float64x2_t y)
{
    return (float64x2_t)_mm_min_pd((__m128d)y, (__m128d)x);
}

/* ---- conversions: to integers with saturation, NaN to 0 ---- */

static inline int32x4_t vcvtq_s32_f32(float32x4_t x)
{
    int32x4_t whole = (int32x4_t)_mm_cvttps_epi32((__m128)x); /* INT32_MIN where it does not fit */
    uint32x4_t is_above = vcgeq_f32(x, vdupq_n_f32(0x1p31f));
    whole = (int32x4_t)vbslq_f32(is_above, (float32x4_t)vdupq_n_s32(INT32_MAX), (float32x4_t)whole);
    return whole & (int32x4_t)(x == x);
}
static inline float32x4_t vcvtq_f32_s32(int32x4_t x)
{
    return (float32x4_t)_mm_cvtepi32_ps((__m128i)x);
}
static inline int64x2_t vcvtq_s64_f64(float64x2_t x)
{
    return (int64x2_t){(int64_t)x[0], (int64_t)x[1]}; /* of small numbers */
}
static inline float64x2_t vcvtq_f64_s64(int64x2_t x)
{
    return (float64x2_t){(double)x[0], (double)x[1]};
}
static inline float64x2_t vcvt_f64_f32(float32x2_t x)
{
    return (float64x2_t){(double)x[0], (double)x[1]};
}
static inline float64x2_t vcvt_high_f64_f32(float32x4_t x)
{
    return vcvt_f64_f32(vget_high_f32(x));
}
static inline float32x2_t vcvt_f32_f64(float64x2_t x)
{
    return (float32x2_t){(float)x[0], (float)x[1]};
}
static inline float32x4_t vcvt_high_f32_f64(float32x2_t low, float64x2_t high)
{
    return vcombine_f32(low, vcvt_f32_f64(high));
}

#endif
