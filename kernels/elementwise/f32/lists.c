/* The lists of elementwise kernels of f32. */
#include "kernels/elementwise/f32/binary.h"
#include "kernels/elementwise/f32/eltwise.h"
#include "kernels/elementwise/f32/fold.h"

DEFINE_KERNEL_TABLES(eltwise_f32)
DEFINE_KERNEL_TABLES(binary_f32)
DEFINE_KERNEL_LIST(sum_f32)
DEFINE_KERNEL_LIST(blend_f32)
DEFINE_KERNEL_TABLES(fold_f32)
DEFINE_KERNEL_LIST(exp_sum_f32)
