/* struct dwconv_f32_planes_row, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_planes_row, src, JOB_SRC, 0);
OFFSET(dwconv_f32_planes_row, dst, JOB_DST, 8);
OFFSET(dwconv_f32_planes_row, weights, JOB_WEIGHTS, 16);
OFFSET(dwconv_f32_planes_row, steps, JOB_STEPS, 24);
OFFSET(dwconv_f32_planes_row, tap, JOB_TAP, 32);
OFFSET(dwconv_f32_planes_row, bias, JOB_BIAS, 40);
OFFSET(dwconv_f32_planes_row, clamp, JOB_CLAMP, 48);
OFFSET(dwconv_f32_planes_row, last, JOB_LAST, 56);
