/* The counter that all cores share: never goes back, and is the same everywhere to within the time
 * a cache line takes from core to core. */
#ifndef ARCH_TICKS_H
#define ARCH_TICKS_H

#include <stdint.h>

#if defined(__aarch64__) || defined(__x86_64__)
#define TICKS_ARE_SHARED 1
#else
#define TICKS_ARE_SHARED 0
#endif

#if TICKS_ARE_SHARED
/* The counter's step is shorter than the time a cache line takes from core to core, so that of two
 * events in different threads, one of which has seen the other, the later one reads more. Many
 * AArch64 machines count at 19 to 125 MHz only; emulators may be coarser still. */
static inline int ticks_are_fine(void)
{
#if defined(__aarch64__)
    uint64_t hertz;
    __asm__("mrs %0, cntfrq_el0" : "=r"(hertz));
    return hertz >= 500000000;
#else
    return 1;
#endif
}

/* Read after everything before it in the program is done, so that it orders this thread's work
 * with work of others that it has seen. */
static inline uint64_t ticks_now(void)
{
#if defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
#else
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#endif
}
#endif

#endif
