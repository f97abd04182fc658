/* A table by CPU, and only if there are several kinds. */
#include "src/threading/core_kinds.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "arch/cpu.h"
#include "arch/topology.h"

enum { MOST_KINDS = 16 };

static int kind_of(const struct core *core)
{
    return core ? core_kind(core) : -1;
}

static bool note_each_cpu(struct core_kinds *kinds, const struct topology *t)
{
    kinds->kind = -1;
    kinds->count = t->cpus[t->count - 1].cpu + 1; /* they are by number */
    kinds->of_cpu = malloc((size_t)kinds->count);
    if (!kinds->of_cpu)
        return false;
    memset(kinds->of_cpu, -1, (size_t)kinds->count);
    for (int i = 0; i < t->count; i++)
        kinds->of_cpu[t->cpus[i].cpu] = (int8_t)kind_of(t->cpus[i].model);
    return true;
}

bool core_kinds_init(struct core_kinds *kinds, const struct topology *t)
{
    struct topology_kind found[MOST_KINDS];
    int count = topology_kinds(t, found, MOST_KINDS);
    *kinds = (struct core_kinds){.kind = kind_of(found[0].core)};
    for (int i = 1; i < count; i++)
        if (kind_of(found[i].core) != kinds->kind)
            return note_each_cpu(kinds, t);
    return true;
}

void core_kinds_deinit(struct core_kinds *kinds)
{
    free(kinds->of_cpu);
}

int core_kinds_here(const struct core_kinds *kinds)
{
    if (!kinds->of_cpu)
        return kinds->kind;
    int cpu = sched_getcpu();
    return cpu >= 0 && cpu < kinds->count ? kinds->of_cpu[cpu] : -1;
}
