/* Depthwise 5x5, stride 1, channels as vectors: see kernels/dwconv_f32_slide_neon.h. */
#include "kernels/dwconv_f32_slide_neon.h"

static void slide_1(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 5, 1, 1, 0, 0);
}

static void slide_1_clamped(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 5, 1, 1, 1, 0);
}

static void slide_1_padded(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 5, 1, 1, 0, 1);
}

static void slide_1_padded_clamped(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    slide_rows(task, y, c, 5, 1, 1, 1, 1);
}

static void run(const struct dwconv_f32_task *task)
{
    static const struct slide_body bodies[] = {
        {1, {{slide_1, slide_1_clamped}, {slide_1_padded, slide_1_padded_clamped}}},
    };
    slide_run(task, bodies);
}

const struct dwconv_f32_kernel dwconv_f32_5x5s1_neon = {
    "dwconv_f32_5x5s1_neon", CPU_NEON, 0, 5, 1, run};
