/* Depthwise convolution of planes in place, for NEON: see planes.h. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/bodies_neon.h"

    function 3s1, 3
    function 5s1, 5
