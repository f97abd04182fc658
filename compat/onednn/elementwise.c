/* Operations that take each element by itself: functions of one argument, of two, and of three. */
#include "compat/onednn/functions.h"

dnnl_status eltwise_create(dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind,
                           int algorithm, const dnnl_memory_desc *src, const dnnl_memory_desc *dst,
                           float alpha, float beta, const dnnl_primitive_attr *attr)
{
    struct creation creation;
    neo_memory_desc descs[2];
    if (map_eltwise(algorithm) < 0)
        return dnnl_unimplemented;
    dnnl_status status = creation_begin_forward(&creation, PRIMITIVE_ELTWISE, engine, prop_kind,
                                                descs, src, dst, attr);
    if (status != dnnl_success)
        return status;
    struct parameters *kept = &creation.pd->parameters;
    kept->algorithm = algorithm;
    kept->alpha = alpha;
    kept->beta = beta;
    return creation_end(&creation, out,
                        neo_eltwise_primitive_desc_create(&creation.pd->neo, creation.engine,
                                                          (neo_prop_kind)map_prop_kind(prop_kind),
                                                          (neo_eltwise)map_eltwise(algorithm),
                                                          &descs[0], &descs[1], alpha, beta,
                                                          creation.attributes));
}

dnnl_status select_create(dnnl_primitive_desc **out, dnnl_engine *engine, int algorithm,
                          const dnnl_memory_desc *src0, const dnnl_memory_desc *src1,
                          const dnnl_memory_desc *src2, const dnnl_memory_desc *dst,
                          const dnnl_primitive_attr *attr)
{
    struct creation creation;
    int ours = map_binary(algorithm);
    if (!src0 || !src1 || !dst)
        return dnnl_invalid_arguments;
    if (ours < 0)
        return dnnl_unimplemented;
    dnnl_status status = creation_begin(&creation, PRIMITIVE_BINARY, engine, attr);
    if (status != dnnl_success)
        return status;
    creation.pd->parameters.algorithm = algorithm;
    const neo_memory_desc *condition = src2 && src2->desc.ndims ? &src2->desc : NULL;
    return creation_end(&creation, out,
                        neo_binary_primitive_desc_create(
                            &creation.pd->neo, creation.engine, (neo_binary)ours, &src0->desc,
                            &src1->desc, condition, &dst->desc, creation.attributes));
}

dnnl_status binary_create(dnnl_primitive_desc **out, dnnl_engine *engine, int algorithm,
                          const dnnl_memory_desc *src0, const dnnl_memory_desc *src1,
                          const dnnl_memory_desc *dst, const dnnl_primitive_attr *attr)
{
    return select_create(out, engine, algorithm, src0, src1, NULL, dst, attr);
}

/* The slopes are plain: PyTorch has one a channel, or one. */
dnnl_status prelu_create(dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind,
                         const dnnl_memory_desc *src, const dnnl_memory_desc *weights,
                         const dnnl_memory_desc *dst, const dnnl_primitive_attr *attr)
{
    struct creation creation;
    neo_memory_desc descs[2], slopes = desc_of(weights);
    if (!weights)
        return dnnl_invalid_arguments;
    dnnl_status status = creation_begin_forward(&creation, PRIMITIVE_PRELU, engine, prop_kind,
                                                descs, src, dst, attr);
    if (status != dnnl_success)
        return status;
    desc_settle(&slopes, map_tag(slopes.ndims + 1));
    return creation_end(&creation, out,
                        neo_prelu_primitive_desc_create(&creation.pd->neo, creation.engine,
                                                        (neo_prop_kind)map_prop_kind(prop_kind),
                                                        &descs[0], &slopes, &descs[1],
                                                        creation.attributes));
}
