/* Depthwise 3x3 and 5x5 convolution of planes (nchw) with stride 2 in pairs (dwconv_f32.h), of any
 * size and with any padding. */
#ifndef KERNELS_DWCONV_F32_PAIRS_H
#define KERNELS_DWCONV_F32_PAIRS_H

#include "kernels/dwconv_f32.h"

/* Of scratch memory; looks at no pointer. */
size_t dwconv_f32_pairs_bytes(const struct dwconv_f32_task *task);

void dwconv_f32_pairs(const struct dwconv_f32_task *task);

#endif
