/* The table of known cores. */
#ifndef ARCH_CORES_H
#define ARCH_CORES_H

#include "arch/cpu.h"

/* The row for a MIDR_EL1 value; the generic row when there is none. Never NULL. */
const struct core *core_find(uint64_t midr);

/* The row of this name, or NULL. */
const struct core *core_named(const char *name);

/* How much it does in a cycle, in no unit: one that reorders does more than one that issues in
 * order and is as wide. */
int core_speed(const struct core *core);

extern const struct core cores[];
extern const size_t core_count; /* the last row is the generic one */

#endif
