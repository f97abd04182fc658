/* Listed rows for builds without kernels of their own: C that compilers make vectors of. Results
 * are those of ref.c to the bit, as every step is one fused multiply-add; ref.c runs where the
 * processor has none, and for single columns.
 *
 * Four rows at a time have 12 vectors of sums, three of B and one of A: the 16 registers of x86-64.
 */
#include "kernels/asm/fused.h"
#include "kernels/asm/inline.h"
#include "kernels/gemm/f32/listed/listed.h"

#include <string.h>

enum { ROWS = 4, VECTORS = 3, WIDEST = LANES * VECTORS };

/* Some rows of a tile beside one panel. */
struct part {
    const float *const *rows;
    const float *b, *bias;
    float *c;
    size_t columns; /* that are there */
};

INLINE float clamp(const struct gemm_f32_listed *strip, float x)
{
    if ((strip->clamp & GEMM_F32_LOW) && x < strip->low) /* false for NaN, which stays */
        return strip->low;
    return (strip->clamp & GEMM_F32_HIGH) && x > strip->high ? strip->high : x;
}

INLINE void begin_rows(const struct gemm_f32_listed *strip, const struct part *part, size_t count,
                       float values[][WIDEST])
{
    memset(values, 0, ROWS * sizeof *values);
    for (size_t i = 0; strip->accumulate && i < count; i++)
        memcpy(values[i], part->c + i * strip->ldc, part->columns * sizeof(float));
}

INLINE void end_rows(const struct gemm_f32_listed *strip, const struct part *part, size_t count,
                     float values[][WIDEST])
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < part->columns; j++) {
            float sum = part->bias ? values[i][j] + part->bias[j] : values[i][j];
            part->c[i * strip->ldc + j] = clamp(strip, sum);
        }
}

INLINE void add_rows(const struct gemm_f32_listed *strip, const struct part *part, size_t vectors,
                     size_t count, float values[][WIDEST])
{
    size_t depth = 4 * strip->rounds + strip->tail;
    const float *const *rows = part->rows, *b = part->b;
    vector sums[ROWS][VECTORS] = {{{0}}}, columns;
    for (size_t i = 0; i < count; i++)
        memcpy(sums[i], values[i], vectors * sizeof(vector));
    for (size_t s = 0; s < strip->segments; s++, rows += GEMM_F32_LIST, b += strip->b_skip)
        for (size_t p = 0; p < depth; p++, b += vectors * LANES)
#pragma GCC unroll 3
            for (size_t v = 0; v < vectors; v++) {
                memcpy(&columns, b + v * LANES, sizeof columns);
#pragma GCC unroll 4
                for (size_t i = 0; i < count; i++)
                    sums[i][v] = rows[i][p] * columns + sums[i][v];
            }
    for (size_t i = 0; i < count; i++)
        memcpy(values[i], sums[i], vectors * sizeof(vector));
}

INLINE void run_rows(const struct gemm_f32_listed *strip, const struct part *part, size_t vectors,
                     size_t count)
{
    float values[ROWS][WIDEST];
    begin_rows(strip, part, count, values);
    add_rows(strip, part, vectors, count, values);
    end_rows(strip, part, count, values);
}

INLINE void run_panel(const struct gemm_f32_listed *strip, struct part part, size_t vectors)
{
    size_t left = strip->height;
    for (; left >= ROWS; left -= ROWS, part.rows += ROWS, part.c += ROWS * strip->ldc)
        run_rows(strip, &part, vectors, ROWS);
    if (left == 3)
        run_rows(strip, &part, vectors, 3);
    else if (left == 2)
        run_rows(strip, &part, vectors, 2);
    else if (left == 1)
        run_rows(strip, &part, vectors, 1);
}

INLINE void run_strip(const struct gemm_f32_listed *strip, size_t vectors)
{
    size_t width = vectors * LANES;
    for (size_t t = 0; t < strip->tiles; t++)
        for (size_t q = 0; q < strip->panels; q++)
            run_panel(strip,
                      (struct part){
                          .rows = strip->rows + t * strip->segments * GEMM_F32_LIST,
                          .b = strip->b + q * strip->b_step,
                          .bias = strip->bias ? strip->bias + q * width : NULL,
                          .c = strip->c + t * strip->height * strip->ldc + q * width,
                          .columns = width - strip->missing,
                      },
                      vectors);
}

FUSED static void fused_4(const struct gemm_f32_listed *strip)
{
    run_strip(strip, 1);
}

FUSED static void fused_8(const struct gemm_f32_listed *strip)
{
    run_strip(strip, 2);
}

FUSED static void fused_12(const struct gemm_f32_listed *strip)
{
    run_strip(strip, 3);
}

/* One function of ref.c is for all heights and widths. */
static void run(const struct gemm_f32_listed *strip)
{
    static gemm_f32_listed_fn *const by_vectors[] = {fused_4, fused_8, fused_12};
    if (strip->width < LANES || !has_fused())
        gemm_f32_listed_ref.run[0][0](strip);
    else
        by_vectors[strip->width / LANES - 1](strip);
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
