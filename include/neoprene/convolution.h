/* Forward convolution in one, two and three spatial dimensions. */
#ifndef NEOPRENE_CONVOLUTION_H
#define NEOPRENE_CONVOLUTION_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum neo_convolution_algorithm {
    NEO_CONVOLUTION_AUTO,     /* whatever is fastest; its error class is that of direct */
    NEO_CONVOLUTION_DIRECT,   /* sums of products of the inputs, in any order */
    NEO_CONVOLUTION_WINOGRAD, /* Winograd's minimal filtering, or NEO_UNSUPPORTED */
} neo_convolution_algorithm;

/* Error classes. Every f32 result is within
 *
 *   c * 2^-24 * sum over the input channels i of KH * KW * max|src[i]| * max|weights[o][i]|
 *
 * of the exact one, the maxima being over the weights of the output channel and those inputs that
 * the result or, with Winograd, the others of its tile (at most 6 x 6) depend on. A direct sum has
 * c = KH * KW * IC / G + 1: the worst case of adding f32 one after the other. Winograd's c depends
 * on the size of the tiles; it is not a proof but what errors on random data, the largest of which
 * are 0.4, 10 and 13 in these units, stay far below. It is twice the square root of these where
 * the kernel has three taps in one dimension only (3, 1 x 3, 3 x 1): one transform instead of two,
 * with errors of 0.6, 3 and 4. Kernels of 5 x 5, 7 x 7 and those with as many taps in one dimension
 * have smaller tiles of as many products, whose c is the same, and errors are smaller: 5 taps 2 and
 * 4 outputs for 4 and 6 of 3 taps, 7 taps 2 for 6. AUTO takes tiles whose c is not larger than that
 * of the direct sum, so only for as many channels as that needs; NEO_FPMATH_ANY permits all. */
#define NEO_WINOGRAD_ERROR_2 16.0  /* tiles of at most 2 x 2 outputs */
#define NEO_WINOGRAD_ERROR_4 64.0  /* 4 x 4 */
#define NEO_WINOGRAD_ERROR_6 256.0 /* 6 x 6 */

/* In two dimensions, for g < G, o < OC / G:
 *
 *   dst[n][g * OC/G + o][y][x] = post_ops(bias[g * OC/G + o] +
 *       sum over i < IC/G, r < KH, s < KW of
 *           src[n][g * IC/G + i][y * stride_h - pad_left_h + r * (dilation_h + 1)]
 *                               [x * stride_w - pad_left_w + s * (dilation_w + 1)] *
 *           weights[g][o][i][r][s])
 *
 * and likewise in one and three. src outside of the image is 0; products with it are computed or
 * left out as is faster, which the number of threads decides too. So where a weight is infinite or
 * not a number, results that have its tap outside may be NaN or not. Dimensions are always in the
 * order N, C, (D, (H,)) W, whatever the layout in memory; weights are O, I, … or, with groups, G,
 * O, I, …. Spatial parameters are in the order (D, (H,)) W; they and the extent of a dilated kernel
 * are below 2^31. The batch and the sizes of space of src and dst, and sizes of post-operations'
 * operands, may be NEO_RUNTIME_DIM: each execution then uses what its sizes would have been given,
 * which is kept for the next one (the last eight sizes, and the primitive cache), with weights of
 * one layout, which is chosen for an image of 56 x 56 where they are `any`; finding that takes
 * 100 to 300 instructions an execution. Types are those of products (neo_matmul_desc), without
 * halves of bytes; src outside of the image stands for 0 whatever its zero point is; scales and
 * zero points are one value, or one a channel, but one for all of src's scales. Zero-initialise it
 * and set fields by name. */
typedef struct neo_convolution_desc {
    neo_prop_kind prop_kind; /* has to be said: there is no default */
    neo_convolution_algorithm algorithm;
    neo_memory_desc src, weights, bias, dst; /* bias: OC values, ndims 1; ndims 0: none */
    neo_dim strides[3];                      /* >= 1 */
    neo_dim dilations[3];                    /* 0: dense, as in the field */
    neo_dim padding_left[3];                 /* >= 0 */
    neo_dim padding_right[3];                /* may be negative: columns of src that are not used */
    uint64_t reserved[4];                    /* 0 */
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
