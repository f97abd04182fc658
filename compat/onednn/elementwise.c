/* Operations that take each element by itself: functions of one argument and of two. */
#include "compat/onednn/objects.h"

EXPORT dnnl_status dnnl_eltwise_forward_primitive_desc_create(
    dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind, int algorithm,
    const dnnl_memory_desc *src, const dnnl_memory_desc *dst, float alpha, float beta,
    const dnnl_primitive_attr *attr)
{
    struct creation creation;
    int prop = map_prop_kind(prop_kind), ours = map_eltwise(algorithm);
    if (prop < 0 || !src || !dst)
        return dnnl_invalid_arguments;
    if (ours < 0)
        return unserved("dnnl_eltwise_forward_primitive_desc_create: an algorithm");
    dnnl_status status = creation_begin(&creation, PRIMITIVE_ELTWISE, engine, attr);
    if (status != dnnl_success)
        return status;
    creation.pd->parameters.prop_kind = prop_kind;
    creation.pd->parameters.algorithm = algorithm;
    neo_memory_desc from = src->desc, to = dst->desc;
    desc_settle(&from, map_tag(from.ndims + 1));
    return creation_end(&creation, out,
                        neo_eltwise_primitive_desc_create(
                            &creation.pd->neo, creation.engine, (neo_prop_kind)prop,
                            (neo_eltwise)ours, &from, &to, alpha, beta, creation.attributes));
}

EXPORT dnnl_status dnnl_binary_primitive_desc_create(dnnl_primitive_desc **out, dnnl_engine *engine,
                                                     int algorithm, const dnnl_memory_desc *src0,
                                                     const dnnl_memory_desc *src1,
                                                     const dnnl_memory_desc *dst,
                                                     const dnnl_primitive_attr *attr)
{
    struct creation creation;
    int ours = map_binary(algorithm);
    if (!src0 || !src1 || !dst)
        return dnnl_invalid_arguments;
    if (ours < 0)
        return unserved("dnnl_binary_primitive_desc_create: an algorithm");
    dnnl_status status = creation_begin(&creation, PRIMITIVE_BINARY, engine, attr);
    if (status != dnnl_success)
        return status;
    creation.pd->parameters.algorithm = algorithm;
    return creation_end(&creation, out,
                        neo_binary_primitive_desc_create(&creation.pd->neo, creation.engine,
                                                         (neo_binary)ours, &src0->desc, &src1->desc,
                                                         NULL, &dst->desc, creation.attributes));
}
