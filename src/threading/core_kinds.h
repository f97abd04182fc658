/* Which kernels suit the core that a thread runs on, where the cores of a machine differ. */
#ifndef SRC_THREADING_CORE_KINDS_H
#define SRC_THREADING_CORE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

struct topology;

struct core_kinds {
    int kind;       /* core_kind() of all CPUs; negative: not known, or they differ */
    int8_t *of_cpu; /* the same by number of CPU; NULL: they are equal */
    int count;      /* of of_cpu[] */
};

/* False when there is no memory. */
bool core_kinds_init(struct core_kinds *kinds, const struct topology *topology);
void core_kinds_deinit(struct core_kinds *kinds);

/* Of the core that the calling thread runs on; negative: not known. Asks the system only where
 * cores differ. */
int core_kinds_here(const struct core_kinds *kinds);

#endif
