/* Depthwise 5x5 convolution of planes in place with stride 2 in pairs, for NEON: see
 * planes.h. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/pairs_5x5_neon.h"

    pairs_5x5_function dwconv_f32_planes_pairs_5x5
