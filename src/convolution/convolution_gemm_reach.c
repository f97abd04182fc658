/* Convolution as a matrix multiplication: which taps some patches have in src. Those that lie in
 * the padding for all of a tile's pixels need not be multiplied: rows at the top and bottom of an
 * image lack rows of the kernel, and much of a dilated kernel may lie beyond a small image. */
#include "src/convolution/convolution_gemm.h"

/* In the order of the reduction, from the first tap of the box of those that exist to its last.
 * Where pixels are not all in one plane or row, they are anywhere within these. */
struct span patches_reach(const struct convolution_gemm *plan, size_t batch, size_t row,
                          size_t rows)
{
    const struct convolution_shape *s = &plan->shape;
    size_t at = first_pixel(plan, batch) + row, begin = 0, last = 0;
    struct pixel first_pixel = patches_pixel(s, at), last_pixel = patches_pixel(s, at + rows - 1);
    bool together = first_pixel.n == last_pixel.n;
    for (int d = 0; d < SPACE - plan->rows_are_merged; d++) {
        neo_dim from = together ? first_pixel.at[d] : 0;
        neo_dim to = together ? last_pixel.at[d] : s->out[d] - 1;
        struct span taps = convolution_taps(s, d, from, to);
        if (taps.begin == taps.end)
            return (struct span){0, plan->segment}; /* of zeros */
        begin = begin * (size_t)s->kernel[d] + taps.begin;
        last = last * (size_t)s->kernel[d] + taps.end - 1;
        together = together && from == to;
    }
    return (struct span){begin * plan->segment, (last + 1) * plan->segment};
}

struct span convolution_gemm_reach(const void *context, size_t batch, size_t tile, size_t row,
                                   size_t rows)
{
    const struct convolution_gemm *plan = ((const struct convolution_call *)context)->plan;
    return plan->table ? plan->tiles[tile].reach : patches_reach(plan, batch, row, rows);
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

double patches_zeros(const struct convolution_gemm *plan, double k, double n)
{
    enum { ROWS = GEMM_F32_LISTED_HEIGHT };
    const double rows = ROWS; /* clang wants a double */
    /* Products that a tile's share of a run takes; for more values of k its taps are found at each
     * step. */
    const double few = 256, known = 500, found = 2500;
    const struct convolution_shape *s = &plan->shape;
    neo_dim row = s->out[WIDTH], plane = row * s->out[HEIGHT];
    if (plane < 1)
        return 0;
    const neo_dim pixels[SPACE] = {(ROWS - 1) / plane + 1, (ROWS - 1) / row + 1, ROWS};
    double left = 1;
    bool in_width = s->kernel[DEPTH] * s->kernel[HEIGHT] == 1 && !plan->rows_are_merged;
    for (int d = 0; d < WIDTH + in_width; d++)
        left *= patches_mean_taps(s, d, pixels[d]) / (double)s->kernel[d];
    double lost = 1 - left;
    return lost * k * n * rows > (k <= few ? known : found * k / few) ? lost : 0;
}
