/* C = A B on tiles, for every type of elements: what panels hold, and the kernels that multiply
 * them.
 *
 * Panels have their elements in groups along k, since an instruction multiplies so many at once. A
 * panel of `width` rows of A, or columns of B, has element (i, p) at gemm_panel_at(). Its last
 * group has zeros where k ends. u8 is kept as s8, less 128: what a sum lacks for it, a zero point
 * of -128 gives, and whoever finishes sums knows zero points.
 *
 * A type here is what is multiplied. What is stored may be another one: packing converts. */
#ifndef KERNELS_GEMM_TYPES_H
#define KERNELS_GEMM_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"
#include "kernels/elementwise/element.h"
#include "kernels/gemm/finish.h"

/* GEMM_NR: of most types. */
enum { GEMM_MR = 8, GEMM_VECTORS = 3, GEMM_NR = 12, GEMM_MOST_NR = 24 };

struct gemm_type {
    const char *name;
    enum element element; /* of panels */
    enum element sum;     /* in memory */
    enum element within;  /* what sums are kept in while a tile's k is summed */
    uint8_t group;        /* steps of k that are next to each other in a panel */
    uint8_t products;     /* of one 128-bit instruction */
    uint8_t vector;       /* columns of B that a tile has at the least */
    uint8_t kind;         /* MAC_*: the instruction */
};

static inline size_t gemm_groups(const struct gemm_type *type, size_t k)
{
    return (k + type->group - 1) / type->group;
}

/* Where a panel has element (i, p), counted in elements. */
static inline size_t gemm_panel_at(size_t group, size_t width, size_t i, size_t p)
{
    return (p / group * width + i) * group + p % group;
}

static inline size_t gemm_panel_bytes(const struct gemm_type *type, size_t width, size_t k)
{
    return gemm_groups(type, k) * type->group * width * element_bytes(type->element);
}

/* Panels of A are 1 … GEMM_MR wide, those of B 1, 2 or 3 vectors of columns.
 *
 * For i < m, j < n:
 *
 *   sum = add ? sums[i * row + j] : start ? start[j] : 0
 *   sums[i * row + j] = sum + the sum over p < groups * type->group of A(i, p) * B(p, j)
 *
 * s32 is exact, modulo 2^32. Floats are summed in an order that depends on the kernel and on
 * mr, since small tiles have several sums for each element; products of f16 and bf16 are exact in
 * f32, and a sum of f32 is off by no more than twice what k rounded additions allow. Where a tile's
 * sums are of f16, all of k is summed in it, each product and addition rounded once, and then added
 * to what the sum begins with in f32. bf16's instructions take denormal numbers for zeros.
 *
 * Nothing of sums but its valid part is read or written; start has nr values. Panels are read in
 * full: mr rows and nr columns of all groups.
 *
 * end: NULL, or the sums become results, whose first row and column are end's, and nothing is left
 * in sums. Of end, n is nr: that many scales and offsets are read; row_scales are those of all
 * rows of all tiles; rows are NULL, and m, sums and row are not read.
 *
 * ahead: 0, or kernels may fetch, while they multiply, one of three lines of what is so far behind
 * b: with 64 and 128 more the other two.
 *
 * Several tiles cost less than one call for each. They are below each other: then they have the
 * same panel of B, their panels of A follow each other, and m is mr. Or, where mr is 1, they are
 * beside each other: then they have the same panel of A, panels of B are `beside` bytes apart, sums
 * and start follow each other, row and n are nr, and there is no end. */
struct gemm_tile {
    size_t groups;
    const void *a, *b;
    void *sums;
    size_t row;        /* elements from row to row of sums */
    const void *start; /* of the sums' type, or NULL */
    uint32_t mr, nr;   /* the panels' widths */
    uint32_t m, n;     /* 1 <= m <= mr, 1 <= n <= nr */
    uint32_t add;
    uint32_t tiles; /* of mr rows each, all valid but for columns; 0: one */
    const struct gemm_finish *end;
    size_t ahead;  /* from a line of b, in bytes, to one that is wanted later; a multiple of 4 */
    size_t beside; /* of several tiles of one row: from panel to panel of B, in bytes */
};
typedef void gemm_run_fn(const struct gemm_tile *tile);

struct gemm_kernel {
    const char *name;
    const struct gemm_type *type;
    uint32_t needs;   /* CPU_* bits that run() executes */
    uint8_t in_order; /* IN_ORDER_*: for cores that issue in this way; 0: for all */
    gemm_run_fn *run; /* all mr and nr of the type */
};

/* Every type, and for each one its kernels, the fastest first; the last one needs nothing. */
extern const struct gemm_type gemm_types[];
extern const size_t gemm_type_count;
extern const struct gemm_kernel *const gemm_kernels[];
extern const size_t gemm_kernel_count;

/* The type of this name, or NULL. */
const struct gemm_type *gemm_type_named(const char *name);

/* The fastest kernel that the CPU can run; never NULL. */
const struct gemm_kernel *gemm_kernel_find(const struct cpu *cpu, const struct gemm_type *type);

/* The type whose kernels do most products in a cycle on the CPU's core, of those that hold values
 * of `element` exactly and sum them as `sum` or, where that is f16, in f32; NULL if none does. s8
 * stands for u8, too. */
const struct gemm_type *gemm_type_choose(const struct cpu *cpu, enum element element,
                                         enum element sum);

/* The tables of one file each. */
enum {
    GEMM_F32,
    GEMM_S8_DOT,
    GEMM_S8_MMLA,
    GEMM_S8_WIDE,
    GEMM_BF16_DOT,
    GEMM_BF16_MMLA,
    GEMM_F16,
    GEMM_F16_LONG,
    GEMM_TYPES
};
enum { GEMM_NEON_KERNELS = 9, GEMM_GENERIC_KERNELS = 4 };
extern const struct gemm_kernel gemm_neon[GEMM_NEON_KERNELS];
extern const struct gemm_kernel gemm_generic[GEMM_GENERIC_KERNELS];
extern const struct gemm_kernel gemm_ref[GEMM_TYPES];

#endif
