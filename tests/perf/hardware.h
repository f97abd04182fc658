/* What a real machine can tell about a call: time always, events where the kernel permits. */
#ifndef PERF_HARDWARE_H
#define PERF_HARDWARE_H

#include <stdint.h>

enum {
    HARDWARE_EVENTS = 4
}; /* cycles, instructions, misses of reads in L1 and in the last level */

/* Events are 0 where they cannot be counted (no permission, no counter, an emulator). */
struct hardware_sample {
    uint64_t ns;
    uint64_t events[HARDWARE_EVENTS];
};

/* NULL if cycles can be counted here, or why not. */
const char *hardware_refusal(void);

/* Keeps the process on the core that it runs on, so that all its figures are of one core. */
void hardware_stay(void);

/* The shortest of many calls: at least five, and a fifth of a second. */
struct hardware_sample hardware_time(void (*call)(void *state), void *state);

/* Multiply-accumulates on four floats that one thread does in a nanosecond at best: measured, so
 * that no clock frequency and no data sheet is needed. */
double hardware_peak(void);

/* Cycles in a nanosecond, by additions that wait for each other. */
double hardware_clock(void);

#endif
