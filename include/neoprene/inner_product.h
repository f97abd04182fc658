/* Inner products of images with weights: the fully connected layer. */
#ifndef NEOPRENE_INNER_PRODUCT_H
#define NEOPRENE_INNER_PRODUCT_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dst[n][oc] = post_ops(bias[oc] + sum over c and space of
 *                       src[n][c][space] * weights[oc][c][space])
 *
 * src and weights have two to five dimensions, weights src's sizes but for the first one; dst has
 * two, and bias, if it is there, one. Types, attributes and accuracy are those of
 * neo_matmul_primitive_desc_create(), to which this is a product of an N × K by a K × OC matrix.
 * Weights that are `any` get src's order: then, and wherever the orders are the same and src and
 * weights have no gaps, tensors are multiplied where they are; else the scratchpad has a copy of
 * those that cannot be. */
typedef struct neo_inner_product_desc {
    neo_prop_kind prop_kind; /* has to be said: there is no default */
    neo_memory_desc src;     /* N × C (× D) (× H) (× W) */
    neo_memory_desc weights; /* OC × C (× D) (× H) (× W) */
    neo_memory_desc bias;    /* OC; ndims 0: none */
    neo_memory_desc dst;     /* N × OC */
    uint64_t reserved[4];    /* 0 */
} neo_inner_product_desc;

/* Arguments: NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST.
 *
 * Parameters and errors as for neo_matmul_primitive_desc_create(). Scales and zero points are one
 * for a tensor, those of weights and dst also one for each column of dst. The batch of src and dst
 * may be NEO_RUNTIME_DIM, as a convolution's, but where the scratchpad is the user's. What is else
 * is NEO_UNSUPPORTED. */
NEO_API neo_status neo_inner_product_primitive_desc_create(neo_primitive_desc **out,
                                                           neo_engine *engine,
                                                           const neo_inner_product_desc *desc,
                                                           const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
