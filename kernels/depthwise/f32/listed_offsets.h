/* struct dwconv_f32_listed, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(dwconv_f32_listed, job, 0, 8, runs, runs_end, src, weights, between, step, weights_step);
OFFSETS(dwconv_f32_listed, job, 56, 8, clamp, dst, dst_pixel, bias, bias_next, pixels, groups);
OFFSETS(dwconv_f32_listed, job, 112, 8, repeats, src_repeat, dst_repeat, goes_on);
