/* All kernels of direct.h: LIST(list), then its kernels, fastest first, then END(list). A kernel is
 * NEON(name, in_order, height, kind …), or REF(name, height, kind …) if it needs nothing. */
/* clang-format off */
#define KIND(way_, vectors_, ...) {.way = GEMM_F32_##way_, .vectors = vectors_, .group = __VA_ARGS__}
#define NARROW(name, ...) NEON(name##_narrow_neon, IN_ORDER_NARROW, __VA_ARGS__)
#define TILE(name, ...) NEON(name##_neon, 0, __VA_ARGS__) REF(name##_ref, __VA_ARGS__)

LIST(rows)
#define KERNEL(height, width, vectors, group) \
    NARROW(direct_##height##x##width, height, KIND(ROWS, vectors, group))
#include "kernels/gemm/f32/direct/in_order_list.h"
#undef KERNEL
#define KERNEL(height, width, vectors, group) \
    TILE(direct_##height##x##width, height, KIND(ROWS, vectors, group))
#include "kernels/gemm/f32/direct/list.h"
#undef KERNEL
#define KERNEL(height, width, vectors, group) \
    REF(direct_##height##x##width##_ref, height, KIND(ROWS, vectors, group))
#include "kernels/gemm/f32/direct/only_in_order_list.h"
#undef KERNEL
END(rows)

LIST(parts)
#define KERNEL(height, width) \
    TILE(direct_##height##x##width##_parts, height, KIND(PARTS, width / 4, width / 4))
#include "kernels/gemm/f32/direct/parts_list.h"
#undef KERNEL
END(parts)

LIST(shallow)
#define KERNEL(k, width) \
    TILE(shallow_##k##x##width, 1, KIND(SHALLOW, width / 4, width / 4, .depth = k))
#include "kernels/gemm/f32/shallow_list.h"
#undef KERNEL
END(shallow)

LIST(columns)
#define KERNEL(height, width) \
    NARROW(outer_##height##x##width, height, KIND(COLUMNS, width / 4, width / 4))
#include "kernels/gemm/f32/outer/in_order_list.h"
#undef KERNEL
#define KERNEL(height, width) \
    TILE(outer_##height##x##width, height, KIND(COLUMNS, width / 4, width / 4))
#include "kernels/gemm/f32/outer/list.h"
#undef KERNEL
END(columns)

LIST(panels)
#define PANELS(name, height, full, middle, last, tail) \
    TILE(panels_##height##x##name, height, \
         KIND(PANELS, 3 * full + middle + last, 3, .panels = {full, middle, last, tail}))
#define KERNEL(height, full, middle, last) \
    PANELS(full##_##middle##_##last, height, full, middle, last, 0)
#include "kernels/gemm/f32/panels/list.h"
#undef KERNEL
#define KERNEL(height, vectors, columns) \
    PANELS(0_0_##vectors##_tail_##columns, height, 0, 0, vectors, columns)
#include "kernels/gemm/f32/panels/tail_list.h"
#undef KERNEL
#undef PANELS
END(panels)

#undef TILE
#undef NARROW
#undef KIND
