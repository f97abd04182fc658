/* Depthwise convolution of planes in place, for NEON: see dwconv_f32_planes.h. */
/* clang-format off */
#include "kernels/dwconv_f32_planes_bodies_neon.h"

    function 3s1, 3
    function 5s1, 5
    function 7s1, 7
