/* Windows in vectors: results of up to 64 elements of a line stay in registers while all taps go
 * by.
 */
#include "kernels/asm/inline.h"
#include "kernels/elementwise/eight_neon.h"
#include "kernels/pooling/windows.h"

/* Makes some elements of one window's line: src and dst are the first one's, taps go from there. */
typedef void part_fn(const struct windows *windows, const char *src, char *dst);

/* How a type makes so many elements of a line at once, the most first; the last one makes one. */
enum { SIZES = 4 };
struct kind {
    enum element element, out;
    size_t counts[SIZES];
    part_fn *make[SIZES];
    size_t (*begin)(const struct windows *windows, const char *src, char *dst); /* or NULL: makes
        some of the first elements, and returns how many */
};

static void make_lines(const struct windows *w, const struct kind *kind)
{
    size_t bytes = element_bytes(kind->element), out_bytes = element_bytes(kind->out);
    for (size_t k = 0; k < w->count; k++) {
        const char *src = (const char *)w->src + (ptrdiff_t)k * w->src_step;
        char *dst = (char *)w->dst + (ptrdiff_t)k * w->dst_step;
        size_t done = kind->begin ? kind->begin(w, src, dst) : 0;
        for (int s = 0; done < w->n; s++)
            for (; done + kind->counts[s] <= w->n; done += kind->counts[s])
                kind->make[s](w, src + done * bytes, dst + done * out_bytes);
    }
}

/* ---- results in f32 ---- */

/* The same address; loads from there on have theirs in the instruction, and no additions. */
INLINE const char *settled(const char *address)
{
    __asm__ volatile("" : "+r"(address) : : "memory");
    return address;
}

typedef float32x4x2_t load_8_fn(const void *src);

INLINE float32x4_t step(enum windows_alg alg, float32x4_t y, float32x4_t x)
{
    return alg == WINDOWS_MAX ? vmaxq_f32(y, x) : vaddq_f32(y, x);
}

/* What there is before the first tap. */
INLINE float32x4_t nothing(enum windows_alg alg, enum element element)
{
    return vdupq_n_f32(alg == WINDOWS_MAX ? windows_lowest(element) : 0);
}

INLINE float32x4_t end(enum windows_alg alg, float32x4_t y, float factor)
{
    return alg == WINDOWS_MAX ? y : vmulq_n_f32(y, factor);
}

/* A group of four vectors, of which the first ones are used: so many pairs in all, a constant after
 * inlining. Stores of four want registers that follow each other, and so the results are in such.
 */
INLINE void store_groups(const float32x4x4_t *y, size_t pairs, float *dst)
{
    if (pairs == 1) {
        vst1q_f32(dst, y[0].val[0]);
        vst1q_f32(dst + 4, y[0].val[1]);
        return;
    }
#pragma GCC unroll 4
    for (size_t g = 0; g < pairs / 2; g++)
        vst1q_f32_x4(dst + 16 * g, y[g]);
}

INLINE void make_pairs(const struct windows *w, const char *src, char *dst, size_t pairs,
                       enum windows_alg alg, enum element element, load_8_fn *load)
{
    const size_t bytes = 8 * element_bytes(element);
    const ptrdiff_t *taps = w->taps;
    const size_t count = w->tap_count;
    float32x4x4_t y[4];
#pragma GCC unroll 16
    for (size_t v = 0; v < 2 * pairs; v++)
        y[v / 4].val[v % 4] = nothing(alg, element);
    for (size_t t = 0; t < count; t++) {
        const char *tap = src + taps[t];
#pragma GCC unroll 8
        for (size_t p = 0; p < pairs; p++) {
            if (p % 4 == 0) /* loads come no earlier: registers that callers keep are not needed */
                tap = settled(tap);
            float32x4x2_t x = load(tap + p * bytes);
            float32x4_t *to = &y[p / 2].val[p % 2 * 2];
            to[0] = step(alg, to[0], x.val[0]);
            to[1] = step(alg, to[1], x.val[1]);
        }
    }
#pragma GCC unroll 16
    for (size_t v = 0; v < 2 * pairs; v++)
        y[v / 4].val[v % 4] = end(alg, y[v / 4].val[v % 4], w->factor);
    store_groups(y, pairs, (float *)(void *)dst);
}

INLINE void make_one(const struct windows *w, const char *src, char *dst, enum windows_alg alg,
                     enum element element)
{
    float32x4_t y = nothing(alg, element);
    for (size_t t = 0; t < w->tap_count; t++) {
        float x = element_read_f32(element, src + w->taps[t], 0);
        y = step(alg, y, vdupq_n_f32(x));
    }
    vst1q_lane_f32((float *)(void *)dst, end(alg, y, w->factor), 0);
}

/* Of f32, as many as fit vectors, of so many taps, a constant after inlining: each has a register
 * for its place in the line, and a result goes from the first to the last one at once. */
INLINE size_t make_known(const struct windows *w, const char *src, char *dst, size_t count,
                         enum windows_alg alg)
{
    const float *taps[9];
    float *to = (float *)(void *)dst;
    const size_t n = w->n - w->n % 16;
#pragma GCC unroll 9
    for (size_t t = 0; t < count; t++)
        taps[t] = (const float *)(const void *)(src + w->taps[t]);
    for (size_t i = 0; i < n; i += 16) {
        float32x4x4_t y;
#pragma GCC unroll 4
        for (size_t v = 0; v < 4; v++)
            y.val[v] = step(alg, vld1q_f32(taps[0] + i + 4 * v), nothing(alg, ELEMENT_F32));
#pragma GCC unroll 9
        for (size_t t = 1; t < count; t++)
#pragma GCC unroll 4
            for (size_t v = 0; v < 4; v++)
                y.val[v] = step(alg, y.val[v], vld1q_f32(taps[t] + i + 4 * v));
#pragma GCC unroll 4
        for (size_t v = 0; v < 4; v++)
            y.val[v] = end(alg, y.val[v], w->factor);
        vst1q_f32_x4(to + i, y);
    }
    return n;
}

/* Windows of 2x2 and 3x3, which most of them are. */
INLINE size_t make_usual(const struct windows *w, const char *src, char *dst, enum windows_alg alg)
{
    if (w->tap_count == 9)
        return make_known(w, src, dst, 9, alg);
    return w->tap_count == 4 ? make_known(w, src, dst, 4, alg) : 0;
}

static size_t begin_max_f32(const struct windows *w, const char *src, char *dst)
{
    return make_usual(w, src, dst, WINDOWS_MAX);
}

static size_t begin_sum_f32(const struct windows *w, const char *src, char *dst)
{
    return make_usual(w, src, dst, WINDOWS_SUM);
}

/* ---- bytes: the largest, as it is ---- */

typedef uint8x16_t max_bytes_fn(uint8x16_t a, uint8x16_t b);

static inline uint8x16_t max_of_s8(uint8x16_t a, uint8x16_t b)
{
    return vreinterpretq_u8_s8(vmaxq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)));
}

static inline uint8x16_t max_of_u8(uint8x16_t a, uint8x16_t b)
{
    return vmaxq_u8(a, b);
}

INLINE void max_vectors(const struct windows *w, const char *src, char *dst, size_t vectors,
                        uint8_t lowest, max_bytes_fn *max)
{
    const ptrdiff_t *taps = w->taps;
    const size_t count = w->tap_count;
    uint8x16_t y[4];
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++)
        y[v] = vdupq_n_u8(lowest);
    for (size_t t = 0; t < count; t++) {
        const uint8_t *tap = (const uint8_t *)settled(src + taps[t]);
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            y[v] = max(y[v], vld1q_u8(tap + 16 * v));
    }
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++)
        vst1q_u8((uint8_t *)dst + 16 * v, y[v]);
}

INLINE void max_eight(const struct windows *w, const char *src, char *dst, uint8_t lowest,
                      max_bytes_fn *max)
{
    uint8x16_t y = vdupq_n_u8(lowest);
    for (size_t t = 0; t < w->tap_count; t++) {
        uint8x8_t x = vld1_u8((const uint8_t *)src + w->taps[t]);
        y = max(y, vcombine_u8(x, x));
    }
    vst1_u8((uint8_t *)dst, vget_low_u8(y));
}

INLINE void max_one(const struct windows *w, const char *src, char *dst, uint8_t lowest,
                    max_bytes_fn *max)
{
    uint8x16_t y = vdupq_n_u8(lowest);
    for (size_t t = 0; t < w->tap_count; t++)
        y = max(y, vdupq_n_u8((uint8_t)src[w->taps[t]]));
    vst1q_lane_u8((uint8_t *)dst, y, 0);
}

/* ---- bytes: sums ---- */

typedef int16x8_t widen_fn(uint8x8_t x);

static inline int16x8_t widen_s8(uint8x8_t x)
{
    return vmovl_s8(vreinterpret_s8_u8(x));
}

static inline int16x8_t widen_u8(uint8x8_t x)
{
    return vreinterpretq_s16_u16(vmovl_u8(x));
}

/* So many that sums of bytes stay within s32. */
enum { TAPS_AT_ONCE = 1 << 20 };

/* Of 8 pairs of bytes each; exact, but for what so many taps have. */
INLINE void sum_pairs(const struct windows *w, const char *src, char *dst, size_t pairs,
                      widen_fn *widen)
{
    const ptrdiff_t *taps = w->taps;
    const size_t all = w->tap_count;
    float32x4_t total[8];
#pragma GCC unroll 8
    for (size_t v = 0; v < 2 * pairs; v++)
        total[v] = vdupq_n_f32(0);
    for (size_t first = 0; first < all; first += TAPS_AT_ONCE) {
        size_t rest = all - first, count = rest < TAPS_AT_ONCE ? rest : TAPS_AT_ONCE;
        int32x4_t y[8];
#pragma GCC unroll 8
        for (size_t v = 0; v < 2 * pairs; v++)
            y[v] = vdupq_n_s32(0);
        for (size_t t = first; t < first + count; t++) {
            const uint8_t *tap = (const uint8_t *)settled(src + taps[t]);
#pragma GCC unroll 4
            for (size_t p = 0; p < pairs; p++) {
                int16x8_t x = widen(vld1_u8(tap + 8 * p));
                y[2 * p] = vaddw_s16(y[2 * p], vget_low_s16(x));
                y[2 * p + 1] = vaddw_high_s16(y[2 * p + 1], x);
            }
        }
#pragma GCC unroll 8
        for (size_t v = 0; v < 2 * pairs; v++)
            total[v] = vaddq_f32(total[v], vcvtq_f32_s32(y[v]));
    }
#pragma GCC unroll 8
    for (size_t v = 0; v < 2 * pairs; v++)
        vst1q_f32((float *)(void *)dst + 4 * v, vmulq_n_f32(total[v], w->factor));
}

/* ---- the table ---- */

/* Parts of a type in four sizes, and its kernel. */
#define PART(name, make)                                                  \
    static void name(const struct windows *w, const char *src, char *dst) \
    {                                                                     \
        make;                                                             \
    }
#define KERNEL(name, element, out, most, begin)                                              \
    static void name(const struct windows *windows)                                          \
    {                                                                                        \
        static const struct kind kind = {element,                                            \
                                         out,                                                \
                                         {most, 16, 8, 1},                                   \
                                         {name##_many, name##_some, name##_few, name##_one}, \
                                         begin};                                             \
        make_lines(windows, &kind);                                                          \
    }
#define FLOATS(name, alg, element, load, begin)                       \
    PART(name##_many, make_pairs(w, src, dst, 8, alg, element, load)) \
    PART(name##_some, make_pairs(w, src, dst, 2, alg, element, load)) \
    PART(name##_few, make_pairs(w, src, dst, 1, alg, element, load))  \
    PART(name##_one, make_one(w, src, dst, alg, element))             \
    KERNEL(name, element, ELEMENT_F32, 64, begin)
#define MAX_BYTES(name, element, lowest, max)                   \
    PART(name##_many, max_vectors(w, src, dst, 4, lowest, max)) \
    PART(name##_some, max_vectors(w, src, dst, 1, lowest, max)) \
    PART(name##_few, max_eight(w, src, dst, lowest, max))       \
    PART(name##_one, max_one(w, src, dst, lowest, max))         \
    KERNEL(name, element, element, 64, NULL)
#define SUM_BYTES(name, element, widen)                           \
    PART(name##_many, sum_pairs(w, src, dst, 4, widen))           \
    PART(name##_some, sum_pairs(w, src, dst, 2, widen))           \
    PART(name##_few, sum_pairs(w, src, dst, 1, widen))            \
    PART(name##_one, make_one(w, src, dst, WINDOWS_SUM, element)) \
    KERNEL(name, element, ELEMENT_F32, 32, NULL)
FLOATS(max_f32, WINDOWS_MAX, ELEMENT_F32, load_8_f32, begin_max_f32)
FLOATS(max_f16, WINDOWS_MAX, ELEMENT_F16, load_8_f16, NULL)
FLOATS(max_bf16, WINDOWS_MAX, ELEMENT_BF16, load_8_bf16, NULL)
FLOATS(max_s32, WINDOWS_MAX, ELEMENT_S32, load_8_s32, NULL)
FLOATS(sum_f32, WINDOWS_SUM, ELEMENT_F32, load_8_f32, begin_sum_f32)
FLOATS(sum_f16, WINDOWS_SUM, ELEMENT_F16, load_8_f16, NULL)
FLOATS(sum_bf16, WINDOWS_SUM, ELEMENT_BF16, load_8_bf16, NULL)
FLOATS(sum_s32, WINDOWS_SUM, ELEMENT_S32, load_8_s32, NULL)
MAX_BYTES(max_s8, ELEMENT_S8, 0x80, max_of_s8)
MAX_BYTES(max_u8, ELEMENT_U8, 0, max_of_u8)
SUM_BYTES(sum_s8, ELEMENT_S8, widen_s8)
SUM_BYTES(sum_u8, ELEMENT_U8, widen_u8)
#undef SUM_BYTES
#undef MAX_BYTES
#undef FLOATS
#undef KERNEL
#undef PART

#define ROW(name, alg, element, out) \
    [WINDOWS_##alg][ELEMENT_##element] = {"windows_" #name "_neon", CPU_NEON, ELEMENT_##out, name},
const windows_table windows_neon = {WINDOWS_KERNELS(ROW)};
#undef ROW
