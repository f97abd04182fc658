/* Depthwise convolution of any size with channels as vectors: what special kernels leave over. */
#ifndef KERNELS_DWCONV_F32_ANY_NEON_H
#define KERNELS_DWCONV_F32_ANY_NEON_H

#include "kernels/dwconv_f32.h"

/* All columns of one output row, count channels from c on; count is 4, or less if the image has
 * fewer channels. */
void dwconv_f32_any_row(const struct dwconv_f32_task *task, size_t y, size_t c, size_t count);

#endif
