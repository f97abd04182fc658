/* Inner products: dst[n][o] = sum over the rest of src[n][…] * weights[o][…], a product of
 * matrices. */
#include "compat/onednn/functions.h"

/* Makes a matrix of dims[0] rows of a tensor whose other dimensions are dense in the order of
 * `like`; returns 0 where they are not. */
static int flatten(neo_memory_desc *matrix, const neo_memory_desc *tensor,
                   const neo_memory_desc *like)
{
    neo_dim columns = 1, reach = 1;
    for (int d = 1; d < tensor->ndims; d++) {
        columns *= tensor->dims[d];
        reach += (tensor->dims[d] - 1) * tensor->strides[d];
        if (tensor->dims[d] != like->dims[d] ||
            (tensor->ndims > 2 && tensor->dims[d] > 1 && tensor->strides[d] != like->strides[d]))
            return 0;
    }
    neo_dim step = tensor->ndims == 2 ? tensor->strides[1] : 1;
    if (tensor->ndims > 2 && reach != columns)
        return 0;
    neo_dim dims[] = {tensor->dims[0], columns}, strides[] = {tensor->strides[0], step};
    return neo_memory_desc_init_strides(matrix, 2, dims, tensor->data_type, strides) == NEO_OK;
}

static int transposed(neo_memory_desc *out, const neo_memory_desc *matrix)
{
    static const int swap[] = {1, 0};
    return neo_memory_desc_init_permuted(out, matrix, swap) == NEO_OK;
}

/* The values of bias are a row for each image. */
static int row(neo_memory_desc *out, const neo_memory_desc *bias)
{
    neo_dim dims[] = {1, bias->dims[0]}, strides[] = {bias->dims[0], bias->strides[0]};
    return bias->ndims == 0 ||
           neo_memory_desc_init_strides(out, 2, dims, bias->data_type, strides) == NEO_OK;
}

/* `any` of one of the two takes the other's order, so that both flatten to the same. */
static void settle(neo_memory_desc *src, neo_memory_desc *weights)
{
    neo_memory_desc *tensors[] = {src, weights};
    for (int i = 0; i < 2; i++) {
        const neo_memory_desc *other = tensors[1 - i];
        int last = other->format_kind == NEO_FORMAT_STRIDED && other->ndims == 4 &&
                   other->dims[1] > 1 && other->strides[1] == 1;
        desc_settle(tensors[i], last ? "acdb" : map_tag(tensors[i]->ndims + 1));
    }
}

/* Finding packed weights takes 0.6 instructions a byte of plain ones, and saves one in twelve of
 * the product's: with fewer rows the product is done sooner. Counted on a Neoverse N1, 1024 by 500.
 */
enum { ROWS_THAT_PAY = 64 };

/* Asks with packed weights, which are found again by their content; else with plain ones. */
static neo_status ask(struct creation *creation, neo_matmul_desc *desc)
{
    dnnl_primitive_desc *pd = creation->pd;
    if (desc->src.dims[0] < ROWS_THAT_PAY)
        return neo_matmul_primitive_desc_create(&pd->neo, creation->engine, desc,
                                                creation->attributes);
    pd->plain_weights = desc->weights;
    desc->weights.format_kind = NEO_FORMAT_ANY;
    neo_status status =
        neo_matmul_primitive_desc_create(&pd->neo, creation->engine, desc, creation->attributes);
    if (status != NEO_OK)
        return status;
    pd->packs_weights =
        neo_primitive_desc_query(pd->neo, NEO_ARG_WEIGHTS)->format_kind == NEO_FORMAT_PACKED;
    if (pd->packs_weights)
        return NEO_OK;
    neo_primitive_desc_destroy(pd->neo);
    pd->neo = NULL;
    desc->weights = pd->plain_weights;
    return neo_matmul_primitive_desc_create(&pd->neo, creation->engine, desc, creation->attributes);
}

dnnl_status inner_product_create(dnnl_primitive_desc **out, dnnl_engine *engine, int prop_kind,
                                 const dnnl_memory_desc *src, const dnnl_memory_desc *weights,
                                 const dnnl_memory_desc *bias, const dnnl_memory_desc *dst,
                                 const dnnl_primitive_attr *attr)
{
    struct creation creation;
    if (!src || !weights || !dst || map_prop_kind(prop_kind) < 0 || src->desc.ndims < 2 ||
        src->desc.ndims != weights->desc.ndims)
        return dnnl_invalid_arguments;
    dnnl_status status = creation_begin(&creation, PRIMITIVE_INNER_PRODUCT, engine, attr);
    if (status != dnnl_success)
        return status;
    creation.pd->parameters.prop_kind = prop_kind;
    neo_memory_desc seen_src = src->desc, seen_weights = weights->desc, seen_bias = desc_of(bias),
                    by_row;
    neo_matmul_desc desc = {.dst = dst->desc};
    settle(&seen_src, &seen_weights);
    desc_settle(&desc.dst, "ab");
    desc_settle(&seen_bias, "a");
    if (!flatten(&desc.src, &seen_src, &seen_weights) ||
        !flatten(&by_row, &seen_weights, &seen_src) || !transposed(&desc.weights, &by_row) ||
        !row(&desc.bias, &seen_bias))
        return creation_end(&creation, out, NEO_UNSUPPORTED);
    creation_reshape(&creation, NEO_ARG_SRC, &seen_src);
    creation_reshape(&creation, NEO_ARG_WEIGHTS, &seen_weights);
    if (seen_bias.ndims)
        creation_reshape(&creation, NEO_ARG_BIAS, &seen_bias);
    return creation_end(&creation, out, ask(&creation, &desc));
}
