/* The list of f32 copy kernels. */
#include "kernels/pack/f32/copy.h"

DEFINE_KERNEL_LIST(copy_f32)
