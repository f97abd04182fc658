/* This machine's instruction sets on a core by name, with an L1 cache of so many bytes. */
#ifndef TESTS_SUPPORT_STATED_CPU_H
#define TESTS_SUPPORT_STATED_CPU_H

#include "arch/cores.h"

static inline struct cpu stated_cpu(const char *core, size_t l1_bytes)
{
    struct cpu cpu = *cpu_get();
    cpu.core = core_named(core);
    cpu.l1_bytes = l1_bytes;
    return cpu;
}

#endif
