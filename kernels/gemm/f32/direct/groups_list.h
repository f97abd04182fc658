/* More tiles for cores that issue in order, of several groups: KERNEL(height, width, vectors,
 * group). */
#include "kernels/gemm/f32/direct/only_in_order_list.h"
KERNELS_UP_TO_2(2x12, 6, 3)
KERNEL(1, 2x16, 8, 4)
