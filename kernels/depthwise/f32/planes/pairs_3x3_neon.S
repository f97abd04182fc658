/* Depthwise 3x3 convolution of planes in place with stride 2 in pairs, for NEON: see
 * planes.h. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/pairs_3x3_neon.h"

    pairs_3x3_function dwconv_f32_planes_pairs_3x3
