/* Which CPUs the process may use, how they differ, and how much of them it gets. */
#ifndef ARCH_TOPOLOGY_H
#define ARCH_TOPOLOGY_H

#include <stdint.h>

#define TOPOLOGY_MAX_CPUS 1024 /* CPUs beyond the first so many allowed ones are not used */

/* What kind of core a CPU is among those of its machine. Cores that are all equal are big. */
enum topology_class { TOPOLOGY_LITTLE, TOPOLOGY_MID, TOPOLOGY_BIG };

struct core;

struct topology_cpu {
    int cpu;                          /* its number for the kernel */
    int node, package, cluster, core; /* 0 where the kernel does not tell */
    int sibling;                      /* how many CPUs of the same core have lower numbers */
    uint32_t capacity;                /* speed, the fastest CPU's is 1024 */
    enum topology_class class;
    const struct core *model; /* row of the table of known cores; NULL: not known */
};

struct topology {
    int count;    /* at least 1 */
    double quota; /* CPUs' worth of time that the cgroup grants; 0: no limit */
    struct topology_cpu cpus[TOPOLOGY_MAX_CPUS]; /* by number */
};

/* Where to look, so that a test can state another machine. */
struct topology_sources {
    const char *root;    /* stands before /proc and /sys; "" for this machine */
    const char *allowed; /* "0-3,6": the affinity mask; NULL: the calling thread's */
    const char *core;    /* the name of the core that all CPUs are taken for; NULL: find out */
};

/* Fills the topology, which is too large for a stack; what cannot be read gets the value that
 * restricts least. Returns 0 when there is no memory, and then has no CPUs. */
int topology_read(struct topology *t, const struct topology_sources *sources);

/* A new one, to be released with free(); NULL: no memory. */
struct topology *topology_create(const struct topology_sources *sources);

/* CPUs of one kind. */
struct topology_kind {
    const struct core *core; /* NULL: the kernel does not tell */
    uint32_t capacity;       /* the fastest one's */
    int cpus;
};

/* Fills kinds[0 … most - 1] with the kinds of core among the CPUs, the fastest first, and returns
 * how many it filled (kinds of higher-numbered CPUs are left out if there are more): what kernels
 * have to suit, whichever core creates the primitive. */
int topology_kinds(const struct topology *t, struct topology_kind *kinds, int most);

/* How many threads make sense: the CPUs that may be used and are not little, at most the quota
 * rounded up. At least 1. */
int topology_default_threads(const struct topology *t);

/* The NUMA node of the CPU that the calling thread runs on; 0 where there are none. */
int topology_current_node(void);

#endif
