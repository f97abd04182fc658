/* Normalisation by mean and variance: of each row, of each channel, of groups of channels. */
#ifndef NEOPRENE_NORMALIZATION_H
#define NEOPRENE_NORMALIZATION_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Combined by OR. */
typedef enum neo_normalization_flags {
    NEO_NORMALIZATION_NONE = 0,
    NEO_NORMALIZATION_USE_GLOBAL_STATS = 1, /* mean and variance are given, not computed */
    NEO_NORMALIZATION_USE_SCALE = 2,
    NEO_NORMALIZATION_USE_SHIFT = 4,
    NEO_NORMALIZATION_FUSE_RELU = 8, /* batch normalisation: max(0, result) */
    NEO_NORMALIZATION_RMS = 32,      /* layer normalisation: mean counts as 0 */
} neo_normalization_flags;

/* Layer normalisation of the last dimension, of C elements:
 *
 *   dst[…][c] = post_ops((src[…][c] - mean[…]) / sqrt(variance[…] + epsilon) * scale[c] + shift[c])
 *
 * with mean[…] = sum of src[…][c] / C and variance[…] = sum of (src[…][c] - mean[…])^2 / C; with
 * RMS, mean is 0. Statistics are computed in f32, in two passes. scale and shift, if the flags have
 * them, are C values of scale_shift_type, one of the types of src. mean and variance, f32 of src's
 * sizes without the last one, are arguments with USE_GLOBAL_STATS, where they are read, and for
 * NEO_FORWARD_TRAINING, where they are written; with RMS only the variance is. src and dst may have
 * one scale each; that of src multiplies the normalised value, before post-operations: statistics
 * are those of the elements as they are stored.
 *
 * src and dst have the same sizes, at least two dimensions, any strides and any of the types f32,
 * f16, bf16, s32, s8 and u8; src may be dst's buffer if both have the same descriptor; one of them
 * may be `any`, and any dimension NEO_RUNTIME_DIM.
 *
 * Arguments: NEO_ARG_SRC, NEO_ARG_DST, NEO_ARG_SCALE, NEO_ARG_SHIFT, NEO_ARG_MEAN,
 * NEO_ARG_VARIANCE.
 *
 * @param statistics NULL: row-major.
 *
 * The other parameters and errors are as for neo_eltwise_primitive_desc_create(). */
NEO_API neo_status neo_layer_normalization_primitive_desc_create(
    neo_primitive_desc **out, neo_engine *engine, neo_prop_kind prop_kind,
    const neo_memory_desc *src, const neo_memory_desc *dst, const neo_memory_desc *statistics,
    neo_data_type scale_shift_type, float epsilon, unsigned flags,
    const neo_attributes *attributes);

/* Batch normalisation of dimension 1, of C channels: the same formula with one mean, variance,
 * scale and shift a channel, all f32. Mean and variance are those of all elements of the channel;
 * with USE_GLOBAL_STATS they are given, as inference wants it, and for NEO_FORWARD_TRAINING without
 * it they are written. src and dst have two dimensions at least. FUSE_RELU for training has another
 * result, NEO_ARG_WORKSPACE, of u8 with dst's sizes: 1 where relu let a positive value through,
 * else 0; neo_primitive_desc_query() has its descriptor.
 *
 * Group normalisation: dimension 1 is divided into so many groups of neighbouring channels; mean
 * and variance are those of one group of one image (N × groups values, f32), scale and shift are C
 * values.
 *
 * The rest is as for layer normalisation. */
NEO_API neo_status neo_batch_normalization_primitive_desc_create(
    neo_primitive_desc **out, neo_engine *engine, neo_prop_kind prop_kind,
    const neo_memory_desc *src, const neo_memory_desc *dst, float epsilon, unsigned flags,
    const neo_attributes *attributes);

NEO_API neo_status neo_group_normalization_primitive_desc_create(
    neo_primitive_desc **out, neo_engine *engine, neo_prop_kind prop_kind,
    const neo_memory_desc *src, const neo_memory_desc *dst, neo_dim groups, float epsilon,
    unsigned flags, const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
