/* Depthwise 3x3 convolution of planes of 14x14 in place with stride 2, in pairs, for NEON: see
 * planes.h. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/pairs_7x7_neon.h"

    pairs_7x7_function dwconv_f32_planes_pairs_7x7
