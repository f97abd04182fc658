/* The definition of how sums of s32 are finished. */
#include "kernels/gemm/finish.h"

static float value(const struct gemm_finish *finish, size_t i, size_t j)
{
    uint32_t sum = (uint32_t)finish->sums[i * finish->row + j];
    if (finish->rows)
        sum += (uint32_t)finish->rows[i] * (uint32_t)finish->zeros[j];
    float out = (float)(int32_t)(sum - (finish->is_float ? GEMM_FLOAT_START : 0));
    if (finish->row_scales)
        out *= finish->row_scales[i];
    out *= finish->scales[j];
    return out + finish->offsets[j];
}

static void run(const struct gemm_finish *finish, enum element dst)
{
    for (size_t i = 0; i < finish->m; i++)
        for (size_t j = 0; j < finish->n; j++)
            element_write_f32(dst, finish->dst, (ptrdiff_t)(i * finish->dst_row + j),
                              value(finish, i, j));
}

static void finish_f32(const struct gemm_finish *finish)
{
    run(finish, ELEMENT_F32);
}

static void finish_s8(const struct gemm_finish *finish)
{
    run(finish, ELEMENT_S8);
}

static void finish_u8(const struct gemm_finish *finish)
{
    run(finish, ELEMENT_U8);
}

const struct gemm_finish_kernel gemm_finish_ref[GEMM_FINISH_TYPES] = {
    {"finish_s32_f32_ref", 0, ELEMENT_F32, finish_f32},
    {"finish_s32_s8_ref", 0, ELEMENT_S8, finish_s8},
    {"finish_s32_u8_ref", 0, ELEMENT_U8, finish_u8},
};
