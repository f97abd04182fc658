/* Marks the part of a guest program that the emulator plugins measure.
 *
 * Two hints that every AArch64 core executes as NOP. The barriers end the emulator's blocks, so
 * that a block holds either measured instructions or others. */
#ifndef PERF_REGION_H
#define PERF_REGION_H

/* hint #112 and hint #113 */
#define REGION_BEGIN_WORD 0xD5032E1Fu
#define REGION_END_WORD 0xD5032E3Fu

#ifdef __aarch64__
static inline void region_begin(void)
{
    __asm__ volatile("isb\n\thint #112\n\tisb" ::: "memory");
}

static inline void region_end(void)
{
    __asm__ volatile("isb\n\thint #113\n\tisb" ::: "memory");
}
#endif

#endif
