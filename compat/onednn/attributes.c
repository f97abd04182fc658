/* Attributes: values until a primitive descriptor is made of them. */
#include <stdlib.h>
#include <string.h>

#include "compat/onednn/functions.h"
#include "compat/onednn/theirs.h"

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
    if (!attr)
        return dnnl_success;
    dnnl_post_ops_destroy(attr->post_ops);
    if (attr->theirs)
        theirs()->dnnl_primitive_attr_destroy(attr->theirs);
    free(attr);
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

dnnl_status attr_set_post_ops(dnnl_primitive_attr *attr, const dnnl_post_ops *post_ops)
{
    dnnl_post_ops *copy = NULL;
    if (!attr || !post_ops)
        return dnnl_invalid_arguments;
    if ((post_ops->count > 0 || post_ops->theirs_only) &&
        dnnl_post_ops_clone(&copy, post_ops) != dnnl_success)
        return dnnl_out_of_memory;
    dnnl_post_ops_destroy(attr->post_ops);
    attr->post_ops = copy;
    return post_ops->theirs_only ? dnnl_unimplemented : dnnl_success;
}

static dnnl_status copy_theirs(dnnl_primitive_attr *copy, const dnnl_primitive_attr *attr)
{
    if (!theirs())
        return dnnl_success;
    return attr ? theirs()->dnnl_primitive_attr_clone(&copy->theirs, attr->theirs)
                : theirs()->dnnl_primitive_attr_create(&copy->theirs);
}

dnnl_primitive_attr *attr_copy(const dnnl_primitive_attr *attr)
{
    dnnl_primitive_attr *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    if (attr)
        *copy = *attr;
    copy->post_ops = NULL;
    copy->theirs = NULL;
    dnnl_status status = dnnl_success;
    if (attr && attr->post_ops)
        status = dnnl_post_ops_clone(&copy->post_ops, attr->post_ops);
    if (status == dnnl_success)
        status = copy_theirs(copy, attr);
    if (status == dnnl_success)
        return copy;
    dnnl_primitive_attr_destroy(copy);
    return NULL;
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

dnnl_status attr_set_scratchpad_mode(dnnl_primitive_attr *attr, int mode)
{
    return set(attr, &attr->scratchpad_mode, mode,
               mode == SCRATCHPAD_LIBRARY || mode == SCRATCHPAD_USER);
}

EXPORT dnnl_status dnnl_primitive_attr_get_fpmath_mode(const dnnl_primitive_attr *attr, int *mode)
{
    return get(attr, &attr->fpmath_mode, mode);
}

dnnl_status attr_set_fpmath_mode(dnnl_primitive_attr *attr, int mode)
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

dnnl_status attr_set_fpmath_mode_v2(dnnl_primitive_attr *attr, int mode, int apply_to_int)
{
    dnnl_status status = attr_set_fpmath_mode(attr, mode);
    if (status == dnnl_success)
        attr->apply_to_int = apply_to_int;
    return status;
}

EXPORT dnnl_status dnnl_primitive_attr_get_accumulation_mode(const dnnl_primitive_attr *attr,
                                                             int *mode)
{
    return get(attr, &attr->accumulation_mode, mode);
}

dnnl_status attr_set_accumulation_mode(dnnl_primitive_attr *attr, int mode)
{
    return set(attr, &attr->accumulation_mode, mode, map_accumulation(mode) >= 0);
}

EXPORT dnnl_status dnnl_primitive_attr_get_deterministic(const dnnl_primitive_attr *attr,
                                                         int *value)
{
    return get(attr, &attr->deterministic, value);
}

dnnl_status attr_set_deterministic(dnnl_primitive_attr *attr, int value)
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

dnnl_status attr_set_scales_mask(dnnl_primitive_attr *attr, int arg, int mask)
{
    return quantise(attr, &(struct quantisation){
                              .arg = arg | NEO_ARG_ATTR_SCALES, .mask = mask, .type = NEO_F32});
}

dnnl_status attr_set_scales(dnnl_primitive_attr *attr, int arg, int mask, int group_ndims,
                            const neo_dim *group_dims, int data_type)
{
    return quantise_in_groups(attr,
                              (struct quantisation){.arg = arg | NEO_ARG_ATTR_SCALES,
                                                    .mask = mask,
                                                    .group_ndims = group_ndims},
                              group_dims, data_type);
}

dnnl_status attr_set_zero_points_mask(dnnl_primitive_attr *attr, int arg, int mask)
{
    return quantise(attr, &(struct quantisation){.arg = arg | NEO_ARG_ATTR_ZERO_POINTS,
                                                 .mask = mask,
                                                 .type = NEO_S32});
}

dnnl_status attr_set_zero_points(dnnl_primitive_attr *attr, int arg, int mask, int group_ndims,
                                 const neo_dim *group_dims, int data_type)
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
    int type = map_data_type(op->data_type), bias = map_data_type(op->bias_type);
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
    case POST_OP_DEPTHWISE:
        return neo_attributes_append_depthwise(out, (neo_data_type)map_data_type(op->weights_type),
                                               bias < 0 ? NEO_DATA_TYPE_UNDEF : (neo_data_type)bias,
                                               (neo_data_type)type, op->kernel, op->stride,
                                               op->padding);
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
