/* Cache sizes as Linux tells them under /sys/devices/system/cpu/cpuN/cache. */
#ifndef ARCH_CACHES_H
#define ARCH_CACHES_H

#include <stddef.h>

struct caches {
    size_t l1_bytes, l2_bytes, l3_bytes, line_bytes; /* 0: not told */
};

/* Reads the data and unified caches of one CPU; what is missing or malformed stays 0. */
void caches_read(struct caches *caches, const char *sysfs, unsigned cpu);

/* "512K" as bytes: a whole number with an optional K, M or G, then the end or a new line.
 * Anything else, and what does not fit, gives 0. */
size_t caches_parse_size(const char *text);

/* The first line of the file DIRECTORY/cpuN/NAME, without its end; 0 if it cannot be read. */
int caches_read_line(const char *directory, unsigned cpu, const char *name, char *line,
                     size_t line_bytes);

#endif
