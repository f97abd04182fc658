/* struct dwconv_f32_listed, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_listed, runs, JOB_RUNS, 0);
OFFSET(dwconv_f32_listed, src, JOB_SRC, 16);
OFFSET(dwconv_f32_listed, between, JOB_BETWEEN, 32);
OFFSET(dwconv_f32_listed, weights_step, JOB_WEIGHTS_STEP, 48);
OFFSET(dwconv_f32_listed, dst, JOB_DST, 64);
OFFSET(dwconv_f32_listed, bias, JOB_BIAS, 80);
OFFSET(dwconv_f32_listed, pixels, JOB_PIXELS, 96);
OFFSET(dwconv_f32_listed, repeats, JOB_REPEATS, 112);
OFFSET(dwconv_f32_listed, dst_repeat, JOB_DST_REPEAT, 128);
