/* What layers are made of in a network of one type. */
#include "examples/support/typed_parts.h"

#include <stdio.h>
#include <string.h>

/* ---- descriptors ---- */

neo_memory_desc typed_describe(neo_data_type type, const char *tag, int ndims, const neo_dim *dims)
{
    neo_memory_desc desc;
    model_check(neo_memory_desc_init_tag(&desc, ndims, dims, type, tag), "a descriptor");
    return desc;
}

neo_memory_desc typed_describe_image(neo_data_type type, neo_dim channels, neo_dim h, neo_dim w)
{
    return typed_describe(type, "acdb", 4, (neo_dim[]){1, channels, h, w});
}

neo_memory_desc typed_describe_vector(neo_dim count)
{
    return typed_describe(NEO_F32, "a", 1, &count);
}

neo_data_type typed_type_of(const typed_network *n, int at)
{
    return model_is_last(n->model, at) ? NEO_F32 : n->type;
}

neo_memory_desc typed_desc_of(const typed_network *n, int at)
{
    const layer *l = &n->model->list[at];
    return typed_describe(typed_type_of(n, at), l->ndims == 4 ? "acdb" : "ab", l->ndims, l->dims);
}

/* ---- tensors ---- */

/* Numbers are the same here and in the network. */
int typed_add_tensor(typed_network *n, const neo_tensor *given)
{
    typed_tensor *t = &n->tensors[n->tensor_count];
    if (n->tensor_count == TYPED_MOST_TENSORS)
        model_check(NEO_OUT_OF_MEMORY, "a tensor");
    snprintf(t->name, sizeof t->name, "t%d", n->tensor_count);
    t->given = *given;
    t->given.name = t->name;
    void *handle = NEO_MEMORY_ALLOCATE;
    if (given->sharing == NEO_SHARES_VIEW)
        handle = neo_memory_get_handle(n->tensors[given->shares_with].separate);
    if (given->memory)
        t->separate = given->memory;
    else
        model_check(neo_memory_create(&t->separate, &given->desc, n->engine, handle), "a buffer");
    model_check(neo_network_add_tensor(n->network, &t->given, NULL), "a tensor");
    return n->tensor_count++;
}

int typed_add_shared(typed_network *n, neo_memory_desc desc, neo_tensor_sharing how, int with)
{
    return typed_add_tensor(n, &(neo_tensor){.desc = desc, .sharing = how, .shares_with = with});
}

int typed_add_constant(typed_network *n, neo_memory *memory)
{
    return typed_add_tensor(n, &(neo_tensor){.kind = NEO_TENSOR_CONSTANT,
                                             .desc = *neo_memory_get_desc(memory),
                                             .memory = memory});
}

int typed_add_vector(typed_network *n, const float *values, neo_dim count)
{
    neo_memory_desc desc = typed_describe_vector(count);
    neo_memory *memory;
    model_check(neo_memory_create(&memory, &desc, n->engine, NEO_MEMORY_ALLOCATE), "a vector");
    memcpy(neo_memory_get_handle(memory), values, (size_t)count * sizeof *values);
    return typed_add_constant(n, memory);
}

/* ---- scales ---- */

float typed_scale_value(const typed_network *n, int at)
{
    return (float)(n->model->list[at].range / 127);
}

int typed_scale_tensor(typed_network *n, int at)
{
    if (n->scale_of[at] < 0) {
        float value = typed_scale_value(n, at);
        n->scale_of[at] = typed_add_vector(n, &value, 1);
    }
    return n->scale_of[at];
}

neo_memory *typed_converted(typed_network *n, neo_memory *from, neo_data_type type, int mask,
                            neo_memory *scales)
{
    neo_memory_desc desc = *neo_memory_get_desc(from);
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_memory *to;
    desc.data_type = type;
    model_check(neo_memory_create(&to, &desc, n->engine, NEO_MEMORY_ALLOCATE), "a conversion");
    model_check(neo_attributes_create(&attributes), "a conversion");
    if (scales)
        model_check(neo_attributes_set_scales(attributes, NEO_ARG_DST, mask, 0, NULL, NEO_F32),
                    "scales");
    model_check(neo_reorder_primitive_desc_create(&pd, n->engine, neo_memory_get_desc(from), &desc,
                                                  attributes),
                "a conversion");
    model_check(neo_primitive_create(&primitive, pd), "a conversion");
    const neo_exec_arg args[] = {
        {NEO_ARG_SRC, from}, {NEO_ARG_DST, to}, {NEO_ARG_ATTR_SCALES | NEO_ARG_DST, scales}};
    model_check(neo_primitive_execute(primitive, n->stream, scales ? 3 : 2, args), "a conversion");
    model_check(neo_stream_wait(n->stream), "a conversion");
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
    return to;
}

/* ---- nodes ---- */

/* With a scratchpad of the user's, so that it becomes a part of the plan. */
typed_node *typed_begin_node(typed_network *n, const char *name)
{
    typed_node *node = &n->nodes[n->node_count];
    if (n->node_count == TYPED_MOST_NODES)
        model_check(NEO_OUT_OF_MEMORY, "a node");
    snprintf(node->name, sizeof node->name, "%s %d", name, n->node_count++);
    node->given = (neo_node){.name = node->name, .args = node->args};
    model_check(neo_attributes_create(&node->attributes), node->name);
    model_check(neo_attributes_set_scratchpad_mode(node->attributes, NEO_SCRATCHPAD_USER),
                node->name);
    return node;
}

void typed_add_arg(typed_node *node, int arg, int tensor, uint32_t access)
{
    node->args[node->given.count++] = (neo_node_arg){arg, tensor, access};
}

void typed_add_scale(typed_node *node, int arg, int mask, int tensor)
{
    model_check(neo_attributes_set_scales(node->attributes, arg, mask, 0, NULL, NEO_F32), "scales");
    typed_add_arg(node, NEO_ARG_ATTR_SCALES | arg, tensor, NEO_READS);
}

void typed_add_layer_arg(typed_network *n, typed_node *node, int arg, int at, int tensor,
                         uint32_t access)
{
    typed_add_arg(node, arg, tensor, access);
    if (typed_type_of(n, at) == NEO_S8)
        typed_add_scale(node, arg, 0, typed_scale_tensor(n, at));
}

void typed_add_src(typed_network *n, typed_node *node, int arg, int at)
{
    typed_add_layer_arg(n, node, arg, at, n->of_layer[at], NEO_READS);
}

void typed_end_node(typed_network *n, typed_node *node, neo_primitive_desc *pd)
{
    model_check(neo_primitive_create(&node->primitive, pd), node->name);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(node->attributes);
    node->given.primitive = node->primitive;
    model_check(neo_network_add_node(n->network, &node->given, NULL), node->name);
}
