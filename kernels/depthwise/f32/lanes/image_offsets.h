/* struct dwconv_f32_image, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(dwconv_f32_image, image, 0, 8, rows);
OFFSETS(dwconv_f32_image, image, 24, 8, column, weights, weights_row, weights_back, bias);
OFFSETS(dwconv_f32_image, image, 64, 8, bias_step, dst, dst_row, dst_column, groups, clamp);
CONSTANT(IMAGE_FEW_PIXELS, 4);
