/* Depthwise convolution by lists of taps: what the assembly wants to know. */
#ifndef KERNELS_DEPTHWISE_F32_LISTED_H
#define KERNELS_DEPTHWISE_F32_LISTED_H

#include <stddef.h>
#include <stdint.h>

/* Some taps, each a step after the one before, that the same pixels of a tile have in the image:
 * those of the first tap begin at `src`. */
struct dwconv_f32_listed_run {
    uintptr_t src;
    size_t weights;
    const void *code; /* for these pixels */
    size_t count;
};

/* A tile is up to P pixels of dst of V vectors of channels: for each tap V vectors of weights are
 * loaded once, and V of each pixel that has the tap. After a tile of the first channels comes that
 * of the next ones, for all groups of 4 V channels, and after these the same of the next repeat,
 * whose pixels have the same taps so many bytes later.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Distances are in bytes. */
struct dwconv_f32_listed {
    const struct dwconv_f32_listed_run *runs, *runs_end;
    size_t src; /* added to each run's: the first channel */
    const float *weights;
    ptrdiff_t between, step; /* of source: from pixel to pixel, from tap to tap */
    size_t weights_step;
    const float *clamp; /* four times low, four times high; NULL: none */
    float *dst;
    size_t dst_pixel; /* from pixel to pixel */
    const float *bias;
    size_t bias_next;      /* from one group's bias to the next: 0 if there is none */
    size_t pixels, groups; /* at least one; pixels up to P */
    size_t repeats;        /* at least one */
    ptrdiff_t src_repeat;
    size_t dst_repeat;
    size_t goes_on; /* sums begin with what is in dst, as further taps follow */
};

typedef void dwconv_f32_listed_fn(const struct dwconv_f32_listed *job);

/* Four pixels of four vectors, eight of one, one of eight. */
dwconv_f32_listed_fn dwconv_f32_listed_4x4, dwconv_f32_listed_8x1, dwconv_f32_listed_1x8;

/* Code for a run, by the first pixel that has its taps and the last one. */
extern const void *const dwconv_f32_listed_4x4_codes[4][4];
extern const void *const dwconv_f32_listed_8x1_codes[8][8];
extern const void *const dwconv_f32_listed_1x8_codes[1][1];

#endif
