/* More tiles for cores that issue in order, of several groups: KERNEL(name, height, vectors,
 * group). */
#include "kernels/gemm/f32/direct/only_in_order_list.h"
KERNEL(1x2x12, 1, 6, 3)
KERNEL(2x2x12, 2, 6, 3)
KERNEL(1x2x16, 1, 8, 4)
