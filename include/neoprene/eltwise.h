/* Functions of one argument, element by element. */
#ifndef NEOPRENE_ELTWISE_H
#define NEOPRENE_ELTWISE_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dst[i][j]… = post_ops(algorithm(src[i][j]…)): see NEO_ELTWISE_LIST for what each one computes.
 *
 * src and dst have the same sizes, any strides, and any of the types f32, f16, bf16, s32, s8 and
 * u8, also two different ones; the function is computed in f32 and then rounded to the nearest,
 * integers saturate. src may be dst's buffer if both have the same descriptor; one of them may be
 * `any`, and any dimension NEO_RUNTIME_DIM.
 *
 * Arguments: NEO_ARG_SRC, NEO_ARG_DST.
 *
 * Largest errors before rounding to dst, over all f32, in units of f32's last place (or, where that
 * is more, 2e-7, for functions marked with *): exp and pow 1.5, log 2, tanh, logistic and elu 3,
 * gelu_tanh*, gelu_erf*, swish*, mish* and soft_relu* 4, hardswish 1.51, linear and hardsigmoid
 * 0.51; relu, square and sqrt are rounded once, abs, clip and round are exact. NaN gives NaN, but
 * pow follows C's powf().
 *
 * @param prop_kind NEO_FORWARD_INFERENCE or NEO_FORWARD_TRAINING, which do the same.
 *
 * The other parameters and errors are as for neo_matmul_primitive_desc_create(); clip with alpha
 * above beta and soft_relu with alpha 0 are NEO_INVALID_ARGUMENT. */
NEO_API neo_status neo_eltwise_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                     neo_prop_kind prop_kind, neo_eltwise algorithm,
                                                     const neo_memory_desc *src,
                                                     const neo_memory_desc *dst, float alpha,
                                                     float beta, const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
