/* Depthwise convolution of bytes by SDOT, which adds four products of a channel: those of four
 * kernel rows of a column. Four lines of 16 channels become four vectors, each of which has four
 * channels' elements of the rows next to each other, by eight ZIP; they stay in registers while
 * pixels have them as another of their columns.
 *
 * 3 columns, stride 1: a pixel's 16 channels take 4 loads and 8 ZIP for its new column, 12 SDOT,
 * and loads of what sums begin with and stores of them. 5 columns: 8 channels at a time, since
 * these take 10 vectors of src and 10 of weights. */
enum { GROUP = 4, MOST_QUADS = 4, REGISTERS = MOST_QUADS };

/* What of it is constant after inlining. columns 0: any, and any stride; quads: vectors of four
 * channels that are done at a time. */
struct way {
    int columns, stride, quads, has_sign;
};

#include "kernels/depthwise/s8/slide_neon.h"

INLINE int8x16_t as_s8(int16x8_t pairs)
{
    return vreinterpretq_s8_s16(pairs);
}

INLINE int16x8_t as_s16(int8x16_t bytes)
{
    return vreinterpretq_s16_s8(bytes);
}

/* Four lines of channels; the upper half is undefined where 8 are enough. */
INLINE void load_lines(const void *const *lines, size_t offset, struct way way, int8x16_t *rows)
{
#pragma GCC unroll 4
    for (int r = 0; r < GROUP; r++) {
        const int8_t *line = (const int8_t *)lines[r] + offset;
        rows[r] = way.quads == 4 ? vld1q_s8(line) : vcombine_s8(vld1_s8(line), vdup_n_s8(0));
        if (!way.has_sign)
            rows[r] = veorq_s8(rows[r], vdupq_n_s8(INT8_MIN));
    }
}

INLINE void transpose(const int8x16_t *rows, int quads, int8x16_t *out)
{
    int16x8_t upper = as_s16(vzip1q_s8(rows[0], rows[1]));
    int16x8_t lower = as_s16(vzip1q_s8(rows[2], rows[3]));
    int16x8_t upper_2 = as_s16(vzip2q_s8(rows[0], rows[1]));
    int16x8_t lower_2 = as_s16(vzip2q_s8(rows[2], rows[3]));
    out[0] = as_s8(vzip1q_s16(upper, lower));
    out[1] = as_s8(vzip2q_s16(upper, lower));
    if (quads == 4) {
        out[2] = as_s8(vzip1q_s16(upper_2, lower_2));
        out[3] = as_s8(vzip2q_s16(upper_2, lower_2));
    }
}

INLINE void load_column(const void *const *lines, size_t offset, struct way way, int8x16_t *out)
{
    int8x16_t rows[GROUP] = {{0}};
    load_lines(lines, offset, way, rows);
    transpose(rows, way.quads, out);
}

/* Rows of 16 channels become vectors of four. */
static void arrange(size_t count, int8_t *weights)
{
    for (; count > 0; count--, weights += UNIT) {
        int8x16_t rows[GROUP] = {{0}}, out[GROUP];
#pragma GCC unroll 4
        for (int r = 0; r < GROUP; r++)
            rows[r] = vld1q_s8(weights + r * DEPTHWISE_BLOCK);
        transpose(rows, 4, out);
#pragma GCC unroll 4
        for (int r = 0; r < GROUP; r++)
            vst1q_s8(weights + r * DEPTHWISE_BLOCK, out[r]);
    }
}

INLINE void slide_pixel(struct slide *slide, int u, struct way way)
{
    int32x4_t sums[MOST_QUADS];
    int first = u * way.stride;
#pragma GCC unroll 5
    for (int k = way.columns - way.stride; k < way.columns; k++, slide->pass.lines += GROUP)
        load_column(slide->pass.lines, slide->pass.offset, way,
                    slide->column[(first + k) % way.columns]);
    load_sums(slide->pass.from, way.quads, sums);
#pragma GCC unroll 5
    for (int k = 0; k < way.columns; k++)
#pragma GCC unroll 4
        for (int q = 0; q < way.quads; q++)
            sums[q] = vdotq_s32(sums[q], slide->column[(first + k) % way.columns][q],
                                slide->weights[k][q]);
    store_sums(slide->to, way.quads, sums);
}

INLINE void slide_begin(struct slide *slide, struct way way)
{
#pragma GCC unroll 5
    for (int k = 0; k < way.columns; k++)
#pragma GCC unroll 4
        for (int q = 0; q < way.quads; q++)
            slide->weights[k][q] = vld1q_s8(slide->pass.weights + k * UNIT + q * 16);
#pragma GCC unroll 5
    for (int k = 0; k < way.columns - way.stride; k++, slide->pass.lines += GROUP)
        load_column(slide->pass.lines, slide->pass.offset, way, slide->column[k]);
}

INLINE void step(const struct depthwise_taps *taps, struct pass pass, struct way way)
{
    int32_t *to = taps->sums;
    for (size_t i = 0; i < taps->pixels; i++, pass.from += pass.from_row, to += taps->row) {
        const void *const *lines = pass.lines + i * taps->stride * GROUP;
        const int8_t *weights = pass.weights;
        int32x4_t sums[MOST_QUADS];
        load_sums(pass.from, way.quads, sums);
        for (size_t k = 0; k < taps->columns; k++, weights += UNIT) {
            int8x16_t column[MOST_QUADS];
            load_column(lines, pass.offset, way, column);
            lines += taps->dilation * GROUP;
#pragma GCC unroll 4
            for (int q = 0; q < way.quads; q++)
                sums[q] = vdotq_s32(sums[q], column[q], vld1q_s8(weights + q * 16));
        }
        store_sums(to, way.quads, sums);
    }
}

/* ---- pairs of rows of pixels ---- */

enum { PAIR_QUADS = 2, PAIR_COLUMNS = 3 };

/* As struct slide; weights: for the upper row's pixels, and for the lower one's. */
struct pair {
    const void *const *lines;
    size_t offset, left;
    int32_t *upper, *lower;
    size_t row;
    int32x4_t start[PAIR_QUADS];
    int8x16_t weights[2][PAIR_COLUMNS][PAIR_QUADS], column[PAIR_COLUMNS][PAIR_QUADS];
};

INLINE void pair_row(const struct pair *pair, int u, int which, int32_t *to)
{
    int32x4_t sums[PAIR_QUADS];
#pragma GCC unroll 2
    for (int q = 0; q < PAIR_QUADS; q++)
        sums[q] = pair->start[q];
#pragma GCC unroll 3
    for (int k = 0; k < PAIR_COLUMNS; k++)
#pragma GCC unroll 2
        for (int q = 0; q < PAIR_QUADS; q++)
            sums[q] = vdotq_s32(sums[q], pair->column[(u + k) % PAIR_COLUMNS][q],
                                pair->weights[which][k][q]);
    store_sums(to, PAIR_QUADS, sums);
}

/* The next two pixels, if there are any. */
INLINE int pair_on(struct pair *pair, int u, struct way way)
{
    if (pair->left-- == 0)
        return 0;
    load_column(pair->lines, pair->offset, way, pair->column[(u + 2) % PAIR_COLUMNS]);
    pair->lines += GROUP;
    pair_row(pair, u, 0, pair->upper);
    pair_row(pair, u, 1, pair->lower);
    pair->upper += pair->row;
    pair->lower += pair->row;
    return 1;
}

/* Weights of rows 0, 1, 2 and nothing become those of nothing and rows 0, 1, 2. */
INLINE int8x16_t weights_below(int8x16_t weights)
{
    return vreinterpretq_s8_u32(vshlq_n_u32(vreinterpretq_u32_s8(weights), 8));
}

INLINE void pair_begin(struct pair *pair, const struct depthwise_taps *taps, size_t quad,
                       struct way way)
{
    const int8_t *weights = (const int8_t *)taps->weights + quad * 16;
    pair->lines = taps->lines;
    pair->offset = taps->offset + 4 * quad;
    pair->left = taps->pixels;
    pair->upper = (int32_t *)taps->sums + 4 * quad;
    pair->lower = pair->upper + taps->below;
    pair->row = taps->row;
    load_sums((const int32_t *)taps->start + 4 * quad, PAIR_QUADS, pair->start);
#pragma GCC unroll 3
    for (int k = 0; k < PAIR_COLUMNS; k++)
#pragma GCC unroll 2
        for (int q = 0; q < PAIR_QUADS; q++) {
            pair->weights[0][k][q] = vld1q_s8(weights + k * UNIT + q * 16);
            pair->weights[1][k][q] = weights_below(pair->weights[0][k][q]);
        }
#pragma GCC unroll 2
    for (int k = 0; k < PAIR_COLUMNS - 1; k++, pair->lines += GROUP)
        load_column(pair->lines, pair->offset, way, pair->column[k]);
}

INLINE void run_pair(const struct depthwise_taps *taps, int has_sign)
{
    struct way way = {PAIR_COLUMNS, 1, PAIR_QUADS, has_sign};
    for (size_t quad = 0; quad < MOST_QUADS; quad += PAIR_QUADS) {
        struct pair pair;
        pair_begin(&pair, taps, quad, way);
        while (pair_on(&pair, 0, way) && pair_on(&pair, 1, way) && pair_on(&pair, 2, way))
            continue;
    }
}

static void s8_pair(const struct depthwise_taps *taps)
{
    run_pair(taps, 1);
}

static void u8_pair(const struct depthwise_taps *taps)
{
    run_pair(taps, 0);
}

/* ---- kernels ---- */

INLINE void run_all(const struct depthwise_taps *taps, struct way way)
{
    for (size_t quad = 0; quad < MOST_QUADS; quad += (size_t)way.quads)
        run_groups(taps, 4 * quad, way);
}

#define KERNEL(name, columns, stride, quads, has_sign)                 \
    static void name(const struct depthwise_taps *taps)                \
    {                                                                  \
        run_all(taps, (struct way){columns, stride, quads, has_sign}); \
    }
KERNEL(s8_3s1, 3, 1, 4, 1)
KERNEL(s8_3s2, 3, 2, 4, 1)
KERNEL(s8_5s1, 5, 1, 2, 1)
KERNEL(s8_5s2, 5, 2, 2, 1)
KERNEL(s8_any, 0, 0, 4, 1)
KERNEL(u8_3s1, 3, 1, 4, 0)
KERNEL(u8_3s2, 3, 2, 4, 0)
KERNEL(u8_5s1, 5, 1, 2, 0)
KERNEL(u8_5s2, 5, 2, 2, 0)
KERNEL(u8_any, 0, 0, 4, 0)
#undef KERNEL

/* clang-format off */
#define ROW(type, element, way, columns, stride, pair) \
    {"depthwise_" #type "_" #way "_dotprod", CPU_DOTPROD, element, ELEMENT_S8, ELEMENT_S32, 0, GROUP, columns, stride, arrange, \
     type##_##way, pair}
const struct depthwise_taps_kernel depthwise_s8_dotprod[DEPTHWISE_S8_KERNELS] = {
    ROW(s8, ELEMENT_S8, 3s1, 3, 1, s8_pair), ROW(u8, ELEMENT_U8, 3s1, 3, 1, u8_pair),
    ROW(s8, ELEMENT_S8, 3s2, 3, 2, NULL),    ROW(u8, ELEMENT_U8, 3s2, 3, 2, NULL),
    ROW(s8, ELEMENT_S8, 5s1, 5, 1, NULL),    ROW(u8, ELEMENT_U8, 5s1, 5, 1, NULL),
    ROW(s8, ELEMENT_S8, 5s2, 5, 2, NULL),    ROW(u8, ELEMENT_U8, 5s2, 5, 2, NULL),
    ROW(s8, ELEMENT_S8, any, 0, 0, NULL),    ROW(u8, ELEMENT_U8, any, 0, 0, NULL),
};
/* clang-format on */
