/* For functions whose arguments choose the code when they are constants. */
#ifndef KERNELS_ASM_INLINE_H
#define KERNELS_ASM_INLINE_H

#define INLINE static inline __attribute__((always_inline))

#endif
