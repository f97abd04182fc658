/* Transposed convolutions, with plain weights. */
#include "compat/onednn/functions.h"

/* As for convolutions: `any` is what the other image has. Returns 0 for no number of dimensions
 * that images have. */
static int settle(neo_deconvolution_desc *desc)
{
    int ndims = desc->src.ndims;
    int last = spatial_has_channels_last(&desc->src) || spatial_has_channels_last(&desc->dst);
    desc_settle(&desc->src, spatial_image_tag(ndims, last));
    desc_settle(&desc->dst, spatial_image_tag(ndims, last));
    desc_settle(&desc->bias, "a");
    desc_settle(&desc->weights,
                spatial_weights_tag(desc->weights.ndims, desc->weights.ndims > ndims, last));
    return ndims >= 3 && ndims <= 2 + MAX_SPATIAL;
}

dnnl_status deconvolution_create(dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind,
                                 int algorithm, const dnnl_memory_desc *src,
                                 const dnnl_memory_desc *weights, const dnnl_memory_desc *bias,
                                 const dnnl_memory_desc *dst, const neo_dim *strides,
                                 const neo_dim *dilations, const neo_dim *padding_left,
                                 const neo_dim *padding_right, const dnnl_primitive_attr *attr)
{
    struct creation creation;
    if (!strides || !padding_left || map_prop_kind(prop_kind) < 0 ||
        map_deconvolution(algorithm) < 0)
        return dnnl_invalid_arguments;
    dnnl_status status = creation_begin(&creation, PRIMITIVE_DECONVOLUTION, engine, attr);
    if (status != dnnl_success)
        return status;
    neo_deconvolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE, /* training needs nothing more of it */
        .src = desc_of(src),
        .weights = desc_of(weights),
        .bias = desc_of(bias),
        .dst = desc_of(dst),
    };
    if (!settle(&desc))
        return creation_end(&creation, out, NEO_INVALID_ARGUMENT);
    struct parameters *kept = &creation.pd->parameters;
    kept->prop_kind = prop_kind;
    kept->algorithm = algorithm;
    spatial_windows(
        kept, desc.src.ndims - 2,
        (const neo_dim *[]){strides, dilations, padding_left, padding_right},
        (neo_dim *[]){desc.strides, desc.dilations, desc.padding_left, desc.padding_right});
    return creation_end(&creation, out,
                        neo_deconvolution_primitive_desc_create(&creation.pd->neo, creation.engine,
                                                                &desc, creation.attributes));
}
