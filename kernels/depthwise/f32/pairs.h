/* Depthwise 3x3 and 5x5 convolution of planes (nchw) with stride 2 in pairs (depthwise.h), of any
 * size and with any padding. */
#ifndef KERNELS_DEPTHWISE_F32_PAIRS_H
#define KERNELS_DEPTHWISE_F32_PAIRS_H

#include "kernels/depthwise/f32/depthwise.h"

/* Of scratch memory; looks at no pointer. */
size_t dwconv_f32_pairs_bytes(const struct dwconv_f32_task *task);

void dwconv_f32_pairs(const struct dwconv_f32_task *task);

#endif
