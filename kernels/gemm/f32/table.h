/* All kernels of gemm.h, fastest first:
 * ENTRY(name, run, needs, mr, nr, columns, packs, in_order). */
/* clang-format off */
#if !NEO_PORTABLE
#define TILE(name, ...) ENTRY(gemm_f32_##name##_neon, gemm_f32_##name##_neon, CPU_NEON, __VA_ARGS__)
TILE(8x12_narrow, 8, 12, 0, 0, IN_ORDER_NARROW)
TILE(8x8_narrow, 8, 8, 0, 0, IN_ORDER_NARROW)
TILE(8x12_columns_narrow, 8, 12, 1, 0, IN_ORDER_NARROW)
TILE(8x12_packing, 8, 12, 0, 1, 0)
TILE(8x12_columns_packing, 8, 12, 1, 1, 0)
#define KERNEL(mr, nr) TILE(mr##x##nr, mr, nr, 0, 0, 0) TILE(mr##x##nr##_columns, mr, nr, 1, 0, 0)
KERNEL(8, 12)
#include "kernels/gemm/f32/tiles_list.h"
#undef KERNEL
#undef TILE
#endif

#define TILE(name, run, ...) ENTRY(gemm_f32_##name##_ref, gemm_f32_##run##_ref, 0, __VA_ARGS__)
TILE(8x12_packing, 8x12_packing, 8, 12, 0, 1, 0)
TILE(8x12_columns_packing, 8x12_packing, 8, 12, 1, 1, 0)
/* The loop is the same: the strides say what is contiguous. */
#define KERNEL(mr, nr) \
    TILE(mr##x##nr, mr##x##nr, mr, nr, 0, 0, 0) TILE(mr##x##nr##_columns, mr##x##nr, mr, nr, 1, 0, 0)
KERNEL(8, 12)
#include "kernels/gemm/f32/tiles_list.h"
#undef KERNEL
#undef TILE
