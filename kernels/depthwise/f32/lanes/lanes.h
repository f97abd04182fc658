/* Depthwise convolution of few channels, rows of pixels as lines of values: jobs for tiles. */
#ifndef KERNELS_DEPTHWISE_F32_LANES_LANES_H
#define KERNELS_DEPTHWISE_F32_LANES_LANES_H

#include <stddef.h>

/* Where vectors with the same weights begin: the first one, in bytes from the beginning of a line
 * of dst and of source, and the first of its four channels, in bytes. */
struct dwconv_f32_lanes_phase {
    size_t at, channel;
};

/* Some rows of dst as lines. A row's taps are on kh lines of source, the next row's begin `stride`
 * lines later. For each phase, for i = 0, 1, 2 … while phase.at + i * period <= last, a vector:
 *
 *   sum = bias[channel]
 *   for kx < kw, for ky < kh, in this order:
 *       from = lines[row * stride + ky] + offsets[kx] + phase.at + i * src_period
 *       sum = fma(*from, weights[kx][ky][channel], sum)
 *   dst[row * dst_row + phase.at + i * period] = clamp ? min(max(sum, clamp[0]), clamp[4]) : sum
 *
 * All distances are in bytes. */
struct dwconv_f32_lanes {
    const float *const *lines;
    float *dst;
    size_t dst_row;
    size_t last; /* bytes of a line of dst but for a vector */
    size_t period, src_period;
    const size_t *offsets;
    size_t kw, weights_tap; /* from one tap's weights to the next's */
    const float *clamp;     /* four times low, four times high; NULL: none */
    const float *weights;   /* of each tap the channels, and then the first three of them again */
    const float *bias;      /* the same */
    const struct dwconv_f32_lanes_phase *phases, *phases_end;
    size_t kh, stride;
};

typedef void dwconv_f32_lanes_fn(const struct dwconv_f32_lanes *job, size_t rows);

/* For kernels of `kh` rows at this stride of lines; `rows` of dst are 1, 2 or 4. The last one has
 * zeros, and is for all others. */
struct dwconv_f32_lanes_kernel {
    size_t kh, stride;
    dwconv_f32_lanes_fn *run;
};
extern const struct dwconv_f32_lanes_kernel dwconv_f32_lanes_kernels[];

#endif
