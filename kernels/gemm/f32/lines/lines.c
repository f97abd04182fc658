/* The list of kernels for products of lines, fastest first. */
#include "kernels/gemm/f32/lines/lines.h"

DEFINE_KERNEL_LIST(gemm_f32_lines)
