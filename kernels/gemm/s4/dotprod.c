/* Tiles of weights of four bits by SDOT. */
#include "kernels/gemm/s4/s4.h"

#include "kernels/gemm/s4/offsets.h"

extern gemm_s4_fn gemm_s4_f32_1_dotprod, gemm_s4_f32_2_dotprod, gemm_s4_f32_3_dotprod,
    gemm_s4_f32_3_right_dotprod, gemm_s4_f32_4_dotprod, gemm_s4_f32_4_right_dotprod;
extern gemm_s4_fn gemm_s4_f16_1_dotprod, gemm_s4_f16_2_dotprod, gemm_s4_f16_3_dotprod,
    gemm_s4_f16_3_right_dotprod, gemm_s4_f16_4_dotprod, gemm_s4_f16_4_right_dotprod;

/* By height; three and four rows have functions for both halves of a panel. */
typedef gemm_s4_fn *const gemm_s4_heights[GEMM_S4_MR][2];

static gemm_s4_heights of_f32 = {
    {gemm_s4_f32_1_dotprod, NULL},
    {gemm_s4_f32_2_dotprod, NULL},
    {gemm_s4_f32_3_dotprod, gemm_s4_f32_3_right_dotprod},
    {gemm_s4_f32_4_dotprod, gemm_s4_f32_4_right_dotprod},
};
static gemm_s4_heights of_f16 = {
    {gemm_s4_f16_1_dotprod, NULL},
    {gemm_s4_f16_2_dotprod, NULL},
    {gemm_s4_f16_3_dotprod, gemm_s4_f16_3_right_dotprod},
    {gemm_s4_f16_4_dotprod, gemm_s4_f16_4_right_dotprod},
};

static void run_whole(const struct gemm_s4_tile *tile, gemm_s4_heights heights)
{
    gemm_s4_fn *const *halves = heights[tile->mr - 1];
    halves[0](tile);
    if (halves[1])
        halves[1](tile);
}

/* Columns that are missing come and go by way of a whole tile. */
static void run(const struct gemm_s4_tile *tile, gemm_s4_heights heights)
{
    if (tile->n == GEMM_S4_NR) {
        run_whole(tile, heights);
        return;
    }
    float c[GEMM_S4_MR * GEMM_S4_NR] = {0};
    struct gemm_s4_tile whole = *tile;
    whole.c = c, whole.row = GEMM_S4_NR;
    for (size_t i = 0; i < tile->mr && tile->add; i++)
        memcpy(c + i * GEMM_S4_NR, tile->c + i * tile->row, tile->n * sizeof *c);
    run_whole(&whole, heights);
    for (size_t i = 0; i < tile->mr; i++)
        memcpy(tile->c + i * tile->row, c + i * GEMM_S4_NR, tile->n * sizeof *c);
}

static void run_f32(const struct gemm_s4_tile *tile)
{
    run(tile, of_f32);
}

static void run_f16(const struct gemm_s4_tile *tile)
{
    run(tile, of_f16);
}

const struct gemm_s4_kernel gemm_s4_dotprod[GEMM_S4_SCALES] = {
    {"gemm_s4_f32_dotprod", CPU_NEON | CPU_DOTPROD, ELEMENT_F32, run_f32},
    {"gemm_s4_f16_dotprod", CPU_NEON | CPU_DOTPROD, ELEMENT_F16, run_f16},
};
