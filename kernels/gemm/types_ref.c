/* The definition of the kernels of every type: one plain loop for all tiles. */
#include "kernels/gemm/tiles.h"

#include <math.h>

/* Where element (i, p) of A and (p, j) of B are. */
struct place {
    const struct gemm_type *type;
    const struct gemm_tile *tile;
    size_t i, j;
};

static float f32_a(const struct place *at, size_t p)
{
    const struct gemm_type *type = at->type;
    size_t place = gemm_panel_at(type->group, at->tile->mr, at->i, p);
    return element_read_f32(type->element, at->tile->a, (ptrdiff_t)place);
}

static float f32_b(const struct place *at, size_t p)
{
    const struct gemm_type *type = at->type;
    size_t place = gemm_panel_at(type->group, at->tile->nr, at->j, p);
    return element_read_f32(type->element, at->tile->b, (ptrdiff_t)place);
}

/* What the sum of a place begins with. */
static float f32_begin(const struct place *at)
{
    const struct gemm_tile *tile = at->tile;
    size_t place = tile->add ? at->i * tile->row + at->j : at->j;
    const void *from = tile->add ? tile->sums : tile->start;
    return from ? element_read_f32(at->type->sum, from, (ptrdiff_t)place) : 0;
}

static void sum_f32(const struct place *at)
{
    float sum = f32_begin(at);
    for (size_t p = 0; p < at->tile->groups * at->type->group; p++)
        sum = fmaf(f32_a(at, p), f32_b(at, p), sum);
    ((float *)at->tile->sums)[at->i * at->tile->row + at->j] = sum;
}

/* Products of f16 are exact in f64. */
static void sum_f16(const struct place *at)
{
    uint16_t sum = 0;
    for (size_t p = 0; p < at->tile->groups * at->type->group; p++)
        sum = f16_of_f32(
            (float)((double)f32_a(at, p) * (double)f32_b(at, p) + (double)f32_of_f16(sum)));
    float begin = f32_begin(at);
    ((float *)at->tile->sums)[at->i * at->tile->row + at->j] = f32_of_f16(sum) + begin;
}

/* Unsigned, since it may wrap. */
static void sum_s32(const struct place *at)
{
    const struct gemm_tile *tile = at->tile;
    const int8_t *a = tile->a, *b = tile->b;
    uint32_t *c = (uint32_t *)tile->sums + at->i * tile->row + at->j, sum = 0;
    if (tile->add || tile->start)
        sum = tile->add ? *c : ((const uint32_t *)tile->start)[at->j];
    for (size_t p = 0; p < tile->groups * at->type->group; p++) {
        size_t group = at->type->group;
        sum += (uint32_t)(a[gemm_panel_at(group, tile->mr, at->i, p)] *
                          b[gemm_panel_at(group, tile->nr, at->j, p)]);
    }
    *c = sum;
}

static void run_one(const struct gemm_tile *tile, const struct gemm_type *type)
{
    static void (*const sums[ELEMENTS])(const struct place *) = {
        [ELEMENT_F32] = sum_f32, [ELEMENT_F16] = sum_f16, [ELEMENT_S32] = sum_s32};
    for (size_t i = 0; i < tile->m; i++)
        for (size_t j = 0; j < tile->n; j++)
            sums[type->within](&(struct place){type, tile, i, j});
}

#define KERNEL(name, number)                                  \
    static void name##_one(const struct gemm_tile *tile)      \
    {                                                         \
        run_one(tile, &gemm_types[number]);                   \
    }                                                         \
    static void name(const struct gemm_tile *tile)            \
    {                                                         \
        gemm_run_each(tile, &gemm_types[number], name##_one); \
    }
KERNEL(gemm_f32_tiles_ref, GEMM_F32)
KERNEL(gemm_s8_dot_ref, GEMM_S8_DOT)
KERNEL(gemm_s8_mmla_ref, GEMM_S8_MMLA)
KERNEL(gemm_s8_wide_ref, GEMM_S8_WIDE)
KERNEL(gemm_bf16_dot_ref, GEMM_BF16_DOT)
KERNEL(gemm_bf16_mmla_ref, GEMM_BF16_MMLA)
KERNEL(gemm_f16_ref, GEMM_F16)
KERNEL(gemm_f16_long_ref, GEMM_F16_LONG)
#undef KERNEL

#define ROW(name, number) [number] = {#name, &gemm_types[number], 0, 0, name}
const struct gemm_kernel gemm_ref[GEMM_TYPES] = {
    ROW(gemm_f32_tiles_ref, GEMM_F32),     ROW(gemm_s8_dot_ref, GEMM_S8_DOT),
    ROW(gemm_s8_mmla_ref, GEMM_S8_MMLA),   ROW(gemm_s8_wide_ref, GEMM_S8_WIDE),
    ROW(gemm_bf16_dot_ref, GEMM_BF16_DOT), ROW(gemm_bf16_mmla_ref, GEMM_BF16_MMLA),
    ROW(gemm_f16_ref, GEMM_F16),           ROW(gemm_f16_long_ref, GEMM_F16_LONG),
};
#undef ROW
