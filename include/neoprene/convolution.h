/* Forward convolution in one, two and three spatial dimensions. */
#ifndef NEOPRENE_CONVOLUTION_H
#define NEOPRENE_CONVOLUTION_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum neo_convolution_algorithm {
    NEO_CONVOLUTION_AUTO,     /* whatever is fastest and within f32 rounding of direct */
    NEO_CONVOLUTION_DIRECT,   /* sums of products of the inputs, in any order */
    NEO_CONVOLUTION_WINOGRAD, /* Winograd's minimal filtering, or NEO_UNSUPPORTED */
} neo_convolution_algorithm;

/* In two dimensions, for g < G, o < OC / G:
 *
 *   dst[n][g * OC/G + o][y][x] = post_ops(bias[g * OC/G + o] + sum over i < IC / G, r < KH, s < KW
 * of src[n][g * IC/G + i][y * stride_h - pad_left_h + r * (dilation_h + 1)][… x, w, s likewise]
 *       * weights[g][o][i][r][s])
 *
 * and likewise in one and three. src outside of the image is 0. Dimensions are always in the order
 * N, C, (D, (H,)) W, whatever the layout in memory; weights are O, I, … or, with groups, G, O, I,
 * …. Spatial parameters are in the order (D, (H,)) W. Zero-initialise it and set fields by name. */
typedef struct neo_convolution_desc {
    neo_prop_kind prop_kind;
    neo_convolution_algorithm algorithm;
    neo_memory_desc src, weights, bias, dst; /* bias: OC values, ndims 1; ndims 0: none */
    neo_dim strides[3];                      /* >= 1 */
    neo_dim dilations[3];                    /* 0: dense, as in the field */
    neo_dim padding_left[3];                 /* >= 0 */
    neo_dim padding_right[3];                /* may be negative: columns of src that are not used */
} neo_convolution_desc;

/* Parameters and errors as for neo_matmul_primitive_desc_create(). */
NEO_API neo_status neo_convolution_primitive_desc_create(neo_primitive_desc **out,
                                                         neo_engine *engine,
                                                         const neo_convolution_desc *desc,
                                                         const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
