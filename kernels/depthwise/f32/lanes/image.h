/* Depthwise 3x3 of images no larger than the kernel. */
#ifndef KERNELS_DEPTHWISE_F32_LANES_IMAGE_H
#define KERNELS_DEPTHWISE_F32_LANES_IMAGE_H

#include <stddef.h>

#include "kernels/depthwise/f32/depthwise.h"

/* One to three rows and columns with one of padding around them: last layers of networks, and the
 * parts of convolutions whose dilation is a third of the image or more. Most taps lie in the
 * padding (five of nine in an image of 2x2) and are left out; all of src is loaded once. */
enum {
    IMAGE_MOST = 3,      /* rows, columns */
    IMAGE_FEW_PIXELS = 4 /* of which two vectors of channels are in registers; of more one */
};

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
