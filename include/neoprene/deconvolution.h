/* Deconvolution: the transposed convolution. */
#ifndef NEOPRENE_DECONVOLUTION_H
#define NEOPRENE_DECONVOLUTION_H

#include "neoprene/convolution.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In one dimension of space (two and three are alike), for g < G, o < OC / G, with every product
 * for which the index of src exists:
 *
 *   dst[n][g * OC/G + o][x] = post_ops(bias[g * OC/G + o] + sum over i < IC/G, s < KW and y with
 *       y * stride - padding_left + s * (dilation + 1) == x of
 *           src[n][g * IC/G + i][y] * weights[g][o][i][s])
 *
 * and dst's size is (IW - 1) * stride + (KW - 1) * (dilation + 1) + 1 - padding_left -
 * padding_right. Dimensions, fields and any strides as for a convolution. src and weights are of
 * types that matmul multiplies into f32; dst is of f32, f16, bf16, s32, s8 or u8; bias is f32.
 * Products are computed by matmul, image by image, into the scratchpad. src takes one scale and one
 * zero point, weights one scale or one an output channel, dst scales and zero points as for a
 * convolution; weights take no zero points. The batch and the sizes of space of src and dst may be
 * NEO_RUNTIME_DIM, as a convolution's, but where the scratchpad is the user's: how large it has to
 * be depends on them. */
typedef struct neo_deconvolution_desc {
    neo_prop_kind prop_kind;                   /* has to be said: there is no default */
    neo_memory_desc src, weights, bias, dst;   /* bias: OC values, ndims 1; ndims 0: none */
    neo_dim strides[3];                        /* >= 1 */
    neo_dim dilations[3];                      /* 0: dense */
    neo_dim padding_left[3], padding_right[3]; /* may be negative: zeros around the result */
    uint64_t reserved[4];                      /* 0 */
} neo_deconvolution_desc;

/* Arguments: NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST.
 *
 * Parameters and errors as for neo_matmul_primitive_desc_create(). */
NEO_API neo_status neo_deconvolution_primitive_desc_create(neo_primitive_desc **out,
                                                           neo_engine *engine,
                                                           const neo_deconvolution_desc *desc,
                                                           const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
