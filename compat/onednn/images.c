/* Operations that move the elements of images: resampling and shuffle. */
#include <string.h>

#include "compat/onednn/functions.h"

dnnl_status resampling_create(dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind,
                              int algorithm, const float *factors, const dnnl_memory_desc *src,
                              const dnnl_memory_desc *dst, const dnnl_primitive_attr *attr)
{
    struct creation creation;
    neo_memory_desc descs[2];
    if (map_resampling(algorithm) < 0 || !src || src->desc.ndims < 3 ||
        src->desc.ndims > 2 + MAX_SPATIAL)
        return dnnl_invalid_arguments;
    dnnl_status status = creation_begin_forward(&creation, PRIMITIVE_RESAMPLING, engine, prop_kind,
                                                descs, src, dst, attr);
    if (status != dnnl_success)
        return status;
    struct parameters *kept = &creation.pd->parameters;
    kept->algorithm = algorithm;
    if (factors)
        memcpy(kept->factors, factors, (size_t)(src->desc.ndims - 2) * sizeof *factors);
    return creation_end(
        &creation, out,
        neo_resampling_primitive_desc_create(&creation.pd->neo, creation.engine,
                                             (neo_prop_kind)map_prop_kind(prop_kind),
                                             (neo_resampling)map_resampling(algorithm), factors,
                                             &descs[0], &descs[1], creation.attributes));
}

dnnl_status shuffle_create(dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind,
                           const dnnl_memory_desc *src, const dnnl_memory_desc *dst, int axis,
                           neo_dim group_size, const dnnl_primitive_attr *attr)
{
    struct creation creation;
    neo_memory_desc descs[2];
    dnnl_status status = creation_begin_forward(&creation, PRIMITIVE_SHUFFLE, engine, prop_kind,
                                                descs, src, dst, attr);
    if (status != dnnl_success)
        return status;
    creation.pd->parameters.axis = axis;
    creation.pd->parameters.group_size = group_size;
    return creation_end(&creation, out,
                        neo_shuffle_primitive_desc_create(&creation.pd->neo, creation.engine,
                                                          (neo_prop_kind)map_prop_kind(prop_kind),
                                                          &descs[0], &descs[1], axis, group_size,
                                                          creation.attributes));
}
