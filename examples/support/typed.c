/* Layers become tensors and nodes of a network, in one type. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/support/typed_parts.h"

/* ---- layers with weights ---- */

static void add_activation(typed_node *node, int activation)
{
    activation_parameters p = model_parameters(activation);
    if (activation >= 0)
        model_check(neo_attributes_append_eltwise(node->attributes, (neo_eltwise)activation,
                                                  p.alpha, p.beta),
                    node->name);
}

/* dst is written over the residual, which a sum reads. */
static int add_dst(typed_network *n, typed_node *node, int at)
{
    int residual = n->model->list[at].residual;
    bool is_sum = residual >= 0;
    int tensor =
        typed_add_shared(n, typed_desc_of(n, at), is_sum ? NEO_SHARES_IN_PLACE : NEO_SHARES_NOTHING,
                         is_sum ? n->of_layer[residual] : 0);
    if (is_sum)
        typed_add_arg(node, NEO_ARG_UNDEF, n->of_layer[residual], NEO_READS);
    typed_add_layer_arg(n, node, NEO_ARG_DST, at, tensor, NEO_WRITES);
    return tensor;
}

static void add_sum(typed_network *n, typed_node *node, int at)
{
    int residual = n->model->list[at].residual;
    if (residual < 0)
        return;
    float scale = typed_type_of(n, at) == NEO_S8 ? typed_scale_value(n, residual) : 1;
    model_check(neo_attributes_append_sum(node->attributes, scale, 0, NEO_DATA_TYPE_UNDEF),
                node->name);
}

/* Packed once into the layout that the primitive chose; scales: their tensor, or -1. */
static int add_weights(typed_network *n, const layer *of, const neo_memory_desc *plain,
                       const neo_primitive_desc *pd, int mask, int scales)
{
    neo_memory *given, *typed;
    neo_packed_weights *packed;
    model_check(neo_memory_create(&given, plain, n->engine, of->weights), "weights");
    typed = given;
    if (n->type != NEO_F32)
        typed = typed_converted(n, given, n->type, mask,
                                scales >= 0 ? n->tensors[scales].separate : NULL);
    model_check(neo_weights_pack(&packed, pd, n->stream, typed), "packed weights");
    if (typed != given)
        neo_memory_destroy(typed);
    neo_memory_destroy(given);
    int added = typed_add_constant(n, neo_packed_weights_memory(packed));
    n->tensors[added].packed = packed;
    return added;
}

/* mask: of the dimensions of weights that are outputs. */
static int add_weight_scales(typed_network *n, typed_node *node, const layer *of, int mask)
{
    if (n->type != NEO_S8)
        return -1;
    float *values = model_allocate((size_t)of->dims[1], sizeof *values);
    model_weight_scales(of, values);
    int tensor = typed_add_vector(n, values, of->dims[1]);
    free(values);
    typed_add_scale(node, NEO_ARG_WEIGHTS, mask, tensor);
    return tensor;
}

static neo_memory_desc describe_kernel(neo_data_type type, const layer *c, neo_dim ic,
                                       const char *tag)
{
    neo_dim g = c->groups, dims[] = {g, c->dims[1] / g, ic / g, c->kernel, c->kernel};
    if (g == 1)
        return typed_describe(type, tag ? tag : "oihw", 4, dims + 1);
    return typed_describe(type, tag ? tag : "goihw", 5, dims);
}

static int build_convolution(typed_network *n, int at)
{
    const layer *c = &n->model->list[at];
    neo_dim ic = n->model->list[c->in[0]].dims[1], pad = (c->kernel - 1) / 2;
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = typed_desc_of(n, c->in[0]),
        .weights = describe_kernel(n->type, c, ic, "any"),
        .bias = typed_describe_vector(c->dims[1]),
        .dst = typed_desc_of(n, at),
        .strides = {c->stride, c->stride},
        .padding_left = {pad, pad},
        .padding_right = {pad, pad},
    };
    typed_node *node = typed_begin_node(n, "convolution");
    int mask = c->groups == 1 ? 1 : 3, scales = add_weight_scales(n, node, c, mask);
    typed_add_src(n, node, NEO_ARG_SRC, c->in[0]);
    add_sum(n, node, at);
    add_activation(node, c->activation);
    int out = add_dst(n, node, at);
    neo_primitive_desc *pd;
    model_check(neo_convolution_primitive_desc_create(&pd, n->engine, &desc, node->attributes),
                node->name);
    neo_memory_desc plain = describe_kernel(NEO_F32, c, ic, NULL);
    typed_add_arg(node, NEO_ARG_WEIGHTS, add_weights(n, c, &plain, pd, mask, scales), NEO_READS);
    typed_add_arg(node, NEO_ARG_BIAS, typed_add_vector(n, c->bias, c->dims[1]), NEO_READS);
    typed_end_node(n, node, pd);
    return out;
}

static int build_linear(typed_network *n, int at)
{
    const layer *l = &n->model->list[at];
    neo_dim inputs = n->model->list[l->in[0]].dims[1], columns = l->dims[1];
    neo_matmul_desc desc = {
        .src = typed_desc_of(n, l->in[0]),
        .weights = typed_describe(n->type, "any", 2, (neo_dim[]){inputs, columns}),
        .bias = typed_describe_vector(columns),
        .dst = typed_desc_of(n, at),
    };
    typed_node *node = typed_begin_node(n, "linear");
    int mask = 1 << 1, scales = add_weight_scales(n, node, l, mask);
    typed_add_src(n, node, NEO_ARG_SRC, l->in[0]);
    add_activation(node, l->activation);
    add_sum(n, node, at);
    int out = add_dst(n, node, at);
    neo_primitive_desc *pd;
    model_check(neo_matmul_primitive_desc_create(&pd, n->engine, &desc, node->attributes),
                node->name);
    neo_memory_desc plain = typed_describe(NEO_F32, "ab", 2, (neo_dim[]){inputs, columns});
    typed_add_arg(node, NEO_ARG_WEIGHTS, add_weights(n, l, &plain, pd, mask, scales), NEO_READS);
    typed_add_arg(node, NEO_ARG_BIAS, typed_add_vector(n, l->bias, columns), NEO_READS);
    typed_end_node(n, node, pd);
    return out;
}

/* ---- layers without weights ---- */

static int build_pool(typed_network *n, const layer *to, const neo_pooling_desc *desc, float factor)
{
    neo_primitive_desc *pd;
    typed_node *node = typed_begin_node(n, "pool");
    int out = typed_add_shared(n, desc->dst, NEO_SHARES_NOTHING, 0);
    typed_add_arg(node, NEO_ARG_SRC, n->of_layer[to->in[0]], NEO_READS);
    typed_add_arg(node, NEO_ARG_DST, out, NEO_WRITES);
    if (factor != 1)
        model_check(neo_attributes_append_eltwise(node->attributes, NEO_ELTWISE_LINEAR, factor, 0),
                    "pooling");
    model_check(neo_pooling_primitive_desc_create(&pd, n->engine, desc, node->attributes),
                "pooling");
    typed_end_node(n, node, pd);
    return out;
}

/* The largest of integers has their scale. */
static int build_max_pool(typed_network *n, int at)
{
    const layer *to = &n->model->list[at];
    neo_dim pad = (to->kernel - 1) / 2;
    neo_pooling_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_POOLING_MAX,
        .src = typed_desc_of(n, to->in[0]),
        .dst = typed_desc_of(n, at),
        .strides = {to->stride, to->stride},
        .kernel = {to->kernel, to->kernel},
        .padding_left = {pad, pad},
        .padding_right = {pad, pad},
    };
    return build_pool(n, to, &desc, 1);
}

/* One pixel, seen as a row. Averages are smaller, so integers get a scale of their own. */
static int build_average_pool(typed_network *n, int at)
{
    const layer *to = &n->model->list[at], *src = &n->model->list[to->in[0]];
    neo_pooling_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_POOLING_AVERAGE_EXCLUDE_PADDING,
        .src = typed_desc_of(n, to->in[0]),
        .dst = typed_describe_image(typed_type_of(n, at), src->dims[1], 1, 1),
        .strides = {1, 1},
        .kernel = {src->dims[2], src->dims[3]},
    };
    float factor =
        n->type == NEO_S8 ? typed_scale_value(n, to->in[0]) / typed_scale_value(n, at) : 1;
    return typed_add_shared(n, typed_desc_of(n, at), NEO_SHARES_VIEW,
                            build_pool(n, to, &desc, factor));
}

/* A node of one or two layers: as arguments first and first + 1. */
static int end_layer(typed_network *n, typed_node *node, neo_primitive_desc *pd, int first, int at,
                     int out)
{
    const layer *to = &n->model->list[at];
    for (int i = 0; i < 2 && to->in[i] >= 0; i++)
        typed_add_arg(node, first + i, n->of_layer[to->in[i]], NEO_READS);
    typed_add_arg(node, NEO_ARG_DST, out, NEO_WRITES);
    typed_end_node(n, node, pd);
    return out;
}

static int build_upsample(typed_network *n, int at)
{
    neo_memory_desc src = typed_desc_of(n, n->model->list[at].in[0]), dst = typed_desc_of(n, at);
    typed_node *node = typed_begin_node(n, "upsample");
    neo_primitive_desc *pd;
    model_check(neo_resampling_primitive_desc_create(&pd, n->engine, NEO_FORWARD_INFERENCE,
                                                     NEO_RESAMPLING_NEAREST, NULL, &src, &dst,
                                                     node->attributes),
                node->name);
    return end_layer(n, node, pd, NEO_ARG_SRC, at, typed_add_shared(n, dst, NEO_SHARES_NOTHING, 0));
}

static int build_concatenation(typed_network *n, int at)
{
    const layer *to = &n->model->list[at];
    neo_memory_desc sources[] = {typed_desc_of(n, to->in[0]), typed_desc_of(n, to->in[1])};
    neo_memory_desc dst = typed_desc_of(n, at);
    typed_node *node = typed_begin_node(n, "concatenate");
    neo_primitive_desc *pd;
    model_check(
        neo_concat_primitive_desc_create(&pd, n->engine, &dst, 2, 1, sources, node->attributes),
        node->name);
    return end_layer(n, node, pd, NEO_ARG_MULTIPLE_SRC, at,
                     typed_add_shared(n, dst, NEO_SHARES_NOTHING, 0));
}

/* The row is a factor for each channel: an image of one pixel, which repeats. */
static int build_gate(typed_network *n, int at)
{
    const layer *to = &n->model->list[at];
    neo_memory_desc image = typed_desc_of(n, at),
                    pixel = typed_describe_image(n->type, to->dims[1], 1, 1);
    int factors = typed_add_shared(n, pixel, NEO_SHARES_VIEW, n->of_layer[to->in[1]]);
    int out = typed_add_shared(n, image, NEO_SHARES_IN_PLACE, n->of_layer[to->in[0]]);
    typed_node *node = typed_begin_node(n, "gate");
    typed_add_src(n, node, NEO_ARG_SRC, to->in[0]);
    typed_add_layer_arg(n, node, NEO_ARG_SRC_1, to->in[1], factors, NEO_READS);
    typed_add_layer_arg(n, node, NEO_ARG_DST, at, out, NEO_WRITES);
    neo_primitive_desc *pd;
    model_check(neo_binary_primitive_desc_create(&pd, n->engine, NEO_BINARY_MUL, &image, &pixel,
                                                 NULL, &image, node->attributes),
                node->name);
    typed_end_node(n, node, pd);
    return out;
}

static int build_first_row(typed_network *n, int at)
{
    return typed_add_shared(n, typed_desc_of(n, at), NEO_SHARES_VIEW,
                            n->of_layer[n->model->list[at].in[0]]);
}

/* In place, but not of what the user gave. */
static int build_normalization(typed_network *n, int at)
{
    const layer *to = &n->model->list[at];
    neo_memory_desc desc = typed_desc_of(n, at);
    bool is_first = n->model->list[to->in[0]].kind == LAYER_INPUT;
    typed_node *node = typed_begin_node(n, "normalize");
    neo_primitive_desc *pd;
    model_check(neo_layer_normalization_primitive_desc_create(
                    &pd, n->engine, NEO_FORWARD_INFERENCE, &desc, &desc, NULL, NEO_F32, 1e-5f,
                    NEO_NORMALIZATION_USE_SCALE | NEO_NORMALIZATION_USE_SHIFT, node->attributes),
                node->name);
    typed_add_arg(node, NEO_ARG_SCALE, typed_add_vector(n, to->weights, to->dims[1]), NEO_READS);
    typed_add_arg(node, NEO_ARG_SHIFT, typed_add_vector(n, to->bias, to->dims[1]), NEO_READS);
    return end_layer(n, node, pd, NEO_ARG_SRC, at,
                     typed_add_shared(n, desc, is_first ? NEO_SHARES_NOTHING : NEO_SHARES_IN_PLACE,
                                      is_first ? 0 : n->of_layer[to->in[0]]));
}

/* The softmax of the last dimension, in place. */
static int add_softmax(typed_network *n, int tensor)
{
    neo_memory_desc desc = n->tensors[tensor].given.desc;
    typed_node *node = typed_begin_node(n, "softmax");
    neo_primitive_desc *pd;
    model_check(neo_softmax_primitive_desc_create(&pd, n->engine, NEO_FORWARD_INFERENCE,
                                                  NEO_SOFTMAX_ACCURATE, &desc, &desc,
                                                  desc.ndims - 1, node->attributes),
                node->name);
    int out = typed_add_shared(n, desc, NEO_SHARES_IN_PLACE, tensor);
    typed_add_arg(node, NEO_ARG_SRC, tensor, NEO_READS);
    typed_add_arg(node, NEO_ARG_DST, out, NEO_WRITES);
    typed_end_node(n, node, pd);
    return out;
}

static int build_softmax(typed_network *n, int at)
{
    return add_softmax(n, n->of_layer[n->model->list[at].in[0]]);
}

/* A product of two tensors, neither of which is a constant. */
static void multiply(typed_network *n, int a, int b, int out, float scale)
{
    neo_matmul_desc desc = {.src = n->tensors[a].given.desc,
                            .weights = n->tensors[b].given.desc,
                            .dst = n->tensors[out].given.desc};
    typed_node *node = typed_begin_node(n, "matmul");
    neo_primitive_desc *pd;
    if (scale != 1)
        model_check(neo_attributes_append_eltwise(node->attributes, NEO_ELTWISE_LINEAR, scale, 0),
                    node->name);
    model_check(neo_matmul_primitive_desc_create(&pd, n->engine, &desc, node->attributes),
                node->name);
    typed_add_arg(node, NEO_ARG_SRC, a, NEO_READS);
    typed_add_arg(node, NEO_ARG_WEIGHTS, b, NEO_READS);
    typed_add_arg(node, NEO_ARG_DST, out, NEO_WRITES);
    typed_end_node(n, node, pd);
}

/* rows × (heads * width) as heads × rows × width, or heads × width × rows. */
static int view_heads(typed_network *n, int tensor, neo_dim heads, bool transposed)
{
    neo_dim rows = n->tensors[tensor].given.desc.dims[0], d = n->tensors[tensor].given.desc.dims[1];
    neo_dim width = d / heads;
    neo_dim dims[] = {heads, transposed ? width : rows, transposed ? rows : width};
    neo_dim strides[] = {width, transposed ? 1 : d, transposed ? d : 1};
    neo_memory_desc desc;
    model_check(neo_memory_desc_init_strides(&desc, 3, dims, n->type, strides), "a view");
    return typed_add_shared(n, desc, NEO_SHARES_VIEW, tensor);
}

static int build_attention(typed_network *n, int at)
{
    const layer *to = &n->model->list[at];
    neo_dim heads = to->heads, rows = to->dims[0], width = to->dims[1] / heads;
    neo_memory_desc scores_desc = typed_describe(n->type, "abc", 3, (neo_dim[]){heads, rows, rows});
    int scores = typed_add_shared(n, scores_desc, NEO_SHARES_NOTHING, 0);
    multiply(n, view_heads(n, n->of_layer[to->in[0]], heads, false),
             view_heads(n, n->of_layer[to->in[1]], heads, true), scores, 1 / sqrtf((float)width));
    int weights = add_softmax(n, scores);
    int mixed = typed_add_shared(n, typed_desc_of(n, at), NEO_SHARES_NOTHING,
                                 0); /* written through its view */
    multiply(n, weights, view_heads(n, n->of_layer[to->in[2]], heads, false),
             view_heads(n, mixed, heads, false), 1);
    return mixed;
}

/* ---- input and output ---- */

static int build_input(typed_network *n, int at)
{
    neo_memory_desc desc = typed_desc_of(n, at), plain = desc;
    int tensor = typed_add_tensor(n, &(neo_tensor){.kind = NEO_TENSOR_INPUT, .desc = desc});
    neo_memory *given, *typed;
    plain.data_type = NEO_F32;
    model_check(neo_memory_create(&given, &plain, n->engine, NEO_MEMORY_ALLOCATE), "an input");
    model_fill_input(n->model, at, MODEL_SAMPLE, neo_memory_get_handle(given));
    neo_memory *scale = n->type == NEO_S8 ? n->tensors[typed_scale_tensor(n, at)].separate : NULL;
    typed = typed_converted(n, given, n->type, 0, scale);
    memcpy(neo_memory_get_handle(n->tensors[tensor].separate), neo_memory_get_handle(typed),
           neo_memory_desc_size(&desc));
    neo_memory_destroy(typed);
    neo_memory_destroy(given);
    model_check(
        neo_network_bind(n->network, tensor, neo_memory_get_handle(n->tensors[tensor].separate)),
        "an input");
    return tensor;
}

/* A copy of the result, because results may be written over. */
static int add_output(typed_network *n)
{
    neo_memory_desc desc = typed_desc_of(n, n->result);
    int out = typed_add_tensor(n, &(neo_tensor){.kind = NEO_TENSOR_OUTPUT, .desc = desc});
    typed_node *node = typed_begin_node(n, "output");
    neo_primitive_desc *pd;
    model_check(neo_reorder_primitive_desc_create(&pd, n->engine, &desc, &desc, node->attributes),
                "the output");
    typed_add_arg(node, NEO_ARG_SRC, n->of_layer[n->result], NEO_READS);
    typed_add_arg(node, NEO_ARG_DST, out, NEO_WRITES);
    typed_end_node(n, node, pd);
    return out;
}

typedef int build_fn(typed_network *n, int at);

static const struct {
    build_fn *build;
    bool takes_s8;
} kinds[LAYER_KINDS] = {
    [LAYER_INPUT] = {build_input, true},
    [LAYER_CONVOLUTION] = {build_convolution, true},
    [LAYER_MAX_POOL] = {build_max_pool, true},
    [LAYER_AVERAGE_POOL] = {build_average_pool, true},
    [LAYER_UPSAMPLE] = {build_upsample, false},
    [LAYER_CONCATENATION] = {build_concatenation, false},
    [LAYER_GATE] = {build_gate, true},
    [LAYER_FIRST_ROW] = {build_first_row, false},
    [LAYER_LINEAR] = {build_linear, true},
    [LAYER_ATTENTION] = {build_attention, false},
    [LAYER_NORMALIZATION] = {build_normalization, false},
    [LAYER_SOFTMAX] = {build_softmax, true},
};

int typed_build(typed_network *n)
{
    for (int i = 0; i < n->model->count; i++)
        n->scale_of[i] = -1;
    for (int i = 0; i < n->model->count; i++) {
        layer_kind kind = n->model->list[i].kind;
        if (n->type == NEO_S8 && !kinds[kind].takes_s8)
            model_check(NEO_UNSUPPORTED, "a layer in s8");
        n->of_layer[i] = kinds[kind].build(n, i);
    }
    return add_output(n);
}
