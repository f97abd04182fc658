/* Finds out what the processor is: feature bits from the kernel, the core from its ID register. */
#include "arch/cpu.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "arch/caches.h"
#include "arch/cores.h"

#if defined(__aarch64__) && !NEO_PORTABLE
#include <sys/auxv.h>
#endif

/* Numbers of CPUs that are off line may be missing; a long gap is the end. */
enum { MAX_CPUS = 4096, MAX_GAP = 64 };

/* Bits of AT_HWCAP and AT_HWCAP2, part of the AArch64 Linux ABI; all of a row's must be set. */
static const struct feature {
    const char *name;
    uint32_t bit;
    uint64_t hwcap, hwcap2;
} features[] = {
    {"neon", CPU_NEON, 1u << 1, 0},        {"fp16", CPU_FP16, 1u << 9 | 1u << 10, 0},
    {"dotprod", CPU_DOTPROD, 1u << 20, 0}, {"bf16", CPU_BF16, 0, 1u << 14},
    {"i8mm", CPU_I8MM, 0, 1u << 13},       {"fhm", CPU_FHM, 1u << 23, 0},
};
enum { FEATURES = sizeof features / sizeof features[0] };

static uint32_t feature_named(const char *name, size_t length)
{
    for (size_t i = 0; i < FEATURES; i++)
        if (strlen(features[i].name) == length && !memcmp(features[i].name, name, length))
            return features[i].bit;
    return 0;
}

uint32_t cpu_parse_features(const char *list, const char **unknown)
{
    uint32_t bits = 0;
    *unknown = NULL;
    for (;;) {
        size_t length = strcspn(list, ", ");
        uint32_t bit = feature_named(list, length);
        if (length && !bit && !*unknown)
            *unknown = list;
        bits |= bit;
        list += length;
        if (!*list)
            return bits;
        list++;
    }
}

static uint32_t detect_features(const struct cpu_sources *sources)
{
    uint32_t bits = 0;
    const char *unknown;
    for (size_t i = 0; i < FEATURES; i++)
        if ((sources->hwcap & features[i].hwcap) == features[i].hwcap &&
            (sources->hwcap2 & features[i].hwcap2) == features[i].hwcap2)
            bits |= features[i].bit;
    return sources->disabled ? bits & ~cpu_parse_features(sources->disabled, &unknown) : bits;
}

/* The core of one CPU as sysfs names it, or NULL. */
static const struct core *read_core(const char *sysfs, unsigned cpu)
{
    char line[64];
    if (!caches_read_line(sysfs, cpu, "regs/identification/midr_el1", line, sizeof line))
        return NULL;
    char *end;
    uint64_t midr = strtoull(line, &end, 16);
    return end != line && *end == '\0' ? core_find(midr) : NULL;
}

static int is_allowed(const cpu_set_t *allowed, unsigned cpu)
{
    return !allowed || (cpu < 8 * sizeof *allowed && CPU_ISSET(cpu, allowed));
}

/* Sets *cpu to the first CPU of the fastest kind; NULL when sysfs names no core. */
static const struct core *fastest_core(const char *sysfs, const cpu_set_t *allowed, unsigned *cpu)
{
    const struct core *best = NULL;
    unsigned missing = 0;
    for (unsigned i = 0; i < MAX_CPUS && missing < MAX_GAP; i++) {
        const struct core *core = read_core(sysfs, i);
        missing = core ? 0 : missing + 1;
        if (!core || !is_allowed(allowed, i) || (best && core_speed(core) <= core_speed(best)))
            continue;
        best = core;
        *cpu = i;
    }
    return best;
}

static size_t first_size(size_t told, size_t fallback)
{
    return told ? told : fallback;
}

double cpu_parse_bandwidth(const char *text)
{
    char *end;
    double value = text ? strtod(text, &end) : 0;
    return text && end != text && !*end && value > 0 && value <= (double)CPU_MAX_BANDWIDTH ? value
                                                                                           : 0;
}

/* Under an emulator sysfs describes the host, which names no AArch64 core: then the row of the
 * emulated core gives the cache sizes, and results do not depend on the host. */
void cpu_detect(struct cpu *cpu, const struct cpu_sources *sources)
{
    unsigned number = 0;
    const struct core *core = fastest_core(sources->sysfs, sources->allowed, &number);
    struct caches caches = {0};
    if (core || sources->trust_caches)
        caches_read(&caches, sources->sysfs, number);
    if (!core)
        core = core_find(sources->midr);
    const struct core *assumed = sources->core ? core_named(sources->core) : NULL;
    if (assumed)
        core = assumed;
    *cpu = (struct cpu){
        .features = detect_features(sources),
        .core = core,
        .l1_bytes = first_size(caches.l1_bytes, core->l1_bytes),
        .l2_bytes = first_size(caches.l2_bytes, core->l2_bytes),
        .l3_bytes = caches.l3_bytes,
        .line_bytes = first_size(caches.line_bytes, 64),
        .bandwidth = cpu_parse_bandwidth(sources->bandwidth),
    };
}

/* What a variable is called, and what it was called once. */
static const char *const variable_names[CPU_VARIABLES][2] = {
    [CPU_VARIABLE_CORE] = {"NEOPRENE_CPU_CORE", "NEO_CPU_CORE"},
    [CPU_VARIABLE_DISABLE] = {"NEOPRENE_CPU_DISABLE", "NEO_CPU_DISABLE"},
};

struct cpu_variable cpu_variable(int which)
{
    const char *name = variable_names[which][0], *old = variable_names[which][1];
    struct cpu_variable found = {.name = name, .value = secure_getenv(name)};
    if (!found.value && secure_getenv(old))
        found = (struct cpu_variable){.name = old, .value = secure_getenv(old), .instead = name};
    return found;
}

static struct cpu this_cpu;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_this_cpu(void)
{
    struct cpu_sources sources = {
        .sysfs = "/sys/devices/system/cpu",
        .disabled = cpu_variable(CPU_VARIABLE_DISABLE).value,
        .core = cpu_variable(CPU_VARIABLE_CORE).value,
        .bandwidth = secure_getenv("NEOPRENE_BANDWIDTH"),
    };
#if defined(__aarch64__) && !NEO_PORTABLE
    enum { CAN_READ_ID_REGISTERS = 1 << 11 };
    sources.hwcap = getauxval(AT_HWCAP);
    sources.hwcap2 = getauxval(AT_HWCAP2);
    if (sources.hwcap & CAN_READ_ID_REGISTERS)
        __asm__("mrs %0, midr_el1" : "=r"(sources.midr));
#else
    sources.trust_caches = 1;
#endif
    cpu_set_t allowed;
    if (!sched_getaffinity(0, sizeof allowed, &allowed))
        sources.allowed = &allowed;
    cpu_detect(&this_cpu, &sources);
}

const struct cpu *cpu_get(void)
{
    (void)pthread_once(&once, read_this_cpu);
    return &this_cpu;
}
