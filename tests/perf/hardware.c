/* Time and events of calls on real hardware. */
#include "tests/perf/hardware.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ENOUGH_NS ((uint64_t)200000000)
enum { ENOUGH_CALLS = 5 };

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- events ---- */

static const struct {
    uint32_t type;
    uint64_t config;
} event_rows[HARDWARE_EVENTS] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 |
                             PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
    {PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_READ << 8 |
                             PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
};

/* A descriptor that counts for this thread, or -1. */
static int event_open(size_t index)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = event_rows[index].type;
    attributes.config = event_rows[index].config;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
}

static uint64_t event_read(int descriptor)
{
    uint64_t value = 0;
    if (descriptor < 0 || read(descriptor, &value, sizeof value) != sizeof value)
        return 0;
    return value;
}

const char *hardware_refusal(void)
{
    int descriptor = event_open(0);
    int reason = descriptor < 0 ? errno : 0;
    if (descriptor >= 0)
        close(descriptor);
    switch (reason) {
    case 0:
        return NULL;
    case EACCES:
    case EPERM:
        return "the kernel does not permit it (see sysctl kernel.perf_event_paranoid)";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return "there is no counter of cycles (a virtual machine without one?)";
    case ENOSYS:
        return "the kernel has no perf_event_open (an emulator, or a container that hides it)";
    default:
        return strerror(reason);
    }
}

/* ---- calls ---- */

void hardware_stay(void)
{
    cpu_set_t here;
    int cpu = sched_getcpu();
    if (cpu < 0)
        return;
    CPU_ZERO(&here);
    CPU_SET((size_t)cpu, &here);
    sched_setaffinity(0, sizeof here, &here);
}

static struct hardware_sample time_once(void (*call)(void *state), void *state, const int *events)
{
    struct hardware_sample sample;
    uint64_t before[HARDWARE_EVENTS];
    for (size_t i = 0; i < HARDWARE_EVENTS; i++)
        before[i] = event_read(events[i]);
    uint64_t start = now_ns();
    call(state);
    sample.ns = now_ns() - start;
    for (size_t i = 0; i < HARDWARE_EVENTS; i++)
        sample.events[i] = event_read(events[i]) - before[i];
    return sample;
}

struct hardware_sample hardware_time(void (*call)(void *state), void *state)
{
    int events[HARDWARE_EVENTS];
    for (size_t i = 0; i < HARDWARE_EVENTS; i++)
        events[i] = event_open(i);
    struct hardware_sample best = time_once(call, state, events);
    uint64_t start = now_ns();
    for (int calls = 0; calls < ENOUGH_CALLS || now_ns() - start < ENOUGH_NS; calls++) {
        struct hardware_sample sample = time_once(call, state, events);
        if (sample.ns < best.ns)
            best = sample;
    }
    for (size_t i = 0; i < HARDWARE_EVENTS; i++)
        if (events[i] >= 0)
            close(events[i]);
    return best;
}

/* ---- peak and clock ---- */

enum { CHAIN_ROUNDS = 20000, CHAINS = 24, WAITING_ADDITIONS = 16 };

/* Twenty-four accumulators: more than any core's pipes times latency. */
static void chains(void *state)
{
    (void)state;
    uint64_t rounds = CHAIN_ROUNDS;
    __asm__ volatile("1:\n\t"
                     "fmla v0.4s, v30.4s, v31.4s\n\tfmla v1.4s, v30.4s, v31.4s\n\t"
                     "fmla v2.4s, v30.4s, v31.4s\n\tfmla v3.4s, v30.4s, v31.4s\n\t"
                     "fmla v4.4s, v30.4s, v31.4s\n\tfmla v5.4s, v30.4s, v31.4s\n\t"
                     "fmla v6.4s, v30.4s, v31.4s\n\tfmla v7.4s, v30.4s, v31.4s\n\t"
                     "fmla v8.4s, v30.4s, v31.4s\n\tfmla v9.4s, v30.4s, v31.4s\n\t"
                     "fmla v10.4s, v30.4s, v31.4s\n\tfmla v11.4s, v30.4s, v31.4s\n\t"
                     "fmla v12.4s, v30.4s, v31.4s\n\tfmla v13.4s, v30.4s, v31.4s\n\t"
                     "fmla v14.4s, v30.4s, v31.4s\n\tfmla v15.4s, v30.4s, v31.4s\n\t"
                     "fmla v16.4s, v30.4s, v31.4s\n\tfmla v17.4s, v30.4s, v31.4s\n\t"
                     "fmla v18.4s, v30.4s, v31.4s\n\tfmla v19.4s, v30.4s, v31.4s\n\t"
                     "fmla v20.4s, v30.4s, v31.4s\n\tfmla v21.4s, v30.4s, v31.4s\n\t"
                     "fmla v22.4s, v30.4s, v31.4s\n\tfmla v23.4s, v30.4s, v31.4s\n\t"
                     "subs %0, %0, #1\n\tb.ne 1b"
                     : "+r"(rounds)
                     :
                     : "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10",
                       "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",
                       "v22", "v23");
}

double hardware_peak(void)
{
    struct hardware_sample sample = hardware_time(chains, NULL);
    return (double)CHAIN_ROUNDS * CHAINS / (double)sample.ns;
}

/* Additions of registers take one cycle each on every core when each waits for the one before. */
static void waiting_additions(void *state)
{
    uint64_t rounds = CHAIN_ROUNDS, sum = 0;
    (void)state;
    __asm__ volatile("1:\n\t"
                     "add %1, %1, %0\n\tadd %1, %1, %0\n\tadd %1, %1, %0\n\tadd %1, %1, %0\n\t"
                     "add %1, %1, %0\n\tadd %1, %1, %0\n\tadd %1, %1, %0\n\tadd %1, %1, %0\n\t"
                     "add %1, %1, %0\n\tadd %1, %1, %0\n\tadd %1, %1, %0\n\tadd %1, %1, %0\n\t"
                     "add %1, %1, %0\n\tadd %1, %1, %0\n\tadd %1, %1, %0\n\tadd %1, %1, %0\n\t"
                     "subs %0, %0, #1\n\tb.ne 1b"
                     : "+r"(rounds), "+r"(sum)
                     :
                     : "cc");
}

double hardware_clock(void)
{
    struct hardware_sample sample = hardware_time(waiting_additions, NULL);
    return (double)CHAIN_ROUNDS * WAITING_ADDITIONS / (double)sample.ns;
}
