/* Pooling. */
#include <string.h>

#include "compat/onednn/functions.h"

dnnl_status pooling_create(dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind,
                           int algorithm, const dnnl_memory_desc *src, const dnnl_memory_desc *dst,
                           const neo_dim *strides, const neo_dim *kernel, const neo_dim *dilations,
                           const neo_dim *padding_left, const neo_dim *padding_right,
                           const dnnl_primitive_attr *attr)
{
    struct creation creation;
    int prop = map_prop_kind(prop_kind), ours = map_pooling(algorithm);
    if (prop < 0 || ours < 0 || !src || !dst || !strides || !kernel || !padding_left ||
        src->desc.ndims < 3 || src->desc.ndims > 2 + MAX_SPATIAL)
        return dnnl_invalid_arguments;
    dnnl_status status = creation_begin(&creation, PRIMITIVE_POOLING, engine, attr);
    if (status != dnnl_success)
        return status;
    neo_pooling_desc desc = {.prop_kind = (neo_prop_kind)prop,
                             .algorithm = (neo_pooling)ours,
                             .src = src->desc,
                             .dst = dst->desc};
    desc_settle(&desc.src, map_tag(desc.src.ndims + 1));
    struct parameters *kept = &creation.pd->parameters;
    kept->prop_kind = prop_kind;
    kept->algorithm = algorithm;
    int spatial = desc.src.ndims - 2;
    memcpy(desc.kernel, kernel, (size_t)spatial * sizeof *kernel);
    memcpy(kept->kernel, kernel, (size_t)spatial * sizeof *kernel);
    spatial_windows(
        kept, spatial, (const neo_dim *[]){strides, dilations, padding_left, padding_right},
        (neo_dim *[]){desc.strides, desc.dilations, desc.padding_left, desc.padding_right});
    return creation_end(&creation, out,
                        neo_pooling_primitive_desc_create(&creation.pd->neo, creation.engine, &desc,
                                                          creation.attributes));
}
