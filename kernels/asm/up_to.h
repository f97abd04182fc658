/* For lists of tiles, in C and assembly, that have all lower heights wherever they have one:
 * KERNEL(1, …) to KERNEL(n, …). */
#ifndef KERNELS_ASM_UP_TO_H
#define KERNELS_ASM_UP_TO_H

#define KERNELS_UP_TO_2(...) KERNEL(1, __VA_ARGS__) KERNEL(2, __VA_ARGS__)
#define KERNELS_UP_TO_3(...) KERNELS_UP_TO_2(__VA_ARGS__) KERNEL(3, __VA_ARGS__)
#define KERNELS_UP_TO_4(...) KERNELS_UP_TO_3(__VA_ARGS__) KERNEL(4, __VA_ARGS__)
#define KERNELS_UP_TO_5(...) KERNELS_UP_TO_4(__VA_ARGS__) KERNEL(5, __VA_ARGS__)
#define KERNELS_UP_TO_6(...) KERNELS_UP_TO_5(__VA_ARGS__) KERNEL(6, __VA_ARGS__)
#define KERNELS_UP_TO_7(...) KERNELS_UP_TO_6(__VA_ARGS__) KERNEL(7, __VA_ARGS__)
#define KERNELS_UP_TO_8(...) KERNELS_UP_TO_7(__VA_ARGS__) KERNEL(8, __VA_ARGS__)

#endif
