/* Depthwise 3x3 convolution of planes of 14x14 in place, for NEON. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/14x14_neon.h"

    halves_function dwconv_f32_planes_14x14_flat, 1
    halves_function dwconv_f32_planes_14x14, 0
