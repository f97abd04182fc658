/* Winograd's transforms against sums with the matrices, on all sizes of tiles. */
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arch/cpu.h"
#include "kernels/winograd_f32.h"
#include "src/weights/winograd.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"

enum { MOST = WINOGRAD_F32_POINTS, LANES = WINOGRAD_F32_LANES, CHANNELS = 13 };
static const size_t sizes[] = {4, 5, 6, 8};
static struct guard guard_src, guard_dst;

struct sides {
    float values[2][MOST * MOST];
    struct winograd_f32_matrix rows, cols;
};

static struct winograd_f32_matrix forward(size_t largest, size_t n, float *values)
{
    winograd_input_matrix(largest, n, values);
    return (struct winograd_f32_matrix){n, n, values, n == largest};
}

static struct winograd_f32_matrix backward(size_t n, float *values)
{
    winograd_output_matrix(n, values);
    return (struct winograd_f32_matrix){n, n - 2, values, 1};
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

/* Lanes are rows of panels of `width` rows: neighbours, or not. */
static void check_input(const struct winograd_f32_kernel *kernel, size_t largest, size_t r,
                        size_t c, size_t lanes, int together, bool same_step)
{
    uint32_t seed = fill_seed();
    struct sides sides;
    sides.rows = forward(largest, r, sides.values[0]);
    sides.cols = forward(largest, c, sides.values[1]);
    size_t count = r * c, width = together ? 8 : 5;
    size_t panel = 2 * width * (CHANNELS + 1);
    const float *pixels[MOST * MOST * LANES];
    struct winograd_f32_target targets[MOST * MOST];
    float *out = guard_at(&guard_dst, count * panel * sizeof *out, 1);
    float *all = guard_at(&guard_src, count * LANES * CHANNELS * sizeof *all, 1);
    fill_marker(out, count * panel);
    for (size_t i = 0; i < count * LANES; i++) {
        float *src = all + i * CHANNELS;
        fill_reals(src, CHANNELS, &seed);
        pixels[i] = src;
    }
    for (size_t i = 0; i < count; i++) {
        targets[i].together = together;
        for (size_t lane = 0; lane < lanes; lane++) {
            bool second = !together && lane >= 2;
            targets[i].to[lane] = out + i * panel + (second ? panel / 2 : 0) + lane;
            targets[i].step[lane] = width;
        }
    }
    kernel->input(&(struct winograd_f32_input){.rows = sides.rows,
                                               .cols = sides.cols,
                                               .lanes = lanes,
                                               .channels = CHANNELS,
                                               .first = 1,
                                               .pixels = pixels,
                                               .targets = targets,
                                               .step = same_step ? width : 0});
    size_t written = 0;
    for (size_t i = 0; i < count * panel; i++)
        written += !fill_is_marker(out[i]);
    assert_int_equal(written, count * lanes * CHANNELS);
    for (size_t lane = 0; lane < lanes; lane++)
        for (size_t channel = 0; channel < CHANNELS; channel++) {
            double in[MOST][MOST], scale;
            for (size_t i = 0; i < count; i++)
                in[i / c][i % c] = (double)pixels[i * LANES + lane][channel];
            for (size_t i = 0; i < count; i++) {
                double want = product(&sides, i / c, i % c, in, &scale);
                check_value(targets[i].to[lane][(channel + 1) * width], want, scale);
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
                check_input(*state, sizes[l], sizes[r], sizes[c], 4, 1, true);
                check_input(*state, sizes[l], sizes[r], sizes[c], 4, 1, false);
                check_input(*state, sizes[l], sizes[r], sizes[c], 4, 0, false);
                check_input(*state, sizes[l], sizes[r], sizes[c], 3, 0, false);
            }
}

static void check_output(const struct winograd_f32_kernel *kernel, size_t r, size_t c,
                         size_t channels, size_t cut, bool plain)
{
    uint32_t seed = fill_seed();
    struct sides sides;
    sides.rows = backward(r, sides.values[0]);
    sides.cols = backward(c, sides.values[1]);
    size_t height = sides.rows.m - cut, width = sides.cols.m - cut, padded = (channels + 3) / 4 * 4;
    size_t dst_row = width * (channels + 1) + 2,
           size = (height - 1) * dst_row + (width - 1) * (channels + 1) + channels;
    float *sums = guard_at(&guard_src, r * c * padded * sizeof *sums, 1), bias[CHANNELS];
    float *dst = guard_at(&guard_dst, size * sizeof *dst, 1);
    uint32_t offsets[MOST * MOST];
    fill_reals(sums, r * c * padded, &seed);
    fill_reals(bias, CHANNELS, &seed);
    fill_marker(dst, size);
    for (size_t i = 0; i < r * c; i++)
        offsets[i] = (uint32_t)((r * c - 1 - i) * padded);
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
                                                 .dst_column = channels + 1,
                                                 .low = plain ? -INFINITY : -0.5f,
                                                 .high = plain ? INFINITY : 1.5f});
    size_t written = 0;
    for (size_t i = 0; i < size; i++)
        written += !fill_is_marker(dst[i]);
    assert_int_equal(written, height * width * channels);
    for (size_t channel = 0; channel < channels; channel++) {
        double in[MOST][MOST], scale;
        for (size_t i = 0; i < r * c; i++)
            in[i / c][i % c] = (double)sums[offsets[i] + channel];
        for (size_t i = 0; i < height * width; i++) {
            double want = product(&sides, i / width, i % width, in, &scale);
            if (!plain)
                want = fmin(fmax(want + (double)bias[channel], -0.5), 1.5);
            check_value(dst[i / width * dst_row + i % width * (channels + 1) + channel], want,
                        scale + 1);
        }
    }
}

static void outputs_become_what_the_matrices_say(void **state)
{
    static const size_t channels[] = {1, 3, 4, 6, 8, 12};
    for (size_t r = 0; r < count_of(sizes); r++)
        for (size_t c = 0; c < count_of(sizes); c++)
            for (size_t i = 0; i < count_of(channels); i++) {
                check_output(*state, sizes[r], sizes[c], channels[i], 0, false);
                check_output(*state, sizes[r], sizes[c], channels[i], 0, true);
                check_output(*state, sizes[r], sizes[c], channels[i], 1, false);
            }
}

/* y = A [(G w) ∘ (B d)] is the convolution, for every n that a layout serves. */
static void the_matrices_convolve(void **state)
{
    (void)state;
    uint32_t seed = fill_seed();
    for (size_t l = 0; l < count_of(sizes); l++)
        for (size_t s = 0; s <= l; s++) {
            size_t n = sizes[s];
            float w[3], d[MOST], B[MOST * MOST], A[MOST * MOST];
            double G[MOST][3];
            fill_reals(w, 3, &seed);
            fill_reals(d, MOST, &seed);
            winograd_input_matrix(sizes[l], n, B);
            winograd_output_matrix(n, A);
            for (size_t i = 0; i < n - 2; i++) {
                double sum = 0, want = 0;
                for (size_t j = 0; j < n; j++) {
                    double gw = 0, bd = 0;
                    winograd_weights_row(sizes[l], j, G[j]);
                    for (size_t k = 0; k < 3; k++)
                        gw += G[j][k] * (double)w[k];
                    for (size_t k = 0; k < n; k++)
                        bd += (double)B[j * n + k] * (double)d[k];
                    sum += (double)A[i * n + j] * gw * bd;
                }
                for (size_t k = 0; k < 3; k++)
                    want += (double)w[k] * (double)d[i + k];
                assert_true(fabs(sum - want) < 1e-5);
            }
        }
}

int main(void)
{
    guard_init(&guard_src, sizeof(float) * MOST * MOST * LANES * CHANNELS);
    guard_init(&guard_dst, sizeof(float) * MOST * MOST * 16 * (CHANNELS + 1));
    static const struct CMUnitTest per_kernel[] = {
        cmocka_unit_test(inputs_become_what_the_matrices_say),
        cmocka_unit_test(outputs_become_what_the_matrices_say),
    };
    static struct CMUnitTest tests[16] = {cmocka_unit_test(the_matrices_convolve)};
    static char names[16][96];
    size_t count = 1;
    for (size_t i = 0; i < winograd_f32_kernel_count; i++)
        for (size_t t = 0; t < count_of(per_kernel); t++) {
            if (winograd_f32_kernels[i]->needs & ~cpu_get()->features)
                continue;
            (void)snprintf(names[count], sizeof names[count], "%s_%s",
                           winograd_f32_kernels[i]->name, per_kernel[t].name);
            tests[count] = per_kernel[t];
            tests[count].name = names[count];
            tests[count].initial_state = (void *)(uintptr_t)winograd_f32_kernels[i];
            count++;
        }
    return _cmocka_run_group_tests("winograd_f32", tests, count, NULL, NULL);
}
