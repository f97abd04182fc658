/* struct dwconv_f32_lanes, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_lanes, lines, JOB_LINES, 0);
OFFSET(dwconv_f32_lanes, dst, JOB_DST, 8);
OFFSET(dwconv_f32_lanes, dst_row, JOB_DST_ROW, 16);
OFFSET(dwconv_f32_lanes, last, JOB_LAST, 24);
OFFSET(dwconv_f32_lanes, period, JOB_PERIOD, 32);
OFFSET(dwconv_f32_lanes, src_period, JOB_SRC_PERIOD, 40);
OFFSET(dwconv_f32_lanes, offsets, JOB_OFFSETS, 48);
OFFSET(dwconv_f32_lanes, kw, JOB_KW, 56);
OFFSET(dwconv_f32_lanes, weights_tap, JOB_WEIGHTS_TAP, 64);
OFFSET(dwconv_f32_lanes, clamp, JOB_CLAMP, 72);
OFFSET(dwconv_f32_lanes, weights, JOB_WEIGHTS, 80);
OFFSET(dwconv_f32_lanes, bias, JOB_BIAS, 88);
OFFSET(dwconv_f32_lanes, phases, JOB_PHASES, 96);
OFFSET(dwconv_f32_lanes, phases_end, JOB_PHASES_END, 104);
