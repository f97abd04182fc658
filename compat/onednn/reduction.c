/* Reductions. */
#include "compat/onednn/functions.h"

dnnl_status reduction_create(dnnl_primitive_desc **out, dnnl_engine *engine, int algorithm,
                             const dnnl_memory_desc *src, const dnnl_memory_desc *dst, float p,
                             float epsilon, const dnnl_primitive_attr *attr)
{
    struct creation creation;
    if (map_reduction(algorithm) < 0 || !src || !dst)
        return dnnl_invalid_arguments;
    dnnl_status status = creation_begin(&creation, PRIMITIVE_REDUCTION, engine, attr);
    if (status != dnnl_success)
        return status;
    creation.pd->parameters.algorithm = algorithm;
    creation.pd->parameters.p = p;
    creation.pd->parameters.epsilon = epsilon;
    return creation_end(&creation, out,
                        neo_reduction_primitive_desc_create(&creation.pd->neo, creation.engine,
                                                            (neo_reduction)map_reduction(algorithm),
                                                            &src->desc, &dst->desc, p, epsilon,
                                                            creation.attributes));
}
