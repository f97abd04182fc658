/* struct dwconv_f32_image, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_image, rows, IMAGE_ROWS, 0);
OFFSET(dwconv_f32_image, column, IMAGE_COLUMN, 24);
OFFSET(dwconv_f32_image, weights, IMAGE_WEIGHTS, 32);
OFFSET(dwconv_f32_image, weights_row, IMAGE_WEIGHTS_ROW, 40);
OFFSET(dwconv_f32_image, weights_back, IMAGE_WEIGHTS_BACK, 48);
OFFSET(dwconv_f32_image, bias, IMAGE_BIAS, 56);
OFFSET(dwconv_f32_image, bias_step, IMAGE_BIAS_STEP, 64);
OFFSET(dwconv_f32_image, dst, IMAGE_DST, 72);
OFFSET(dwconv_f32_image, dst_row, IMAGE_DST_ROW, 80);
OFFSET(dwconv_f32_image, dst_column, IMAGE_DST_COLUMN, 88);
OFFSET(dwconv_f32_image, groups, IMAGE_GROUPS, 96);
OFFSET(dwconv_f32_image, clamp, IMAGE_CLAMP, 104);
#ifdef __ASSEMBLER__
.set IMAGE_FEW_PIXELS, 4
#else
_Static_assert(IMAGE_FEW_PIXELS == 4, "IMAGE_FEW_PIXELS");
#endif
