/* Listed rows for builds without kernels of their own: C that compilers make vectors of. Results
 * are those of ref.c to the bit, as every step is one fused multiply-add; ref.c runs where the
 * processor has none, and for single columns.
 *
 * Four rows at a time have 12 vectors of sums, three of B and one of A: the 16 registers of x86-64.
 */
#include "kernels/asm/fused.h"
#include "kernels/asm/inline.h"
#include "kernels/asm/sizes.h"
#include "kernels/elementwise/f32/clamp_ref.h"
#include "kernels/gemm/f32/listed/listed.h"

#include <math.h>
#include <string.h>

enum { ROWS = 4, VECTORS = 3, WIDEST = LANES * VECTORS };

/* Up to ROWS rows of a tile beside one panel. */
struct part {
    const float *const *rows;
    const float *b, *bias;
    float *c;
    size_t count, columns; /* that are there */
};

/* ROWS rows of the list by the panel: up to the last one that is there, and this one again. */
INLINE void add_rows(const struct gemm_f32_listed *strip, const struct part *part, size_t vectors,
                     size_t last, float values[ROWS][WIDEST])
{
    size_t depth = 4 * strip->rounds + strip->tail;
    const float *const *rows = part->rows, *b = part->b;
    vector sums[ROWS][VECTORS] = {{{0}}}, columns;
    for (size_t i = 0; i < ROWS; i++)
        memcpy(sums[i], values[i], vectors * sizeof(vector));
    for (size_t s = 0; s < strip->segments; s++, rows += GEMM_F32_LIST, b += strip->b_skip)
        for (size_t p = 0; p < depth; p++, b += vectors * LANES)
#pragma GCC unroll 3
            for (size_t v = 0; v < vectors; v++) {
                memcpy(&columns, b + v * LANES, sizeof columns);
#pragma GCC unroll 4
                for (size_t i = 0; i < ROWS; i++)
                    sums[i][v] = rows[smaller(i, last)][p] * columns + sums[i][v];
            }
    for (size_t i = 0; i < ROWS; i++)
        memcpy(values[i], sums[i], vectors * sizeof(vector));
}

INLINE void run_rows(const struct gemm_f32_listed *strip, const struct part *part, size_t vectors)
{
    float values[ROWS][WIDEST] = {{0}};
    for (size_t i = 0; strip->accumulate && i < part->count; i++)
        memcpy(values[i], part->c + i * strip->ldc, part->columns * sizeof(float));
    if (part->count == ROWS)
        add_rows(strip, part, vectors, ROWS - 1, values);
    else
        add_rows(strip, part, vectors, part->count - 1, values);
    float low = strip->clamp & GEMM_F32_LOW ? strip->low : -INFINITY;
    float high = strip->clamp & GEMM_F32_HIGH ? strip->high : INFINITY;
    for (size_t i = 0; i < part->count; i++)
        for (size_t j = 0; j < part->columns; j++)
            part->c[i * strip->ldc + j] =
                clamp(part->bias ? values[i][j] + part->bias[j] : values[i][j], low, high);
}

INLINE void run_strip(const struct gemm_f32_listed *strip, size_t vectors)
{
    size_t width = vectors * LANES, height = strip->height;
    for (size_t t = 0; t < strip->tiles; t++)
        for (size_t q = 0; q < strip->panels; q++)
            for (size_t i = 0; i < height; i += ROWS)
                run_rows(strip,
                         &(struct part){
                             .rows = strip->rows + t * strip->segments * GEMM_F32_LIST + i,
                             .b = strip->b + q * strip->b_step,
                             .bias = strip->bias ? strip->bias + q * width : NULL,
                             .c = strip->c + (t * height + i) * strip->ldc + q * width,
                             .count = smaller(height - i, ROWS),
                             .columns = width - strip->missing,
                         },
                         vectors);
}

FUSED static void run_fused(const struct gemm_f32_listed *strip)
{
    if (strip->width == 12)
        run_strip(strip, 3);
    else if (strip->width == 8)
        run_strip(strip, 2);
    else
        run_strip(strip, 1);
}

/* One function of ref.c is for all heights and widths. */
static void run(const struct gemm_f32_listed *strip)
{
    if (strip->width < LANES || !has_fused())
        gemm_f32_listed_ref.run[0][0](strip);
    else
        run_fused(strip);
}

static void pack(const struct gemm_f32_listed *strip)
{
    gemm_f32_listed_pack_by(strip, run);
}

static void regular(const struct gemm_f32_listed *strip)
{
    gemm_f32_listed_regular_by(strip, run);
}

/* clang-format off */
#define HEIGHTS(fn) {fn, fn, fn, fn, fn, fn, fn}
const struct gemm_f32_listed_kernels gemm_f32_listed_generic = {
    "gemm_f32_listed_generic", 0, 0, GEMM_F32_LISTED_HEIGHT, {
        HEIGHTS(run), HEIGHTS(run), HEIGHTS(run), HEIGHTS(run),
    },
    HEIGHTS(pack), HEIGHTS(regular), {0},
};
#undef HEIGHTS
/* clang-format on */
