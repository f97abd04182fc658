/* Products of lines for NEON: sums of up to four columns of one row in registers, of four vectors
 * of a line each, or of one; a vector that is not whole is loaded and stored in parts.
 *
 * With four columns a step takes four loads of A, one for each column that is shared, and 16
 * multiply-adds: 1.5 instructions for each of them. */
#include <stdbool.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/gemm/f32/lines/lines.h"

enum { COLUMNS = 4, VECTORS = 4 };

/* What the compiler knows of a tile; part: how much of its only vector exists, or 0 for all of it.
 */
struct tile {
    size_t columns, vectors;
    bool is_shared;
};

INLINE float32x4_t load(const float *from, size_t part)
{
    return part ? load_part(from, part) : vld1q_f32(from);
}

INLINE void step(const struct tile tile, float32x4_t sums[COLUMNS][VECTORS], const float *a,
                 const float *b, ptrdiff_t column, size_t part, bool first)
{
    float32x4_t x[VECTORS];
#pragma GCC unroll 4
    for (size_t v = 0; v < tile.vectors; v++)
        x[v] = load(a + 4 * v, part);
#pragma GCC unroll 4
    for (size_t j = 0; j < tile.columns; j++, b += column) {
        float32x4_t y = vdupq_n_f32(0);
        if (tile.is_shared)
            y = vld1q_dup_f32(b);
#pragma GCC unroll 4
        for (size_t v = 0; v < tile.vectors; v++) {
            if (!tile.is_shared)
                y = load(b + 4 * v, part);
            sums[j][v] = first ? vmulq_f32(x[v], y) : vfmaq_f32(sums[j][v], x[v], y);
        }
    }
}

INLINE void run_tile(const struct gemm_f32_lines *lines, const struct tile tile, const float *a,
                     const float *b, float *c, size_t part)
{
    float32x4_t sums[COLUMNS][VECTORS];
    step(tile, sums, a, b, lines->b_column, part, true);
    for (size_t left = lines->k - 1; left; left--) {
        a += lines->a_step, b += lines->b_step;
        step(tile, sums, a, b, lines->b_column, part, false);
    }
#pragma GCC unroll 4
    for (size_t j = 0; j < tile.columns; j++, c += lines->c_column)
#pragma GCC unroll 4
        for (size_t v = 0; v < tile.vectors; v++) {
            if (part)
                store_part(c, sums[j][v], part);
            else
                vst1q_f32(c + 4 * v, sums[j][v]);
        }
}

/* Up to four columns of one row, from the beginning of their lines to the end. */
INLINE void run_line(const struct gemm_f32_lines *lines, size_t columns, bool is_shared,
                     const float *a, const float *b, float *c)
{
    const struct tile wide = {columns, VECTORS, is_shared}, narrow = {columns, 1, is_shared};
    size_t x = 0;
    for (; x + 4 * VECTORS <= lines->count; x += 4 * VECTORS)
        run_tile(lines, wide, a + x, is_shared ? b : b + x, c + x, 0);
    for (; x + 4 <= lines->count; x += 4)
        run_tile(lines, narrow, a + x, is_shared ? b : b + x, c + x, 0);
    if (x < lines->count)
        run_tile(lines, narrow, a + x, is_shared ? b : b + x, c + x, lines->count - x);
}

INLINE void run_columns(const struct gemm_f32_lines *lines, size_t columns, const float *a,
                        const float *b, float *c)
{
    if (lines->b_is_shared)
        run_line(lines, columns, true, a, b, c);
    else
        run_line(lines, columns, false, a, b, c);
}

static void run(const struct gemm_f32_lines *lines)
{
    const float *a = lines->a;
    float *row = lines->c;
    for (size_t i = 0; i < lines->m; i++, a += lines->a_row, row += lines->c_row) {
        const float *b = lines->b;
        float *c = row;
        size_t left = lines->n;
        for (; left >= COLUMNS; left -= COLUMNS) {
            run_columns(lines, COLUMNS, a, b, c);
            b += COLUMNS * lines->b_column, c += COLUMNS * lines->c_column;
        }
        if (left == 3)
            run_columns(lines, 3, a, b, c);
        else if (left == 2)
            run_columns(lines, 2, a, b, c);
        else if (left == 1)
            run_columns(lines, 1, a, b, c);
    }
}

const struct gemm_f32_lines_kernel gemm_f32_lines_neon = {"gemm_f32_lines_neon", CPU_NEON, run};
