/* Depthwise 3x3 of images no larger than the kernel: what the assembly wants to know. */
#ifndef KERNELS_DEPTHWISE_F32_LANES_IMAGE_H
#define KERNELS_DEPTHWISE_F32_LANES_IMAGE_H

#include <stddef.h>

#include "kernels/depthwise/f32/depthwise.h"

/* One to three rows and columns with one of padding around them: last layers of networks, and the
 * parts of convolutions whose dilation is a third of the image or more. Most taps lie in the
 * padding (five of nine in an image of 2x2) and are left out; all of src is loaded once.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Distances are in bytes. */
enum {
    IMAGE_MOST = 3,      /* rows, columns */
    IMAGE_FEW_PIXELS = 4 /* of which two vectors of channels are in registers; of more one */
};

struct dwconv_f32_image {
    const float *rows[IMAGE_MOST];
    size_t column;        /* of src */
    const float *weights; /* of the first tap that is inside for any output */
    size_t weights_row;   /* from a tap to the one below it */
    size_t weights_back;  /* from behind the last row's tap to the next column's first one */
    const float *bias;
    size_t bias_step; /* from a group's to the next one's; 0: all have the same */
    float *dst;
    size_t dst_row, dst_column;
    size_t groups;      /* of channels; at least one */
    const float *clamp; /* four times low, four times high; NULL: none */
};

typedef void dwconv_f32_image_fn(const struct dwconv_f32_image *job);

/* By rows - 1 and columns - 1. */
extern dwconv_f32_image_fn *const dwconv_f32_image_functions[IMAGE_MOST][IMAGE_MOST];

/* Those for copies of weights: of 2x3, 3x2 and 3x3. */
enum { IMAGE_COPIED = 3 };
extern dwconv_f32_image_fn *const dwconv_f32_image_copied_functions[IMAGE_COPIED];

/* A dense task; rows are the task's, NULL for padding. 0: nothing was done, for it is no such
 * image, or task->whole_images is not set. Who sets it gives all rows to one call, and eight
 * channels or several times as many: results are the same however many threads there are then, even
 * if weights are infinite, which other kernels multiply by the zeros of padding. */
int dwconv_f32_image_run(const struct dwconv_f32_task *task, const float *const *rows);

/* What it reads from the task's scratchpad, if the task copies weights: [group][tap] of eight
 * channels, taps column by column. Lines of many channels may share so few places of the cache that
 * all of them come for each vector: so two are done together, and their taps, which share them too,
 * lie together. */
void dwconv_f32_image_copy_weights(const struct dwconv_f32_task *task);

#endif
