/* The definition of the kernels for listed rows: one plain loop for all tiles. */
#include "kernels/gemm_f32_listed.h"

#include <math.h>

static float clamp(const struct gemm_f32_listed *strip, float x)
{
    if ((strip->clamp & GEMM_F32_LOW) && x < strip->low) /* false for NaN, which stays */
        return strip->low;
    return (strip->clamp & GEMM_F32_HIGH) && x > strip->high ? strip->high : x;
}

/* One element; lanes: how many sums it has. */
static float element(const struct gemm_f32_listed *strip, const float *const *rows, const float *b,
                     size_t lanes, float before)
{
    float sums[4] = {lanes == 1 ? before : 0};
    size_t depth = 4 * strip->rounds + strip->tail, pitch = lanes == 1 ? strip->width : 4;
    for (size_t s = 0; s < strip->segments; s++) {
        const float *row = rows[s * GEMM_F32_LIST];
        for (size_t p = 0; p < depth; p++, b += pitch) {
            size_t lane = p < 4 * strip->rounds ? p % lanes : 0;
            sums[lane] = fmaf(row[p], *b, sums[lane]);
        }
    }
    return lanes == 1 ? sums[0] : before + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

static void run_tile(const struct gemm_f32_listed *strip, size_t t, size_t q)
{
    size_t width = strip->width, lanes = width < 4 ? 4 : 1;
    const float *const *rows = strip->rows + t * strip->segments * GEMM_F32_LIST;
    for (size_t i = 0; i < strip->height; i++)
        for (size_t j = 0; j < width - strip->missing; j++) {
            float *c = &strip->c[(t * strip->height + i) * strip->ldc + q * width + j];
            float sum = element(strip, rows + i, strip->b + q * strip->b_step + j, lanes,
                                strip->accumulate ? *c : 0);
            *c = clamp(strip, strip->bias ? sum + strip->bias[q * width + j] : sum);
        }
}

static void run(const struct gemm_f32_listed *strip)
{
    for (size_t t = 0; t < strip->tiles; t++)
        for (size_t q = 0; q < strip->panels; q++)
            run_tile(strip, t, q);
}

static void pack(const struct gemm_f32_listed *strip)
{
    struct gemm_f32_listed packed = *strip;
    size_t depth = strip->segments * (4 * strip->rounds + strip->tail), width = strip->width;
    for (size_t q = 0; q < strip->panels; q++)
        for (size_t p = 0; p < depth; p++)
            for (size_t j = 0; j < width; j++)
                strip->to[q * strip->b_step + p * width + j] =
                    strip->from[p * strip->from_row + q * width + j];
    packed.b = strip->to;
    run(&packed);
}

/* A tile's panels of 12 columns, and those of 8 columns beside them. */
static void run_regular_tile(const struct gemm_f32_listed *strip, const float *const *rows,
                             size_t t)
{
    size_t first = 12 * strip->panels;
    struct gemm_f32_listed tile = *strip;
    tile.rows = rows;
    tile.tiles = 1;
    tile.c += t * strip->height * strip->ldc;
    run(&tile);
    tile.width = 8;
    tile.b = strip->b_eights;
    tile.b_step = strip->eights_step;
    tile.panels = strip->eights;
    tile.c += first;
    tile.bias = strip->bias ? strip->bias + first : NULL;
    run(&tile);
}

static void regular(const struct gemm_f32_listed *strip)
{
    const float *rows[GEMM_F32_LIST] = {NULL};
    for (size_t t = 0; t < strip->tiles; t++) {
        for (size_t i = 0; i < strip->height; i++)
            rows[i] = strip->a + (t * strip->height + i) * strip->a_row;
        run_regular_tile(strip, rows, t);
    }
}

/* clang-format off */
#define HEIGHTS(fn) {fn, fn, fn, fn, fn, fn, fn}
const struct gemm_f32_listed_kernels gemm_f32_listed_ref = {
    "gemm_f32_listed_ref", 0, 0, GEMM_F32_LISTED_HEIGHT, {
        HEIGHTS(run), HEIGHTS(run), HEIGHTS(run), HEIGHTS(run), HEIGHTS(run), HEIGHTS(run),
    },
    HEIGHTS(pack), HEIGHTS(regular),
};
#undef HEIGHTS
/* clang-format on */
