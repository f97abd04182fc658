/* Packs matrices into the panels that gemm_f32 kernels read, and back; f32. */
#ifndef KERNELS_PACK_F32_PACK_H
#define KERNELS_PACK_F32_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"

/* for p < k, i < width:  out[p * width + i] = i < count ? element(i, p) : 0
 *
 * where element (i, p) is lanes[i][p * step] if lanes is not NULL, else src[i * lane + p * step].
 * Strides may be any number, 0 and negative ones too. Only the elements named are read. out does
 * not overlap the source. Fast for step == 1, and for lane == 1 without lanes. */
struct pack_f32_panel {
    size_t width; /* lanes of the panel, >= 1 */
    size_t count; /* valid lanes, <= width */
    size_t k;
    const float *src;
    ptrdiff_t lane, step;
    const float *const *lanes; /* count pointers, or NULL */
    float *out;
};
typedef void pack_f32_fn(const struct pack_f32_panel *panel);

/* Kernels whose taps are innermost, as in o × i × h × w, into panels whose taps are outermost:
 *
 *   for t < taps, p < k, i < width:
 *       out[(t * k + p) * width + i] = i < count ? src[i * lane + p * taps + t] : 0
 *
 * The source is read once, from its beginning to its end. */
struct pack_f32_taps {
    size_t width, count, k, taps;
    const float *src;
    ptrdiff_t lane;
    float *out;
};
typedef void pack_f32_taps_fn(const struct pack_f32_taps *panel);

/* The way back: for p < k, i < count:  dst[i * lane + p * step] = panel[p * width + i]. Nothing
 * else of dst is read or written. */
struct unpack_f32_panel {
    size_t width, count, k;
    const float *panel;
    float *dst;
    ptrdiff_t lane, step;
};
typedef void unpack_f32_fn(const struct unpack_f32_panel *panel);

/* The same for taps: for t < taps, p < k, i < count:
 *     dst[i * lane + p * taps + t] = panel[(t * k + p) * width + i]
 *
 * The destination's lanes are written from their beginnings to their ends. */
struct unpack_f32_taps {
    size_t width, count, k, taps;
    const float *panel;
    float *dst;
    ptrdiff_t lane;
};
typedef void unpack_f32_taps_fn(const struct unpack_f32_taps *panel);

struct pack_f32_kernel {
    const char *name;
    uint32_t needs;
    pack_f32_fn *pack;
    pack_f32_taps_fn *pack_taps;
    unpack_f32_fn *unpack;
    unpack_f32_taps_fn *unpack_taps;
};
extern const struct pack_f32_kernel pack_f32_neon, pack_f32_generic, pack_f32_ref;

/* Fastest first; the last needs nothing. */
extern const struct pack_f32_kernel *const pack_f32_kernels[];
extern const size_t pack_f32_kernel_count;

/* The fastest that the features allow; never NULL. */
const struct pack_f32_kernel *pack_f32_find(uint32_t features);

#endif
