/* Marks a part of the program for an emulator's instruction counter: two hints that a processor
 * ignores. Each pair of calls is one region; regions are numbered in the order of execution. */
#ifndef BENCHDNN_TIMING_REGION_H
#define BENCHDNN_TIMING_REGION_H

#include <stdbool.h>

void region_begin(void);
void region_end(void);

/* The program runs on an emulated processor: times would be those of the emulator. */
bool region_is_emulated(void);

#endif
