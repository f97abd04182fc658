/* What attributes and engines say of themselves: what was set before, and what an engine works
 * with. */
#ifndef NEOPRENE_INSPECT_H
#define NEOPRENE_INSPECT_H

#include "neoprene/attributes.h"
#include "neoprene/engine.h"
#include "neoprene/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- attributes: the counterparts of neo_attributes_set_… and neo_attributes_append_… ----
 *
 * Threads may read attributes that nobody changes. Results may be NULL where they are not wanted.
 * @return NEO_OK, NEO_NOT_FOUND (it was not set, or there is no such post-operation), in which case
 *         results are left alone, NEO_INVALID_ARGUMENT (attributes is NULL). */

NEO_API neo_status neo_attributes_get_fpmath_mode(const neo_attributes *attributes,
                                                  neo_fpmath_mode *mode, int *apply_to_int);
NEO_API neo_status neo_attributes_get_accumulation_mode(const neo_attributes *attributes,
                                                        neo_accumulation_mode *mode);
NEO_API neo_status neo_attributes_get_deterministic(const neo_attributes *attributes,
                                                    int *deterministic);
NEO_API neo_status neo_attributes_get_dynamic_src(const neo_attributes *attributes,
                                                  neo_data_type *type);

/* Of the argument arg, such as NEO_ARG_WEIGHTS; group_dims has room for two. */
NEO_API neo_status neo_attributes_get_scales(const neo_attributes *attributes, int arg, int *mask,
                                             int *group_ndims, neo_dim *group_dims,
                                             neo_data_type *type);
NEO_API neo_status neo_attributes_get_zero_points(const neo_attributes *attributes, int arg,
                                                  int *mask, int *group_ndims, neo_dim *group_dims,
                                                  neo_data_type *type);

/* Of post-operation number index, from 0 on, if it is of this kind. */
NEO_API neo_status neo_attributes_get_sum(const neo_attributes *attributes, int index, float *scale,
                                          int32_t *zero_point, neo_data_type *type);
NEO_API neo_status neo_attributes_get_eltwise(const neo_attributes *attributes, int index,
                                              neo_eltwise *algorithm, float *alpha, float *beta);
NEO_API neo_status neo_attributes_get_binary(const neo_attributes *attributes, int index,
                                             neo_binary *algorithm, neo_memory_desc *src1);
/* The condition of a select, which neo_attributes_get_binary() tells the rest of. */
NEO_API neo_status neo_attributes_get_condition(const neo_attributes *attributes, int index,
                                                neo_memory_desc *condition);
NEO_API neo_status neo_attributes_get_prelu(const neo_attributes *attributes, int index, int *mask);
NEO_API neo_status neo_attributes_get_depthwise(const neo_attributes *attributes, int index,
                                                neo_data_type *weights_type,
                                                neo_data_type *bias_type, neo_data_type *dst_type,
                                                neo_dim *kernel, neo_dim *stride,
                                                neo_dim *padding_left);

/* ---- engines ---- */

/* Is this instruction set used: "neon", "fp16", "fhm", "dotprod", "bf16", "i8mm"? 1: the processor
 * has it and NEOPRENE_CPU_DISABLE does not take it away. 0 otherwise, also for other names, and in
 * portable builds. */
NEO_API int neo_engine_has_isa(const neo_engine *engine, const char *name);

/* The name of the core that algorithms are chosen for, as "neoverse-n1"; a static text. "" for
 * NULL. */
NEO_API const char *neo_engine_core(const neo_engine *engine);

/* Threads of the engine's own pool; a stream's are told by neo_stream_num_threads(). 0 for NULL. */
NEO_API int neo_engine_num_threads(const neo_engine *engine);

#ifdef __cplusplus
}
#endif

#endif
