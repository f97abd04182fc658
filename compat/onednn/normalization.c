/* Softmax, and normalisation by mean and variance, and by neighbours. */
#include "compat/onednn/functions.h"

dnnl_status softmax_create(dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind,
                           int algorithm, const dnnl_memory_desc *src, const dnnl_memory_desc *dst,
                           int axis, const dnnl_primitive_attr *attr)
{
    struct creation creation;
    neo_memory_desc descs[2];
    if (map_softmax(algorithm) < 0)
        return dnnl_unimplemented;
    dnnl_status status = creation_begin_forward(&creation, PRIMITIVE_SOFTMAX, engine, prop_kind,
                                                descs, src, dst, attr);
    if (status != dnnl_success)
        return status;
    creation.pd->parameters.algorithm = algorithm;
    return creation_end(
        &creation, out,
        neo_softmax_primitive_desc_create(
            &creation.pd->neo, creation.engine, (neo_prop_kind)map_prop_kind(prop_kind),
            (neo_softmax)map_softmax(algorithm), &descs[0], &descs[1], axis, creation.attributes));
}

dnnl_status batch_normalization_create(dnnl_primitive_desc **out, dnnl_engine *engine,
                                       int prop_kind, const dnnl_memory_desc *src,
                                       const dnnl_memory_desc *dst, float epsilon, unsigned flags,
                                       const dnnl_primitive_attr *attr)
{
    struct creation creation;
    neo_memory_desc descs[2];
    dnnl_status status = creation_begin_forward(&creation, PRIMITIVE_BATCH_NORMALIZATION, engine,
                                                prop_kind, descs, src, dst, attr);
    if (status != dnnl_success)
        return status;
    creation.pd->parameters.epsilon = epsilon;
    creation.pd->parameters.flags = flags;
    return creation_end(&creation, out,
                        neo_batch_normalization_primitive_desc_create(
                            &creation.pd->neo, creation.engine,
                            (neo_prop_kind)map_prop_kind(prop_kind), &descs[0], &descs[1], epsilon,
                            flags, creation.attributes));
}

dnnl_status layer_normalization_create(dnnl_primitive_desc **out, dnnl_engine *engine,
                                       int prop_kind, const dnnl_memory_desc *src,
                                       const dnnl_memory_desc *dst,
                                       const dnnl_memory_desc *statistics, int scale_shift_type,
                                       float epsilon, unsigned flags,
                                       const dnnl_primitive_attr *attr)
{
    struct creation creation;
    neo_memory_desc descs[2];
    int type = map_data_type(scale_shift_type);
    if (type < 0)
        return dnnl_invalid_arguments;
    dnnl_status status = creation_begin_forward(&creation, PRIMITIVE_LAYER_NORMALIZATION, engine,
                                                prop_kind, descs, src, dst, attr);
    if (status != dnnl_success)
        return status;
    creation.pd->parameters.epsilon = epsilon;
    creation.pd->parameters.flags = flags;
    const neo_memory_desc *given = statistics && statistics->desc.ndims ? &statistics->desc : NULL;
    return creation_end(&creation, out,
                        neo_layer_normalization_primitive_desc_create(
                            &creation.pd->neo, creation.engine,
                            (neo_prop_kind)map_prop_kind(prop_kind), &descs[0], &descs[1], given,
                            (neo_data_type)type, epsilon, flags, creation.attributes));
}

/* Before there was a type of scale and shift, these were f32. */
dnnl_status layer_normalization_create_of_f32(dnnl_primitive_desc **out, dnnl_engine *engine,
                                              int prop_kind, const dnnl_memory_desc *src,
                                              const dnnl_memory_desc *dst,
                                              const dnnl_memory_desc *statistics, float epsilon,
                                              unsigned flags, const dnnl_primitive_attr *attr)
{
    return layer_normalization_create(out, engine, prop_kind, src, dst, statistics,
                                      map_data_type_back(NEO_F32), epsilon, flags, attr);
}

dnnl_status group_normalization_create(dnnl_primitive_desc **out, dnnl_engine *engine,
                                       int prop_kind, const dnnl_memory_desc *src,
                                       const dnnl_memory_desc *dst, neo_dim groups, float epsilon,
                                       unsigned flags, const dnnl_primitive_attr *attr)
{
    struct creation creation;
    neo_memory_desc descs[2];
    dnnl_status status = creation_begin_forward(&creation, PRIMITIVE_GROUP_NORMALIZATION, engine,
                                                prop_kind, descs, src, dst, attr);
    if (status != dnnl_success)
        return status;
    creation.pd->parameters.group_size = groups;
    creation.pd->parameters.epsilon = epsilon;
    creation.pd->parameters.flags = flags;
    return creation_end(&creation, out,
                        neo_group_normalization_primitive_desc_create(
                            &creation.pd->neo, creation.engine,
                            (neo_prop_kind)map_prop_kind(prop_kind), &descs[0], &descs[1], groups,
                            epsilon, flags, creation.attributes));
}

dnnl_status lrn_create(dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind, int algorithm,
                       const dnnl_memory_desc *src, const dnnl_memory_desc *dst, neo_dim local_size,
                       float alpha, float beta, float k, const dnnl_primitive_attr *attr)
{
    struct creation creation;
    neo_memory_desc descs[2];
    if (map_lrn(algorithm) < 0)
        return dnnl_invalid_arguments;
    dnnl_status status =
        creation_begin_forward(&creation, PRIMITIVE_LRN, engine, prop_kind, descs, src, dst, attr);
    if (status != dnnl_success)
        return status;
    struct parameters *kept = &creation.pd->parameters;
    kept->algorithm = algorithm;
    kept->local_size = local_size;
    kept->alpha = alpha;
    kept->beta = beta;
    kept->k = k;
    return creation_end(&creation, out,
                        neo_lrn_primitive_desc_create(
                            &creation.pd->neo, creation.engine,
                            (neo_prop_kind)map_prop_kind(prop_kind), (neo_lrn)map_lrn(algorithm),
                            &descs[0], &descs[1], local_size, alpha, beta, k, creation.attributes));
}
