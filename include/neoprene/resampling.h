/* Resampling: images of other sizes, by nearest or linear interpolation. */
#ifndef NEOPRENE_RESAMPLING_H
#define NEOPRENE_RESAMPLING_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum neo_resampling {
    NEO_RESAMPLING_NEAREST,
    NEO_RESAMPLING_LINEAR, /* in every dimension of space */
} neo_resampling;

/* In one dimension of space (two and three are alike), with I elements in src and O in dst, the
 * pixel o of dst is at x = (o + 0.5) * I / O - 0.5 of src:
 *
 *   nearest: dst[n][c][o] = post_ops(src[n][c][round(x)])
 *   linear:  dst[n][c][o] = post_ops(src[n][c][i] * (1 - (x - i)) + src[n][c][i + 1] * (x - i)),
 *            i = floor(x), with indices beyond the ends replaced by those of the ends
 *
 * src and dst are N × C × space, of one to three dimensions of space, with any strides and any of
 * the types f32, f16, bf16, s32, s8 and u8, computed in f32; one of them may be `any`, and
 * any dimension NEO_RUNTIME_DIM.
 *
 * Arguments: NEO_ARG_SRC, NEO_ARG_DST.
 *
 * @param factors NULL; or one for each dimension of space: dst's size is src's by it, rounded down,
 *                which is checked where both are known.
 *
 * The other parameters and errors are as for neo_eltwise_primitive_desc_create(). */
NEO_API neo_status neo_resampling_primitive_desc_create(
    neo_primitive_desc **out, neo_engine *engine, neo_prop_kind prop_kind, neo_resampling algorithm,
    const float *factors, const neo_memory_desc *src, const neo_memory_desc *dst,
    const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
