/* The kernel moves a thread at once when its mask excludes the CPU it runs on. */
#include "src/threading/leave_cpu.h"

#include <sched.h>
#include <string.h>

typedef cpu_set_t cpus[LEAVE_CPU_MOST / (8 * sizeof(cpu_set_t))];

/* A mask that equals what the cpuset grants is no wish of the user's: the thread then gets none
 * either, or it would not follow when the cpuset grows. now: room for another mask. */
static void restore(const cpus was, cpus now)
{
    memset(now, 0xff, sizeof(cpus));
    if (!sched_setaffinity(0, sizeof(cpus), now) && sched_getaffinity(0, sizeof(cpus), now) == 0 &&
        CPU_EQUAL_S(sizeof(cpus), now, was))
        return;
    (void)sched_setaffinity(0, sizeof(cpus), was);
}

bool leave_cpu(int cpu)
{
    cpus was, others;
    memset(was, 0, sizeof was);
    if (cpu < 0 || cpu >= LEAVE_CPU_MOST || sched_getaffinity(0, sizeof was, was) != 0)
        return false;
    memcpy(others, was, sizeof others);
    CPU_CLR_S((size_t)cpu, sizeof others, others);
    if (CPU_COUNT_S(sizeof others, others) == 0 || sched_setaffinity(0, sizeof others, others) != 0)
        return false;
    restore(was, others);
    return true;
}
