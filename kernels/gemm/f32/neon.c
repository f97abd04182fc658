/* Tiles of gemm.h for NEON. Sums are rows of C, a register for four of its columns; A gives the
 * lanes and B the vectors. A step of k takes one or two loads of A, one or two of B and
 * mr * nr / 4 multiply-adds. What has no rows, or no whole vectors, is computed in a copy.
 *
 * Whole tiles of 8x12 are assembly (8x12_neon.S), and so are some for cores that issue in order
 * (in_order_neon.S). */
#include <math.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/gemm/f32/gemm.h"

enum { ROWS = GEMM_F32_MR, WIDTH = GEMM_F32_NR, MOST_VECTORS = WIDTH / 4 };

/* Four or more rows: the second load of A overlaps the first one if there are fewer than eight.
 * Below four each value is loaded alone, so that nothing is read beyond the panel. */
INLINE void step(float32x4_t sums[ROWS][MOST_VECTORS], const float *a, const float *b, size_t mr,
                 size_t vectors)
{
    float32x4_t x[2], y[MOST_VECTORS];
    if (mr >= 4)
        x[0] = vld1q_f32(a), x[1] = vld1q_f32(a + mr - 4);
#pragma GCC unroll 3
    for (size_t v = 0; v < vectors; v++)
        y[v] = vld1q_f32(b + 4 * v);
#pragma GCC unroll 8
    for (size_t i = 0; i < mr; i++)
#pragma GCC unroll 3
        for (size_t v = 0; v < vectors; v++)
            sums[i][v] = mr < 4  ? vfmaq_n_f32(sums[i][v], y[v], a[i])
                         : i < 4 ? fma_lane(sums[i][v], y[v], x[0], i)
                                 : fma_lane(sums[i][v], y[v], x[1], i + 4 - mr);
}

/* From C or from zero on, all of k: as many steps at once as registers hold what they load without
 * moves between them. */
INLINE void multiply(const struct gemm_f32_tile *tile, size_t mr, size_t vectors,
                     float32x4_t sums[ROWS][MOST_VECTORS])
{
    const size_t at_once = mr * vectors > 8 ? 1 : 4;
    const float *a = tile->a, *b = tile->b;
    size_t left = tile->k;
#pragma GCC unroll 8
    for (size_t i = 0; i < mr; i++)
#pragma GCC unroll 3
        for (size_t v = 0; v < vectors; v++)
            sums[i][v] = vdupq_n_f32(0);
    if (tile->accumulate)
#pragma GCC unroll 8
        for (size_t i = 0; i < mr; i++)
#pragma GCC unroll 3
            for (size_t v = 0; v < vectors; v++)
                sums[i][v] = vld1q_f32(tile->c + i * tile->row + 4 * v);
    for (; left >= at_once; left -= at_once) {
#pragma GCC unroll 4
        for (size_t s = 0; s < at_once; s++)
            step(sums, a + s * mr, b + s * 4 * vectors, mr, vectors);
        a += at_once * mr, b += at_once * 4 * vectors;
    }
    for (; at_once > 1 && left; left--) {
        step(sums, a, b, mr, vectors);
        a += mr, b += 4 * vectors;
    }
}

INLINE void run_whole(const struct gemm_f32_tile *tile, size_t mr, size_t vectors)
{
    float32x4_t sums[ROWS][MOST_VECTORS];
    multiply(tile, mr, vectors, sums);
    if (tile->bias)
#pragma GCC unroll 3
        for (size_t v = 0; v < vectors; v++) {
            float32x4_t bias = vld1q_f32(tile->bias + 4 * v);
#pragma GCC unroll 8
            for (size_t i = 0; i < mr; i++)
                sums[i][v] = vaddq_f32(sums[i][v], bias);
        }
    if (tile->low > -INFINITY || tile->high < INFINITY) {
        float32x4_t low = vdupq_n_f32(tile->low), high = vdupq_n_f32(tile->high);
#pragma GCC unroll 8
        for (size_t i = 0; i < mr; i++)
#pragma GCC unroll 3
            for (size_t v = 0; v < vectors; v++)
                sums[i][v] = vminq_f32(vmaxq_f32(sums[i][v], low), high);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < mr; i++)
#pragma GCC unroll 3
        for (size_t v = 0; v < vectors; v++)
            vst1q_f32(tile->c + i * tile->row + 4 * v, sums[i][v]);
}

/* ---- copies of C, WIDTH wide ---- */

/* What of a copied row does not exist becomes 0. */
static void copy_row(float *to, const float *from, size_t count)
{
    for (size_t v = 0; v < WIDTH; v += 4)
        vst1q_f32(to + v, load_part(from + v, left(count, v)));
}

static void copy_in(float *copy, const struct gemm_f32_tile *tile, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        copy_row(copy + i * WIDTH, tile->c + i * tile->row, tile->n);
}

static void copy_out(const float *copy, const struct gemm_f32_tile *tile, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t v = 0; v < tile->n; v += 4)
            store_part(tile->c + i * tile->row + v, vld1q_f32(copy + i * WIDTH + v), tile->n - v);
}

/* From and to columns of C, 4x4 elements at a time. */
static void transpose_in(float *copy, const struct gemm_f32_tile *tile, size_t rows)
{
    for (size_t j = 0; j < WIDTH; j += 4)
        for (size_t i = 0; i < rows; i += 4) {
            float32x4_t block[4];
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++)
                block[x] = j + x < tile->n ? load_part(tile->c + (j + x) * tile->col + i, rows - i)
                                           : vdupq_n_f32(0);
            transpose_4x4(block);
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++)
                vst1q_f32(copy + (i + x) * WIDTH + j, block[x]);
        }
}

static void transpose_out(const float *copy, const struct gemm_f32_tile *tile, size_t rows)
{
    for (size_t j = 0; j < tile->n; j += 4)
        for (size_t i = 0; i < rows; i += 4) {
            float32x4_t block[4];
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++)
                block[x] = i + x < rows ? vld1q_f32(copy + (i + x) * WIDTH + j) : vdupq_n_f32(0);
            transpose_4x4(block);
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++)
                if (j + x < tile->n)
                    store_part(tile->c + (j + x) * tile->col + i, block[x], rows - i);
        }
}

/* By a kernel for whole rows. */
static void run_copy(const struct gemm_f32_tile *tile, size_t mr, size_t nr, gemm_f32_fn *run)
{
    float copy[ROWS * WIDTH], bias[WIDTH];
    struct gemm_f32_tile whole = *tile;
    whole.c = copy, whole.row = WIDTH, whole.col = 1, whole.n = nr;
    if (tile->bias) {
        copy_row(bias, tile->bias, tile->n);
        whole.bias = bias;
    }
    if (tile->accumulate)
        (tile->col == 1 ? copy_in : transpose_in)(copy, tile, mr);
    run(&whole);
    (tile->col == 1 ? copy_out : transpose_out)(copy, tile, mr);
}

/* ---- kernels ---- */

gemm_f32_fn gemm_f32_8x12_whole_neon, gemm_f32_8x12_narrow_whole_neon,
    gemm_f32_8x8_narrow_whole_neon, gemm_f32_8x12_columns_whole_neon,
    gemm_f32_8x12_columns_narrow_whole_neon;

#define BY_ASSEMBLY(name, mr, nr, rows)                           \
    void gemm_f32_##name##_neon(const struct gemm_f32_tile *tile) \
    {                                                             \
        if (tile->n == (nr))                                      \
            gemm_f32_##name##_whole_neon(tile);                   \
        else                                                      \
            run_copy(tile, mr, nr, gemm_f32_##rows##_neon);       \
    }
BY_ASSEMBLY(8x12, 8, 12, 8x12)
BY_ASSEMBLY(8x12_columns, 8, 12, 8x12)
BY_ASSEMBLY(8x12_narrow, 8, 12, 8x12_narrow)
BY_ASSEMBLY(8x12_columns_narrow, 8, 12, 8x12_narrow)
BY_ASSEMBLY(8x8_narrow, 8, 8, 8x8_narrow)

#define KERNEL(mr, nr)                                                         \
    void gemm_f32_##mr##x##nr##_neon(const struct gemm_f32_tile *tile)         \
    {                                                                          \
        if (tile->n == (nr))                                                   \
            run_whole(tile, mr, (nr) / 4);                                     \
        else                                                                   \
            run_copy(tile, mr, nr, gemm_f32_##mr##x##nr##_neon);               \
    }                                                                          \
    void gemm_f32_##mr##x##nr##_columns_neon(const struct gemm_f32_tile *tile) \
    {                                                                          \
        run_copy(tile, mr, nr, gemm_f32_##mr##x##nr##_neon);                   \
    }
#include "kernels/gemm/f32/tiles_list.h"
