/* Finishes sums for NEON: the columns of four vectors, for all rows, then the next ones, and in the
 * end those of three, as most tiles have, or of one, so that scales and offsets stay in registers.
 * Four vectors of sums take 2 … 4 loads, 16 instructions of arithmetic and five that narrow and
 * store, if all there is are scales and offsets of columns; what is absent beyond these is done
 * with what changes nothing. What depends on the whole call is decided before columns are, as there
 * may be one row only. */
#include <arm_neon.h>

#include "kernels/asm/inline.h"
#include "kernels/elementwise/bf16_neon.h"
#include "kernels/gemm/finish.h"

enum { MOST_VECTORS = 4, TILE_VECTORS = 3 };

/* The caller's, a copy: stores of bytes might change it. What is absent points to what changes
 * nothing, the same for all columns or rows: then its step is 0. */
struct whole {
    struct gemm_finish finish;
    size_t scales_step, offsets_step, row_scales_step, rows_step;
};

/* What columns from j on have in common. */
struct columns {
    size_t j;
    float32x4_t scales[MOST_VECTORS], offsets[MOST_VECTORS];
    int32x4_t zeros[MOST_VECTORS];
};

/* What becomes of values where dst has a scale or a zero point; by two parts of a reciprocal, by
 * one, or by none. */
enum division { UNDIVIDED, BY_TWO_PARTS, BY_ONE_PART, BY_DIVISOR };

/* What rows have to do more than their columns; all of it are constants after inlining. is_shifted:
 * by zero points. has_more: scales of rows, or a clamp. */
struct row {
    int is_shifted, has_more;
};

INLINE void store_f32(void *dst, size_t at, const float32x4_t *values, size_t vectors)
{
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++)
        vst1q_f32((float *)dst + at + 4 * v, values[v]);
}

/* Four or eight bytes from one or two vectors. */
INLINE uint8x8_t narrow(const float32x4_t *values, size_t vectors, int has_sign)
{
    int16x4_t low = vqmovn_s32(vcvtnq_s32_f32(values[0])), high = low;
    if (vectors > 1)
        high = vqmovn_s32(vcvtnq_s32_f32(values[1]));
    int16x8_t both = vcombine_s16(low, high);
    return has_sign ? vreinterpret_u8_s8(vqmovn_s16(both)) : vqmovun_s16(both);
}

INLINE void store_bytes(void *dst, size_t at, const float32x4_t *values, size_t vectors,
                        int has_sign)
{
    uint8_t *to = (uint8_t *)dst + at;
#pragma GCC unroll 2
    for (size_t v = 0; v < vectors; v += 2) {
        uint8x8_t bytes = narrow(values + v, vectors - v, has_sign);
        uint32_t four = vget_lane_u32(vreinterpret_u32_u8(bytes), 0); /* at any address */
        if (vectors - v > 1)
            vst1_u8(to + 4 * v, bytes);
        else
            memcpy(to + 4 * v, &four, sizeof four);
    }
}

INLINE uint16x4_t half(float32x4_t value, enum element element)
{
    return element == ELEMENT_F16 ? vreinterpret_u16_f16(vcvt_f16_f32(value)) : round_bf16(value);
}

INLINE void store_halves(void *dst, size_t at, const float32x4_t *values, size_t vectors,
                         enum element element)
{
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++)
        vst1_u16((uint16_t *)dst + at + 4 * v, half(values[v], element));
}

INLINE void store(enum element element, void *dst, size_t at, const float32x4_t *values,
                  size_t vectors)
{
    if (element == ELEMENT_F32)
        store_f32(dst, at, values, vectors);
    else if (element == ELEMENT_S8 || element == ELEMENT_U8)
        store_bytes(dst, at, values, vectors, element == ELEMENT_S8);
    else
        store_halves(dst, at, values, vectors, element);
}

/* Vectors of row i, as floats. */
INLINE void load_sums(const struct whole *whole, const struct columns *columns, enum element sum,
                      size_t i, size_t vectors, struct row row, float32x4_t *values)
{
    const struct gemm_finish *finish = &whole->finish;
    size_t at = i * finish->row + columns->j;
    int32x4_t sums[MOST_VECTORS];
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++) {
        sums[v] = vld1q_s32((const int32_t *)finish->sums + at + 4 * v);
        if (row.is_shifted && sum == ELEMENT_S32)
            sums[v] = vmlaq_n_s32(sums[v], columns->zeros[v], finish->rows[i * whole->rows_step]);
        values[v] = vreinterpretq_f32_s32(sums[v]);
    }
    if (sum == ELEMENT_F32)
        return;
    if (finish->is_float)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            values[v] = vsubq_f32(values[v], vdupq_n_f32(0x1.8p23f));
    else
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            values[v] = vcvtq_f32_s32(sums[v]);
}

INLINE float32x4_t divide(float32x4_t value, const struct gemm_finish *finish,
                          enum division division)
{
    if (division == BY_DIVISOR)
        return vdivq_f32(value, vdupq_n_f32(finish->divisor));
    if (division == BY_ONE_PART)
        return vmulq_n_f32(value, finish->reciprocal);
    return vfmaq_n_f32(vmulq_n_f32(value, finish->rest), value, finish->reciprocal);
}

INLINE void finish_row(const struct whole *whole, const struct columns *columns, size_t i,
                       size_t vectors, enum element sum, enum element dst, struct row row,
                       enum division division)
{
    const struct gemm_finish *finish = &whole->finish;
    float32x4_t values[MOST_VECTORS];
    load_sums(whole, columns, sum, i, vectors, row, values);
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++) {
        if (row.has_more)
            values[v] = vmulq_n_f32(values[v], finish->row_scales[i * whole->row_scales_step]);
        values[v] = vaddq_f32(vmulq_f32(values[v], columns->scales[v]), columns->offsets[v]);
        if (row.has_more)
            values[v] = vminq_f32(vmaxq_f32(values[v], vdupq_n_f32(finish->low)),
                                  vdupq_n_f32(finish->high));
        if (division)
            values[v] = vaddq_f32(divide(values[v], finish, division), vdupq_n_f32(finish->zero));
    }
    store(dst, finish->dst, i * finish->dst_row + columns->j, values, vectors);
}

INLINE struct columns load_columns(const struct whole *whole, size_t j, size_t vectors,
                                   struct row row)
{
    const struct gemm_finish *finish = &whole->finish;
    struct columns columns = {.j = j};
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++) {
        columns.scales[v] = vld1q_f32(finish->scales + j * whole->scales_step + 4 * v);
        columns.offsets[v] = vld1q_f32(finish->offsets + j * whole->offsets_step + 4 * v);
        if (row.is_shifted)
            columns.zeros[v] = vld1q_s32(finish->zeros + j * whole->rows_step + 4 * v);
    }
    return columns;
}

/* From column j on, so many vectors of them at a time. */
INLINE void finish_columns(const struct whole *whole, size_t j, size_t vectors, enum element sum,
                           enum element dst, struct row row, enum division division)
{
    for (; j + 4 * vectors <= whole->finish.n; j += 4 * vectors) {
        struct columns columns = load_columns(whole, j, vectors, row);
        for (size_t i = 0; i < whole->finish.m; i++)
            finish_row(whole, &columns, i, vectors, sum, dst, row, division);
    }
}

INLINE enum division division_of(const struct gemm_finish *finish)
{
    if (!finish->is_requantized)
        return UNDIVIDED;
    if (finish->reciprocal == 0)
        return BY_DIVISOR;
    return finish->rest == 0 ? BY_ONE_PART : BY_TWO_PARTS;
}

/* Only bytes have a reciprocal; few columns are divided, which is the same. */
INLINE void finish_divided(const struct whole *whole, size_t j, size_t vectors, enum element sum,
                           enum element dst, struct row row)
{
    int has_parts = (dst == ELEMENT_S8 || dst == ELEMENT_U8) && vectors > 1;
    enum division division = division_of(&whole->finish);
    if (division == UNDIVIDED)
        finish_columns(whole, j, vectors, sum, dst, row, UNDIVIDED);
    else if (has_parts && division == BY_TWO_PARTS)
        finish_columns(whole, j, vectors, sum, dst, row, BY_TWO_PARTS);
    else if (has_parts && division == BY_ONE_PART)
        finish_columns(whole, j, vectors, sum, dst, row, BY_ONE_PART);
    else
        finish_columns(whole, j, vectors, sum, dst, row, BY_DIVISOR);
}

INLINE void finish_vectors(const struct whole *whole, size_t j, size_t vectors, enum element sum,
                           enum element dst)
{
    /* Few columns are done by what serves every row, and so is, of integers, whatever is rare. */
    int has_more = vectors < MOST_VECTORS || whole->row_scales_step || whole->finish.is_clamped;
    if (sum == ELEMENT_S32 && (has_more || whole->rows_step))
        finish_divided(whole, j, vectors, sum, dst, (struct row){.is_shifted = 1, .has_more = 1});
    else if (has_more)
        finish_divided(whole, j, vectors, sum, dst, (struct row){.has_more = 1});
    else
        finish_divided(whole, j, vectors, sum, dst, (struct row){0});
}

static inline const float *values_or(const float *values, const float *nothing, size_t *step)
{
    *step = values != NULL;
    return values ? values : nothing;
}

static struct whole complete(const struct gemm_finish *finish)
{
    enum { MOST_COLUMNS = 4 * MOST_VECTORS };
    static const float ones[MOST_COLUMNS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const float minus_zeros[MOST_COLUMNS] = {-0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f,
                                                    -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f,
                                                    -0.0f, -0.0f, -0.0f, -0.0f};
    static const int32_t zeros[MOST_COLUMNS];
    struct whole whole = {.finish = *finish, .rows_step = finish->rows != NULL};
    struct gemm_finish *to = &whole.finish;
    to->scales = values_or(finish->scales, ones, &whole.scales_step);
    to->offsets = values_or(finish->offsets, minus_zeros, &whole.offsets_step);
    to->row_scales = values_or(finish->row_scales, ones, &whole.row_scales_step);
    if (!finish->rows)
        to->rows = to->zeros = zeros;
    if (!finish->is_clamped)
        to->low = -INFINITY, to->high = INFINITY;
    return whole;
}

static inline const float *first_of_four(const float *from, size_t j, size_t count, float *four)
{
    if (from)
        memcpy(four, from + j, count * sizeof *four);
    return from ? four : NULL;
}

/* The last one to three columns, by copies of four; bytes: of an element of dst. */
static void finish_rest(const struct gemm_finish *finish, size_t bytes, gemm_finish_fn *run)
{
    size_t count = finish->n % 4, j = finish->n - count;
    uint32_t sums[4] = {0}; /* of either type */
    int32_t zeros[4] = {0};
    float scales[4] = {0}, offsets[4] = {0}, out[4];
    struct gemm_finish four = *finish;
    four.m = 1, four.n = 4;
    four.sums = sums, four.zeros = zeros, four.dst = out;
    four.scales = first_of_four(finish->scales, j, count, scales);
    four.offsets = first_of_four(finish->offsets, j, count, offsets);
    if (finish->rows)
        memcpy(zeros, finish->zeros + j, count * sizeof *zeros);
    for (size_t i = 0; i < finish->m; i++) {
        memcpy(sums, (const uint32_t *)finish->sums + i * finish->row + j, count * sizeof *sums);
        four.rows = finish->rows ? finish->rows + i : NULL;
        four.row_scales = finish->row_scales ? finish->row_scales + i : NULL;
        run(&four);
        memcpy((char *)finish->dst + (i * finish->dst_row + j) * bytes, out, count * bytes);
    }
}

INLINE void finish_all(const struct gemm_finish *finish, enum element sum, enum element dst,
                       gemm_finish_fn *run)
{
    struct whole whole = complete(finish);
    size_t j = finish->n / (4 * MOST_VECTORS) * (4 * MOST_VECTORS);
    finish_vectors(&whole, 0, MOST_VECTORS, sum, dst);
    if (finish->n - j >= 4 * TILE_VECTORS) {
        finish_vectors(&whole, j, TILE_VECTORS, sum, dst);
        j += 4 * TILE_VECTORS;
    }
    finish_vectors(&whole, j, 1, sum, dst);
    if (finish->n % 4)
        finish_rest(finish, element_bytes(dst), run);
}

#define KERNEL(types, sum, dst)                                           \
    static void finish_##types(const struct gemm_finish *finish)          \
    {                                                                     \
        finish_all(finish, ELEMENT_##sum, ELEMENT_##dst, finish_##types); \
    }
GEMM_FINISH_LIST(KERNEL)
#undef KERNEL

#define KERNEL(types, sum, dst) \
    {"finish_" #types "_neon", CPU_NEON, ELEMENT_##sum, ELEMENT_##dst, finish_##types},
const struct gemm_finish_kernel gemm_finish_neon[GEMM_FINISH_TYPES] = {GEMM_FINISH_LIST(KERNEL)};
#undef KERNEL
