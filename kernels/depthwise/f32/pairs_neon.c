/* Depthwise convolution of planes with stride 2 in pairs, of any size: the rows of a plane are
 * copied between zeros, and vectors of four columns are taken from there. */
#include "kernels/depthwise/f32/pairs.h"

#include <arm_neon.h>
#include <string.h>

#include "kernels/asm/inline.h"
#include "kernels/asm/sizes.h"
#include "kernels/asm/vector_neon.h"

enum { LANES = 4, STRIDE = 2, MOST = 5 };

/* Rows of the copy. Its column 0 is that of the first tap. */
struct copy {
    size_t rows, pitch, begin, column, count;
};

/* The last vector of columns may be a part; it reads as much as a whole one. */
static struct copy plan_copy(const struct dwconv_f32_task *task)
{
    size_t vectors = (task->out_cols + LANES - 1) / LANES;
    size_t pitch = STRIDE * LANES * vectors + LANES;
    size_t left = task->first < 0 ? smaller((size_t)-task->first, pitch) : 0;
    size_t column = task->first > 0 ? smaller((size_t)task->first, task->columns) : 0;
    return (struct copy){
        .rows = (task->out_rows - 1) * STRIDE + task->kh,
        .pitch = pitch,
        .begin = left,
        .column = column,
        .count = smaller(pitch - left, task->columns - column),
    };
}

size_t dwconv_f32_pairs_bytes(const struct dwconv_f32_task *task)
{
    struct copy copy = plan_copy(task);
    return copy.rows * copy.pitch * sizeof(float);
}

static void copy_plane(const struct dwconv_f32_task *task, const struct copy *copy, size_t plane)
{
    float *to = (float *)task->scratch + copy->begin;
    for (size_t row = 0; row < copy->rows; row++)
        if (task->rows[row])
            memcpy(to + row * copy->pitch, task->rows[row] + plane * task->src_plane + copy->column,
                   copy->count * sizeof(float));
}

/* Weights of pairs twice, those of the single column in all lanes. */
struct weights {
    float32x4_t bias, pairs[MOST / 2][MOST], single[MOST], low, high;
};

INLINE size_t first_of_pairs(size_t k)
{
    return k / 2 % 2;
}

INLINE size_t single_column(size_t k)
{
    return first_of_pairs(k) ? 0 : k - 1;
}

INLINE void load_weights(struct weights *w, const struct dwconv_f32_task *task, size_t channel,
                         size_t k)
{
    const float zero = 0.0f, *at = task->weights + channel;
    float32x4_t bias = vdupq_n_f32(task->bias ? task->bias[channel] : 0.0f);
    w->bias = vtrn1q_f32(bias, vdupq_n_f32(zero));
    w->low = vdupq_n_f32(task->low);
    w->high = vdupq_n_f32(task->high);
    for (size_t ky = 0; ky < k; ky++, at += k * task->weights_tap) {
        for (size_t pair = 0; pair < k / 2; pair++) {
            const float *two = at + (first_of_pairs(k) + 2 * pair) * task->weights_tap;
            w->pairs[pair][ky] =
                vtrn1q_f32(vdupq_n_f32(two[0]), vdupq_n_f32(two[task->weights_tap]));
        }
        w->single[ky] = vdupq_n_f32(at[single_column(k) * task->weights_tap]);
    }
}

/* Four values of dst from column 0 of `at` on. */
INLINE float32x4_t four(const struct weights *w, const float *at, size_t pitch, size_t k)
{
    float32x4_t first = w->bias, second = w->bias;
    for (size_t pair = 0; pair < k / 2; pair++)
        for (size_t ky = 0; ky < k; ky++) {
            const float *two = at + ky * pitch + first_of_pairs(k) + 2 * pair;
            first = vfmaq_f32(first, vld1q_f32(two), w->pairs[pair][ky]);
            second = vfmaq_f32(second, vld1q_f32(two + LANES), w->pairs[pair][ky]);
        }
    float32x4_t sum = vpaddq_f32(first, second);
    for (size_t ky = 0; ky < k; ky++) {
        const float *one = at + ky * pitch + single_column(k);
        float32x4_t even = vuzp1q_f32(vld1q_f32(one), vld1q_f32(one + LANES));
        sum = vfmaq_f32(sum, even, w->single[ky]);
    }
    return vminq_f32(vmaxq_f32(sum, w->low), w->high);
}

INLINE void take_plane(const struct dwconv_f32_task *task, const struct copy *copy, size_t channel,
                       size_t k)
{
    struct weights w;
    load_weights(&w, task, channel, k);
    for (size_t y = 0; y < task->out_rows; y++) {
        const float *from = (const float *)task->scratch + STRIDE * y * copy->pitch;
        float *to = task->dst + channel * task->dst_plane + y * task->dst_row;
        for (size_t x = 0; x < task->out_cols; x += LANES)
            store_part(to + x, four(&w, from + STRIDE * x, copy->pitch, k), task->out_cols - x);
    }
}

void dwconv_f32_pairs(const struct dwconv_f32_task *task)
{
    struct copy copy = plan_copy(task);
    memset(task->scratch, 0, copy.rows * copy.pitch * sizeof(float));
    for (size_t channel = 0; channel < task->channels; channel++) {
        if (channel % task->multiplier == 0)
            copy_plane(task, &copy, channel / task->multiplier);
        if (task->kh == 3)
            take_plane(task, &copy, channel, 3);
        else
            take_plane(task, &copy, channel, 5);
    }
}
