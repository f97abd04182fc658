/* Packs matrices of any type into the panels of kernels/gemm/types.h, and back. */
#ifndef KERNELS_PACK_PANEL_H
#define KERNELS_PACK_PANEL_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"
#include "kernels/elementwise/element.h"

/* For i < width, and p < k rounded up to whole groups:
 *
 *   panel(i, p) = i < count && p < k ? convert(element(i, p)) : 0
 *   sums[i] += panel(i, p)     (where sums is not NULL; types of integers only)
 *
 * where element (i, p) is lanes[i] + p * step if lanes is not NULL, else src + i * lane + p * step,
 * counted in elements of `from`, and panel (i, p) is at gemm_panel_at() in out. Floats are rounded
 * to the nearest, ties to even; u8 becomes s8, less 128. Strides may be any number, 0 and negative
 * ones too. Only the elements named are read. out does not overlap the source. Fast for step == 1,
 * and for lane == 1 without lanes. */
struct pack_panel {
    enum element from, to;
    size_t group;
    size_t width; /* lanes of the panel, >= 1 */
    size_t count; /* valid lanes, <= width */
    size_t k;
    const void *src;
    ptrdiff_t lane, step;
    const void *const *lanes; /* count pointers, or NULL */
    void *out;
    int32_t *sums; /* of `count` lanes, or NULL */
};
typedef void pack_panel_fn(const struct pack_panel *panel);

/* The way back, into elements of the panel's own type, u8 from s8, or any of whole bytes from
 * floats:
 *
 *   for p < k, i < count:  dst[i * lane + p * step] = panel(i, p)
 *
 * Nothing else of dst is written. */
struct unpack_panel {
    enum element from, to; /* of the panel, of dst */
    size_t group, width, count, k;
    const void *panel;
    void *dst;
    ptrdiff_t lane, step;
};
typedef void unpack_panel_fn(const struct unpack_panel *panel);

struct pack_panel_kernel {
    const char *name;
    uint32_t needs; /* CPU_* bits */
    enum element from, to;
    uint8_t group; /* 0: any */
    pack_panel_fn *pack;
};

/* Fastest first; every pair of types has one that needs nothing. */
extern const struct pack_panel_kernel *const pack_panel_kernels[];
extern const size_t pack_panel_kernel_count;

/* The fastest that the features allow; NULL for a pair of types that is not converted. */
pack_panel_fn *pack_panel_find(uint32_t features, enum element from, enum element to, size_t group);

unpack_panel_fn unpack_panel;

/* The tables of one file each. */
enum { PACK_PANEL_REFS = 15, PACK_PANEL_NEON = 21, PACK_PANEL_BF16 = 2 };
extern const struct pack_panel_kernel pack_panel_bf16[PACK_PANEL_BF16];
extern const struct pack_panel_kernel pack_panel_neon[PACK_PANEL_NEON];
extern const struct pack_panel_kernel pack_panel_ref[PACK_PANEL_REFS];

#endif
