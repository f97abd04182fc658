/* How a thread rounds, and what it does with tiny numbers and NaN: the control bits of its
 * floating-point unit. The system keeps them per thread, so that a thread of a pool has its own. */
#ifndef SRC_THREADING_FLOAT_MODE_H
#define SRC_THREADING_FLOAT_MODE_H

#include <stdint.h>

#if defined(__aarch64__)

#define FLOAT_MODE_DEFAULT 0 /* as the ABI has it when a program starts */

static inline uint64_t float_mode_here(void)
{
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
}

static inline void float_mode_set(uint64_t mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory");
}

#elif defined(__x86_64__)

#define FLOAT_MODE_DEFAULT 0x1f80
#define FLOAT_MODE_RAISED 0x3fu /* exceptions that have happened, in the same register */

static inline uint64_t float_mode_here(void)
{
    return __builtin_ia32_stmxcsr() & ~FLOAT_MODE_RAISED;
}

static inline void float_mode_set(uint64_t mode)
{
    uint32_t raised = __builtin_ia32_stmxcsr() & FLOAT_MODE_RAISED;
    __builtin_ia32_ldmxcsr((uint32_t)mode | raised);
}

#else
#include <fenv.h>

/* What C has for all processors: the direction of rounding. */
#define FLOAT_MODE_DEFAULT FE_TONEAREST

static inline uint64_t float_mode_here(void)
{
    return (uint64_t)fegetround();
}

static inline void float_mode_set(uint64_t mode)
{
    (void)fesetround((int)mode);
}

#endif

/* Gives the calling thread a mode and returns the one that it had. Reading is cheap, writing waits
 * for the whole pipeline on many cores. */
static inline uint64_t float_mode_swap(uint64_t mode)
{
    uint64_t before = float_mode_here();
    if (before != mode)
        float_mode_set(mode);
    return before;
}

#endif
