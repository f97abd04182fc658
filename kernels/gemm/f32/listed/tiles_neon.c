/* The tables of neon.S and narrow_neon.S. */
#include "kernels/gemm/f32/listed/listed.h"
#include "kernels/gemm/f32/listed/offsets.h"

#define HEIGHTS(with, width, core)                                                      \
    with(1, width, core) with(2, width, core) with(3, width, core) with(4, width, core) \
        with(5, width, core) with(6, width, core) with(7, width, core)
/* Of products of more rows than a tile has there are hardly any lower ones. */
#define HIGH(with, core) with(4, 12, core) with(5, 12, core) with(6, 12, core) with(7, 12, core)
#define DECLARE(height, width, core) \
    gemm_f32_listed_fn gemm_f32_listed_##height##x##width##core##_neon;
HEIGHTS(DECLARE, 1, )
HEIGHTS(DECLARE, 4, )
HEIGHTS(DECLARE, 8, )
HEIGHTS(DECLARE, 12, )
HEIGHTS(DECLARE, 4, _narrow)
HEIGHTS(DECLARE, 8, _narrow)
HEIGHTS(DECLARE, 12, _narrow)
HIGH(DECLARE, _packing)
HIGH(DECLARE, _fetching)
DECLARE(6, 12, _regular)
DECLARE(7, 12, _regular)
#undef DECLARE

#define NAME(height, width, core) gemm_f32_listed_##height##x##width##core##_neon,
/* clang-format off */
const struct gemm_f32_listed_kernels gemm_f32_listed_neon = {
    "gemm_f32_listed_neon", CPU_NEON, 0, GEMM_F32_LISTED_HEIGHT, {
        {HEIGHTS(NAME, 1, )},
        {HEIGHTS(NAME, 4, )},
        {HEIGHTS(NAME, 8, )},
        {HEIGHTS(NAME, 12, )},
    },
    {[3] = HIGH(NAME, _packing)},
    {[5] = NAME(6, 12, _regular) NAME(7, 12, _regular)},
    {[3] = HIGH(NAME, _fetching)},
};
const struct gemm_f32_listed_kernels gemm_f32_listed_narrow_neon = {
    "gemm_f32_listed_narrow_neon", CPU_NEON, IN_ORDER_NARROW, GEMM_F32_LISTED_HEIGHT - 1, {
        {HEIGHTS(NAME, 1, )},
        {HEIGHTS(NAME, 4, _narrow)},
        {HEIGHTS(NAME, 8, _narrow)},
        {NAME(1, 12, _narrow) NAME(2, 12, _narrow) NAME(3, 12, _narrow) NAME(4, 12, _narrow)
         NAME(5, 12, _narrow) NAME(6, 12, _narrow) NAME(7, 12, )},
    },
    {0}, {0}, {0},
};
/* clang-format on */
#undef NAME
#undef HIGH
#undef HEIGHTS
