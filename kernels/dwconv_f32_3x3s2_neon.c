/* Depthwise 3x3, stride 2, channels as vectors: see kernels/dwconv_f32_slide_neon.h. */
#include "kernels/dwconv_f32_slide_neon.h"

static void slide_4(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 3, 2, 4, 0, 0);
}

static void slide_4_clamped(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 3, 2, 4, 1, 0);
}

static void slide_4_padded(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 3, 2, 4, 0, 1);
}

static void slide_4_padded_clamped(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 3, 2, 4, 1, 1);
}

static void slide_2(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 3, 2, 2, 0, 0);
}

static void slide_2_clamped(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 3, 2, 2, 1, 0);
}

static void slide_2_padded(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 3, 2, 2, 0, 1);
}

static void slide_2_padded_clamped(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 3, 2, 2, 1, 1);
}

static void slide_1(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 3, 2, 1, 0, 0);
}

static void slide_1_clamped(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 3, 2, 1, 1, 0);
}

static void slide_1_padded(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 3, 2, 1, 0, 1);
}

static void slide_1_padded_clamped(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 3, 2, 1, 1, 1);
}

static void run(const struct dwconv_f32_task *task)
{
    static const struct slide_body bodies[] = {
        {4, {{slide_4, slide_4_clamped}, {slide_4_padded, slide_4_padded_clamped}}},
        {2, {{slide_2, slide_2_clamped}, {slide_2_padded, slide_2_padded_clamped}}},
        {1, {{slide_1, slide_1_clamped}, {slide_1_padded, slide_1_padded_clamped}}},
    };
    slide_run(task, bodies);
}

const struct dwconv_f32_kernel dwconv_f32_3x3s2_neon = {
    "dwconv_f32_3x3s2_neon", CPU_NEON, 0, 3, 2, run};
