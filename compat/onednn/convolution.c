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

/* Finding packed weights by their content reads all plain ones. Where these are read as they lie,
 * and for few pixels, a product with them is done sooner: instructions of one with packed weights
 * are 1.2 to 50 times as many on up to 16 pixels of a Neoverse N1, and the same at 25 to 49. */
enum { PIXELS_THAT_PAY = 64 };
static const double cycles_of_finding_a_byte = 0.2; /* 0.6 instructions */

static int has_few_pixels(const neo_memory_desc *dst)
{
    neo_dim pixels = dst->dims[0];
    for (int d = 2; d < dst->ndims; d++)
        pixels *= dst->dims[d];
    return pixels < PIXELS_THAT_PAY;
}

static int is_read_in_place(const neo_memory_desc *plain_weights, int ndims)
{
    return plain_weights->ndims == ndims && plain_weights->strides[1] == 1;
}

/* `desc` has plain weights. */
static int is_sooner(const struct creation *creation, const neo_convolution_desc *desc)
{
    neo_primitive_desc *plain;
    if (!has_few_pixels(&desc->dst) || !is_read_in_place(&desc->weights, desc->dst.ndims) ||
        neo_convolution_primitive_desc_create(&plain, creation->engine, desc,
                                              creation->attributes) != NEO_OK)
        return 0;
    double cycles = neo_primitive_desc_estimate(plain);
    neo_primitive_desc_destroy(plain);
    return cycles < neo_primitive_desc_estimate(creation->pd->neo) +
                        cycles_of_finding_a_byte * (double)neo_memory_desc_size(&desc->weights);
}

/* Asks with packed weights first; where plain ones serve better, with the program's. */
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
    desc->weights = *plain_weights;
    if (neo_primitive_desc_query(pd->neo, NEO_ARG_WEIGHTS)->format_kind == NEO_FORMAT_PACKED &&
        !is_sooner(creation, desc)) {
        pd->packs_weights = 1;
        creation_reshape(creation, NEO_ARG_WEIGHTS, plain_weights);
        return NEO_OK;
    }
    neo_primitive_desc_destroy(pd->neo);
    pd->neo = NULL;
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
