/* Winograd's patches of images whose channels are planes, turned to channels last. */
#include <arm_neon.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/winograd/f32/winograd.h"

static void gather_few(const struct winograd_f32_patch *task, const float *src, float *dst,
                       size_t channels)
{
    for (size_t y = 0; y < task->rows; y++, src += task->src_row, dst += task->dst_row)
        for (size_t x = 0; x < task->cols; x++)
            for (size_t c = 0; c < channels; c++)
                dst[x * WINOGRAD_F32_GROUP + c] =
                    src[(ptrdiff_t)x + (ptrdiff_t)c * task->src_channel];
}

/* Four channels of `pixels` pixels of each row: of four, and of the last four, which may overlap.
 */
INLINE void gather_rows(const struct winograd_f32_patch *task, const float *src, float *dst,
                        size_t pixels)
{
    const float *planes[] = {src, src + task->src_channel, src + 2 * task->src_channel,
                             src + 3 * task->src_channel};
    ptrdiff_t at = 0, src_row = task->src_row;
    size_t last = task->cols - 4, dst_row = task->dst_row;
    for (size_t y = task->rows; y > 0; y--, at += src_row, dst += dst_row) {
        float32x4_t vectors[8];
#pragma GCC unroll 8
        for (size_t i = 0; i < pixels; i++)
            vectors[i] = vld1q_f32(planes[i % 4] + at + (i < 4 ? 0 : last));
        transpose_4x4(vectors);
        if (pixels > 4)
            transpose_4x4(vectors + 4);
#pragma GCC unroll 8
        for (size_t i = 0; i < pixels; i++)
            vst1q_f32(dst + ((i < 4 ? 0 : last) + i % 4) * WINOGRAD_F32_GROUP, vectors[i]);
    }
}

void winograd_f32_gather_neon(const struct winograd_f32_patch *task)
{
    float *dst = task->dst;
    for (size_t c = 0; c < task->channels; c += WINOGRAD_F32_GROUP, dst += task->dst_group) {
        const float *src = task->src + (ptrdiff_t)c * task->src_channel;
        size_t channels = task->channels - c;
        if (channels < 4 || task->cols < 4)
            gather_few(task, src, dst, channels < 4 ? channels : 4);
        else if (task->cols > 4)
            gather_rows(task, src, dst, 8);
        else
            gather_rows(task, src, dst, 4);
    }
}
