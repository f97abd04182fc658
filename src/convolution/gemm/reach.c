/* Convolution as a matrix multiplication: which taps some patches have in src. Those that lie in
 * the padding for all of a tile's pixels need not be multiplied: rows at the top and bottom of an
 * image lack rows of the kernel, and much of a dilated kernel may lie beyond a small image. */
#include <math.h>

#include "src/convolution/gemm/gemm.h"
#include "src/core/checked.h"

/* From the first to the last tap that exists. Where pixels are not all in one plane or row, they
 * are anywhere within these. */
static struct span reach_of(const struct convolution_gemm *plan, size_t at, size_t rows)
{
    const struct convolution_shape *s = &plan->shape;
    int dimensions = SPACE - plan->rows_are_merged;
    struct span taps[SPACE];
    struct pixel first_pixel = patches_pixel(s, at), last_pixel = patches_pixel(s, at + rows - 1);
    bool together = first_pixel.n == last_pixel.n;
    for (int d = 0; d < dimensions; d++) {
        neo_dim from = together ? first_pixel.at[d] : 0;
        neo_dim to = together ? last_pixel.at[d] : s->out[d] - 1;
        taps[d] = convolution_taps(s, d, from, to);
        if (taps[d].begin == taps[d].end)
            return (struct span){0, plan->segment}; /* of zeros */
        together = together && from == to;
    }
    struct span reach = convolution_first_to_last(s, taps, dimensions);
    return (struct span){reach.begin * plan->segment, reach.end * plan->segment};
}

struct span patches_reach(const struct convolution_gemm *plan, size_t batch, size_t row,
                          size_t rows)
{
    return reach_of(plan, first_pixel(plan, batch) + row, rows);
}

/* Do any so many pixels that follow each other, or one less, reach all taps of rows of the kernel
 * together? */
static bool reach_rows(const struct convolution_gemm *plan, size_t pixels)
{
    struct span inner = convolution_inner_pixels(&plan->shape, WIDTH);
    size_t last = (size_t)plan->shape.out[WIDTH] - inner.end;
    return plan->rows_are_merged ||
           (inner.begin < inner.end && max_size(inner.begin, last) + 1 < pixels);
}

/* From the first pixel of a tile that reaches all of the kernel: how many pixels of its plane
 * follow of which each tile does so, too. Its last line has the first row of the kernel, as have
 * those behind it; and lines up to the end of those within src have the last row. */
static size_t whole_tiles(const struct convolution_gemm *plan, size_t at, size_t rows)
{
    const struct convolution_shape *s = &plan->shape;
    if (!reach_rows(plan, rows))
        return rows;
    struct pixel first = patches_pixel(s, at);
    neo_dim lines = (neo_dim)convolution_inner_pixels(s, HEIGHT).end - first.at[HEIGHT];
    neo_dim pixels = lines * s->out[WIDTH] - first.at[WIDTH];
    return pixels > 0 ? max_size((size_t)pixels, rows) : rows;
}

struct gemm_reach convolution_gemm_reach(const void *context, size_t batch, size_t tile, size_t row,
                                         size_t rows)
{
    const struct convolution_gemm *plan = ((const struct convolution_call *)context)->plan;
    if (plan->table)
        return plan->tiles[tile].reach;
    struct span reach = patches_reach(plan, batch, row, rows);
    if (reach.end - reach.begin == plan->gemm.shape.k)
        rows = whole_tiles(plan, first_pixel(plan, batch) + row, rows);
    return (struct gemm_reach){reach, row + rows};
}

double patches_mean_taps(const struct convolution_shape *s, int d, neo_dim pixels)
{
    enum { MANY = 1024 };
    neo_dim places = s->out[d] > pixels ? s->out[d] - pixels + 1 : 1;
    neo_dim step = (places - 1) / MANY + 1;
    size_t sum = 0, count = 0;
    for (neo_dim i = 0; i < places; i += step, count++) {
        neo_dim last = i + pixels < s->out[d] ? i + pixels : s->out[d];
        struct span taps = convolution_taps(s, d, i, last - 1);
        sum += taps.end - taps.begin;
    }
    return (double)sum / (double)count;
}

/* The part of the kernel that the tiles of an image reach. */
static double reach_of_tiles(const struct convolution_gemm *plan, size_t pixels)
{
    const struct convolution_shape *s = &plan->shape;
    size_t all = plan->segment, reached = 0;
    size_t height = div_up(pixels, div_up(pixels, GEMM_F32_LISTED_HEIGHT));
    for (int d = 0; d < SPACE - plan->rows_are_merged; d++)
        all *= (size_t)s->kernel[d];
    for (size_t at = 0; at < pixels; at += height) {
        size_t rows = min_size(height, pixels - at);
        struct span reach = reach_of(plan, at, rows);
        reached += rows * (reach.end - reach.begin);
    }
    return (double)reached / (double)(pixels * all);
}

/* The same by the mean of taps, for images of many tiles, each of which is in few rows. */
static double reach_of_rows(const struct convolution_gemm *plan)
{
    enum { ROWS = GEMM_F32_LISTED_HEIGHT };
    const struct convolution_shape *s = &plan->shape;
    neo_dim row = s->out[WIDTH], plane = row * s->out[HEIGHT];
    const neo_dim pixels[SPACE] = {(ROWS - 1) / plane + 1, (ROWS - 1) / row + 1, ROWS};
    double left = 1;
    bool in_width = s->kernel[DEPTH] * s->kernel[HEIGHT] == 1 && !plan->rows_are_merged;
    for (int d = 0; d < WIDTH + in_width; d++)
        left *= patches_mean_taps(s, d, pixels[d]) / (double)s->kernel[d];
    return left;
}

double patches_zeros(const struct convolution_gemm *plan, double k, double n)
{
    const double rows = GEMM_F32_LISTED_HEIGHT; /* clang wants a double */
    /* Products that a tile's share of a run takes, at each step of so much of k. */
    const double step = 256, share = 500;
    const struct convolution_shape *s = &plan->shape;
    neo_dim pixels = s->out[DEPTH] * s->out[HEIGHT] * s->out[WIDTH];
    if (pixels < 1)
        return 0;
    double lost =
        1 - (patches_are_few(s) ? reach_of_tiles(plan, (size_t)pixels) : reach_of_rows(plan));
    return lost * k * n * rows > share * fmax(k / step, 1) ? lost : 0;
}
