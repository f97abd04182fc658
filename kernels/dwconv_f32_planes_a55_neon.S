/* Depthwise 3x3 convolution of planes in place, for cores that issue in order as a Cortex-A55: see
 * dwconv_f32_planes.h. */
/* clang-format off */
#include "kernels/dwconv_f32_planes_14x14_neon.h"
#include "kernels/dwconv_f32_planes_bodies_neon.h"

    .set kind, IN_ORDER_NARROW
    function 3s1_a55, 3
    halves_function dwconv_f32_planes_14x14_a55, 0
