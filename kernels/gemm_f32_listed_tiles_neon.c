/* The table of gemm_f32_listed_neon.S. */
#include "kernels/gemm_f32_listed.h"
#include "kernels/gemm_f32_listed_offsets.h"

#define HEIGHTS(width, with)                                                                  \
    with(1, width) with(2, width) with(3, width) with(4, width) with(5, width) with(6, width) \
        with(7, width)
#define DECLARE(height, width) gemm_f32_listed_fn gemm_f32_listed_##height##x##width##_neon;
HEIGHTS(1, DECLARE)
HEIGHTS(2, DECLARE)
HEIGHTS(3, DECLARE)
HEIGHTS(4, DECLARE)
HEIGHTS(8, DECLARE)
HEIGHTS(12, DECLARE)
#undef DECLARE

#define NAME(height, width) gemm_f32_listed_##height##x##width##_neon,
/* clang-format off */
const struct gemm_f32_listed_kernels gemm_f32_listed_neon = {
    "gemm_f32_listed_neon", CPU_NEON, {
        {HEIGHTS(1, NAME)},
        {HEIGHTS(2, NAME)},
        {HEIGHTS(3, NAME)},
        {HEIGHTS(4, NAME)},
        {HEIGHTS(8, NAME)},
        {HEIGHTS(12, NAME)},
    },
};
/* clang-format on */
#undef NAME
#undef HEIGHTS
