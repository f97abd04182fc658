/* Layouts that the library chooses for weights. */
#include "benchdnn/packed.h"

#include <string.h>

#define ROWS 64 /* of the matrix that the weights would be multiplied with */

bool packed_is_tag(const struct tag *tag)
{
    return strncmp(tag->text, "packed_", 7) == 0;
}

static neo_status init_any(neo_memory_desc *out, const struct dims *dims, neo_data_type type)
{
    return neo_memory_desc_init_tag(out, dims->count, dims->at, type, "any");
}

/* What is multiplied by weights of a type: none are of halves of bytes. */
static neo_data_type type_beside(neo_data_type weights)
{
    return weights == NEO_S4 || weights == NEO_U4 ? NEO_S8 : weights;
}

/* weights: … x K x N. */
static neo_status create_matmul(neo_primitive_desc **pd, const struct dims *weights,
                                neo_data_type type, neo_engine *engine)
{
    int n = weights->count;
    if (n < 2)
        return NEO_INVALID_ARGUMENT;
    struct dims src = *weights, dst = *weights;
    src.at[n - 2] = dst.at[n - 2] = ROWS;
    src.at[n - 1] = weights->at[n - 2];
    neo_matmul_desc desc = {0};
    neo_status status = init_any(&desc.src, &src, type_beside(type));
    if (status == NEO_OK)
        status = init_any(&desc.weights, weights, type);
    if (status == NEO_OK)
        status = init_any(&desc.dst, &dst, type_beside(type));
    return status == NEO_OK ? neo_matmul_primitive_desc_create(pd, engine, &desc, NULL) : status;
}

/* weights: [G x] O x I x kernel; the image is as large as the kernel. */
static neo_status create_conv(neo_primitive_desc **pd, const struct dims *weights, bool has_groups,
                              neo_data_type type, neo_engine *engine)
{
    int first = has_groups ? 1 : 0, n = weights->count - first;
    if (n < 3 || n > 5)
        return NEO_INVALID_ARGUMENT;
    int64_t groups = has_groups ? weights->at[0] : 1;
    struct dims src = {n, {1, groups * weights->at[first + 1], 1, 1, 1}};
    struct dims dst = {n, {1, groups * weights->at[first], 1, 1, 1}};
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .algorithm = NEO_CONVOLUTION_DIRECT,
                                 .strides = {1, 1, 1}};
    for (int i = 2; i < n; i++)
        src.at[i] = weights->at[first + i];
    neo_status status = init_any(&desc.src, &src, type);
    if (status == NEO_OK)
        status = init_any(&desc.weights, weights, type);
    if (status == NEO_OK)
        status = init_any(&desc.dst, &dst, type);
    return status == NEO_OK ? neo_convolution_primitive_desc_create(pd, engine, &desc, NULL)
                            : status;
}

neo_status packed_desc(neo_memory_desc *out, const struct operand *operand, neo_engine *engine)
{
    neo_data_type type = type_to_neo(operand->type);
    neo_primitive_desc *pd = NULL;
    const char *name = operand->tag.text + 7;
    neo_status status =
        strcmp(name, "matmul") == 0
            ? create_matmul(&pd, &operand->dims, type, engine)
            : create_conv(&pd, &operand->dims, strcmp(name, "group_conv") == 0, type, engine);
    const neo_memory_desc *chosen =
        status == NEO_OK ? neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS) : NULL;
    if (chosen)
        *out = *chosen;
    neo_primitive_desc_destroy(pd);
    return status == NEO_OK && !chosen ? NEO_RUNTIME_ERROR : status;
}
