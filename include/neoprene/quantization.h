/* Floats become integers of eight bits, whose scales and zero points follow from the values. */
#ifndef NEOPRENE_QUANTIZATION_H
#define NEOPRENE_QUANTIZATION_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* With low and high the least and the greatest of 0 and of the elements that share a scale, and
 * least 0 for u8 and -128 for s8, all of f32:
 *
 *   divide      scale      = (high - low) / 255, or 1 if that is 0
 *               zero_point = least - low / scale, to the nearest, saturated
 *               dst        = (src / scale to the nearest) + zero_point, saturated
 *   asymmetric  the same with src * (1 / scale), which takes a quarter of the time
 *   symmetric   scale      = max(high, -low) / 127, or 1 if that is 0
 *               zero_point = 0, or 128 for u8
 *               dst        = (src * (1 / scale) to the nearest) + zero_point, saturated
 *
 * To the nearest is with ties to even, and src stands for (dst - zero_point) * scale. divide for u8
 * and one scale is ONNX's DynamicQuantizeLinear, bit for bit. NaN does not count, and becomes the
 * zero point. */
typedef enum neo_quantization {
    NEO_QUANTIZATION_DIVIDE,
    NEO_QUANTIZATION_ASYMMETRIC,
    NEO_QUANTIZATION_SYMMETRIC,
} neo_quantization;

/* Which elements share a scale is said by the sizes of scale: each divides dst's, and so many
 * neighbours as the quotient says share one. For src of M × K, 1 × 1 is one scale for all, M × 1
 * one for each row, M × K / 32 one for each 32 elements of a row.
 *
 * @param src        of f32, f16 or bf16; any strides.
 * @param dst        of s8 or u8, with src's sizes; any strides; src and dst may be `any`.
 * @param scale      of f32; is written.
 * @param zero_point of s32 or dst's type, with scale's sizes; is written. NULL, for symmetric
 * alone: none.
 *
 * Arguments: NEO_ARG_SRC, NEO_ARG_DST, NEO_ARG_SCALE, and NEO_ARG_SHIFT for zero points. Threads
 * share out the scales; one of them makes each.
 *
 * The other parameters and errors are as for neo_matmul_primitive_desc_create(). */
NEO_API neo_status neo_quantization_primitive_desc_create(
    neo_primitive_desc **out, neo_engine *engine, neo_quantization algorithm,
    const neo_memory_desc *src, const neo_memory_desc *dst, const neo_memory_desc *scale,
    const neo_memory_desc *zero_point, const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
