/* The definition of gemm_f32_direct.h as loops: tiles that read rows of A. */
#include "kernels/gemm_f32_direct_ref.h"

static void run(const struct strip *strip, size_t height, size_t vectors, size_t group)
{
    run_strip_ref(strip, strip->shape->lda, 1, height, vectors, group);
}

static void run_1x4(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 1, 1, 1);
}

static void run_2x4(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 2, 1, 1);
}

static void run_3x4(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 3, 1, 1);
}

static void run_4x4(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 4, 1, 1);
}

static void run_5x4(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 5, 1, 1);
}

static void run_6x4(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 6, 1, 1);
}

static void run_7x4(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 7, 1, 1);
}

static void run_8x4(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 8, 1, 1);
}

static void run_1x8(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 1, 2, 2);
}

static void run_2x8(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 2, 2, 2);
}

static void run_3x8(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 3, 2, 2);
}

static void run_4x8(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 4, 2, 2);
}

static void run_5x8(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 5, 2, 2);
}

static void run_6x8(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 6, 2, 2);
}

static void run_7x8(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 7, 2, 2);
}

static void run_8x8(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                    const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 8, 2, 2);
}

static void run_1x12(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                     const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 1, 3, 3);
}

static void run_2x12(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                     const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 2, 3, 3);
}

static void run_3x12(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                     const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 3, 3, 3);
}

static void run_4x12(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                     const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 4, 3, 3);
}

static void run_5x12(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                     const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 5, 3, 3);
}

static void run_6x12(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                     const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 6, 3, 3);
}

static void run_7x12(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                     const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 7, 3, 3);
}

static void run_1x16(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                     const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 1, 4, 4);
}

static void run_2x16(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                     const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 2, 4, 4);
}

static void run_3x16(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                     const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 3, 4, 4);
}

static void run_4x16(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                     const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 4, 4, 4);
}

static void run_5x16(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                     const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 5, 4, 4);
}

static void run_1x2x8(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                      const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 1, 4, 2);
}

static void run_2x2x8(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c,
                      const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 2, 4, 2);
}

static void run_1x2x12(const struct gemm_f32_direct *shape, const float *a, const float *b,
                       float *c, const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 1, 6, 3);
}

static void run_2x2x12(const struct gemm_f32_direct *shape, const float *a, const float *b,
                       float *c, const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 2, 6, 3);
}

static void run_3x2x12(const struct gemm_f32_direct *shape, const float *a, const float *b,
                       float *c, const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 3, 6, 3);
}

static void run_4x2x12(const struct gemm_f32_direct *shape, const float *a, const float *b,
                       float *c, const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 4, 6, 3);
}

static void run_1x2x16(const struct gemm_f32_direct *shape, const float *a, const float *b,
                       float *c, const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 1, 8, 4);
}

static void run_2x2x16(const struct gemm_f32_direct *shape, const float *a, const float *b,
                       float *c, const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 2, 8, 4);
}

static void run_3x2x16(const struct gemm_f32_direct *shape, const float *a, const float *b,
                       float *c, const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 3, 8, 4);
}

static void run_1x4x12(const struct gemm_f32_direct *shape, const float *a, const float *b,
                       float *c, const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 1, 12, 3);
}

static void run_1x3x16(const struct gemm_f32_direct *shape, const float *a, const float *b,
                       float *c, const float *bias)
{
    run(&(struct strip){shape, a, b, bias, c}, 1, 12, 4);
}

/* clang-format off */
const struct gemm_f32_direct_kernel gemm_f32_direct_ref[GEMM_F32_DIRECT_TILES] = {
    {"gemm_f32_direct_1x4_ref", 0, 1, 1, 1, 0, 0, run_1x4},
    {"gemm_f32_direct_2x4_ref", 0, 2, 1, 1, 0, 0, run_2x4},
    {"gemm_f32_direct_3x4_ref", 0, 3, 1, 1, 0, 0, run_3x4},
    {"gemm_f32_direct_4x4_ref", 0, 4, 1, 1, 0, 0, run_4x4},
    {"gemm_f32_direct_5x4_ref", 0, 5, 1, 1, 0, 0, run_5x4},
    {"gemm_f32_direct_6x4_ref", 0, 6, 1, 1, 0, 0, run_6x4},
    {"gemm_f32_direct_7x4_ref", 0, 7, 1, 1, 0, 0, run_7x4},
    {"gemm_f32_direct_8x4_ref", 0, 8, 1, 1, 0, 0, run_8x4},
    {"gemm_f32_direct_1x8_ref", 0, 1, 2, 2, 0, 0, run_1x8},
    {"gemm_f32_direct_2x8_ref", 0, 2, 2, 2, 0, 0, run_2x8},
    {"gemm_f32_direct_3x8_ref", 0, 3, 2, 2, 0, 0, run_3x8},
    {"gemm_f32_direct_4x8_ref", 0, 4, 2, 2, 0, 0, run_4x8},
    {"gemm_f32_direct_5x8_ref", 0, 5, 2, 2, 0, 0, run_5x8},
    {"gemm_f32_direct_6x8_ref", 0, 6, 2, 2, 0, 0, run_6x8},
    {"gemm_f32_direct_7x8_ref", 0, 7, 2, 2, 0, 0, run_7x8},
    {"gemm_f32_direct_8x8_ref", 0, 8, 2, 2, 0, 0, run_8x8},
    {"gemm_f32_direct_1x12_ref", 0, 1, 3, 3, 0, 0, run_1x12},
    {"gemm_f32_direct_2x12_ref", 0, 2, 3, 3, 0, 0, run_2x12},
    {"gemm_f32_direct_3x12_ref", 0, 3, 3, 3, 0, 0, run_3x12},
    {"gemm_f32_direct_4x12_ref", 0, 4, 3, 3, 0, 0, run_4x12},
    {"gemm_f32_direct_5x12_ref", 0, 5, 3, 3, 0, 0, run_5x12},
    {"gemm_f32_direct_6x12_ref", 0, 6, 3, 3, 0, 0, run_6x12},
    {"gemm_f32_direct_7x12_ref", 0, 7, 3, 3, 0, 0, run_7x12},
    {"gemm_f32_direct_1x16_ref", 0, 1, 4, 4, 0, 0, run_1x16},
    {"gemm_f32_direct_2x16_ref", 0, 2, 4, 4, 0, 0, run_2x16},
    {"gemm_f32_direct_3x16_ref", 0, 3, 4, 4, 0, 0, run_3x16},
    {"gemm_f32_direct_4x16_ref", 0, 4, 4, 4, 0, 0, run_4x16},
    {"gemm_f32_direct_5x16_ref", 0, 5, 4, 4, 0, 0, run_5x16},
    {"gemm_f32_direct_1x2x8_ref", 0, 1, 4, 2, 0, 0, run_1x2x8},
    {"gemm_f32_direct_2x2x8_ref", 0, 2, 4, 2, 0, 0, run_2x2x8},
    {"gemm_f32_direct_1x2x12_ref", 0, 1, 6, 3, 0, 0, run_1x2x12},
    {"gemm_f32_direct_2x2x12_ref", 0, 2, 6, 3, 0, 0, run_2x2x12},
    {"gemm_f32_direct_3x2x12_ref", 0, 3, 6, 3, 0, 0, run_3x2x12},
    {"gemm_f32_direct_4x2x12_ref", 0, 4, 6, 3, 0, 0, run_4x2x12},
    {"gemm_f32_direct_1x2x16_ref", 0, 1, 8, 4, 0, 0, run_1x2x16},
    {"gemm_f32_direct_2x2x16_ref", 0, 2, 8, 4, 0, 0, run_2x2x16},
    {"gemm_f32_direct_3x2x16_ref", 0, 3, 8, 4, 0, 0, run_3x2x16},
    {"gemm_f32_direct_1x4x12_ref", 0, 1, 12, 3, 0, 0, run_1x4x12},
    {"gemm_f32_direct_1x3x16_ref", 0, 1, 12, 4, 0, 0, run_1x3x16},
};

const struct gemm_f32_direct_kernel gemm_f32_shallow_ref[GEMM_F32_SHALLOW] = {
    {"gemm_f32_shallow_1x4_ref", 0, 1, 1, 1, 1, 0, run_1x4},
    {"gemm_f32_shallow_1x8_ref", 0, 1, 2, 2, 1, 0, run_1x8},
    {"gemm_f32_shallow_1x12_ref", 0, 1, 3, 3, 1, 0, run_1x12},
    {"gemm_f32_shallow_1x16_ref", 0, 1, 4, 4, 1, 0, run_1x16},
    {"gemm_f32_shallow_2x4_ref", 0, 1, 1, 1, 2, 0, run_1x4},
    {"gemm_f32_shallow_2x8_ref", 0, 1, 2, 2, 2, 0, run_1x8},
    {"gemm_f32_shallow_2x12_ref", 0, 1, 3, 3, 2, 0, run_1x12},
    {"gemm_f32_shallow_2x16_ref", 0, 1, 4, 4, 2, 0, run_1x16},
    {"gemm_f32_shallow_3x4_ref", 0, 1, 1, 1, 3, 0, run_1x4},
    {"gemm_f32_shallow_3x8_ref", 0, 1, 2, 2, 3, 0, run_1x8},
    {"gemm_f32_shallow_3x12_ref", 0, 1, 3, 3, 3, 0, run_1x12},
    {"gemm_f32_shallow_3x16_ref", 0, 1, 4, 4, 3, 0, run_1x16},
    {"gemm_f32_shallow_4x4_ref", 0, 1, 1, 1, 4, 0, run_1x4},
    {"gemm_f32_shallow_4x8_ref", 0, 1, 2, 2, 4, 0, run_1x8},
    {"gemm_f32_shallow_4x12_ref", 0, 1, 3, 3, 4, 0, run_1x12},
    {"gemm_f32_shallow_4x16_ref", 0, 1, 4, 4, 4, 0, run_1x16},
    {"gemm_f32_shallow_5x4_ref", 0, 1, 1, 1, 5, 0, run_1x4},
    {"gemm_f32_shallow_5x8_ref", 0, 1, 2, 2, 5, 0, run_1x8},
    {"gemm_f32_shallow_5x12_ref", 0, 1, 3, 3, 5, 0, run_1x12},
    {"gemm_f32_shallow_5x16_ref", 0, 1, 4, 4, 5, 0, run_1x16},
    {"gemm_f32_shallow_6x4_ref", 0, 1, 1, 1, 6, 0, run_1x4},
    {"gemm_f32_shallow_6x8_ref", 0, 1, 2, 2, 6, 0, run_1x8},
    {"gemm_f32_shallow_6x12_ref", 0, 1, 3, 3, 6, 0, run_1x12},
    {"gemm_f32_shallow_6x16_ref", 0, 1, 4, 4, 6, 0, run_1x16},
    {"gemm_f32_shallow_7x4_ref", 0, 1, 1, 1, 7, 0, run_1x4},
    {"gemm_f32_shallow_7x8_ref", 0, 1, 2, 2, 7, 0, run_1x8},
    {"gemm_f32_shallow_7x12_ref", 0, 1, 3, 3, 7, 0, run_1x12},
    {"gemm_f32_shallow_8x4_ref", 0, 1, 1, 1, 8, 0, run_1x4},
    {"gemm_f32_shallow_8x8_ref", 0, 1, 2, 2, 8, 0, run_1x8},
    {"gemm_f32_shallow_8x12_ref", 0, 1, 3, 3, 8, 0, run_1x12},
};
/* clang-format on */
