/* Winograd's patches of images whose channels are planes, turned to channels last. */
#include <arm_neon.h>

#include "kernels/vector_neon.h"
#include "kernels/winograd_f32.h"

static void gather_few(const struct winograd_f32_patch *task, const float *src, float *dst,
                       size_t channels)
{
    for (size_t y = 0; y < task->rows; y++, src += task->src_row, dst += task->dst_row)
        for (size_t x = 0; x < task->cols; x++)
            for (size_t c = 0; c < channels; c++)
                dst[x * task->dst_column + c] =
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
    size_t last = task->cols - 4, column = task->dst_column, dst_row = task->dst_row;
    for (size_t y = task->rows; y > 0; y--, at += src_row, dst += dst_row) {
        float32x4_t first[4], second[4];
#pragma GCC unroll 4
        for (size_t c = 0; c < 4; c++) {
            first[c] = vld1q_f32(planes[c] + at);
            if (pixels > 4)
                second[c] = vld1q_f32(planes[c] + at + last);
        }
        transpose_4x4(first);
        float *to = dst;
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++, to += column)
            vst1q_f32(to, first[x]);
        if (pixels > 4) {
            transpose_4x4(second);
            to = dst + last * column;
#pragma GCC unroll 4
            for (size_t x = 0; x < 4; x++, to += column)
                vst1q_f32(to, second[x]);
        }
    }
}

void winograd_f32_gather_neon(const struct winograd_f32_patch *task)
{
    for (size_t c = 0; c < task->channels; c += 4) {
        const float *src = task->src + (ptrdiff_t)c * task->src_channel;
        float *dst = task->dst + c;
        size_t channels = task->channels - c;
        if (channels < 4 || task->cols < 4)
            gather_few(task, src, dst, channels < 4 ? channels : 4);
        else if (task->cols > 4)
            gather_rows(task, src, dst, 8);
        else
            gather_rows(task, src, dst, 4);
    }
}
