/* Depthwise 3x3 convolution of planes in place, for cores that issue in order as a Cortex-A55: see
 * planes.h. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/bodies_neon.h"

    .set kind, IN_ORDER_NARROW
    function 3s1_a55, 3
