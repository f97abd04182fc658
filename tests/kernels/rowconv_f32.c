/* Every kernel for rows of pixels against its contract. */
#include "tests/support/test.h"

#include <math.h>

#include "arch/cpu.h"
#include "kernels/first_layer/f32/rowconv.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum {
    PIXELS = ROWCONV_F32_PIXELS,
    WIDTH = ROWCONV_F32_WIDTH,
    MOST_TILES = 3,
    MOST_CHANNELS = 4,
    MOST_KERNEL_ROWS = 3,
    MOST_TAPS = 7,
    MOST_FROM = 5,
    GAP = 3,
    MOST_ROW = MOST_FROM + PIXELS * MOST_TILES * 2 + MOST_TAPS + 3,
};
static struct guard guard_rows, guard_weights, guard_bias, guard_dst;

static float want(const struct rowconv_f32_task *task, size_t i, size_t j)
{
    float sum = 0;
    for (size_t c = 0; c < task->channels; c++)
        for (size_t r = 0; r < task->kernel_rows; r++)
            for (size_t t = 0; t < task->taps; t++)
                sum = fmaf(
                    task->rows[c * task->kernel_rows + r][task->from + i * task->stride + t],
                    task->weights[((r * task->taps + t) * task->channels + c) * task->width + j],
                    sum);
    return fminf(fmaxf(sum + (task->bias ? task->bias[j] : 0), task->low), task->high);
}

/* Rows overlap, and the last value that may be read of the last one is followed by a guard page. */
static void place_rows(struct rowconv_f32_task *task, const float **rows, uint32_t *seed)
{
    size_t values = (PIXELS * task->tiles - 1) * task->stride + task->taps;
    size_t count = task->channels * task->kernel_rows;
    values = task->from + (values + 3) / 4 * 4;
    float *src = guard_at(&guard_rows, (values + count - 1) * sizeof *src, 1);
    fill_reals(src, values + count - 1, seed);
    for (size_t i = 0; i < count; i++)
        rows[i] = src + (count - 1 - i);
    task->rows = rows;
}

static void check(const struct rowconv_f32_kernel *kernel, struct rowconv_f32_task *task)
{
    uint32_t seed = fill_seed();
    const float *rows[MOST_CHANNELS * MOST_KERNEL_ROWS];
    size_t pixels = task->tiles * PIXELS, taps = task->kernel_rows * task->taps;
    size_t weights_count = taps * task->channels * task->width;
    size_t size = (pixels - 1) * task->pixel + (task->width - 1) * task->channel + 1, written = 0;
    float *weights = guard_at(&guard_weights, weights_count * sizeof *weights, 1);
    float *bias = guard_at(&guard_bias, task->width * sizeof *bias, 1);
    float *dst = guard_at(&guard_dst, size * sizeof *dst, 1);
    place_rows(task, rows, &seed);
    fill_reals(weights, weights_count, &seed);
    fill_reals(bias, task->width, &seed);
    fill_marker(dst, size);
    task->weights = weights;
    task->bias = task->from ? bias : NULL;
    task->dst = dst;
    kernel->run(task);
    for (size_t i = 0; i < size; i++)
        written += !fill_is_marker(dst[i]);
    assert_int_equal(written, pixels * task->width);
    for (size_t i = 0; i < pixels; i++)
        for (size_t j = 0; j < task->width; j++)
            if (dst[i * task->pixel + j * task->channel] != want(task, i, j))
                fail_msg("%s: stride %zu, %zu taps, %zu channels, %zu tiles, %s: (%zu, %zu) is "
                         "wrong",
                         kernel->name, task->stride, task->taps, task->channels, task->tiles,
                         task->pixel == 1 ? "planes" : "pixels", i, j);
}

/* The four combinations of clamps, each in both directions of dst. */
static void check_ways(const struct rowconv_f32_kernel *kernel, struct rowconv_f32_task task)
{
    for (int way = 0; way < 8; way++) {
        bool planes = way & 1;
        task.pixel = planes ? 1 : task.width + GAP;
        task.channel = planes ? task.tiles * PIXELS + GAP : 1;
        task.low = way & 2 ? -0.5f : -INFINITY;
        task.high = way & 4 ? 0.75f : INFINITY;
        check(kernel, &task);
    }
}

static void check_sizes(const struct rowconv_f32_kernel *kernel, struct rowconv_f32_task task)
{
    for (task.channels = 1; task.channels <= MOST_CHANNELS; task.channels++)
        for (task.kernel_rows = 1; task.kernel_rows <= MOST_KERNEL_ROWS; task.kernel_rows++)
            for (task.tiles = 1; task.tiles <= MOST_TILES; task.tiles++) {
                task.from = (task.channels + task.tiles) % 3 * MOST_FROM / 2;
                check_ways(kernel, task);
            }
}

static void sums_are_in_the_order_of_the_contract(void **state)
{
    const struct rowconv_f32_kernel *kernel = *state;
    bool any = kernel->width == 0;
    for (size_t stride = any ? 1 : kernel->stride; stride <= (any ? 2 : kernel->stride); stride++)
        for (size_t taps = any ? 1 : kernel->taps; taps <= (any ? 4 : kernel->taps); taps++)
            check_sizes(kernel, (struct rowconv_f32_task){.stride = stride,
                                                          .taps = taps,
                                                          .width = any ? 4 : kernel->width});
}

static void kernels_are_found_by_core_stride_taps_and_width(void **state)
{
    (void)state;
    struct core core = *cpu_get()->core;
    struct cpu cpu = *cpu_get();
    const struct rowconv_f32_kernel *last = &rowconv_f32_kernels[rowconv_f32_kernel_count - 1];
    cpu.core = &core;
    for (size_t i = 0; i < rowconv_f32_kernel_count; i++) {
        const struct rowconv_f32_kernel *kernel = &rowconv_f32_kernels[i];
        core.in_order = kernel->in_order;
        if (kernel->width && (kernel->in_order || kernel->taps == 3))
            assert_ptr_equal(rowconv_f32_find(&cpu, kernel->stride, kernel->taps, kernel->width),
                             kernel);
    }
    assert_ptr_equal(rowconv_f32_find(&cpu, 3, 9, 4), last);
    cpu.features = 0;
    assert_ptr_equal(rowconv_f32_find(&cpu, 2, 3, 12), last);
}

enum { MOST_WEIGHTS = MOST_CHANNELS * MOST_KERNEL_ROWS * MOST_TAPS * WIDTH };

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(sums_are_in_the_order_of_the_contract),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(kernels_are_found_by_core_stride_taps_and_width),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_rows, sizeof(float) * (MOST_ROW + MOST_CHANNELS * MOST_KERNEL_ROWS)},
        {&guard_weights, sizeof(float) * MOST_WEIGHTS},
        {&guard_bias, sizeof(float) * WIDTH},
        {&guard_dst, sizeof(float) * (PIXELS * MOST_TILES + GAP) * (WIDTH + GAP)},
    };
    kernel_tests_add_alone(alone, count_of(alone));
    for (size_t i = 0; i < rowconv_f32_kernel_count; i++) {
        const struct rowconv_f32_kernel *kernel = &rowconv_f32_kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
    }
    return kernel_tests_run("rowconv_f32", guards, count_of(guards));
}
