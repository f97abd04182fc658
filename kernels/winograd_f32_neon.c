/* Winograd's transforms, four channels at a time.
 *
 * Inputs: the pixels of four tiles are transposed first, so that vectors are tiles, which is how
 * the panels of the matrix multiplication want them. Outputs: vectors are channels. A standard
 * transform of 8 values takes 24 instructions to the products and 20 back: points come in pairs
 * ±p, whose rows share an even and an odd part. */
#include <arm_neon.h>
#include <math.h>

#include "kernels/vector_neon.h"
#include "kernels/winograd_f32.h"

#define INLINE static inline __attribute__((always_inline))
enum { MOST = WINOGRAD_F32_POINTS, LANES = WINOGRAD_F32_LANES };

/* a + b c */
INLINE float32x4_t add(float32x4_t a, float32x4_t b, float c)
{
    return vfmaq_n_f32(a, b, c);
}

/* ---- to the products ---- */

/* Two points ±p: even and odd parts. */
INLINE void store_pair(float32x4_t *out, float32x4_t even, float32x4_t odd, float p)
{
    out[0] = add(even, odd, p);
    out[1] = add(even, odd, -p);
}

INLINE void forward_4(float32x4_t *out, const float32x4_t *d)
{
    out[0] = vsubq_f32(d[3], d[1]);
    out[1] = vsubq_f32(d[2], d[0]);
    out[2] = vaddq_f32(d[2], d[1]);
    out[3] = vsubq_f32(d[2], d[1]);
}

INLINE void forward_5(float32x4_t *out, const float32x4_t *d)
{
    out[0] = add(vsubq_f32(d[4], d[2]), vsubq_f32(d[1], d[3]), 2);
    out[1] = add(vsubq_f32(d[3], d[1]), vsubq_f32(d[0], d[2]), 2);
    out[2] = add(vsubq_f32(d[3], d[2]), d[1], -2);
    out[3] = add(add(d[3], d[2], -3), d[1], 2);
    out[4] = vsubq_f32(d[3], d[1]);
}

INLINE void forward_6(float32x4_t *out, const float32x4_t *d)
{
    out[0] = add(add(d[5], d[3], -5), d[1], 4);
    out[1] = add(add(d[4], d[2], -5), d[0], 4);
    float32x4_t even = add(d[4], d[2], -4), odd = add(d[3], d[1], -4);
    out[2] = vaddq_f32(even, odd);
    out[3] = vsubq_f32(even, odd);
    store_pair(out + 4, vsubq_f32(d[4], d[2]), vsubq_f32(d[3], d[1]), 2);
}

INLINE void forward_8(float32x4_t *out, const float32x4_t *d)
{
    out[0] = add(vsubq_f32(d[7], d[1]), vsubq_f32(d[3], d[5]), 5.25F);
    out[1] = add(vsubq_f32(d[6], d[0]), vsubq_f32(d[2], d[4]), 5.25F);
    float32x4_t even = add(vaddq_f32(d[6], d[2]), d[4], -4.25F);
    float32x4_t odd = add(vaddq_f32(d[5], d[1]), d[3], -4.25F);
    out[2] = vaddq_f32(even, odd);
    out[3] = vsubq_f32(even, odd);
    store_pair(out + 4, add(add(d[6], d[4], -1.25F), d[2], 0.25F),
               add(add(d[5], d[3], -1.25F), d[1], 0.25F), 2);
    store_pair(out + 6, add(add(d[6], d[4], -5), d[2], 4), add(add(d[5], d[3], -5), d[1], 4), 0.5F);
}

/* ---- and back ---- */

INLINE void backward_4(float32x4_t *out, const float32x4_t *x)
{
    out[0] = vaddq_f32(x[1], vaddq_f32(x[2], x[3]));
    out[1] = vaddq_f32(x[0], vsubq_f32(x[2], x[3]));
}

INLINE void backward_5(float32x4_t *out, const float32x4_t *x)
{
    float32x4_t sum = vaddq_f32(x[2], x[3]), difference = vsubq_f32(x[2], x[3]);
    out[0] = vaddq_f32(vaddq_f32(x[1], sum), x[4]);
    out[1] = add(difference, x[4], 2);
    out[2] = vaddq_f32(x[0], add(sum, x[4], 4));
}

INLINE void backward_6(float32x4_t *out, const float32x4_t *x)
{
    float32x4_t sum_1 = vaddq_f32(x[2], x[3]), difference_1 = vsubq_f32(x[2], x[3]);
    float32x4_t sum_2 = vaddq_f32(x[4], x[5]), difference_2 = vsubq_f32(x[4], x[5]);
    out[0] = vaddq_f32(x[1], vaddq_f32(sum_1, sum_2));
    out[1] = add(difference_1, difference_2, 2);
    out[2] = add(sum_1, sum_2, 4);
    out[3] = vaddq_f32(x[0], add(difference_1, difference_2, 8));
}

INLINE void backward_8(float32x4_t *out, const float32x4_t *x)
{
    float32x4_t sum_1 = vaddq_f32(x[2], x[3]), difference_1 = vsubq_f32(x[2], x[3]);
    float32x4_t sum_2 = vaddq_f32(x[4], x[5]), difference_2 = vsubq_f32(x[4], x[5]);
    float32x4_t sum_h = vaddq_f32(x[6], x[7]), difference_h = vsubq_f32(x[6], x[7]);
    out[0] = vaddq_f32(vaddq_f32(x[1], sum_1), vaddq_f32(sum_2, sum_h));
    out[1] = add(add(difference_1, difference_2, 2), difference_h, 0.5F);
    out[2] = add(add(sum_1, sum_2, 4), sum_h, 0.25F);
    out[3] = add(add(difference_1, difference_2, 8), difference_h, 0.125F);
    out[4] = add(add(sum_1, sum_2, 16), sum_h, 0.0625F);
    out[5] = vaddq_f32(x[0], add(add(difference_1, difference_2, 32), difference_h, 0.03125F));
}

/* ---- by size ---- */

/* n is a constant. The rows of a matrix that is not standard are multiples of those of the one that
 * is, whose first coefficient is 1, but in the row for infinity, which is always standard. */
INLINE void forward(const struct winograd_f32_matrix *matrix, size_t n, float32x4_t *out,
                    const float32x4_t *in)
{
    if (n == 8)
        forward_8(out, in);
    else if (n == 6)
        forward_6(out, in);
    else if (n == 5)
        forward_5(out, in);
    else
        forward_4(out, in);
    if (matrix->standard)
        return;
#pragma GCC unroll 8
    for (size_t i = 1; i < n; i++)
        out[i] = vmulq_n_f32(out[i], matrix->values[i * n + n - 2]);
}

INLINE void backward(size_t n, float32x4_t *out, const float32x4_t *in)
{
    if (n == 8)
        backward_8(out, in);
    else if (n == 6)
        backward_6(out, in);
    else if (n == 5)
        backward_5(out, in);
    else
        backward_4(out, in);
}

/* ---- inputs ---- */

/* Four channels of four tiles: [column][row][channel], vectors are tiles. */
typedef float32x4_t block[MOST][MOST][4];

INLINE void load_pixels(const struct winograd_f32_input *task, size_t c, block values)
{
    const float *const *pixels = task->pixels;
    size_t rows = task->rows.n, cols = task->cols.n;
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < cols; x++, pixels += LANES) {
            float32x4_t *to = values[x][y], from[4];
#pragma GCC unroll 4
            for (size_t lane = 0; lane < LANES; lane++)
                from[lane] = vld1q_f32(pixels[lane] + c);
            transpose_4x4(from);
#pragma GCC unroll 4
            for (size_t i = 0; i < 4; i++)
                to[i] = from[i];
        }
}

/* Along the rows of each column, in place. */
INLINE void forward_rows(const struct winograd_f32_input *task, block values, size_t n)
{
    for (size_t x = 0; x < task->cols.n; x++)
        for (size_t i = 0; i < 4; i++) {
            float32x4_t in[MOST], out[MOST];
#pragma GCC unroll 8
            for (size_t y = 0; y < n; y++)
                in[y] = values[x][y][i];
            forward(&task->rows, n, out, in);
#pragma GCC unroll 8
            for (size_t y = 0; y < n; y++)
                values[x][y][i] = out[y];
        }
}

static inline void store_lanes(const struct winograd_f32_target *target, size_t lanes, size_t c,
                               float32x4_t value)
{
    vst1q_lane_f32(target->to[0] + c * target->step[0], value, 0);
    if (lanes > 1)
        vst1q_lane_f32(target->to[1] + c * target->step[1], value, 1);
    if (lanes > 2)
        vst1q_lane_f32(target->to[2] + c * target->step[2], value, 2);
    if (lanes > 3)
        vst1q_lane_f32(target->to[3] + c * target->step[3], value, 3);
}

INLINE void store_row(const struct winograd_f32_target *targets, size_t step, size_t lanes,
                      size_t channel, const float32x4_t *values, size_t n)
{
    if (step) {
        size_t offset = channel * step;
#pragma GCC unroll 8
        for (size_t x = 0; x < n; x++)
            vst1q_f32(targets[x].to[0] + offset, values[x]);
        return;
    }
#pragma GCC unroll 8
    for (size_t x = 0; x < n; x++)
        if (targets[x].together)
            vst1q_f32(targets[x].to[0] + channel * targets[x].step[0], values[x]);
        else
            store_lanes(&targets[x], lanes, channel, values[x]);
}

/* Along the columns of each row, to the targets. */
INLINE void forward_cols(const struct winograd_f32_input *task, size_t c, block values, size_t n)
{
    const struct winograd_f32_target *targets = task->targets;
    size_t step = task->step, lanes = task->lanes, first = task->first + c, rows = task->rows.n;
    for (size_t y = 0; y < rows; y++, targets += n)
        for (size_t i = 0; i < 4; i++) {
            float32x4_t in[MOST], out[MOST];
#pragma GCC unroll 8
            for (size_t x = 0; x < n; x++)
                in[x] = values[x][y][i];
            forward(&task->cols, n, out, in);
            store_row(targets, step, lanes, first + i, out, n);
        }
}

static void input(const struct winograd_f32_input *task)
{
    block values;
    for (size_t done = 0; done < task->channels; done += 4) {
        size_t c = done + 4 <= task->channels ? done : task->channels - 4;
        load_pixels(task, c, values);
        switch (task->rows.n) {
        case 8:
            forward_rows(task, values, 8);
            break;
        case 6:
            forward_rows(task, values, 6);
            break;
        case 5:
            forward_rows(task, values, 5);
            break;
        default:
            forward_rows(task, values, 4);
        }
        switch (task->cols.n) {
        case 8:
            forward_cols(task, c, values, 8);
            break;
        case 6:
            forward_cols(task, c, values, 6);
            break;
        case 5:
            forward_cols(task, c, values, 5);
            break;
        default:
            forward_cols(task, c, values, 4);
        }
    }
}

/* ---- outputs ---- */

typedef float32x4_t half[MOST][MOST]; /* [output row][column] */

INLINE void backward_rows(const struct winograd_f32_output *task, size_t c, half values, size_t n)
{
    size_t cols = task->cols.n;
    for (size_t v = 0; v < cols; v++) {
        float32x4_t in[MOST], out[MOST];
#pragma GCC unroll 8
        for (size_t u = 0; u < n; u++)
            in[u] = vld1q_f32(task->sums + task->offsets[u * cols + v] + c);
        backward(n, out, in);
#pragma GCC unroll 6
        for (size_t y = 0; y < n - 2; y++)
            values[y][v] = out[y];
    }
}

struct finish {
    float32x4_t bias, low, high;
    size_t count; /* channels */
};

INLINE void backward_cols(const struct winograd_f32_output *task, size_t c, half values, size_t n,
                          const struct finish *finish)
{
    for (size_t y = 0; y < task->height; y++) {
        float32x4_t in[MOST], out[MOST];
        float *dst = task->dst + y * task->dst_row + c;
#pragma GCC unroll 8
        for (size_t v = 0; v < n; v++)
            in[v] = values[y][v];
        backward(n, out, in);
#pragma GCC unroll 6
        for (size_t x = 0; x < n - 2; x++)
            out[x] =
                vminq_f32(vmaxq_f32(vaddq_f32(out[x], finish->bias), finish->low), finish->high);
        if (finish->count >= 4 && task->width == n - 2) {
#pragma GCC unroll 6
            for (size_t x = 0; x < n - 2; x++, dst += task->dst_column)
                vst1q_f32(dst, out[x]);
        } else {
            for (size_t x = 0; x < task->width; x++, dst += task->dst_column)
                store_part(dst, out[x], finish->count);
        }
    }
}

static void output(const struct winograd_f32_output *task)
{
    half values;
    struct finish finish = {.low = vdupq_n_f32(task->low), .high = vdupq_n_f32(task->high)};
    for (size_t c = 0; c < task->channels; c += 4) {
        finish.count = task->channels - c;
        finish.bias = task->bias ? load_part(task->bias + c, finish.count) : vdupq_n_f32(0);
        switch (task->rows.n) {
        case 8:
            backward_rows(task, c, values, 8);
            break;
        case 6:
            backward_rows(task, c, values, 6);
            break;
        case 5:
            backward_rows(task, c, values, 5);
            break;
        default:
            backward_rows(task, c, values, 4);
        }
        switch (task->cols.n) {
        case 8:
            backward_cols(task, c, values, 8, &finish);
            break;
        case 6:
            backward_cols(task, c, values, 6, &finish);
            break;
        case 5:
            backward_cols(task, c, values, 5, &finish);
            break;
        default:
            backward_cols(task, c, values, 4, &finish);
        }
    }
}

const struct winograd_f32_kernel winograd_f32_neon = {"winograd_f32_neon", CPU_NEON, input, output};
