/* Depthwise 3x3 by sliding along the columns: what the assembly wants to know. */
#ifndef KERNELS_DEPTHWISE_F32_ROWS_SLIDE_H
#define KERNELS_DEPTHWISE_F32_ROWS_SLIDE_H

#include <stddef.h>

/* A step takes the S (stride) new columns of the source rows of two output rows and adds them to
 * the outputs they reach; L = ceil(3 / S) columns of outputs are under way, the oldest is complete
 * after the step. The first L - 1 steps complete nothing, the last L - 1 begin nothing: those are
 * the edges, where columns may be padding. The main steps between are unrolled L times and entered
 * where they end with a whole round.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Strides are in bytes. */
struct dwconv_f32_slide {
    const float *const *rows; /* of source, two rows of outputs after the other; none is NULL */
    const float *weights;
    const float *bias;
    float *dst;
    size_t column, dst_column, dst_row, weights_tap;
    size_t groups; /* of channels */
    size_t out_rows;
    size_t start;  /* the first column of source that is read */
    size_t rounds; /* of main steps, the first one from number `entry` on */
    size_t entry;
    size_t edges;       /* bits: SLIDE_* */
    size_t bias_next;   /* from one group's bias to the next: 0 if there is none */
    const float *clamp; /* four times low, four times high; NULL: none */
};

/* Which columns of the edges exist: at the left those of the steps before the main ones, at the
 * right those after them. */
enum { SLIDE_LEFT_0 = 1, SLIDE_LEFT_1 = 2, SLIDE_RIGHT_0 = 4, SLIDE_RIGHT_1 = 8 };

typedef void dwconv_f32_slide_fn(const struct dwconv_f32_slide *job);

/* Stride 1 and 2; groups of eight and of four channels. */
dwconv_f32_slide_fn dwconv_f32_slide_s1_c8, dwconv_f32_slide_s1_c4, dwconv_f32_slide_s2_c8,
    dwconv_f32_slide_s2_c4;

/* For cores that issue in order: groups of four channels, at least one main step, and the column
 * after the last one exists. */
dwconv_f32_slide_fn dwconv_f32_slide_s1_a55, dwconv_f32_slide_s1_a55_clamp, dwconv_f32_slide_s2_a55,
    dwconv_f32_slide_s2_a55_clamp;

#endif
