/* Depthwise convolution of bytes by SDOT, which adds four products of a channel: those of four
 * kernel rows of a column. Four lines of 16 channels become four vectors, each of which has four
 * channels' elements of the rows next to each other, by eight ZIP. Kernels of 3 and 5 columns are
 * in slide_dotprod.S; here are those of any number. */
#include "kernels/depthwise/taps.h"

#include "kernels/depthwise/taps_offsets.h"

enum { GROUP = 4 };

struct way {
    int has_sign;
};

#include "kernels/depthwise/s8/groups_neon.h"

INLINE int8x16_t as_s8(int16x8_t pairs)
{
    return vreinterpretq_s8_s16(pairs);
}

INLINE int16x8_t as_s16(int8x16_t bytes)
{
    return vreinterpretq_s16_s8(bytes);
}

INLINE void transpose(const int8x16_t *rows, int8x16_t *out)
{
    int16x8_t upper = as_s16(vzip1q_s8(rows[0], rows[1]));
    int16x8_t lower = as_s16(vzip1q_s8(rows[2], rows[3]));
    int16x8_t upper_2 = as_s16(vzip2q_s8(rows[0], rows[1]));
    int16x8_t lower_2 = as_s16(vzip2q_s8(rows[2], rows[3]));
    out[0] = as_s8(vzip1q_s16(upper, lower));
    out[1] = as_s8(vzip2q_s16(upper, lower));
    out[2] = as_s8(vzip1q_s16(upper_2, lower_2));
    out[3] = as_s8(vzip2q_s16(upper_2, lower_2));
}

INLINE void load_column(const void *const *lines, size_t offset, struct way way, int8x16_t *out)
{
    int8x16_t rows[GROUP] = {{0}};
#pragma GCC unroll 4
    for (int r = 0; r < GROUP; r++) {
        rows[r] = vld1q_s8((const int8_t *)lines[r] + offset);
        if (!way.has_sign)
            rows[r] = veorq_s8(rows[r], vdupq_n_s8(INT8_MIN));
    }
    transpose(rows, out);
}

/* Rows of 16 channels become vectors of four. */
static void arrange(size_t count, int8_t *weights)
{
    for (; count > 0; count--, weights += UNIT) {
        int8x16_t rows[GROUP] = {{0}}, out[GROUP];
#pragma GCC unroll 4
        for (int r = 0; r < GROUP; r++)
            rows[r] = vld1q_s8(weights + r * DEPTHWISE_BLOCK);
        transpose(rows, out);
#pragma GCC unroll 4
        for (int r = 0; r < GROUP; r++)
            vst1q_s8(weights + r * DEPTHWISE_BLOCK, out[r]);
    }
}

INLINE void run_pass(const struct depthwise_taps *taps, struct pass pass, struct way way)
{
    int32_t *to = taps->sums;
    for (size_t i = 0; i < taps->pixels; i++, pass.from += pass.from_row, to += taps->row) {
        const void *const *lines = pass.lines + i * taps->stride * GROUP;
        const int8_t *weights = pass.weights;
        int32x4_t sums[VECTORS];
        load_sums(pass.from, sums);
        for (size_t k = 0; k < taps->columns; k++, weights += UNIT) {
            int8x16_t column[VECTORS];
            load_column(lines, pass.offset, way, column);
            lines += taps->dilation * GROUP;
#pragma GCC unroll 4
            for (int q = 0; q < VECTORS; q++)
                sums[q] = vdotq_s32(sums[q], column[q], vld1q_s8(weights + q * 16));
        }
        store_sums(to, sums);
    }
}

static void s8_any(const struct depthwise_taps *taps)
{
    run_groups(taps, (struct way){.has_sign = 1});
}

static void u8_any(const struct depthwise_taps *taps)
{
    run_groups(taps, (struct way){.has_sign = 0});
}

/* ---- kernels ---- */

/* In slide_dotprod.S. */
depthwise_taps_fn depthwise_s8_3s1_slide, depthwise_s8_3s2_slide, depthwise_s8_5s1_slide,
    depthwise_s8_5s2_slide, depthwise_u8_3s1_slide, depthwise_u8_3s2_slide, depthwise_u8_5s1_slide,
    depthwise_u8_5s2_slide, depthwise_s8_3s1_pair, depthwise_u8_3s1_pair;

/* clang-format off */
#define ROW(type, element, way, ends, columns, stride, run, pair, rows) \
    {"depthwise_" #type "_" #way "_dotprod", CPU_DOTPROD, element, ELEMENT_S8, ELEMENT_S32, ends, GROUP, columns, stride, arrange, \
     run, pair, 0, rows}
#define SLIDE(type, element, columns, stride, pair) \
    ROW(type, element, columns##s##stride, 1 << (element), columns, stride, depthwise_##type##_##columns##s##stride##_slide, pair, 1)
const struct depthwise_taps_kernel depthwise_s8_dotprod[DEPTHWISE_S8_KERNELS] = {
    SLIDE(s8, ELEMENT_S8, 3, 1, depthwise_s8_3s1_pair), SLIDE(u8, ELEMENT_U8, 3, 1, depthwise_u8_3s1_pair),
    SLIDE(s8, ELEMENT_S8, 3, 2, NULL),                  SLIDE(u8, ELEMENT_U8, 3, 2, NULL),
    SLIDE(s8, ELEMENT_S8, 5, 1, NULL),                  SLIDE(u8, ELEMENT_U8, 5, 1, NULL),
    SLIDE(s8, ELEMENT_S8, 5, 2, NULL),                  SLIDE(u8, ELEMENT_U8, 5, 2, NULL),
    ROW(s8, ELEMENT_S8, any, 0, 0, 0, s8_any, NULL, 0),    ROW(u8, ELEMENT_U8, any, 0, 0, 0, u8_any, NULL, 0),
};
/* clang-format on */
