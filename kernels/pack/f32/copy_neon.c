/* Strided copies: whole rows where both sides are contiguous, 4x4 transposes where they are so in
 * different directions (two to four rows or columns: interleaving stores or loads), else
 * element by element.
 *
 * A transpose goes over blocks of 16 rows and 64 columns, so that each piece it writes is a cache
 * line, and each it reads four; few columns of many rows are done four at a time, down as many rows
 * as stay in the L1 cache. */
#include "kernels/pack/f32/copy.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/asm/sizes.h"
#include "kernels/asm/vector_neon.h"

enum {
    BLOCK_ROWS = 16,
    BLOCK_COLS = 64,
    SHORT_ROW = 32,
    FEW_COLS = 32,
    DOWN_VALUES = 4096, /* of a block of few columns */
};

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

/* Four columns down the rows, at least eight; the last tile overlaps the one before. */
INLINE void transpose_columns(size_t rows, const float *src, ptrdiff_t src_row, float *dst,
                              ptrdiff_t dst_col)
{
    ptrdiff_t missing = (ptrdiff_t)(-rows % 8);
    for (; rows >= 8; rows -= 8, src += 8 * src_row, dst += 8)
        transpose(8, src, src_row, dst, dst_col);
    if (missing)
        transpose(8, src - missing * src_row, src_row, dst - missing, dst_col);
}

/* Four to FEW_COLS columns of at least eight rows. */
static void transpose_few_columns(const struct copy_f32_plane *plane)
{
    size_t cols = plane->cols, count;
    for (size_t r = 0; r < plane->rows; r += count) {
        count = smaller(DOWN_VALUES / cols, plane->rows - r);
        size_t rows = count < 8 ? 8 : count, first = r + count - rows;
        const float *src = plane->src + (ptrdiff_t)first * plane->src_row;
        for (size_t i = 0; i < cols; i += 4) {
            size_t c = smaller(i, cols - 4);
            transpose_columns(rows, src + c, plane->src_row,
                              plane->dst + (ptrdiff_t)c * plane->dst_col + first, plane->dst_col);
        }
    }
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
        r = smaller(r, plane->rows - (eight ? 8 : 4));
        const float *from = src + (ptrdiff_t)r * src_row;
        if (eight)
            transpose_rows(8, from, src_row, dst + r, dst_col, cols);
        else
            transpose_rows(4, from, src_row, dst + r, dst_col, cols);
        r += eight ? 8 : 4;
    }
}

/* Four columns, from i on, of two to four rows become neighbours: the store interleaves. src_col
 * and dst_row are 1; rows may also be the same one several times. */
INLINE void interleave(const struct copy_f32_plane *plane, size_t i, size_t rows)
{
    float *to = plane->dst + i * rows;
    float32x4_t x[4];
#pragma GCC unroll 4
    for (size_t j = 0; j < rows; j++)
        x[j] = vld1q_f32(plane->src + (ptrdiff_t)j * plane->src_row + i);
    if (rows == 4)
        vst4q_f32(to, ((float32x4x4_t){{x[0], x[1], x[2], x[3]}}));
    else if (rows == 3)
        vst3q_f32(to, ((float32x4x3_t){{x[0], x[1], x[2]}}));
    else
        vst2q_f32(to, ((float32x4x2_t){{x[0], x[1]}}));
}

/* The way back: four rows of two to four columns that are neighbours. */
INLINE void deinterleave(const struct copy_f32_plane *plane, size_t i, size_t cols)
{
    const float *from = plane->src + i * cols;
    float32x4x2_t two = {0};
    float32x4x3_t three = {0};
    float32x4x4_t four = {0};
    if (cols == 4)
        four = vld4q_f32(from);
    else if (cols == 3)
        three = vld3q_f32(from);
    else
        two = vld2q_f32(from);
    const float32x4_t *x = cols == 4 ? four.val : cols == 3 ? three.val : two.val;
#pragma GCC unroll 4
    for (size_t j = 0; j < cols; j++)
        vst1q_f32(plane->dst + (ptrdiff_t)j * plane->dst_col + i, x[j]);
}

typedef void four_fn(const struct copy_f32_plane *plane, size_t i, size_t parts);

/* All columns, or rows: at least four; the last four overlap those before. */
INLINE void in_fours(const struct copy_f32_plane *given, size_t count, size_t parts, four_fn *at)
{
    const struct copy_f32_plane plane = *given;
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        at(&plane, i, parts);
    if (i < count)
        at(&plane, count - 4, parts);
}

/* Of two to four parts, which become constants. */
INLINE void by_parts(const struct copy_f32_plane *plane, size_t count, size_t parts, four_fn *at)
{
    if (parts == 4)
        in_fours(plane, count, 4, at);
    else if (parts == 3)
        in_fours(plane, count, 3, at);
    else
        in_fours(plane, count, 2, at);
}

static void copy_transposed(const struct copy_f32_plane *plane)
{
    size_t rows = plane->rows, cols = plane->cols;
    if (rows >= 2 && rows <= 4 && cols >= 4 && plane->dst_col == (ptrdiff_t)rows) {
        by_parts(plane, cols, rows, interleave);
        return;
    }
    if (cols >= 2 && cols <= 4 && rows >= 4 && plane->src_row == (ptrdiff_t)cols) {
        by_parts(plane, rows, cols, deinterleave);
        return;
    }
    if (rows < 4 || cols < 4) {
        copy_elements(plane, 0, rows, 0, cols);
        return;
    }
    if (rows >= 8 && rows > cols && cols <= FEW_COLS) {
        transpose_few_columns(plane);
        return;
    }
    for (size_t r = 0; r < plane->rows; r += BLOCK_ROWS)
        for (size_t c = 0; c < plane->cols; c += BLOCK_COLS)
            transpose_block(plane, r, smaller(r + BLOCK_ROWS, plane->rows), c,
                            smaller(BLOCK_COLS, plane->cols - c));
}

/* Rows and columns change their names. */
static void run_turned(const struct copy_f32_plane *plane)
{
    struct copy_f32_plane turned = *plane;
    turned.rows = plane->cols, turned.cols = plane->rows;
    turned.src_row = plane->src_col, turned.src_col = plane->src_row;
    turned.dst_row = plane->dst_col, turned.dst_col = plane->dst_row;
    if (plane->src_row == 1 && plane->dst_row == 1)
        copy_rows(&turned);
    else if (plane->src_row == 1 && plane->dst_col == 1)
        copy_transposed(&turned);
    else if (plane->dst_col == 1 || plane->dst_row != 1)
        copy_elements(plane, 0, plane->rows, 0, plane->cols);
    else
        copy_elements(&turned, 0, turned.rows, 0, turned.cols);
}

static void run(const struct copy_f32_plane *plane)
{
    if (plane->rows == 0 || plane->cols == 0)
        return;
    if (plane->src_col == 1 && plane->dst_col == 1)
        copy_rows(plane);
    else if (plane->src_col == 1 && plane->dst_row == 1 && plane->src_row != 1)
        copy_transposed(plane);
    else
        run_turned(plane);
}

const struct copy_f32_kernel copy_f32_neon = {"copy_f32_neon", CPU_NEON, run};
