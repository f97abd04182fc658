/* Sleeping on a word of memory, and what a loop does that waits for one. */
#ifndef SRC_THREADING_FUTEX_H
#define SRC_THREADING_FUTEX_H

#include <stdint.h>

/* Sleeps while the uint32_t at word is expected; may also return for no reason. */
void futex_wait(const void *word, uint32_t expected);

/* Wakes up to count sleepers. The word is not read: it may be gone already. */
void futex_wake(const void *word, int count);

/* Tells the core that this is a spin loop. On AArch64 an isb: yield is a no-op on most cores, while
 * an isb holds the loop back for some tens of cycles. */
static inline void spin_pause(void)
{
#if defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("" ::: "memory");
#endif
}

#endif
