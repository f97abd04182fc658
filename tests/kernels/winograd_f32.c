/* Winograd's transforms against sums with the matrices, on all sizes of tiles, and the products
 * against plain loops, on all heights and widths of blocks. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "arch/cpu.h"
#include "kernels/winograd/f32/winograd.h"
#include "src/tensor/winograd.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum { MOST = WINOGRAD_F32_POINTS, GROUP = WINOGRAD_F32_GROUP, CHANNELS = 12, ROWS = 7 };
static const size_t sizes[] = {1, 4, 5, 6, 8}; /* 1: a dimension of one tap */
static const size_t all_taps[] = {3, 5, 7};

/* Of a dimension with so many points. */
static size_t taps_of(size_t n, size_t taps)
{
    return n == 1 ? 1 : taps;
}

static bool has_tiles(size_t n, size_t taps)
{
    return winograd_outputs(n, taps_of(n, taps)) > 0;
}

static struct guard guard_src, guard_weights, guard_dst;

struct sides {
    float values[2][MOST * MOST];
    struct winograd_f32_matrix rows, cols;
};

static struct winograd_f32_matrix forward(size_t largest, size_t n, float *values)
{
    winograd_input_matrix(largest, n, values);
    return (struct winograd_f32_matrix){n, n, values, n == largest || n == 1};
}

static struct winograd_f32_matrix backward(size_t n, size_t taps, float *values)
{
    winograd_output_matrix(n, taps_of(n, taps), values);
    return (struct winograd_f32_matrix){n, winograd_outputs(n, taps_of(n, taps)), values, 1};
}

/* Element (i, j) of rows * in * cols transposed; *scale: the same of magnitudes. */
static double product(const struct sides *sides, size_t i, size_t j, double in[MOST][MOST],
                      double *scale)
{
    double sum = 0;
    *scale = 0;
    for (size_t u = 0; u < sides->rows.n; u++)
        for (size_t v = 0; v < sides->cols.n; v++) {
            double factor = (double)sides->rows.values[i * sides->rows.n + u] *
                            (double)sides->cols.values[j * sides->cols.n + v];
            sum += factor * in[u][v];
            *scale += fabs(factor * in[u][v]);
        }
    return sum;
}

static void check_value(float got, double want, double scale)
{
    if (!(fabs((double)got - want) <= 16 * 0x1p-24 * scale))
        fail_msg("got %.9g, want %.9g (scale %g)", (double)got, want, scale);
}

static void check_gather(const struct winograd_f32_kernel *kernel, size_t rows, size_t cols,
                         size_t channels)
{
    uint32_t seed = fill_seed();
    size_t src_row = cols + 1, plane = rows * src_row + 3, group = (cols + 1) * GROUP;
    size_t dst_row = 5 * group;
    size_t src_size = (channels - 1) * plane + (rows - 1) * src_row + cols;
    size_t last = (channels - 1) / GROUP * group + (channels - 1) % GROUP;
    size_t dst_size = (rows - 1) * dst_row + (cols - 1) * GROUP + last + 1;
    float *src = guard_at(&guard_src, src_size * sizeof *src, 1);
    float *dst = guard_at(&guard_dst, dst_size * sizeof *dst, 1);
    fill_reals(src, src_size, &seed);
    fill_marker(dst, dst_size);
    kernel->gather(&(struct winograd_f32_patch){rows, cols, channels, src, (ptrdiff_t)src_row,
                                                (ptrdiff_t)plane, dst, dst_row, group});
    size_t written = 0;
    for (size_t i = 0; i < dst_size; i++)
        written += !fill_is_marker(dst[i]);
    assert_int_equal(written, rows * cols * channels);
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < cols; x++)
            for (size_t c = 0; c < channels; c++)
                assert_true(dst[y * dst_row + c / GROUP * group + x * GROUP + c % GROUP] ==
                            src[c * plane + y * src_row + x]);
}

static void patches_are_gathered(void **state)
{
    static const size_t rows[] = {1, 3, 8}, channels[] = {1, 3, 4, 9, 16};
    for (size_t r = 0; r < count_of(rows); r++)
        for (size_t cols = 1; cols <= MOST; cols++)
            for (size_t c = 0; c < count_of(channels); c++)
                check_gather(*state, rows[r], cols, channels[c]);
}

/* A tile is a row of blocks of `height` rows, at every point or at every other one. */
static void check_input(const struct winograd_f32_kernel *kernel, size_t largest, size_t r,
                        size_t c, size_t height, bool same_step)
{
    enum { FROM = 2, FIRST = 1, GROUPS = CHANNELS / GROUP, SHIFT = GROUP, APART = 4 };
    uint32_t seed = fill_seed();
    struct sides sides;
    sides.rows = forward(largest, r, sides.values[0]);
    sides.cols = forward(largest, c, sides.values[1]);
    size_t count = r * c, block = ROWS * GROUP * (FIRST + GROUPS),
           size = FROM + CHANNELS + (GROUPS - 1) * APART;
    const float *pixels[MOST * MOST];
    float *targets[MOST * MOST];
    size_t steps[MOST * MOST], shift = same_step && height > 1 ? SHIFT : 0;
    float *out = guard_at(&guard_dst, count * block * sizeof *out, 1);
    float *all = guard_at(&guard_src, count * size * sizeof *all, 1);
    fill_marker(out, count * block);
    for (size_t i = 0; i < count; i++) {
        fill_reals(all + i * size, size, &seed);
        pixels[i] = all + i * size;
        targets[i] = out + i * block + (height - 1) * GROUP - shift;
        steps[i] = (same_step || i % 2 ? height : ROWS) * GROUP;
    }
    kernel->input(&(struct winograd_f32_input){.rows = sides.rows,
                                               .cols = sides.cols,
                                               .groups = GROUPS,
                                               .from = FROM,
                                               .from_group = GROUP + APART,
                                               .first = FIRST,
                                               .pixels = pixels,
                                               .targets = targets,
                                               .steps = same_step ? NULL : steps,
                                               .step = steps[0],
                                               .shift = shift});
    size_t written = 0;
    for (size_t i = 0; i < count * block; i++)
        written += !fill_is_marker(out[i]);
    assert_int_equal(written, count * CHANNELS);
    for (size_t channel = 0; channel < CHANNELS; channel++) {
        double in[MOST][MOST], scale;
        for (size_t i = 0; i < count; i++)
            in[i % r][i / r] = (double)pixels[i][FROM + channel + channel / GROUP * APART];
        for (size_t i = 0; i < count; i++) {
            double want = product(&sides, i / c, i % c, in, &scale);
            size_t at = (FIRST + channel / GROUP) * steps[i] + shift + channel % GROUP;
            check_value(targets[i][at], want, scale);
        }
    }
}

static void inputs_become_what_the_matrices_say(void **state)
{
    for (size_t l = 0; l < count_of(sizes); l++)
        for (size_t r = 0; r <= l; r++)
            for (size_t c = 0; c <= l; c++) {
                if (sizes[l] == 5)
                    continue;
                check_input(*state, sizes[l], sizes[r], sizes[c], 7, true);
                check_input(*state, sizes[l], sizes[r], sizes[c], 3, true);
                check_input(*state, sizes[l], sizes[r], sizes[c], 3, false);
            }
}

/* ---- products ---- */

enum { POINTS = 3, PANELS = 3, MOST_K = 37, MOST_ROWS = 2 * ROWS };

/* The blocks of each point, as the kernel wants them, and its rows. */
struct blocks {
    uint8_t heights[POINTS * 3 + 1];
    size_t rows[POINTS], all;
};

/* Two blocks, none and one. */
static struct blocks make_blocks(size_t height)
{
    struct blocks blocks = {{(uint8_t)height, ROWS, WINOGRAD_F32_PANEL, WINOGRAD_F32_PANEL,
                             (uint8_t)height, WINOGRAD_F32_PANEL, WINOGRAD_F32_END},
                            {height + ROWS, 0, height},
                            2 * height + ROWS};
    return blocks;
}

/* Element (row, p) of a point's matrix, whose first block has `height` rows. */
static float element_of(const float *a, size_t padded, size_t height, size_t row, size_t p)
{
    if (row >= height)
        return a[height * padded + (p / GROUP * ROWS + row - height) * GROUP + p % GROUP];
    return a[(p / GROUP * height + row) * GROUP + p % GROUP];
}

static void check_products(winograd_f32_products_fn *run, size_t height, size_t width, size_t k,
                           size_t panels)
{
    uint32_t seed = fill_seed();
    struct blocks blocks = make_blocks(height);
    size_t padded = (k + 3) / 4 * 4, point = k * width * panels, c_size = blocks.all * panels;
    size_t last = c_size * WINOGRAD_F32_NR - (WINOGRAD_F32_NR - width);
    float *a = guard_at(&guard_src, blocks.all * padded * sizeof *a, 1);
    float *b = guard_at(&guard_weights, POINTS * point * sizeof *b, 1);
    float *c = guard_at(&guard_dst, last * sizeof *c, 1);
    fill_integers(a, blocks.all * padded, &seed);
    fill_integers(b, POINTS * point, &seed);
    fill_marker(c, last);
    run(&(struct winograd_f32_products){
        .k = k,
        .a = a,
        .b = b,
        .point = point,
        .c = c,
        .panel = blocks.all * WINOGRAD_F32_NR,
        .panels = panels,
        .heights = blocks.heights,
        .ahead_step = SIZE_MAX / 3,
    });
    size_t written = 0;
    for (size_t i = 0; i < last; i++)
        written += !fill_is_marker(c[i]);
    assert_int_equal(written, c_size * width);
    for (size_t i = 0, first = 0; i < POINTS; first += blocks.rows[i++])
        for (size_t e = 0; e < blocks.rows[i] * panels * width; e++) {
            size_t row = e / width / panels, panel = e / width % panels, j = e % width;
            float sum = 0;
            for (size_t p = 0; p < k; p++)
                sum += element_of(a + first * padded, padded, height, row, p) *
                       b[i * point + (panel * k + p) * width + j];
            assert_true(sum == c[(panel * blocks.all + first + row) * WINOGRAD_F32_NR + j]);
        }
}

static void products_are_exact_on_integers(void **state)
{
    static const size_t ks[] = {1, 2, 3, 4, 5, 8, 12, 15, 16, MOST_K};
    const struct winograd_f32_kernel *kernel = *state;
    for (size_t height = 1; height <= ROWS; height++)
        for (size_t width = 4; width <= WINOGRAD_F32_NR; width += 4)
            for (size_t i = 0; i < count_of(ks); i++) {
                check_products(kernel->products[width / 4 - 1], height, width, ks[i], 1);
                check_products(kernel->products[width / 4 - 1], height, width, ks[i], PANELS);
            }
    for (size_t i = 0; kernel->fetch && i < ROWS * count_of(ks); i++)
        check_products(kernel->fetch, 1 + i % ROWS, WINOGRAD_F32_NR, ks[i / ROWS], PANELS);
}

/* A row among others, from as many as the kernel says on: always the same bits. */
static void higher_blocks_sum_in_the_same_order(void **state)
{
    enum { K = 19, PADDED = 20 };
    const struct winograd_f32_kernel *kernel = *state;
    float row[PADDED], a[ROWS * PADDED], b[K * WINOGRAD_F32_NR], c[ROWS * WINOGRAD_F32_NR];
    float first[WINOGRAD_F32_NR];
    uint32_t seed = fill_seed();
    fill_reals(row, PADDED, &seed);
    fill_reals(b, K * WINOGRAD_F32_NR, &seed);
    for (size_t width = 4; width <= WINOGRAD_F32_NR; width += 4)
        for (size_t height = kernel->same; height <= ROWS; height++) {
            const uint8_t heights[] = {(uint8_t)height, WINOGRAD_F32_PANEL, WINOGRAD_F32_END};
            for (size_t p = 0; p < PADDED; p++)
                for (size_t i = 0; i < height; i++)
                    a[(p / 4 * height + i) * 4 + p % 4] = row[p];
            kernel->products[width / 4 - 1](&(struct winograd_f32_products){
                .k = K, .a = a, .b = b, .c = c, .panels = 1, .heights = heights});
            if (height == kernel->same)
                memcpy(first, c, width * sizeof *c);
            assert_memory_equal(first, c, width * sizeof *c);
        }
}

/* ---- outputs ---- */

static void check_output(const struct winograd_f32_kernel *kernel, size_t r, size_t c, size_t taps,
                         size_t channels, size_t cut, bool plain, bool planes)
{
    uint32_t seed = fill_seed();
    struct sides sides;
    sides.rows = backward(r, taps, sides.values[0]);
    sides.cols = backward(c, taps, sides.values[1]);
    size_t height = r == 1 ? 1 : sides.rows.m - cut, width = c == 1 ? 1 : sides.cols.m - cut;
    size_t padded = (channels + 3) / 4 * 4;
    size_t column = planes ? 1 : channels + 1, dst_row = width * column + 2;
    size_t channel_step = planes ? height * dst_row + 1 : 1;
    size_t size = (height - 1) * dst_row + (width - 1) * column + (channels - 1) * channel_step + 1;
    float *sums = guard_at(&guard_src, r * c * padded * sizeof *sums, 1), bias[CHANNELS];
    float *dst = guard_at(&guard_dst, size * sizeof *dst, 1);
    uint32_t offsets[MOST * MOST];
    fill_reals(sums, r * c * padded, &seed);
    fill_reals(bias, CHANNELS, &seed);
    fill_marker(dst, size);
    for (size_t i = 0; i < r * c; i++)
        offsets[i] = (uint32_t)((r * c - 1 - i) * padded * sizeof *sums);
    kernel->output(&(struct winograd_f32_output){.rows = sides.rows,
                                                 .cols = sides.cols,
                                                 .channels = channels,
                                                 .height = height,
                                                 .width = width,
                                                 .sums = sums,
                                                 .offsets = offsets,
                                                 .bias = plain ? NULL : bias,
                                                 .dst = dst,
                                                 .dst_row = dst_row,
                                                 .dst_column = column,
                                                 .dst_channel = channel_step,
                                                 .low = plain ? -INFINITY : -0.5f,
                                                 .high = plain ? INFINITY : 1.5f});
    size_t written = 0;
    for (size_t i = 0; i < size; i++)
        written += !fill_is_marker(dst[i]);
    assert_int_equal(written, height * width * channels);
    for (size_t channel = 0; channel < channels; channel++) {
        double in[MOST][MOST], scale;
        for (size_t i = 0; i < r * c; i++)
            in[i % r][i / r] = (double)sums[offsets[i] / sizeof *sums + channel];
        for (size_t i = 0; i < height * width; i++) {
            double want = product(&sides, i / width, i % width, in, &scale);
            if (!plain)
                want = fmin(fmax(want + (double)bias[channel], -0.5), 1.5);
            check_value(dst[i / width * dst_row + i % width * column + channel * channel_step],
                        want, scale + 1);
        }
    }
}

static void check_outputs(const struct winograd_f32_kernel *kernel, size_t taps)
{
    static const size_t channels[] = {1, 3, 4, 6, 8, 12};
    enum { PAIRS = count_of(sizes) * count_of(sizes) };
    for (size_t i = 0; i < PAIRS * count_of(channels); i++) {
        size_t rows = sizes[i % PAIRS / count_of(sizes)], cols = sizes[i % count_of(sizes)];
        if (!has_tiles(rows, taps) || !has_tiles(cols, taps))
            continue;
        for (int planes = 0; planes < 2; planes++) {
            check_output(kernel, rows, cols, taps, channels[i / PAIRS], 0, false, planes);
            check_output(kernel, rows, cols, taps, channels[i / PAIRS], 0, true, planes);
            check_output(kernel, rows, cols, taps, channels[i / PAIRS], 1, false, planes);
        }
    }
}

static void outputs_become_what_the_matrices_say(void **state)
{
    for (size_t t = 0; t < count_of(all_taps); t++)
        check_outputs(*state, all_taps[t]);
}

/* Output i of the matrices for n points of a layout of `largest` ones; *want: the sum itself. */
static double convolve(size_t largest, size_t n, size_t taps, size_t i, double *want)
{
    uint32_t seed = fill_seed();
    float w[WINOGRAD_MOST_TAPS], d[MOST], B[MOST * MOST], A[MOST * MOST];
    fill_reals(w, WINOGRAD_MOST_TAPS, &seed);
    fill_reals(d, MOST, &seed);
    winograd_input_matrix(largest, n, B);
    winograd_output_matrix(n, taps, A);
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        double G[WINOGRAD_MOST_TAPS], gw = 0, bd = 0;
        winograd_weights_row(taps == 1 ? 1 : largest, taps, j, G);
        for (size_t k = 0; k < taps; k++)
            gw += G[k] * (double)w[k];
        for (size_t k = 0; k < n; k++)
            bd += (double)B[j * n + k] * (double)d[k];
        sum += (double)A[i * n + j] * gw * bd;
    }
    *want = 0;
    for (size_t k = 0; k < taps; k++)
        *want += (double)w[k] * (double)d[i + k];
    return sum;
}

/* y = A [(G w) ∘ (B d)] is the convolution, for every n that a layout serves. */
static void the_matrices_convolve(void **state)
{
    (void)state;
    enum { ALL = count_of(sizes) * count_of(sizes) * count_of(all_taps) };
    for (size_t index = 0; index < ALL; index++) {
        size_t largest = sizes[index % count_of(sizes)], rest = index / count_of(sizes);
        size_t n = sizes[rest % count_of(sizes)];
        size_t taps = taps_of(n, all_taps[rest / count_of(sizes)]);
        for (size_t i = 0; n <= largest && i < winograd_outputs(n, taps); i++) {
            double want, got = convolve(largest, n, taps, i, &want);
            assert_true(fabs(got - want) < 1e-5);
        }
    }
}

static void kernels_are_found_by_core(void **state)
{
    (void)state;
    struct core core = *cpu_get()->core;
    struct cpu cpu = *cpu_get();
    cpu.core = &core;
    for (size_t i = 0; i + 1 < winograd_f32_kernel_count; i++) {
        core.in_order = winograd_f32_kernels[i]->in_order;
        core.fmla_per_cycle = 4, core.fmla_latency = winograd_f32_kernels[i]->sums ? 4 : 2;
        if (!(winograd_f32_kernels[i]->needs & ~cpu.features))
            assert_ptr_equal(winograd_f32_find(&cpu), winograd_f32_kernels[i]);
    }
    cpu.features = 0;
    assert_ptr_equal(winograd_f32_find(&cpu), &winograd_f32_ref);
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(patches_are_gathered),
        cmocka_unit_test(inputs_become_what_the_matrices_say),
        cmocka_unit_test(products_are_exact_on_integers),
        cmocka_unit_test(higher_blocks_sum_in_the_same_order),
        cmocka_unit_test(outputs_become_what_the_matrices_say),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(the_matrices_convolve),
        cmocka_unit_test(kernels_are_found_by_core),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_src, sizeof(float) * MOST * MOST * 16 * 2},
        {&guard_weights, sizeof(float) * POINTS * PANELS * MOST_K * WINOGRAD_F32_NR},
        {&guard_dst, sizeof(float) * MOST * MOST * ROWS * GROUP * (CHANNELS / GROUP + 1)},
    };
    kernel_tests_add_alone(alone, count_of(alone));
    for (size_t i = 0; i < winograd_f32_kernel_count; i++) {
        const struct winograd_f32_kernel *kernel = winograd_f32_kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
    }
    return kernel_tests_run("winograd_f32", guards, count_of(guards));
}
