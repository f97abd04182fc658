/* Depthwise 3x3 of images no larger than the kernel.
 *
 * There is code for each size. All of src is in registers, and so are the sums of all pixels or of
 * some rows: vector i of a group of V is number i % V of pixel i / V. */
#include "kernels/depthwise/f32/lanes/image.h"

#include <arm_neon.h>
#include <string.h>

#include "kernels/asm/vector_neon.h"

enum { TAPS = 3, LANES = 4, VECTORS = 2, GROUP = VECTORS * LANES };

struct image {
    const float *rows[IMAGE_MOST];
    const float *weights;
    size_t down, across, next; /* from a weight to that of the tap below, beside, of a next group */
    const float *bias;
    size_t bias_next; /* 0: all groups have the same */
    float *dst;
    size_t column, dst_row, dst_column;
    size_t channels;
    const float *clamp; /* four times low, four times high; NULL: none */
};
typedef void image_fn(const struct image *image);
typedef float32x4_t pixels[IMAGE_MOST * IMAGE_MOST * VECTORS];

/* The tap in row ky and column kx of the kernel, for R rows from number `from` on. */
INLINE void add_tap(pixels sums, const pixels src, const float *weights, size_t ky, size_t kx,
                    size_t from, size_t R, size_t H, size_t W, size_t V)
{
    float32x4_t tap[VECTORS];
#pragma GCC unroll 2
    for (size_t v = 0; v < V; v++)
        tap[v] = vld1q_f32(weights + v * LANES);
#pragma GCC unroll 32
    for (size_t i = 0; i < R * W * V; i++) {
        size_t y = from + i / V / W + ky, x = i / V % W + kx; /* from the padding on */
        if (y >= 1 && y <= H && x >= 1 && x <= W)
            sums[i] = vfmaq_f32(sums[i], src[((y - 1) * W + x - 1) * V + i % V], tap[i % V]);
    }
}

/* R rows of dst. */
INLINE void run_rows(const pixels src, const struct image *image, const float *weights,
                     const float *bias, float *dst, size_t from, size_t R, size_t H, size_t W,
                     size_t V)
{
    pixels sums;
#pragma GCC unroll 32
    for (size_t i = 0; i < R * W * V; i++)
        sums[i] = load_anew(bias + i % V * LANES);
#pragma GCC unroll 4
    for (size_t kx = 0; kx < TAPS; kx++)
#pragma GCC unroll 4
        for (size_t ky = 0; ky < TAPS; ky++)
            if (kx + W > 1 && kx <= W && from + ky + R > 1 && from + ky <= H)
                add_tap(sums, src, weights + ky * image->down + kx * image->across, ky, kx, from, R,
                        H, W, V);
    if (image->clamp)
#pragma GCC unroll 32
        for (size_t i = 0; i < R * W * V; i++)
            sums[i] = vminq_f32(vmaxq_f32(sums[i], vld1q_f32(image->clamp)),
                                vld1q_f32(image->clamp + LANES));
#pragma GCC unroll 32
    for (size_t i = 0; i < R * W * V; i++)
        vst1q_f32(dst + (from + i / V / W) * image->dst_row + i / V % W * image->dst_column +
                      i % V * LANES,
                  sums[i]);
}

/* H x W pixels of groups of V vectors, R rows of dst at the same time. */
INLINE void run_image(const struct image *from, size_t R, size_t H, size_t W, size_t V)
{
    const struct image own = *from, *image = &own; /* no store changes it */
    const float *weights = image->weights, *bias = image->bias;
    for (size_t c = 0; c < image->channels; c += V * LANES) {
        pixels src;
#pragma GCC unroll 32
        for (size_t i = 0; i < H * W * V; i++)
            src[i] =
                vld1q_f32(image->rows[i / V / W] + i / V % W * image->column + c + i % V * LANES);
#pragma GCC unroll 4
        for (size_t y = 0; y < H; y += R)
            run_rows(src, image, weights, bias, image->dst + c, y, R, H, W, V);
        weights += image->next;
        bias += image->bias_next;
    }
}

#define IMAGE(H, W)                                                        \
    static void run_##H##x##W(const struct image *image)                   \
    {                                                                      \
        run_image(image, H, H, W, H *W <= IMAGE_FEW_PIXELS ? VECTORS : 1); \
    }
IMAGE(1, 1)
IMAGE(1, 2)
IMAGE(1, 3)
IMAGE(2, 1)
IMAGE(2, 2)
IMAGE(2, 3)
IMAGE(3, 1)
IMAGE(3, 2)
IMAGE(3, 3)
#undef IMAGE

/* Copies of weights are [group][column of the kernel][row][channel]. */
#define COPIED(H, W, R)                                        \
    static void run_copied_##H##x##W(const struct image *from) \
    {                                                          \
        struct image image = *from;                            \
        image.down = GROUP;                                    \
        image.across = TAPS * GROUP;                           \
        run_image(&image, R, H, W, VECTORS);                   \
    }
COPIED(2, 3, 2)
COPIED(3, 2, 3)
COPIED(3, 3, 1)
#undef COPIED

/* By rows and columns, from one on. */
static image_fn *const in_place[IMAGE_MOST][IMAGE_MOST] = {
    {run_1x1, run_1x2, run_1x3},
    {run_2x1, run_2x2, run_2x3},
    {run_3x1, run_3x2, run_3x3},
};
static image_fn *const copied[IMAGE_MOST][IMAGE_MOST] = {
    {NULL}, {NULL, NULL, run_copied_2x3}, {NULL, run_copied_3x2, run_copied_3x3}};

/* Has it one row and one column of padding on each side? */
static int is_image(const struct dwconv_f32_task *task, const float *const *rows)
{
    size_t height = task->out_rows, width = task->out_cols;
    if (height > IMAGE_MOST || width > IMAGE_MOST || task->stride_h != 1 || task->stride_w != 1 ||
        task->first != -1 || task->columns != width || rows[0] || rows[height + 1])
        return 0;
    for (size_t y = 1; y <= height; y++)
        if (!rows[y])
            return 0;
    return 1;
}

/* Behind those of kernels with tiles. */
static float *copies_of(const struct dwconv_f32_task *task)
{
    return (float *)task->scratch + TAPS * TAPS * task->channels;
}

void dwconv_f32_image_copy_weights(const struct dwconv_f32_task *task)
{
    float *copy = copies_of(task);
    for (size_t c = 0; c + GROUP <= task->channels; c += GROUP)
        for (size_t x = 0; x < TAPS; x++)
            for (size_t y = 0; y < TAPS; y++, copy += GROUP)
                memcpy(copy, task->weights + (y * TAPS + x) * task->weights_tap + c,
                       GROUP * sizeof *copy);
}

int dwconv_f32_image_run(const struct dwconv_f32_task *task, const float *const *rows)
{
    static const float none[GROUP];
    float limits[2 * LANES];
    size_t height = task->out_rows, width = task->out_cols;
    int is_small = height * width <= IMAGE_FEW_PIXELS;
    int is_copied = task->copies_weights && !is_small;
    size_t group = is_copied || is_small ? GROUP : LANES;
    if (!task->whole_images || task->channels % group || !is_image(task, rows))
        return 0;
    struct image image = {
        .weights = is_copied ? copies_of(task) : task->weights,
        .down = TAPS * task->weights_tap,
        .across = task->weights_tap,
        .next = is_copied ? TAPS * TAPS * GROUP : group,
        .bias = task->bias ? task->bias : none,
        .bias_next = task->bias ? group : 0,
        .dst = task->dst,
        .column = task->column,
        .dst_row = task->dst_row,
        .dst_column = task->dst_column,
        .channels = task->channels,
        .clamp = dwconv_f32_limits(task, limits),
    };
    memcpy(image.rows, rows + 1, height * sizeof *rows);
    (is_copied ? copied : in_place)[height - 1][width - 1](&image);
    return 1;
}
