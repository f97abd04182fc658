/* Every kernel for patches by pointer against its contract. */
#include "tests/support/test.h"

#include <math.h>

#include "kernels/indirect/f32/indirect.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum {
    PIXELS = INDIRECT_F32_PIXELS,
    WIDTH = INDIRECT_F32_WIDTH,
    MOST_TAPS = 17,
    MOST_CHANNELS = 9
};
static struct guard guard_src, guard_weights, guard_bias, guard_dst;

static float want(const struct indirect_f32_tile *tile, size_t i, size_t j)
{
    float sum = 0;
    for (size_t tap = 0; tap < tile->taps; tap++)
        for (size_t c = 0; c < tile->channels; c++)
            sum = fmaf(tile->pixels[tap * PIXELS + i][tile->offset + c],
                       tile->weights[(tap * tile->channels + c) * tile->width + j], sum);
    return fminf(fmaxf(sum + (tile->bias ? tile->bias[j] : 0), tile->low), tile->high);
}

/* Pixels end at a guard page: each is the last that is read of the source. `options` are bits, for
 * an offset, a bias and limits. */
static void check(const struct indirect_f32_kernel *kernel, struct indirect_f32_tile *tile,
                  uint32_t options)
{
    uint32_t seed = fill_seed();
    tile->offset = options & 1 ? 3 : 0;
    tile->low = options & 2 ? -0.25f : -INFINITY;
    tile->high = options & 4 ? 1 : INFINITY;
    size_t pixel = tile->offset + tile->channels, pixel_count = tile->taps * PIXELS;
    const float *pixels[MOST_TAPS * PIXELS];
    float *src = guard_at(&guard_src, pixel * pixel_count * sizeof *src, 1);
    size_t weights_count = tile->taps * tile->channels * tile->width;
    float *weights = guard_at(&guard_weights, weights_count * sizeof *weights, 1);
    float *bias = guard_at(&guard_bias, tile->n * sizeof *bias, 1);
    size_t size = (tile->count - 1) * tile->row + tile->n;
    float *dst = guard_at(&guard_dst, size * sizeof *dst, 1);
    fill_reals(src, pixel * pixel_count, &seed);
    fill_reals(weights, weights_count, &seed);
    fill_reals(bias, tile->n, &seed);
    fill_marker(dst, size);
    for (size_t i = 0; i < pixel_count; i++)
        pixels[i] = src + (pixel_count - 1 - i) * pixel;
    tile->pixels = pixels;
    tile->weights = weights;
    tile->bias = options & 8 ? bias : NULL;
    tile->dst = dst;
    kernel->run(tile);
    size_t written = 0;
    for (size_t i = 0; i < size; i++)
        written += !fill_is_marker(dst[i]);
    assert_int_equal(written, tile->count * tile->n);
    for (size_t i = 0; i < tile->count; i++)
        for (size_t j = 0; j < tile->n; j++)
            if (dst[i * tile->row + j] != want(tile, i, j))
                fail_msg("%s: %zu taps, %zu channels, %zu of %zu wide, options %x: (%zu, %zu) is "
                         "wrong (seed %u)",
                         kernel->name, tile->taps, tile->channels, tile->n, tile->width,
                         options & 15, i, j, fill_seed());
}

static void sums_are_in_the_order_of_the_contract(void **state)
{
    static const uint8_t some_taps[] = {0, 1, 6, MOST_TAPS};
    const struct indirect_f32_kernel *kernel = *state;
    uint32_t seed = fill_seed();
    for (size_t width = 4; width <= WIDTH; width += 4)
        for (size_t channels = 1; channels <= MOST_CHANNELS; channels++)
            for (size_t t = 0; t < sizeof some_taps; t++)
                for (size_t count = 1; count <= PIXELS; count++)
                    for (size_t n = width - 3; n <= width; n++) {
                        if (kernel->multiple > 1 && !indirect_f32_suits(kernel, channels, width))
                            continue;
                        struct indirect_f32_tile tile = {
                            .taps = some_taps[t],
                            .channels = channels,
                            .width = width,
                            .row = n + t,
                            .count = count,
                            .n = n,
                        };
                        check(kernel, &tile, fill_next(&seed) >> 8);
                    }
}

/* Kernels that are slow with few channels, or take no others than fours, leave them to another one,
 * and what they take is not left to a later one. */
static void others_are_left_to_other_kernels(void **state)
{
    const struct indirect_f32_kernel *kernel = *state;
    for (size_t width = 4; width <= WIDTH; width += 4)
        for (size_t channels = 1; channels <= 2u * kernel->channels; channels++) {
            const struct indirect_f32_kernel *found =
                indirect_f32_find(kernel->needs, kernel->in_order, channels, width);
            bool is_before = false;
            for (size_t i = 0; indirect_f32_kernels[i] != kernel; i++)
                is_before |= indirect_f32_kernels[i] == found;
            assert_true(indirect_f32_suits(found, channels, width));
            assert_int_equal(found == kernel || is_before,
                             is_before || indirect_f32_suits(kernel, channels, width));
        }
}

enum { VALUES = MOST_TAPS * (MOST_CHANNELS + 3) };

int main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(others_are_left_to_other_kernels),
    };
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(sums_are_in_the_order_of_the_contract),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_src, sizeof(float) * VALUES * PIXELS},
        {&guard_weights, sizeof(float) * VALUES * WIDTH},
        {&guard_bias, sizeof(float) * WIDTH},
        {&guard_dst, sizeof(float) * PIXELS * (WIDTH + MOST_TAPS)},
    };
    for (size_t i = 0; i < indirect_f32_kernel_count; i++) {
        const struct indirect_f32_kernel *kernel = indirect_f32_kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
        if (kernel->channels)
            kernel_tests_add(kernel->name, kernel->needs, kernel, others, 1);
    }
    return kernel_tests_run("indirect_f32", guards, count_of(guards));
}
