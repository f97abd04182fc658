/* Convolutions: weights are packed by their content, and found again while it is the same. */
#include "compat/onednn/functions.h"

/* Where a program leaves the choice to us it gets what it most likely has, so that nothing is
 * reordered: kernels read both layouts. */
static int settle(neo_convolution_desc *desc, neo_memory_desc *plain_weights)
{
    int last = spatial_has_channels_last(&desc->src) || spatial_has_channels_last(&desc->dst);
    int ndims = desc->src.ndims;
    desc_settle(&desc->src, spatial_image_tag(ndims, last));
    desc_settle(&desc->dst, spatial_image_tag(ndims, last));
    desc_settle(&desc->bias, "a");
    desc_settle(plain_weights,
                spatial_weights_tag(plain_weights->ndims, plain_weights->ndims > ndims, last));
    return ndims >= 3 && ndims <= 5;
}

/* Asks with packed weights first; where the algorithm would take plain ones, with the program's. */
static neo_status ask(struct creation *creation, neo_convolution_desc *desc,
                      const neo_memory_desc *plain_weights)
{
    dnnl_primitive_desc *pd = creation->pd;
    desc->weights = *plain_weights;
    desc->weights.format_kind = NEO_FORMAT_ANY;
    neo_status status = neo_convolution_primitive_desc_create(&pd->neo, creation->engine, desc,
                                                              creation->attributes);
    if (status != NEO_OK)
        return status;
    if (neo_primitive_desc_query(pd->neo, NEO_ARG_WEIGHTS)->format_kind == NEO_FORMAT_PACKED) {
        pd->packs_weights = 1;
        creation_reshape(creation, NEO_ARG_WEIGHTS, plain_weights);
        return NEO_OK;
    }
    neo_primitive_desc_destroy(pd->neo);
    pd->neo = NULL;
    desc->weights = *plain_weights;
    return neo_convolution_primitive_desc_create(&pd->neo, creation->engine, desc,
                                                 creation->attributes);
}

dnnl_status convolution_create(dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind,
                               int algorithm, const dnnl_memory_desc *src,
                               const dnnl_memory_desc *weights, const dnnl_memory_desc *bias,
                               const dnnl_memory_desc *dst, const neo_dim *strides,
                               const neo_dim *dilations, const neo_dim *padding_left,
                               const neo_dim *padding_right, const dnnl_primitive_attr *attr)
{
    struct creation creation;
    if (!strides || !padding_left || map_prop_kind(prop_kind) < 0 || map_convolution(algorithm) < 0)
        return dnnl_invalid_arguments;
    dnnl_status status = creation_begin(&creation, PRIMITIVE_CONVOLUTION, engine, attr);
    if (status != dnnl_success)
        return status;
    neo_memory_desc plain_weights = desc_of(weights);
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE, /* training needs nothing more of a convolution */
        .algorithm = (neo_convolution_algorithm)map_convolution(algorithm),
        .src = desc_of(src),
        .bias = desc_of(bias),
        .dst = desc_of(dst),
    };
    if (!settle(&desc, &plain_weights))
        return creation_end(&creation, out, NEO_INVALID_ARGUMENT);
    struct parameters *kept = &creation.pd->parameters;
    kept->prop_kind = prop_kind;
    kept->algorithm = algorithm;
    spatial_windows(
        kept, desc.src.ndims - 2,
        (const neo_dim *[]){strides, dilations, padding_left, padding_right},
        (neo_dim *[]){desc.strides, desc.dilations, desc.padding_left, desc.padding_right});
    return creation_end(&creation, out, ask(&creation, &desc, &plain_weights));
}
