/* Depthwise 5x5 convolution of planes in place with stride 2 in pairs, for cores that issue in order as
 * a Cortex-A510: see planes.h. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/pairs_5x5_neon.h"

    .set kind, IN_ORDER_WIDE
    pairs_5x5_function dwconv_f32_planes_pairs_5x5_a510
