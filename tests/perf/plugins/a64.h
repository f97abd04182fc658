/* Which class an A64 instruction belongs to, from its 32 bits. */
#ifndef PERF_A64_H
#define PERF_A64_H

#include <stdint.h>

/* mac:   multiplies and multiply-accumulates of floating-point or SIMD registers
 * macs:  scalar products that those do (4 for FMLA on four floats)
 * simd:  other floating-point and SIMD arithmetic, permutes included
 * perm:  the part of simd that only moves lanes
 * sve:   not decoded further */
#define A64_COUNT_LIST(X) \
    X(total)              \
    X(mac)                \
    X(macs)               \
    X(simd)               \
    X(perm)               \
    X(load) X(load_bytes) X(store) X(store_bytes) X(prefetch) X(branch) X(integer) X(sve) X(unknown)

enum {
#define A64_ENUM(name) A64_##name,
    A64_COUNT_LIST(A64_ENUM)
#undef A64_ENUM
        A64_COUNTS
};

/* Adds the instruction to the counts of its block. */
void a64_count(uint32_t word, uint32_t counts[A64_COUNTS]);

#endif
