/* Facts about the processor: instruction sets, the kind of core, cache sizes. Read once. */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include <stddef.h>
#include <stdint.h>

/* Instruction sets a kernel may need. A portable build has none of them. */
enum {
    CPU_NEON = 1,
    CPU_FP16 = 2,
    CPU_DOTPROD = 4,
    CPU_BF16 = 8,
    CPU_I8MM = 16,
    CPU_FHM = 32, /* FMLAL: products of f16, sums of f32 */
};

/* Instructions that multiply and accumulate, of which cores differ in how many they start. */
enum {
    MAC_F32,
    MAC_F16,
    MAC_FMLAL,
    MAC_SDOT,
    MAC_SMMLA,
    MAC_BFDOT,
    MAC_BFMMLA,
    MAC_SMULL,
    MAC_KINDS
};

/* A core that issues in the order of the program, with a multiply-accumulate at most 64 bits of a
 * load (Cortex-A53, A55). Wider ones (A510, A520) run the kernels of cores that reorder. */
enum { IN_ORDER_NARROW = 1 };

/* The kinds of cores that kernels are for: how a core issues. */
enum { CORE_KINDS = 2 };

/* Lines that a place of an L1 data cache has room for: those of most known cores have no more. */
enum { CPU_L1_WAYS = 4 };

/* One row of the table of known cores (arch/cores.c): what tuning needs to know. */
struct core {
    const char *name;        /* short, for tables and options: "neoverse-n1" */
    const char *model;       /* for logs: "Arm Neoverse N1" */
    uint8_t implementer;     /* MIDR_EL1 bits 31:24 */
    uint16_t part;           /* MIDR_EL1 bits 15:4 */
    uint8_t fmla_per_cycle;  /* 128-bit multiply-accumulates started each cycle */
    uint8_t fmla_latency;    /* cycles from one accumulation to the next into the same register */
    uint8_t loads_per_cycle; /* 128-bit loads each cycle; 0: less than one */
    uint8_t in_order;        /* IN_ORDER_NARROW; 0: kernels of cores that reorder are for it */
    double slowness;         /* of what is no sum (lists, copies, transforms); Neoverse N1: 1 */
    uint32_t l1_bytes;       /* typical sizes, for systems that do not tell theirs */
    uint32_t l2_bytes;
    uint16_t share_cycles;  /* what work on several threads costs, whatever their number */
    uint16_t thread_cycles; /* and for each of them after the first */
    float macs[MAC_KINDS];  /* 128-bit ones started each cycle, as far as the core has them */
    double ghz;             /* a usual clock */
    double bandwidth;       /* GB/s that one core reads from memory when all cores do */
};

static inline int core_kind(const struct core *core)
{
    return core->in_order;
}

/* May what needs these CPU_* bits, and is for cores that issue so (0: for all), run with these
 * features on a core that issues as `in_order` says? */
static inline int cpu_suits(uint32_t needs, int kind, uint32_t features, int in_order)
{
    return (needs & ~features) == 0 && (!kind || kind == in_order);
}

struct cpu {
    uint32_t features;       /* CPU_* bits the program may use */
    const struct core *core; /* never NULL; an unknown core gets the table's generic row */
    size_t l1_bytes, l2_bytes, l3_bytes; /* data caches; 0 only for a level that is absent */
    size_t line_bytes;
    double bandwidth; /* GB/s in place of the core's; 0: as there */
};

/* The machine the process runs on, the same pointer on every call, from any thread. Where cores
 * differ it is the fastest kind that the first caller may run on: that is where the work should be.
 * The environment variable NEOPRENE_CPU_DISABLE=dotprod,i8mm removes bits of features;
 * NEOPRENE_CPU_CORE=cortex-a55 names another row of the table, to tune for that core;
 * NEOPRENE_BANDWIDTH=9.5 says how many GB/s one core reads from memory when all cores do. What is
 * not understood is ignored; whoever can write a warning does. */
const struct cpu *cpu_get(void);

/* The variables that cpu_get() reads, for who can write a warning. */
enum { CPU_VARIABLE_CORE, CPU_VARIABLE_DISABLE, CPU_VARIABLES };

struct cpu_variable {
    const char *name;    /* by which it was found, or would be */
    const char *value;   /* NULL: it is not set */
    const char *instead; /* what it is called now, if it was found by an older name; else NULL */
};
struct cpu_variable cpu_variable(int which);

/* What cpu_get() reads, so that a test can state another machine. */
struct cpu_sources {
    uint64_t hwcap, hwcap2; /* AT_HWCAP and AT_HWCAP2 of AArch64 Linux; 0: no feature */
    uint64_t midr;          /* MIDR_EL1 of the core that runs now; 0: unknown */
    const char *sysfs;      /* "/sys/devices/system/cpu" */
    const char *disabled;   /* list of feature names, or NULL */
    const char *core;       /* name of the core to assume, or NULL: find out */
    const char *bandwidth;  /* GB/s for one core, or NULL: the core's row */
    const void *allowed;    /* cpu_set_t of the CPUs that count; NULL: all */
    int trust_caches;       /* not 0: believe cache sizes of a sysfs that names no core */
};
void cpu_detect(struct cpu *cpu, const struct cpu_sources *sources);

/* The CPU_* bits of a list of names, "neon,fp16". Empty and unknown names count for nothing;
 * *unknown receives where the first of the latter begins, or NULL. */
uint32_t cpu_parse_features(const char *list, const char **unknown);

/* A number of GB/s above 0, up to CPU_MAX_BANDWIDTH; 0 for any other text, and for NULL. */
enum { CPU_MAX_BANDWIDTH = 1000000 };
double cpu_parse_bandwidth(const char *text);

/* GB/s that one core reads when all do; 0: not known. */
static inline double cpu_bandwidth(const struct cpu *cpu)
{
    return cpu->bandwidth > 0 ? cpu->bandwidth : cpu->core->bandwidth;
}

#endif
