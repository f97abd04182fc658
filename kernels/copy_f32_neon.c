/* Strided copies: whole rows where both sides are contiguous, 4x4 transposes where they are so in
 * different directions (two to four rows or columns: interleaving stores or loads), else
 * element by element.
 *
 * A transpose goes over blocks of 16 rows and 32 columns, so that each piece it writes is a cache
 * line, and each it reads two. */
#include "kernels/copy_f32.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/vector_neon.h"

enum { BLOCK_ROWS = 16, BLOCK_COLS = 64, SHORT_ROW = 32 };

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void copy_elements(const struct copy_f32_plane *plane, size_t r, size_t r_end, size_t c,
                          size_t c_end)
{
    for (; r < r_end; r++) {
        const float *src = plane->src + (ptrdiff_t)r * plane->src_row;
        float *dst = plane->dst + (ptrdiff_t)r * plane->dst_row;
        for (size_t i = c; i < c_end; i++)
            dst[(ptrdiff_t)i * plane->dst_col] = src[(ptrdiff_t)i * plane->src_col];
    }
}

/* Rows that a call of memcpy() would cost more than; the last vector overlaps the one before. */
static void copy_short_rows(const struct copy_f32_plane *plane)
{
    const float *src = plane->src;
    float *dst = plane->dst;
    size_t last = plane->cols - 4;
    for (size_t r = plane->rows; r; r--, src += plane->src_row, dst += plane->dst_row) {
        for (size_t i = 0; i < last; i += 4)
            vst1q_f32(dst + i, vld1q_f32(src + i));
        vst1q_f32(dst + last, vld1q_f32(src + last));
    }
}

/* Both column strides are 1; rows without gaps are one row. */
static void copy_rows(const struct copy_f32_plane *plane)
{
    ptrdiff_t cols = (ptrdiff_t)plane->cols;
    if (plane->src_row == cols && plane->dst_row == cols) {
        memcpy(plane->dst, plane->src, plane->rows * plane->cols * sizeof(float));
        return;
    }
    if (cols >= 4 && cols <= SHORT_ROW) {
        copy_short_rows(plane);
        return;
    }
    for (size_t r = 0; r < plane->rows; r++)
        memcpy(plane->dst + (ptrdiff_t)r * plane->dst_row,
               plane->src + (ptrdiff_t)r * plane->src_row, plane->cols * sizeof(float));
}

/* Four columns of four or eight rows; src_col and dst_row are 1. Of eight, what goes to a line of
 * dst is stored together. */
INLINE void transpose(size_t rows, const float *src, ptrdiff_t src_row, float *dst,
                      ptrdiff_t dst_col)
{
    float32x4_t block[8];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
        block[i] = vld1q_f32(src + (ptrdiff_t)i * src_row);
    transpose_4x4(block);
    if (rows == 8)
        transpose_4x4(block + 4);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++)
        if (rows == 8)
            vst1q_f32_x2(dst + (ptrdiff_t)i * dst_col, ((float32x4x2_t){{block[i], block[i + 4]}}));
        else
            vst1q_f32(dst + (ptrdiff_t)i * dst_col, block[i]);
}

/* All columns, but four at least are in front of the end of these: the last block of them overlaps
 * the one before. */
INLINE void transpose_rows(size_t rows, const float *src, ptrdiff_t src_row, float *dst,
                           ptrdiff_t dst_col, size_t cols)
{
    ptrdiff_t missing = (ptrdiff_t)(-cols % 4);
    for (; cols >= 4; cols -= 4, src += 4, dst += 4 * dst_col)
        transpose(rows, src, src_row, dst, dst_col);
    if (missing)
        transpose(rows, src - missing, src_row, dst - missing * dst_col, dst_col);
}

/* Eight rows at a time, or four; the last ones overlap those before, too. */
static void transpose_block(const struct copy_f32_plane *plane, size_t r, size_t r_end, size_t c,
                            size_t cols)
{
    const float *src = plane->src + c;
    float *dst = plane->dst + (ptrdiff_t)c * plane->dst_col;
    ptrdiff_t src_row = plane->src_row, dst_col = plane->dst_col;
    while (r < r_end) {
        bool eight = r_end - r > 4 && plane->rows >= 8;
        r = lesser(r, plane->rows - (eight ? 8 : 4));
        const float *from = src + (ptrdiff_t)r * src_row;
        if (eight)
            transpose_rows(8, from, src_row, dst + r, dst_col, cols);
        else
            transpose_rows(4, from, src_row, dst + r, dst_col, cols);
        r += eight ? 8 : 4;
    }
}

/* Four rows whose columns become neighbours: the stores interleave. src_col and dst_row are 1. */
static size_t interleave_4(const struct copy_f32_plane *plane)
{
    const float *a = plane->src, *b = a + plane->src_row, *c = b + plane->src_row;
    const float *d = c + plane->src_row;
    size_t i = 0;
    for (; i + 4 <= plane->cols; i += 4)
        vst4q_f32(plane->dst + i * 4, ((float32x4x4_t){{vld1q_f32(a + i), vld1q_f32(b + i),
                                                        vld1q_f32(c + i), vld1q_f32(d + i)}}));
    return i;
}

/* Three, and two, rows; also the same one several times. */
static size_t interleave_3(const struct copy_f32_plane *plane)
{
    const float *a = plane->src, *b = a + plane->src_row, *c = b + plane->src_row;
    size_t i = 0;
    for (; i + 4 <= plane->cols; i += 4)
        vst3q_f32(plane->dst + i * 3,
                  ((float32x4x3_t){{vld1q_f32(a + i), vld1q_f32(b + i), vld1q_f32(c + i)}}));
    return i;
}

static size_t interleave_2(const struct copy_f32_plane *plane)
{
    const float *a = plane->src, *b = a + plane->src_row;
    size_t i = 0;
    for (; i + 4 <= plane->cols; i += 4)
        vst2q_f32(plane->dst + i * 2, ((float32x4x2_t){{vld1q_f32(a + i), vld1q_f32(b + i)}}));
    return i;
}

static void interleave(const struct copy_f32_plane *plane)
{
    size_t done = plane->rows == 4   ? interleave_4(plane)
                  : plane->rows == 3 ? interleave_3(plane)
                                     : interleave_2(plane);
    copy_elements(plane, 0, plane->rows, done, plane->cols);
}

/* The way back: four columns that are neighbours. */
static size_t deinterleave_4(const struct copy_f32_plane *plane)
{
    float *a = plane->dst, *b = a + plane->dst_col, *c = b + plane->dst_col;
    float *d = c + plane->dst_col;
    size_t i = 0;
    for (; i + 4 <= plane->rows; i += 4) {
        float32x4x4_t block = vld4q_f32(plane->src + i * 4);
        vst1q_f32(a + i, block.val[0]);
        vst1q_f32(b + i, block.val[1]);
        vst1q_f32(c + i, block.val[2]);
        vst1q_f32(d + i, block.val[3]);
    }
    return i;
}

/* Three, and two, columns that are neighbours. */
static size_t deinterleave_3(const struct copy_f32_plane *plane)
{
    float *a = plane->dst, *b = a + plane->dst_col, *c = b + plane->dst_col;
    size_t i = 0;
    for (; i + 4 <= plane->rows; i += 4) {
        float32x4x3_t block = vld3q_f32(plane->src + i * 3);
        vst1q_f32(a + i, block.val[0]);
        vst1q_f32(b + i, block.val[1]);
        vst1q_f32(c + i, block.val[2]);
    }
    return i;
}

static size_t deinterleave_2(const struct copy_f32_plane *plane)
{
    float *a = plane->dst, *b = a + plane->dst_col;
    size_t i = 0;
    for (; i + 4 <= plane->rows; i += 4) {
        float32x4x2_t block = vld2q_f32(plane->src + i * 2);
        vst1q_f32(a + i, block.val[0]);
        vst1q_f32(b + i, block.val[1]);
    }
    return i;
}

static void deinterleave(const struct copy_f32_plane *plane)
{
    size_t done = plane->cols == 4   ? deinterleave_4(plane)
                  : plane->cols == 3 ? deinterleave_3(plane)
                                     : deinterleave_2(plane);
    copy_elements(plane, done, plane->rows, 0, plane->cols);
}

static void copy_transposed(const struct copy_f32_plane *plane)
{
    if (plane->rows >= 2 && plane->rows <= 4 && plane->dst_col == (ptrdiff_t)plane->rows) {
        interleave(plane);
        return;
    }
    if (plane->cols >= 2 && plane->cols <= 4 && plane->src_row == (ptrdiff_t)plane->cols) {
        deinterleave(plane);
        return;
    }
    if (plane->rows < 4 || plane->cols < 4) {
        copy_elements(plane, 0, plane->rows, 0, plane->cols);
        return;
    }
    for (size_t r = 0; r < plane->rows; r += BLOCK_ROWS)
        for (size_t c = 0; c < plane->cols; c += BLOCK_COLS)
            transpose_block(plane, r, lesser(r + BLOCK_ROWS, plane->rows), c,
                            lesser(BLOCK_COLS, plane->cols - c));
}

static void run(const struct copy_f32_plane *plane)
{
    struct copy_f32_plane turned = *plane; /* rows and columns change their names */
    turned.rows = plane->cols, turned.cols = plane->rows;
    turned.src_row = plane->src_col, turned.src_col = plane->src_row;
    turned.dst_row = plane->dst_col, turned.dst_col = plane->dst_row;
    if (plane->rows == 0 || plane->cols == 0)
        return;
    if (plane->src_col == 1 && plane->dst_col == 1)
        copy_rows(plane);
    else if (plane->src_row == 1 && plane->dst_row == 1)
        copy_rows(&turned);
    else if (plane->src_col == 1 && plane->dst_row == 1)
        copy_transposed(plane);
    else if (plane->src_row == 1 && plane->dst_col == 1)
        copy_transposed(&turned);
    else if (plane->dst_col == 1 || plane->dst_row != 1)
        copy_elements(plane, 0, plane->rows, 0, plane->cols);
    else
        copy_elements(&turned, 0, turned.rows, 0, turned.cols);
}

const struct copy_f32_kernel copy_f32_neon = {"copy_f32_neon", CPU_NEON, run};
