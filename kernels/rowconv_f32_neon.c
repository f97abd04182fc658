/* The table of kernels for rows of pixels, whose code is in rowconv_f32_tiles_neon.S: taps and
 * stride, and the tile. */
#include "kernels/rowconv_f32.h"
#include "kernels/rowconv_f32_offsets.h"

rowconv_f32_fn rowconv_f32_3s2_8x12_neon, rowconv_f32_3s2_8x8_neon, rowconv_f32_3s2_8x4_neon,
    rowconv_f32_5s2_8x12_neon, rowconv_f32_5s2_8x8_neon, rowconv_f32_5s2_8x4_neon,
    rowconv_f32_7s2_8x12_neon, rowconv_f32_7s2_8x8_neon, rowconv_f32_7s2_8x4_neon,
    rowconv_f32_3s1_8x12_neon, rowconv_f32_3s1_8x8_neon, rowconv_f32_3s1_8x4_neon,
    rowconv_f32_5s1_8x12_neon, rowconv_f32_5s1_8x8_neon, rowconv_f32_5s1_8x4_neon,
    rowconv_f32_7s1_8x12_neon, rowconv_f32_7s1_8x8_neon, rowconv_f32_7s1_8x4_neon;

const struct rowconv_f32_kernel rowconv_f32_neon[ROWCONV_F32_NEON_KERNELS] = {
    {"rowconv_f32_3s2_8x12_neon", CPU_NEON, 2, 3, 12, rowconv_f32_3s2_8x12_neon, 0},
    {"rowconv_f32_3s2_8x8_neon", CPU_NEON, 2, 3, 8, rowconv_f32_3s2_8x8_neon, 0},
    {"rowconv_f32_3s2_8x4_neon", CPU_NEON, 2, 3, 4, rowconv_f32_3s2_8x4_neon, 0},
    {"rowconv_f32_5s2_8x12_neon", CPU_NEON, 2, 5, 12, rowconv_f32_5s2_8x12_neon, 0},
    {"rowconv_f32_5s2_8x8_neon", CPU_NEON, 2, 5, 8, rowconv_f32_5s2_8x8_neon, 0},
    {"rowconv_f32_5s2_8x4_neon", CPU_NEON, 2, 5, 4, rowconv_f32_5s2_8x4_neon, 0},
    {"rowconv_f32_7s2_8x12_neon", CPU_NEON, 2, 7, 12, rowconv_f32_7s2_8x12_neon, 0},
    {"rowconv_f32_7s2_8x8_neon", CPU_NEON, 2, 7, 8, rowconv_f32_7s2_8x8_neon, 0},
    {"rowconv_f32_7s2_8x4_neon", CPU_NEON, 2, 7, 4, rowconv_f32_7s2_8x4_neon, 0},
    {"rowconv_f32_3s1_8x12_neon", CPU_NEON, 1, 3, 12, rowconv_f32_3s1_8x12_neon, 0},
    {"rowconv_f32_3s1_8x8_neon", CPU_NEON, 1, 3, 8, rowconv_f32_3s1_8x8_neon, 0},
    {"rowconv_f32_3s1_8x4_neon", CPU_NEON, 1, 3, 4, rowconv_f32_3s1_8x4_neon, 0},
    {"rowconv_f32_5s1_8x12_neon", CPU_NEON, 1, 5, 12, rowconv_f32_5s1_8x12_neon, 0},
    {"rowconv_f32_5s1_8x8_neon", CPU_NEON, 1, 5, 8, rowconv_f32_5s1_8x8_neon, 0},
    {"rowconv_f32_5s1_8x4_neon", CPU_NEON, 1, 5, 4, rowconv_f32_5s1_8x4_neon, 0},
    {"rowconv_f32_7s1_8x12_neon", CPU_NEON, 1, 7, 12, rowconv_f32_7s1_8x12_neon, 0},
    {"rowconv_f32_7s1_8x8_neon", CPU_NEON, 1, 7, 8, rowconv_f32_7s1_8x8_neon, 0},
    {"rowconv_f32_7s1_8x4_neon", CPU_NEON, 1, 7, 4, rowconv_f32_7s1_8x4_neon, 0},
};

rowconv_f32_fn rowconv_f32_3s2_8x12_a55_neon, rowconv_f32_3s2_8x12_a510_neon,
    rowconv_f32_3s2_8x8_a55_neon, rowconv_f32_3s2_8x8_a510_neon, rowconv_f32_7s2_8x12_a55_neon,
    rowconv_f32_7s2_8x12_a510_neon, rowconv_f32_7s2_8x8_a55_neon, rowconv_f32_7s2_8x8_a510_neon,
    rowconv_f32_3s1_8x12_a55_neon, rowconv_f32_3s1_8x12_a510_neon, rowconv_f32_3s1_8x8_a55_neon,
    rowconv_f32_3s1_8x8_a510_neon;

const struct rowconv_f32_kernel rowconv_f32_in_order_neon[ROWCONV_F32_IN_ORDER_KERNELS] = {
    {"rowconv_f32_3s2_8x12_a55_neon", CPU_NEON, 2, 3, 12, rowconv_f32_3s2_8x12_a55_neon,
     IN_ORDER_NARROW},
    {"rowconv_f32_3s2_8x12_a510_neon", CPU_NEON, 2, 3, 12, rowconv_f32_3s2_8x12_a510_neon,
     IN_ORDER_WIDE},
    {"rowconv_f32_3s2_8x8_a55_neon", CPU_NEON, 2, 3, 8, rowconv_f32_3s2_8x8_a55_neon,
     IN_ORDER_NARROW},
    {"rowconv_f32_3s2_8x8_a510_neon", CPU_NEON, 2, 3, 8, rowconv_f32_3s2_8x8_a510_neon,
     IN_ORDER_WIDE},
    {"rowconv_f32_7s2_8x12_a55_neon", CPU_NEON, 2, 7, 12, rowconv_f32_7s2_8x12_a55_neon,
     IN_ORDER_NARROW},
    {"rowconv_f32_7s2_8x12_a510_neon", CPU_NEON, 2, 7, 12, rowconv_f32_7s2_8x12_a510_neon,
     IN_ORDER_WIDE},
    {"rowconv_f32_7s2_8x8_a55_neon", CPU_NEON, 2, 7, 8, rowconv_f32_7s2_8x8_a55_neon,
     IN_ORDER_NARROW},
    {"rowconv_f32_7s2_8x8_a510_neon", CPU_NEON, 2, 7, 8, rowconv_f32_7s2_8x8_a510_neon,
     IN_ORDER_WIDE},
    {"rowconv_f32_3s1_8x12_a55_neon", CPU_NEON, 1, 3, 12, rowconv_f32_3s1_8x12_a55_neon,
     IN_ORDER_NARROW},
    {"rowconv_f32_3s1_8x12_a510_neon", CPU_NEON, 1, 3, 12, rowconv_f32_3s1_8x12_a510_neon,
     IN_ORDER_WIDE},
    {"rowconv_f32_3s1_8x8_a55_neon", CPU_NEON, 1, 3, 8, rowconv_f32_3s1_8x8_a55_neon,
     IN_ORDER_NARROW},
    {"rowconv_f32_3s1_8x8_a510_neon", CPU_NEON, 1, 3, 8, rowconv_f32_3s1_8x8_a510_neon,
     IN_ORDER_WIDE},
};
