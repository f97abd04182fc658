/* For kernels in C that compilers make vectors of, in builds that have no others. Files that
 * include this are called generic.c, and are compiled so that the product and the sum of an
 * expression are fused, in functions that are FUSED, and only where has_fused() says yes. */
#ifndef KERNELS_ASM_FUSED_H
#define KERNELS_ASM_FUSED_H

enum { LANES = 4 };

typedef float vector __attribute__((vector_size(LANES * sizeof(float))));

#if defined(__x86_64__)
#define FUSED __attribute__((target("fma,avx2")))
static inline int has_fused(void)
{
    return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
}
#else
#define FUSED
static inline int has_fused(void)
{
#ifdef __FP_FAST_FMAF
    return 1;
#else
    return 0;
#endif
}
#endif

#endif
