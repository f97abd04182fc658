/* Tiles of s8 made of strips, for CPUs without instructions for dot products. */
#include <arm_neon.h>

#include "kernels/gemm/tiles.h"

enum { STRIP = 4, GROUP = 16, WORTH_A_LOOK = 8, TOGETHER = 4 };
extern gemm_run_fn gemm_s8_any_1_neon, gemm_s8_any_2_neon, gemm_s8_any_3_neon, gemm_s8_any_4_neon;
extern gemm_run_fn gemm_s8_narrow_1_neon, gemm_s8_narrow_2_neon;
extern gemm_run_fn gemm_s8_narrow_3_neon, gemm_s8_narrow_4_neon;

/* By height. */
static gemm_run_fn *const any[] = {gemm_s8_any_1_neon, gemm_s8_any_2_neon, gemm_s8_any_3_neon,
                                   gemm_s8_any_4_neon};
static gemm_run_fn *const narrow[] = {gemm_s8_narrow_1_neon, gemm_s8_narrow_2_neon,
                                      gemm_s8_narrow_3_neon, gemm_s8_narrow_4_neon};

/* Two strips of a tile are as high as each other, or almost. */
static void run_strips(const struct gemm_tile *tile, gemm_run_fn *const *strips)
{
    static const int32_t zeros[GEMM_NR];
    struct gemm_tile strip = *tile;
    size_t upper = tile->mr > STRIP ? (tile->mr + 1) / 2 : tile->mr;
    strip.start = tile->start ? tile->start : zeros;
    strips[upper - 1](&strip);
    if (upper == tile->mr)
        return;
    strip.a = (const int8_t *)tile->a + upper * GROUP;
    strip.sums = (int32_t *)tile->sums + upper * tile->row;
    strips[tile->mr - upper - 1](&strip);
}

/* Tiles of SDOT that have sums, and nothing to multiply, have nothing but their end, which takes
 * no other instructions than NEON's. Several tiles take one call of it. */
extern gemm_run_fn *const gemm_s8_dot_tiles[GEMM_TILES];
static void run_and_end(const struct gemm_tile *tile, gemm_run_fn *const *strips)
{
    int32_t sums[TOGETHER * GEMM_MR * GEMM_NR];
    struct gemm_finish end = *tile->end;
    struct gemm_tile some = *tile;
    size_t vectors = tile->nr / gemm_types[GEMM_S8_WIDE].vector;
    uint32_t count;
    some.sums = sums, some.row = tile->nr, some.end = &end;
    for (uint32_t left = tile->tiles ? tile->tiles : 1; left; left -= count) {
        count = left < TOGETHER ? left : TOGETHER;
        some.tiles = count, some.groups = tile->groups, some.add = 0;
        run_strips(&some, strips);
        some.groups = 0, some.add = 1;
        gemm_s8_dot_tiles[gemm_tile_number(tile->mr, vectors)](&some);
        size_t rows = count * tile->mr;
        some.a = (const int8_t *)some.a + rows * tile->groups * GROUP;
        end.dst = (char *)end.dst + rows * end.dst_row * element_bytes(end.to);
        end.row_scales = end.row_scales ? end.row_scales + rows : NULL;
    }
}

static void run_any(const struct gemm_tile *tile)
{
    run_strips(tile, any);
}

static void run_narrow(const struct gemm_tile *tile)
{
    run_strips(tile, narrow);
}

/* Weights seldom have -128. To look costs what few rows do not win back. */
static int is_narrow(const struct gemm_tile *tile)
{
    const int8_t *b = tile->b, *end = b + tile->groups * tile->nr * GROUP;
    if (!tile->groups || tile->mr * (tile->tiles ? tile->tiles : 1) < WORTH_A_LOOK)
        return 0;
    int8x16_t low = vdupq_n_s8(0), high = low; /* nr is a multiple of 4 */
    for (; b < end; b += 4 * GROUP) {
        low = vminq_s8(vminq_s8(low, vld1q_s8(b)), vld1q_s8(b + GROUP));
        high = vminq_s8(vminq_s8(high, vld1q_s8(b + 2 * GROUP)), vld1q_s8(b + 3 * GROUP));
    }
    return vminvq_s8(vminq_s8(low, high)) > INT8_MIN;
}

void gemm_s8_wide_neon(const struct gemm_tile *tile)
{
    const struct gemm_type *type = &gemm_types[GEMM_S8_WIDE];
    int has_range = is_narrow(tile);
    gemm_run_fn *whole = has_range ? run_narrow : run_any;
    if (tile->m != tile->mr || tile->n != tile->nr)
        gemm_run_parts(tile, type, whole);
    else if (tile->end && !tile->add && gemm_ends_in(tile, GEMM_BYTES_OR_F32))
        run_and_end(tile, has_range ? narrow : any);
    else if (tile->end || tile->mr == 1)
        gemm_run_each(tile, type, whole);
    else
        whole(tile);
}
