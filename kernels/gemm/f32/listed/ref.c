/* The definition of the kernels for listed rows: one plain loop for all tiles. */
#include "kernels/elementwise/f32/clamp_ref.h"
#include "kernels/gemm/f32/listed/listed.h"

#include <math.h>
#include <string.h>

/* A column of B: its elements are `pitch` apart, and it has so many sums, 1 or 4, of which steps
 * after the rounds take the first ones in turn. */
struct column {
    const float *b;
    size_t pitch, lanes, tail_lanes;
};

static float element(const struct gemm_f32_listed *strip, const float *const *rows,
                     struct column column, float before)
{
    float sums[4] = {column.lanes == 1 ? before : 0};
    size_t whole = 4 * strip->rounds, depth = whole + strip->tail;
    for (size_t s = 0; s < strip->segments; s++, column.b += strip->b_skip) {
        const float *row = rows[s * GEMM_F32_LIST];
        for (size_t p = 0; p < depth; p++, column.b += column.pitch) {
            size_t lane = p < whole ? p % column.lanes : (p - whole) % column.tail_lanes;
            sums[lane] = fmaf(row[p], *column.b, sums[lane]);
        }
    }
    return column.lanes == 1 ? sums[0] : before + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

/* Column j of all tiles' columns. */
static void run_column(const struct gemm_f32_listed *strip, size_t j, struct column column)
{
    float low = strip->clamp & GEMM_F32_LOW ? strip->low : -INFINITY;
    float high = strip->clamp & GEMM_F32_HIGH ? strip->high : INFINITY;
    for (size_t i = 0; i < strip->tiles * strip->height; i++) {
        size_t list = i / strip->height * strip->segments * GEMM_F32_LIST + i % strip->height;
        float *c = &strip->c[i * strip->ldc + j];
        float sum = element(strip, strip->rows + list, column, strip->accumulate ? *c : 0);
        *c = clamp(strip->bias ? sum + strip->bias[j] : sum, low, high);
    }
}

static void run(const struct gemm_f32_listed *strip)
{
    size_t width = strip->width, lanes = width < 4 ? 4 : 1, pitch = width < 4 ? 4 : width;
    for (size_t j = 0; j < strip->panels * width - strip->missing; j++) {
        const float *b = strip->b + j / width * strip->b_step + j % width;
        run_column(strip, j, (struct column){b, pitch, lanes, 1});
    }
}

void gemm_f32_listed_columns_ref(const struct gemm_f32_listed *strip)
{
    size_t whole = strip->width / 4 * 4, pitch = (strip->width + 3) / 4 * 4;
    for (size_t j = 0; j < strip->width; j++) {
        struct column column = {strip->b + j, pitch, 1, 1};
        if (j >= whole)
            column = (struct column){strip->columns + (j - whole) * strip->column_step, 1, 4, 2};
        run_column(strip, j, column);
    }
}

void gemm_f32_listed_pack_by(const struct gemm_f32_listed *strip, gemm_f32_listed_fn *run_packed)
{
    struct gemm_f32_listed packed = *strip;
    size_t depth = 4 * strip->rounds + strip->tail, width = strip->width;
    for (size_t q = 0; q < strip->panels; q++)
        for (size_t p = 0; p < depth; p++)
            memcpy(strip->to + q * strip->b_step + p * width,
                   strip->from + p * strip->from_row + q * width, width * sizeof(float));
    packed.b = strip->to;
    run_packed(&packed);
}

static void pack(const struct gemm_f32_listed *strip)
{
    gemm_f32_listed_pack_by(strip, run);
}

/* Each tile's panels of 12 columns, and those of 8 columns beside them. */
void gemm_f32_listed_regular_by(const struct gemm_f32_listed *strip, gemm_f32_listed_fn *run_rows)
{
    const float *rows[GEMM_F32_LIST];
    struct gemm_f32_listed twelves = *strip;
    twelves.rows = rows;
    twelves.tiles = 1;
    struct gemm_f32_listed eights = twelves;
    eights.width = 8;
    eights.b = strip->b_eights;
    eights.b_step = strip->eights_step;
    eights.panels = strip->eights;
    eights.bias = strip->bias ? strip->bias + 12 * strip->panels : NULL;
    for (size_t t = 0; t < strip->tiles; t++, twelves.c += strip->height * strip->ldc) {
        const float *first = strip->a + t * strip->height * strip->a_row;
        for (size_t i = 0; i < GEMM_F32_LIST; i++)
            rows[i] = i < strip->height ? first + i * strip->a_row : first;
        run_rows(&twelves);
        eights.c = twelves.c + 12 * strip->panels;
        run_rows(&eights);
    }
}

static void regular(const struct gemm_f32_listed *strip)
{
    gemm_f32_listed_regular_by(strip, run);
}

/* clang-format off */
#define HEIGHTS(fn) {fn, fn, fn, fn, fn, fn, fn}
const struct gemm_f32_listed_kernels gemm_f32_listed_ref = {
    "gemm_f32_listed_ref", 0, 0, GEMM_F32_LISTED_HEIGHT, {
        HEIGHTS(run), HEIGHTS(run), HEIGHTS(run), HEIGHTS(run),
    },
    HEIGHTS(pack), HEIGHTS(regular), {0},
};
#undef HEIGHTS
/* clang-format on */
