/* Packs matrices into the panels that gemm_f32 kernels read; f32. The way back is a plane of
 * kernels/pack/f32/copy.h. */
#ifndef KERNELS_PACK_F32_PACK_H
#define KERNELS_PACK_F32_PACK_H

#include <stddef.h>

/* for p < k, i < width:  out[row(p) * width + i] = i < count ? element(i, p) : 0
 *
 * where element (i, p) is lanes[i][p * step] if lanes is not NULL, else src[i * lane + p * step].
 * row(p) is p, but where taps are innermost in the source, as in o × i × h × w, and outermost in
 * the panel: with taps > 1, which k is a multiple of, it is p % taps * (k / taps) + p / taps.
 *
 * Strides may be any number, 0 and negative ones too. Only the elements named are read. out does
 * not overlap the source. Fast for step == 1, and for lane == 1 without lanes. */
struct pack_f32_panel {
    size_t width; /* lanes of the panel, >= 1 */
    size_t count; /* valid lanes, <= width */
    size_t k;
    const float *src;
    ptrdiff_t lane, step;
    const float *const *lanes; /* count pointers, or NULL */
    size_t taps;
    float *out;
};
void pack_f32(const struct pack_f32_panel *panel);

#endif
