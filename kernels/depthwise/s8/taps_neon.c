/* Depthwise convolution of bytes without instructions for dot products: two products of a channel
 * are added as s16, which holds them unless both are -128 * -128, then sums of s32 take them. Lines
 * of src stay in registers while pixels have them as another of their columns. Kernels of 3 columns
 * are in slide_neon.S, but for weights of -128. */
enum { GROUP = 3 };

/* What of it is constant after inlining. columns 0: any, and any stride. */
struct way {
    int columns, stride, has_sign, is_narrow;
};

#include "kernels/depthwise/s8/groups_neon.h"

enum { MOST_COLUMNS = 5 };

/* Products of one or two taps, of 16 channels. */
struct products {
    int16x8_t low, high;
};

INLINE void load_column(const void *const *lines, size_t offset, struct way way, int8x16_t *out)
{
#pragma GCC unroll 3
    for (int r = 0; r < GROUP; r++) {
        out[r] = vld1q_s8((const int8_t *)lines[r] + offset);
        if (!way.has_sign)
            out[r] = veorq_s8(out[r], vdupq_n_s8(INT8_MIN));
    }
}

INLINE void load_weights(const int8_t *weights, int8x16_t *out)
{
#pragma GCC unroll 3
    for (int r = 0; r < GROUP; r++)
        out[r] = vld1q_s8(weights + r * DEPTHWISE_BLOCK);
}

INLINE struct products multiply(int8x16_t a, int8x16_t b)
{
    return (struct products){vmull_s8(vget_low_s8(a), vget_low_s8(b)), vmull_high_s8(a, b)};
}

INLINE void multiply_add(struct products *products, int8x16_t a, int8x16_t b)
{
    products->low = vmlal_s8(products->low, vget_low_s8(a), vget_low_s8(b));
    products->high = vmlal_high_s8(products->high, a, b);
}

INLINE void add(int32x4_t *sums, struct products products)
{
    sums[0] = vaddw_s16(sums[0], vget_low_s16(products.low));
    sums[1] = vaddw_high_s16(sums[1], products.low);
    sums[2] = vaddw_s16(sums[2], vget_low_s16(products.high));
    sums[3] = vaddw_high_s16(sums[3], products.high);
}

/* Tap number t of the columns that follow each other: its product becomes one of a pair, or is
 * added by itself. */
INLINE void add_tap(int32x4_t *sums, struct products *pair, int t, int taps, int is_narrow,
                    int8x16_t a, int8x16_t b)
{
    int is_second = is_narrow && t % 2;
    if (is_second)
        multiply_add(pair, a, b);
    else
        *pair = multiply(a, b);
    if (is_second || !is_narrow || t == taps - 1)
        add(sums, *pair);
}

/* Where it is: column x is in place x % columns; so after `columns` pixels everything is at its
 * place again. */
struct slide {
    const struct depthwise_taps *taps;
    struct pass pass;
    size_t left;
    int32_t *to;
    int8x16_t weights[MOST_COLUMNS][GROUP], column[MOST_COLUMNS][GROUP];
};

/* A pixel, number u of `columns` ones: as many new columns as the stride says, and its sums. */
INLINE void slide_pixel(struct slide *slide, int u, struct way way)
{
    int32x4_t sums[VECTORS];
    struct products pair;
    int first = u * way.stride;
#pragma GCC unroll 5
    for (int k = way.columns - way.stride; k < way.columns; k++, slide->pass.lines += GROUP)
        load_column(slide->pass.lines, slide->pass.offset, way,
                    slide->column[(first + k) % way.columns]);
    load_sums(slide->pass.from, sums);
#pragma GCC unroll 5
    for (int k = 0; k < way.columns; k++)
#pragma GCC unroll 3
        for (int r = 0; r < GROUP; r++)
            add_tap(sums, &pair, k * GROUP + r, way.columns * GROUP, way.is_narrow,
                    slide->column[(first + k) % way.columns][r], slide->weights[k][r]);
    store_sums(slide->to, sums);
}

/* Weights, and the columns that the first pixel has before its new ones. */
INLINE void slide_begin(struct slide *slide, struct way way)
{
#pragma GCC unroll 5
    for (int k = 0; k < way.columns; k++)
        load_weights(slide->pass.weights + k * UNIT, slide->weights[k]);
#pragma GCC unroll 5
    for (int k = 0; k < way.columns - way.stride; k++, slide->pass.lines += GROUP)
        load_column(slide->pass.lines, slide->pass.offset, way, slide->column[k]);
}

/* The next pixel, if there is one. */
INLINE int slide_on(struct slide *slide, int u, struct way way)
{
    if (u >= way.columns)
        return 1;
    if (slide->left-- == 0)
        return 0;
    slide_pixel(slide, u, way);
    slide->pass.from += slide->pass.from_row;
    slide->to += slide->taps->row;
    return 1;
}

/* Pixels one after the other. */
INLINE void slide(const struct depthwise_taps *taps, struct pass pass, struct way way)
{
    struct slide slide;
    slide.taps = taps;
    slide.pass = pass;
    slide.left = taps->pixels;
    slide.to = taps->sums;
    slide_begin(&slide, way);
    while (slide_on(&slide, 0, way) && slide_on(&slide, 1, way) && slide_on(&slide, 2, way) &&
           slide_on(&slide, 3, way) && slide_on(&slide, 4, way))
        continue;
}

/* Every pixel for itself. */
INLINE void step(const struct depthwise_taps *taps, struct pass pass, struct way way)
{
    int32_t *to = taps->sums;
    for (size_t i = 0; i < taps->pixels; i++, pass.from += pass.from_row, to += taps->row) {
        const void *const *lines = pass.lines + i * taps->stride * GROUP;
        const int8_t *packed = pass.weights;
        int32x4_t sums[VECTORS];
        load_sums(pass.from, sums);
        for (size_t k = 0; k < taps->columns; k++, packed += UNIT) {
            int8x16_t column[GROUP], weights[GROUP];
            struct products pair;
            load_column(lines, pass.offset, way, column);
            load_weights(packed, weights);
            lines += taps->dilation * GROUP;
#pragma GCC unroll 3
            for (int r = 0; r < GROUP; r++)
                add_tap(sums, &pair, r, GROUP, way.is_narrow, column[r], weights[r]);
        }
        store_sums(to, sums);
    }
}

INLINE void run_pass(const struct depthwise_taps *taps, struct pass pass, struct way way)
{
    if (way.columns)
        slide(taps, pass, way);
    else
        step(taps, pass, way);
}

/* Any columns, and weights. */
static void s8_wide(const struct depthwise_taps *taps)
{
    run_groups(taps, (struct way){.has_sign = 1});
}

static void u8_wide(const struct depthwise_taps *taps)
{
    run_groups(taps, (struct way){.has_sign = 0});
}

#define KERNEL(name, columns, stride, has_sign, wide)                     \
    static void name(const struct depthwise_taps *taps)                   \
    {                                                                     \
        if (taps->is_narrow)                                              \
            run_groups(taps, (struct way){columns, stride, has_sign, 1}); \
        else                                                              \
            wide(taps);                                                   \
    }
KERNEL(s8_5s1, 5, 1, 1, s8_wide)
KERNEL(s8_5s2, 5, 2, 1, s8_wide)
KERNEL(s8_any, 0, 0, 1, s8_wide)
KERNEL(u8_5s1, 5, 1, 0, u8_wide)
KERNEL(u8_5s2, 5, 2, 0, u8_wide)
KERNEL(u8_any, 0, 0, 0, u8_wide)
#undef KERNEL

#define KERNEL(name, wide)                              \
    depthwise_taps_fn depthwise_##name##_smull;         \
    static void name(const struct depthwise_taps *taps) \
    {                                                   \
        if (taps->is_narrow)                            \
            depthwise_##name##_smull(taps);             \
        else                                            \
            wide(taps);                                 \
    }
KERNEL(s8_3s1, s8_wide)
KERNEL(s8_3s2, s8_wide)
KERNEL(u8_3s1, u8_wide)
KERNEL(u8_3s2, u8_wide)
#undef KERNEL

/* clang-format off */
#define ROW(type, element, way, ends, columns, stride) \
    {"depthwise_" #type "_" #way "_neon", CPU_NEON, element, ELEMENT_S8, ELEMENT_S32, ends, GROUP, columns, stride, NULL, \
     type##_##way, NULL, 1, 0}
const struct depthwise_taps_kernel depthwise_s8_neon[DEPTHWISE_S8_KERNELS] = {
    ROW(s8, ELEMENT_S8, 3s1, 1 << ELEMENT_S8, 3, 1), ROW(u8, ELEMENT_U8, 3s1, 1 << ELEMENT_U8, 3, 1),
    ROW(s8, ELEMENT_S8, 3s2, 1 << ELEMENT_S8, 3, 2), ROW(u8, ELEMENT_U8, 3s2, 1 << ELEMENT_U8, 3, 2),
    ROW(s8, ELEMENT_S8, 5s1, 0, 5, 1),               ROW(u8, ELEMENT_U8, 5s1, 0, 5, 1),
    ROW(s8, ELEMENT_S8, 5s2, 0, 5, 2),               ROW(u8, ELEMENT_U8, 5s2, 0, 5, 2),
    ROW(s8, ELEMENT_S8, any, 0, 0, 0),               ROW(u8, ELEMENT_U8, any, 0, 0, 0),
};
/* clang-format on */
