/* Packs matrices into the panels that gemm_f32 kernels read; f32. The way back is a plane of
 * kernels/pack/f32/copy.h. */
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

struct pack_f32_kernel {
    const char *name;
    uint32_t needs;
    pack_f32_fn *pack;
    pack_f32_taps_fn *pack_taps; /* or NULL: tap by tap is as fast */
};
extern const struct pack_f32_kernel pack_f32_neon, pack_f32_generic;

/* Fastest first; the last needs nothing. */
extern const struct pack_f32_kernel *const pack_f32_kernels[];
extern const size_t pack_f32_kernel_count;

/* The fastest that the features allow; never NULL. */
const struct pack_f32_kernel *pack_f32_find(uint32_t features);

#endif
