/* Depthwise 3x3 convolution of planes of 14x14 in place with stride 2, in pairs, for NEON: see
 * dwconv_f32_planes.h. */
/* clang-format off */
#include "kernels/dwconv_f32_planes_pairs_7x7_neon.h"

    pairs_7x7_function dwconv_f32_planes_pairs_7x7
