/* Dot products for builds without kernels of their own: C that compilers make vectors of. Results
 * are those of ref.c to the bit; ref.c runs where the processor fuses nothing.
 *
 * Four rows beside two columns have 8 vectors of sums, two of x and one of a row: 11 of the 16
 * registers of x86-64, and as many sums as hide what one multiply-add waits for another. */
#include "kernels/asm/fused.h"
#include "kernels/asm/inline.h"
#include "kernels/dot/f32/dot.h"

#include <string.h>

enum { ROWS = 4, COLUMNS = 2 };

/* Rows beside columns: all of them, and where the results go. */
struct part {
    const struct dot_f32 *dot;
    const float *rows, *x;
    float *out;
};

INLINE vector load(const float *from)
{
    vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Steps that fill vectors; returns how many. */
INLINE size_t add_vectors(const struct part *part, size_t rows, size_t columns,
                          vector sums[][COLUMNS])
{
    size_t p = 0;
    vector x[COLUMNS];
    for (; p + LANES <= part->dot->k; p += LANES) {
        for (size_t j = 0; j < columns; j++)
            x[j] = load(part->x + j * part->dot->x_stride + p);
#pragma GCC unroll 4
        for (size_t i = 0; i < rows; i++) {
            vector row = load(part->rows + i * part->dot->stride + p);
            for (size_t j = 0; j < columns; j++)
                sums[i][j] = row * x[j] + sums[i][j];
        }
    }
    return p;
}

INLINE void run_tile(const struct part *part, size_t rows, size_t columns)
{
    vector sums[ROWS][COLUMNS] = {{{0}}};
    size_t whole = add_vectors(part, rows, columns, sums);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            const float *row = part->rows + i * part->dot->stride;
            const float *x = part->x + j * part->dot->x_stride;
            vector s = sums[i][j];
            for (size_t p = whole; p < part->dot->k; p++)
                s[p - whole] = row[p] * x[p] + s[p - whole];
            float *to = part->out + i * part->dot->out_row + j * part->dot->out_column;
            float sum = (s[0] + s[1]) + (s[2] + s[3]);
            *to = part->dot->adds ? sum + *to : sum;
        }
}

INLINE void run_rows(struct part part, size_t columns)
{
    const struct dot_f32 *dot = part.dot;
    size_t left = dot->count;
    for (; left >= ROWS; left -= ROWS) {
        run_tile(&part, ROWS, columns);
        part.rows += ROWS * dot->stride;
        part.out += ROWS * dot->out_row;
    }
    for (; left > 0; left--) {
        run_tile(&part, 1, columns);
        part.rows += dot->stride;
        part.out += dot->out_row;
    }
}

FUSED static void fused(const struct dot_f32 *dot, const float *rows, const float *x, float *out)
{
    size_t j = 0;
    for (; j + COLUMNS <= dot->columns; j += COLUMNS)
        run_rows((struct part){dot, rows, x + j * dot->x_stride, out + j * dot->out_column},
                 COLUMNS);
    if (j < dot->columns)
        run_rows((struct part){dot, rows, x + j * dot->x_stride, out + j * dot->out_column}, 1);
}

static void run(const struct dot_f32 *dot, const float *rows, const float *x, float *out)
{
    if (has_fused())
        fused(dot, rows, x, out);
    else
        dot_f32_ref.run(dot, rows, x, out);
}

const struct dot_f32_kernel dot_f32_generic = {"dot_f32_generic", 0, 0, run};
