/* Pooling: the largest element, or the average, of windows of an image. */
#ifndef NEOPRENE_POOLING_H
#define NEOPRENE_POOLING_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum neo_pooling {
    NEO_POOLING_MAX,
    NEO_POOLING_AVERAGE_INCLUDE_PADDING, /* the sum divided by all taps */
    NEO_POOLING_AVERAGE_EXCLUDE_PADDING, /* the sum divided by those taps that are in src */
} neo_pooling;

/* For every image n, channel c and pixel (in one dimension of space; two and three are alike):
 *
 *   dst[n][c][o] = post_ops(max, or average, over k < kernel of
 *                           src[n][c][o * stride - padding_left + k * (dilation + 1)])
 *
 * where taps outside of src count as the lowest finite value of src's type for the maximum and as 0
 * for the sum; with EXCLUDE_PADDING a window that is all outside gives 0. Sums of floating point
 * values that become such are multiplied by the rounded 1 / taps, others are divided.
 *
 * src and dst are N × C × space, of one, two or three dimensions of space, with any strides and any
 * of the types f32, f16, bf16, s32, s8 and u8, computed in f32; one of them may be `any`, and any
 * dimension NEO_RUNTIME_DIM. With NEO_FORWARD_TRAINING the maximum has another result,
 * NEO_ARG_WORKSPACE, with dst's sizes: the tap that won, the first of several, counted with the
 * last dimension running fastest; u8 if there are at most 256 taps, else s32;
 * neo_primitive_desc_query() has its descriptor.
 *
 * Zero-initialise it and set fields by name. Values for depth, height, width, or only the last ones
 * of them, from index 0 on. */
typedef struct neo_pooling_desc {
    neo_prop_kind prop_kind; /* has to be said: there is no default */
    neo_pooling algorithm;
    neo_memory_desc src, dst;
    neo_dim strides[3], kernel[3];
    neo_dim dilations[3]; /* 0: dense */
    neo_dim padding_left[3];
    neo_dim padding_right[3]; /* may be negative: what is not read */
    uint64_t reserved[4];     /* 0 */
} neo_pooling_desc;

/* Arguments: NEO_ARG_SRC, NEO_ARG_DST, and in training NEO_ARG_WORKSPACE.
 *
 * Parameters and errors as for neo_matmul_primitive_desc_create(). A dst that does not have the
 * size that follows from the rest is NEO_INVALID_ARGUMENT. */
NEO_API neo_status neo_pooling_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                     const neo_pooling_desc *desc,
                                                     const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
