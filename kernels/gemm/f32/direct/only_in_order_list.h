/* Tiles that only cores that issue in order have kernels for, for C and assembly: KERNEL(name,
 * height, vectors, group). Others are given higher ones (gemm/f32/panels/list.h). */
KERNEL(1x2x8, 1, 4, 2)
KERNEL(2x2x8, 2, 4, 2)
KERNEL(1x3x12, 1, 9, 3)
