/* Post-operations: values until attributes take a copy of them. */
#include <stdlib.h>

#include "compat/onednn/functions.h"
#include "compat/onednn/theirs.h"

/* A copy, or of NULL an empty one, with another library's copy of the same. */
static dnnl_status copy(dnnl_post_ops **out, const dnnl_post_ops *post_ops)
{
    dnnl_post_ops *made = calloc(1, sizeof *made);
    dnnl_status status = made ? dnnl_success : dnnl_out_of_memory;
    if (made && post_ops)
        *made = *post_ops;
    if (made && theirs())
        status = made->theirs ? theirs()->dnnl_post_ops_clone(&made->theirs, made->theirs)
                              : theirs()->dnnl_post_ops_create(&made->theirs);
    if (status == dnnl_success)
        *out = made;
    else
        free(made);
    return status;
}

EXPORT dnnl_status dnnl_post_ops_create(dnnl_post_ops **out)
{
    return out ? copy(out, NULL) : dnnl_invalid_arguments;
}

EXPORT dnnl_status dnnl_post_ops_clone(dnnl_post_ops **out, const dnnl_post_ops *post_ops)
{
    return out && post_ops ? copy(out, post_ops) : dnnl_invalid_arguments;
}

EXPORT dnnl_status dnnl_post_ops_destroy(dnnl_post_ops *post_ops)
{
    if (post_ops && post_ops->theirs)
        theirs()->dnnl_post_ops_destroy(post_ops->theirs);
    free(post_ops);
    return dnnl_success;
}

EXPORT int dnnl_post_ops_len(const dnnl_post_ops *post_ops)
{
    return post_ops ? post_ops->count : 0;
}

static const struct post_op *entry_of(const dnnl_post_ops *post_ops, int index, int kind)
{
    if (!post_ops || index < 0 || index >= post_ops->count)
        return NULL;
    const struct post_op *entry = &post_ops->entries[index];
    return kind == 0 || entry->kind == kind ? entry : NULL;
}

EXPORT int dnnl_post_ops_get_kind(const dnnl_post_ops *post_ops, int index)
{
    const struct post_op *entry = entry_of(post_ops, index, 0);
    return entry ? entry->kind : 0;
}

static dnnl_status append(dnnl_post_ops *post_ops, const struct post_op *entry)
{
    if (!post_ops)
        return dnnl_invalid_arguments;
    if (post_ops->count == NEO_MAX_POST_OPS)
        return dnnl_out_of_memory;
    post_ops->entries[post_ops->count++] = *entry;
    return dnnl_success;
}

dnnl_status post_ops_append_sum(dnnl_post_ops *post_ops, float scale, int32_t zero_point,
                                int data_type)
{
    return append(post_ops, &(struct post_op){.kind = POST_OP_SUM,
                                              .scale = scale,
                                              .zero_point = zero_point,
                                              .data_type = data_type});
}

EXPORT dnnl_status dnnl_post_ops_get_params_sum(const dnnl_post_ops *post_ops, int index,
                                                float *scale, int32_t *zero_point, int *data_type)
{
    const struct post_op *entry = entry_of(post_ops, index, POST_OP_SUM);
    if (!entry)
        return dnnl_invalid_arguments;
    if (scale)
        *scale = entry->scale;
    if (zero_point)
        *zero_point = entry->zero_point;
    if (data_type)
        *data_type = entry->data_type;
    return dnnl_success;
}

dnnl_status post_ops_append_eltwise(dnnl_post_ops *post_ops, int algorithm, float alpha, float beta)
{
    if (map_eltwise(algorithm) < 0)
        return dnnl_invalid_arguments;
    return append(post_ops, &(struct post_op){.kind = POST_OP_ELTWISE,
                                              .algorithm = algorithm,
                                              .alpha = alpha,
                                              .beta = beta});
}

EXPORT dnnl_status dnnl_post_ops_get_params_eltwise(const dnnl_post_ops *post_ops, int index,
                                                    int *algorithm, float *alpha, float *beta)
{
    const struct post_op *entry = entry_of(post_ops, index, POST_OP_ELTWISE);
    if (!entry || !algorithm || !alpha || !beta)
        return dnnl_invalid_arguments;
    *algorithm = entry->algorithm;
    *alpha = entry->alpha;
    *beta = entry->beta;
    return dnnl_success;
}

dnnl_status post_ops_append_binary(dnnl_post_ops *post_ops, int algorithm,
                                   const dnnl_memory_desc *src1)
{
    if (map_binary(algorithm) < 0 || !src1)
        return dnnl_invalid_arguments;
    if (desc_is_theirs(src1))
        return dnnl_unimplemented;
    return append(post_ops,
                  &(struct post_op){.kind = POST_OP_BINARY, .algorithm = algorithm, .src1 = *src1});
}

EXPORT dnnl_status dnnl_post_ops_get_params_binary(const dnnl_post_ops *post_ops, int index,
                                                   int *algorithm, const dnnl_memory_desc **src1)
{
    const struct post_op *entry = entry_of(post_ops, index, POST_OP_BINARY);
    if (!entry)
        return dnnl_invalid_arguments;
    if (algorithm)
        *algorithm = entry->algorithm;
    if (src1)
        *src1 = &entry->src1;
    return dnnl_success;
}

dnnl_status post_ops_append_prelu(dnnl_post_ops *post_ops, int mask)
{
    return append(post_ops, &(struct post_op){.kind = POST_OP_PRELU, .mask = mask});
}

EXPORT dnnl_status dnnl_post_ops_get_params_prelu(const dnnl_post_ops *post_ops, int index,
                                                  int *mask)
{
    const struct post_op *entry = entry_of(post_ops, index, POST_OP_PRELU);
    if (!entry || !mask)
        return dnnl_invalid_arguments;
    *mask = entry->mask;
    return dnnl_success;
}

/* Of types that Neoprene does not have it is another library's; a bias may be of none. */
dnnl_status post_ops_append_dw(dnnl_post_ops *post_ops, int weights_type, int bias_type,
                               int dst_type, neo_dim kernel, neo_dim stride, neo_dim padding)
{
    if (!weights_type || !dst_type || kernel < 1 || stride < 1 || padding < 0 || padding >= kernel)
        return dnnl_invalid_arguments;
    if (map_data_type(weights_type) < 0 || map_data_type(dst_type) < 0 ||
        (bias_type && map_data_type(bias_type) < 0))
        return dnnl_unimplemented;
    return append(post_ops, &(struct post_op){.kind = POST_OP_DEPTHWISE,
                                              .weights_type = weights_type,
                                              .bias_type = bias_type,
                                              .data_type = dst_type,
                                              .kernel = kernel,
                                              .stride = stride,
                                              .padding = padding});
}

/* What is not asked for may be NULL. */
EXPORT dnnl_status dnnl_post_ops_get_params_dw(const dnnl_post_ops *post_ops, int index,
                                               int *weights_type, int *bias_type, int *dst_type,
                                               neo_dim *kernel, neo_dim *stride, neo_dim *padding)
{
    const struct post_op *entry = entry_of(post_ops, index, POST_OP_DEPTHWISE);
    if (!entry)
        return dnnl_invalid_arguments;
    int *const types[] = {weights_type, bias_type, dst_type};
    const int their_types[] = {entry->weights_type, entry->bias_type, entry->data_type};
    neo_dim *const sizes[] = {kernel, stride, padding};
    const neo_dim their_sizes[] = {entry->kernel, entry->stride, entry->padding};
    for (int i = 0; i < 3; i++) {
        if (types[i])
            *types[i] = their_types[i];
        if (sizes[i])
            *sizes[i] = their_sizes[i];
    }
    return dnnl_success;
}
