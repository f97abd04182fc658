/* Attributes: values until a primitive descriptor is made of them. */
#include <stdlib.h>
#include <string.h>

#include "compat/onednn/objects.h"

EXPORT dnnl_status dnnl_primitive_attr_create(dnnl_primitive_attr **out)
{
    if (!out)
        return dnnl_invalid_arguments;
    *out = attr_copy(NULL);
    return *out ? dnnl_success : dnnl_out_of_memory;
}

EXPORT dnnl_status dnnl_primitive_attr_clone(dnnl_primitive_attr **out,
                                             const dnnl_primitive_attr *attr)
{
    if (!out || !attr)
        return dnnl_invalid_arguments;
    *out = attr_copy(attr);
    return *out ? dnnl_success : dnnl_out_of_memory;
}

EXPORT dnnl_status dnnl_primitive_attr_destroy(dnnl_primitive_attr *attr)
{
    if (attr)
        free(attr->post_ops);
    free(attr);
    return dnnl_success;
}

/* ---- post-operations ---- */

EXPORT dnnl_status dnnl_post_ops_create(dnnl_post_ops **out)
{
    if (!out)
        return dnnl_invalid_arguments;
    *out = malloc(sizeof **out);
    if (!*out)
        return dnnl_out_of_memory;
    (*out)->count = 0;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_post_ops_clone(dnnl_post_ops **out, const dnnl_post_ops *post_ops)
{
    dnnl_status status = post_ops ? dnnl_post_ops_create(out) : dnnl_invalid_arguments;
    if (status != dnnl_success)
        return status;
    (*out)->count = post_ops->count;
    memcpy((*out)->entries, post_ops->entries, (size_t)post_ops->count * sizeof *post_ops->entries);
    return dnnl_success;
}

EXPORT dnnl_status dnnl_post_ops_destroy(dnnl_post_ops *post_ops)
{
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

EXPORT dnnl_status dnnl_post_ops_append_sum(dnnl_post_ops *post_ops, float scale,
                                            int32_t zero_point, int data_type)
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

EXPORT dnnl_status dnnl_post_ops_append_eltwise(dnnl_post_ops *post_ops, int algorithm, float alpha,
                                                float beta)
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

EXPORT dnnl_status dnnl_post_ops_append_binary(dnnl_post_ops *post_ops, int algorithm,
                                               const dnnl_memory_desc *src1)
{
    if (map_binary(algorithm) < 0 || !src1)
        return dnnl_invalid_arguments;
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

EXPORT dnnl_status dnnl_post_ops_append_prelu(dnnl_post_ops *post_ops, int mask)
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

EXPORT dnnl_status dnnl_primitive_attr_get_post_ops(const dnnl_primitive_attr *attr,
                                                    const dnnl_post_ops **post_ops)
{
    static const dnnl_post_ops none;
    if (!attr || !post_ops)
        return dnnl_invalid_arguments;
    *post_ops = attr->post_ops ? attr->post_ops : &none;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_primitive_attr_set_post_ops(dnnl_primitive_attr *attr,
                                                    const dnnl_post_ops *post_ops)
{
    dnnl_post_ops *copy = NULL;
    if (!attr || !post_ops)
        return dnnl_invalid_arguments;
    if (post_ops->count > 0 && dnnl_post_ops_clone(&copy, post_ops) != dnnl_success)
        return dnnl_out_of_memory;
    free(attr->post_ops);
    attr->post_ops = copy;
    return dnnl_success;
}

dnnl_primitive_attr *attr_copy(const dnnl_primitive_attr *attr)
{
    dnnl_primitive_attr *copy = calloc(1, sizeof *copy);
    if (!copy || !attr)
        return copy;
    *copy = *attr;
    copy->post_ops = NULL;
    if (attr->post_ops && dnnl_primitive_attr_set_post_ops(copy, attr->post_ops) != dnnl_success) {
        free(copy);
        return NULL;
    }
    return copy;
}

/* ---- modes: each is a number that is kept ---- */

static dnnl_status get(const dnnl_primitive_attr *attr, const int *field, int *out)
{
    if (!attr || !out)
        return dnnl_invalid_arguments;
    *out = *field;
    return dnnl_success;
}

static dnnl_status set(dnnl_primitive_attr *attr, int *field, int value, int is_one)
{
    if (!attr || !is_one)
        return dnnl_invalid_arguments;
    *field = value;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_primitive_attr_get_scratchpad_mode(const dnnl_primitive_attr *attr,
                                                           int *mode)
{
    return get(attr, &attr->scratchpad_mode, mode);
}

EXPORT dnnl_status dnnl_primitive_attr_set_scratchpad_mode(dnnl_primitive_attr *attr, int mode)
{
    return set(attr, &attr->scratchpad_mode, mode,
               mode == SCRATCHPAD_LIBRARY || mode == SCRATCHPAD_USER);
}

EXPORT dnnl_status dnnl_primitive_attr_get_fpmath_mode(const dnnl_primitive_attr *attr, int *mode)
{
    return get(attr, &attr->fpmath_mode, mode);
}

EXPORT dnnl_status dnnl_primitive_attr_set_fpmath_mode(dnnl_primitive_attr *attr, int mode)
{
    return set(attr, &attr->fpmath_mode, mode, map_fpmath(mode) >= 0);
}

EXPORT dnnl_status dnnl_primitive_attr_get_fpmath_mode_v2(const dnnl_primitive_attr *attr,
                                                          int *mode, int *apply_to_int)
{
    if (apply_to_int && attr)
        *apply_to_int = attr->apply_to_int;
    return mode ? get(attr, &attr->fpmath_mode, mode) : dnnl_success;
}

EXPORT dnnl_status dnnl_primitive_attr_set_fpmath_mode_v2(dnnl_primitive_attr *attr, int mode,
                                                          int apply_to_int)
{
    dnnl_status status = dnnl_primitive_attr_set_fpmath_mode(attr, mode);
    if (status == dnnl_success)
        attr->apply_to_int = apply_to_int;
    return status;
}

EXPORT dnnl_status dnnl_primitive_attr_get_accumulation_mode(const dnnl_primitive_attr *attr,
                                                             int *mode)
{
    return get(attr, &attr->accumulation_mode, mode);
}

EXPORT dnnl_status dnnl_primitive_attr_set_accumulation_mode(dnnl_primitive_attr *attr, int mode)
{
    return set(attr, &attr->accumulation_mode, mode, map_accumulation(mode) >= 0);
}

EXPORT dnnl_status dnnl_primitive_attr_get_deterministic(const dnnl_primitive_attr *attr,
                                                         int *value)
{
    return get(attr, &attr->deterministic, value);
}

EXPORT dnnl_status dnnl_primitive_attr_set_deterministic(dnnl_primitive_attr *attr, int value)
{
    return set(attr, &attr->deterministic, value, 1);
}

/* ---- scales and zero points ---- */

static dnnl_status quantise(dnnl_primitive_attr *attr, const struct quantisation *added)
{
    if (!attr || added->mask < 0 || (added->group_ndims != 0 && added->group_ndims != 2))
        return dnnl_invalid_arguments;
    int i = 0;
    while (i < attr->quantisation_count && attr->quantisations[i].arg != added->arg)
        i++;
    if (i == MAX_QUANTISATIONS)
        return dnnl_unimplemented;
    attr->quantisations[i] = *added;
    if (i == attr->quantisation_count)
        attr->quantisation_count++;
    return dnnl_success;
}

static dnnl_status quantise_in_groups(dnnl_primitive_attr *attr, struct quantisation added,
                                      const neo_dim *group_dims, int data_type)
{
    int type = map_data_type(data_type);
    if (type < 0 || (added.group_ndims > 0 && !group_dims))
        return dnnl_invalid_arguments;
    added.type = (neo_data_type)type;
    if (added.group_ndims == 2)
        memcpy(added.group_dims, group_dims, sizeof added.group_dims);
    return quantise(attr, &added);
}

EXPORT dnnl_status dnnl_primitive_attr_set_scales_mask(dnnl_primitive_attr *attr, int arg, int mask)
{
    return quantise(attr, &(struct quantisation){
                              .arg = arg | NEO_ARG_ATTR_SCALES, .mask = mask, .type = NEO_F32});
}

EXPORT dnnl_status dnnl_primitive_attr_set_scales(dnnl_primitive_attr *attr, int arg, int mask,
                                                  int group_ndims, const neo_dim *group_dims,
                                                  int data_type)
{
    return quantise_in_groups(attr,
                              (struct quantisation){.arg = arg | NEO_ARG_ATTR_SCALES,
                                                    .mask = mask,
                                                    .group_ndims = group_ndims},
                              group_dims, data_type);
}

EXPORT dnnl_status dnnl_primitive_attr_set_zero_points_mask(dnnl_primitive_attr *attr, int arg,
                                                            int mask)
{
    return quantise(attr, &(struct quantisation){.arg = arg | NEO_ARG_ATTR_ZERO_POINTS,
                                                 .mask = mask,
                                                 .type = NEO_S32});
}

EXPORT dnnl_status dnnl_primitive_attr_set_zero_points(dnnl_primitive_attr *attr, int arg, int mask,
                                                       int group_ndims, const neo_dim *group_dims,
                                                       int data_type)
{
    return quantise_in_groups(attr,
                              (struct quantisation){.arg = arg | NEO_ARG_ATTR_ZERO_POINTS,
                                                    .mask = mask,
                                                    .group_ndims = group_ndims},
                              group_dims, data_type);
}

/* ---- conversion ---- */

static neo_status convert_post_op(neo_attributes *out, const struct post_op *op)
{
    int type = map_data_type(op->data_type);
    switch (op->kind) {
    case POST_OP_SUM:
        return neo_attributes_append_sum(out, op->scale, op->zero_point,
                                         type < 0 ? NEO_DATA_TYPE_UNDEF : (neo_data_type)type);
    case POST_OP_ELTWISE:
        return neo_attributes_append_eltwise(out, (neo_eltwise)map_eltwise(op->algorithm),
                                             op->alpha, op->beta);
    case POST_OP_BINARY:
        return neo_attributes_append_binary(out, (neo_binary)map_binary(op->algorithm),
                                            &op->src1.desc);
    default:
        return neo_attributes_append_prelu(out, op->mask);
    }
}

static neo_status convert_quantisation(neo_attributes *out, const struct quantisation *q)
{
    const neo_dim *groups = q->group_ndims ? q->group_dims : NULL;
    if (q->arg & NEO_ARG_ATTR_SCALES)
        return neo_attributes_set_scales(out, q->arg & ~NEO_ARG_ATTR_SCALES, q->mask,
                                         q->group_ndims, groups, q->type);
    return neo_attributes_set_zero_points(out, q->arg & ~NEO_ARG_ATTR_ZERO_POINTS, q->mask,
                                          q->group_ndims, groups, q->type);
}

/* Scratchpads stay the library's, whatever the mode: its pooled blocks serve, and a program that
 * asks how large one has to be is told 0. */
neo_status attr_convert(neo_attributes **out, const dnnl_primitive_attr *attr)
{
    neo_status status = neo_attributes_create(out);
    if (status == NEO_OK)
        status = neo_attributes_set_fpmath_mode(
            *out, (neo_fpmath_mode)map_fpmath(attr->fpmath_mode), attr->apply_to_int);
    if (status == NEO_OK)
        status = neo_attributes_set_accumulation_mode(
            *out, (neo_accumulation_mode)map_accumulation(attr->accumulation_mode));
    for (int i = 0; status == NEO_OK && i < attr->quantisation_count; i++)
        status = convert_quantisation(*out, &attr->quantisations[i]);
    for (int i = 0; status == NEO_OK && i < dnnl_post_ops_len(attr->post_ops); i++)
        status = convert_post_op(*out, &attr->post_ops->entries[i]);
    return status;
}
