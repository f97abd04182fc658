/* What a real machine can tell about a call: time always, events where the kernel permits. */
#ifndef PERF_HARDWARE_H
#define PERF_HARDWARE_H

#include <stdint.h>

/* Events are 0 where they cannot be counted (no permission, no counter, an emulator). */
struct hardware_sample {
    uint64_t ns, cycles, instructions, l1_misses;
};

/* The shortest of many calls: at least five, and a fifth of a second. */
struct hardware_sample hardware_time(void (*call)(void *state), void *state);

/* Multiply-accumulates on four floats that one thread does in a nanosecond at best: measured, so
 * that no clock frequency and no data sheet is needed. */
double hardware_peak(void);

#endif
