/* All kernels of direct.h, fastest first:
 * ENTRY(name, run, needs, height, vectors, group, depth, parts, in_order). */
/* clang-format off */
#if !NEO_PORTABLE
#define TILE(name, ...) ENTRY(gemm_f32_direct_##name, gemm_f32_direct_##name, CPU_NEON, __VA_ARGS__)
#define KERNEL(height, width) \
    TILE(height##x##width##_narrow_neon, height, width / 4, width / 4, 0, 0, IN_ORDER_NARROW)
#include "kernels/gemm/f32/direct/in_order_list.h"
#undef KERNEL
#define KERNEL(height, width, vectors, group) \
    TILE(height##x##width##_narrow_neon, height, vectors, group, 0, 0, IN_ORDER_NARROW)
#include "kernels/gemm/f32/direct/groups_list.h"
#undef KERNEL
#define KERNEL(height, width, vectors, group) \
    TILE(height##x##width##_neon, height, vectors, group, 0, 0, 0)
#include "kernels/gemm/f32/direct/list.h"
#undef KERNEL
#define KERNEL(height, width) \
    TILE(height##x##width##_parts_neon, height, width / 4, width / 4, 0, 4, 0)
#include "kernels/gemm/f32/direct/parts_list.h"
#undef KERNEL
#undef TILE
#define KERNEL(depth, width) \
    ENTRY(gemm_f32_shallow_##depth##x##width##_neon, gemm_f32_shallow_##depth##x##width##_neon, \
          CPU_NEON, 1, width / 4, width / 4, depth, 0, 0)
#include "kernels/gemm/f32/shallow_list.h"
#undef KERNEL
#endif

#define KERNEL(height, width, vectors, group) \
    ENTRY(gemm_f32_direct_##height##x##width##_ref, gemm_f32_direct_##height##x##width##_ref, \
          0, height, vectors, group, 0, 0, 0)
#include "kernels/gemm/f32/direct/list.h"
#include "kernels/gemm/f32/direct/only_in_order_list.h"
#undef KERNEL
#define KERNEL(depth, width) \
    ENTRY(gemm_f32_shallow_##depth##x##width##_ref, gemm_f32_direct_1x##width##_ref, \
          0, 1, width / 4, width / 4, depth, 0, 0)
#include "kernels/gemm/f32/shallow_list.h"
#undef KERNEL
#define KERNEL(height, width) \
    ENTRY(gemm_f32_direct_##height##x##width##_parts_ref, \
          gemm_f32_direct_##height##x##width##_parts_ref, \
          0, height, width / 4, width / 4, 0, 4, 0)
#include "kernels/gemm/f32/direct/parts_list.h"
#undef KERNEL
