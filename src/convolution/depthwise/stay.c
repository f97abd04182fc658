/* Depthwise convolution: how much stays in a cache. */
#include "src/convolution/depthwise/depthwise.h"

enum {
    PART_TAPS = 7,
    MOST_WAYS = 8,
    WAY_BYTES = 16 << 10, /* of caches with more ways than the least */
};

size_t depthwise_pixels_that_stay(const struct convolution_depthwise *mine, size_t bytes,
                                  size_t ways)
{
    size_t pixel = mine->channels * sizeof(float), line = DEPTHWISE_LINE * sizeof(float);
    size_t apart = min_size(power_of_two_in(pixel), bytes / ways);
    return bytes / max_size(apart, line);
}

bool depthwise_is_done_in_parts(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    return !mine->by_plane && !mine->gathers && !mine->scatters && task->stride_h == 1 &&
           task->stride_w == 1 && task->kh > 1 && task->kh <= PART_TAPS &&
           task->dilation_h * task->dilation_w > 1;
}

size_t depthwise_channels_that_stay(const struct convolution_depthwise *mine)
{
    const struct dwconv_f32_task *task = &mine->task;
    size_t height = min_size(DEPTHWISE_SLIDING_ROWS, depthwise_at_least_1(mine->shape.out[HEIGHT]));
    size_t columns = depthwise_at_least_1(mine->shape.in[WIDTH]);
    if (depthwise_is_done_in_parts(mine))
        columns = div_up(columns, task->dilation_w);
    size_t apart = depthwise_is_done_in_parts(mine) ? 1 : task->dilation_h;
    size_t rows = (height - 1) * task->stride_h + (task->kh - 1) * apart + 1;
    if (!depthwise_is_done_in_parts(mine))
        rows = min_size(rows, depthwise_at_least_1(mine->shape.in[HEIGHT]));
    if (task->strip)
        columns = min_size(columns, (task->strip - 1) * task->stride_w +
                                        (task->kw - 1) * task->dilation_w + 1);
    size_t bytes = max_size(rows * task->kd * columns, 1) * sizeof(float);
    return max_size(mine->cpu->l1_bytes / 2 / bytes / DEPTHWISE_LINE, 1) * DEPTHWISE_LINE;
}

size_t depthwise_l1_ways(const struct cpu *cpu)
{
    return max_size(min_size(cpu->l1_bytes / WAY_BYTES, MOST_WAYS), CPU_L1_WAYS);
}

size_t depthwise_pixels_in_l1(const struct convolution_depthwise *mine)
{
    return depthwise_pixels_that_stay(mine, mine->cpu->l1_bytes, depthwise_l1_ways(mine->cpu));
}

bool depthwise_planes_stay(const struct convolution_depthwise *mine, size_t count)
{
    const struct convolution_shape *s = &mine->shape;
    size_t pixels = depthwise_at_least_1(s->in[HEIGHT]) * depthwise_at_least_1(s->in[WIDTH]);
    return pixels * count * sizeof(float) <= mine->cpu->l1_bytes / 4;
}
