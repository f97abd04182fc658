/* Kernels that come in a list, fastest first: its last row is the definition, and needs nothing.
 *
 * In a header, where NAME_fn is a type of functions, KERNEL_LIST(NAME) declares
 *
 *   struct NAME_kernel                      a row: its name, the CPU_* bits it needs, and run()
 *   NAME_neon, NAME_ref                     the rows
 *   NAME_kernels[], NAME_kernel_count       the list
 *   NAME_find(features)                     the fastest that the features allow; never NULL
 *
 * and KERNEL_TABLES(NAME, COUNT) the same for tables of COUNT functions, which are indexed by enum
 * NAME_alg: NAME_find(features, alg). A table may have empty rows, but for the last one. Both are
 * defined by the macros of these names with DEFINE_ before them.
 *
 * Lists whose rows say more, and that are searched for more, have a structure of their own, and a
 * macro KERNELS(KERNEL) that has KERNEL(name) for each row. NAMED_KERNELS(LIST, structure, KERNELS)
 * declares the rows, LIST_kernels[] and LIST_kernel_count. */
#ifndef KERNELS_ASM_LIST_H
#define KERNELS_ASM_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"

#define KERNEL_ROWS(list)                                      \
    struct list##_kernel {                                     \
        const char *name;                                      \
        uint32_t needs;                                        \
        list##_fn *run;                                        \
    };                                                         \
    extern const struct list##_kernel *const list##_kernels[]; \
    extern const size_t list##_kernel_count

#define KERNEL_LIST(list)                                      \
    KERNEL_ROWS(list);                                         \
    extern const struct list##_kernel list##_neon, list##_ref; \
    const struct list##_kernel *list##_find(uint32_t features)

#define KERNEL_TABLES(list, count)                                           \
    KERNEL_ROWS(list);                                                       \
    extern const struct list##_kernel list##_neon[count], list##_ref[count]; \
    const struct list##_kernel *list##_find(uint32_t features, enum list##_alg alg)

#if NEO_PORTABLE
#define IF_NEON(row)
#else
#define IF_NEON(row) row,
#endif

#define DEFINE_KERNEL_ROWS(list, neon, ref)                                   \
    const struct list##_kernel *const list##_kernels[] = {IF_NEON(neon) ref}; \
    const size_t list##_kernel_count = sizeof list##_kernels / sizeof list##_kernels[0];

#define DEFINE_KERNEL_LIST(list)                               \
    DEFINE_KERNEL_ROWS(list, &list##_neon, &list##_ref)        \
    const struct list##_kernel *list##_find(uint32_t features) \
    {                                                          \
        size_t i = 0;                                          \
        while (list##_kernels[i]->needs & ~features)           \
            i++;                                               \
        return list##_kernels[i];                              \
    }

#define DEFINE_KERNEL_TABLES(list)                                                      \
    DEFINE_KERNEL_ROWS(list, list##_neon, list##_ref)                                   \
    const struct list##_kernel *list##_find(uint32_t features, enum list##_alg alg)     \
    {                                                                                   \
        size_t i = 0;                                                                   \
        while (!list##_kernels[i][alg].run || list##_kernels[i][alg].needs & ~features) \
            i++;                                                                        \
        return &list##_kernels[i][alg];                                                 \
    }

#define KERNEL_NAME(name) name,
#define KERNEL_ADDRESS(name) &name,

#define NAMED_KERNELS(list, structure, KERNELS)                                 \
    extern const struct structure KERNELS(KERNEL_NAME) *const list##_kernels[]; \
    extern const size_t list##_kernel_count

#define DEFINE_NAMED_KERNELS(list, structure, KERNELS)                          \
    const struct structure *const list##_kernels[] = {KERNELS(KERNEL_ADDRESS)}; \
    const size_t list##_kernel_count = sizeof list##_kernels / sizeof list##_kernels[0]

#endif
