/* Functions of two or three arguments, element by element. */
#ifndef NEOPRENE_BINARY_H
#define NEOPRENE_BINARY_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dst[i][j]… = post_ops(algorithm(src0[i][j]…, src1[i][j]…)), and with NEO_BINARY_SELECT
 * dst[i][j]… = post_ops(src2[i][j]… != 0 ? src0[i][j]… : src1[i][j]…).
 *
 * Each source has dst's number of dimensions, and in each of them dst's size or 1, where its
 * element repeats. Types, strides, `any` and run-time sizes as for eltwise; comparisons give 1 or
 * 0. Of the sources with dst's descriptor one may be in dst's buffer.
 *
 * Arguments: NEO_ARG_SRC (src0), NEO_ARG_SRC_1, NEO_ARG_SRC_2 (select only), NEO_ARG_DST.
 *
 * @param src2 NULL, but for NEO_BINARY_SELECT.
 *
 * The other parameters and errors are as for neo_matmul_primitive_desc_create(). */
NEO_API neo_status neo_binary_primitive_desc_create(
    neo_primitive_desc **out, neo_engine *engine, neo_binary algorithm, const neo_memory_desc *src0,
    const neo_memory_desc *src1, const neo_memory_desc *src2, const neo_memory_desc *dst,
    const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
