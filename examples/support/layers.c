/* Builds the network and, beside it, the list of the same nodes for running them one by one. */
#include "examples/support/layers.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TENSORS = 1024, MAX_NODES = 512, MAX_ARGS = 5 };

/* separate: a buffer of the tensor's own, or a view of one; for running one by one. */
typedef struct layer_tensor {
    neo_tensor given;
    neo_memory *separate;
    neo_packed_weights *packed; /* owns `separate` then */
    char name[32];
} layer_tensor;

typedef struct layer_node {
    neo_node given;
    neo_node_arg args[MAX_ARGS];
    neo_primitive *primitive;
    char name[32];
} layer_node;

struct layers {
    const char *title;
    neo_dim size;
    neo_engine *engine;
    neo_stream *stream;
    neo_network *network;
    layer_tensor tensors[MAX_TENSORS];
    int tensor_count;
    layer_node nodes[MAX_NODES];
    int node_count;
    uint32_t random;
};

/* ---- helpers ---- */

static void check(neo_status status, const char *what)
{
    if (status == NEO_OK)
        return;
    fprintf(stderr, "%s: %s (NEOPRENE_VERBOSE=1 tells more)\n", what, neo_status_text(status));
    exit(1);
}

static float next_random(layers *l)
{
    l->random = l->random * 1664525u + 1013904223u;
    return (float)(l->random >> 8) / (float)(1 << 23) - 1;
}

static neo_memory_desc describe(const char *tag, int ndims, const neo_dim *dims)
{
    neo_memory_desc desc;
    check(neo_memory_desc_init_tag(&desc, ndims, dims, NEO_F32, tag), "a descriptor");
    return desc;
}

static neo_memory_desc describe_image(neo_dim channels, neo_dim h, neo_dim w)
{
    return describe("acdb", 4, (neo_dim[]){1, channels, h, w});
}

static neo_memory_desc describe_rows(neo_dim rows, neo_dim columns)
{
    return describe("ab", 2, (neo_dim[]){rows, columns});
}

static const neo_dim *dims_of(const layers *l, int tensor)
{
    return l->tensors[tensor].given.desc.dims;
}

layers *layers_create(const char *title, int argc, char **argv, neo_dim default_size)
{
    layers *l = calloc(1, sizeof *l);
    check(l ? NEO_OK : NEO_OUT_OF_MEMORY, title);
    l->title = title;
    l->size = argc > 1 ? strtol(argv[1], NULL, 10) : default_size;
    l->random = 1;
    bool out_of_order = argc > 2 && strcmp(argv[2], "out-of-order") == 0;
    neo_network_options options = {
        .order = out_of_order ? NEO_NETWORK_OUT_OF_ORDER : NEO_NETWORK_IN_ORDER,
        .flags = NEO_NETWORK_POISON,
    };
    check(neo_engine_create(&l->engine), "the engine");
    check(neo_stream_create(&l->stream, l->engine, NULL), "the stream");
    check(neo_network_create(&l->network, l->engine, &options), "the network");
    return l;
}

neo_dim layers_size(const layers *l)
{
    return l->size;
}

/* ---- tensors ---- */

/* Numbers are the same here and in the network. */
static int add_tensor(layers *l, const neo_tensor *given)
{
    layer_tensor *t = &l->tensors[l->tensor_count];
    if (l->tensor_count == MAX_TENSORS)
        check(NEO_OUT_OF_MEMORY, "a tensor");
    snprintf(t->name, sizeof t->name, "t%d", l->tensor_count);
    t->given = *given;
    t->given.name = t->name;
    void *handle = NEO_MEMORY_ALLOCATE;
    if (given->sharing == NEO_SHARES_VIEW)
        handle = neo_memory_get_handle(l->tensors[given->shares_with].separate);
    if (given->memory)
        t->separate = given->memory;
    else
        check(neo_memory_create(&t->separate, &given->desc, l->engine, handle), "a buffer");
    check(neo_network_add_tensor(l->network, &t->given, NULL), "a tensor");
    return l->tensor_count++;
}

static int add_result(layers *l, const neo_memory_desc *desc)
{
    return add_tensor(l, &(neo_tensor){.desc = *desc});
}

static int add_over(layers *l, const neo_memory_desc *desc, int over)
{
    return add_tensor(
        l, &(neo_tensor){.desc = *desc, .sharing = NEO_SHARES_IN_PLACE, .shares_with = over});
}

static int add_view(layers *l, const neo_memory_desc *desc, int of)
{
    return add_tensor(l,
                      &(neo_tensor){.desc = *desc, .sharing = NEO_SHARES_VIEW, .shares_with = of});
}

static int add_input(layers *l, const neo_memory_desc *desc)
{
    int tensor = add_tensor(l, &(neo_tensor){.kind = NEO_TENSOR_INPUT, .desc = *desc});
    float *data = neo_memory_get_handle(l->tensors[tensor].separate);
    for (size_t i = 0; i < neo_memory_desc_elements(desc); i++)
        data[i] = next_random(l);
    check(neo_network_bind(l->network, tensor, data), "an input");
    return tensor;
}

int layers_image(layers *l, neo_dim channels, neo_dim side)
{
    neo_memory_desc desc = describe_image(channels, side, side);
    return add_input(l, &desc);
}

int layers_sequence(layers *l, neo_dim rows, neo_dim columns)
{
    neo_memory_desc desc = describe_rows(rows, columns);
    return add_input(l, &desc);
}

/* ---- weights: random, and packed once into the layout that the primitive chose ---- */

/* The amplitude keeps the values of layer after layer of about the same size. */
static neo_memory *make_weights(layers *l, const neo_memory_desc *plain, neo_dim inputs)
{
    neo_memory *weights;
    check(neo_memory_create(&weights, plain, l->engine, NEO_MEMORY_ALLOCATE), "weights");
    float *data = neo_memory_get_handle(weights), amplitude = sqrtf(3.0f / (float)inputs);
    for (size_t i = 0; i < neo_memory_desc_elements(plain); i++)
        data[i] = amplitude * next_random(l);
    return weights;
}

static int add_weights(layers *l, const neo_memory_desc *plain, const neo_primitive_desc *pd,
                       neo_dim inputs)
{
    neo_memory *weights = make_weights(l, plain, inputs);
    neo_packed_weights *packed;
    check(neo_weights_pack(&packed, pd, l->stream, weights), "packed weights");
    neo_memory_destroy(weights);
    neo_tensor tensor = {.kind = NEO_TENSOR_CONSTANT, .memory = neo_packed_weights_memory(packed)};
    tensor.desc = *neo_memory_get_desc(tensor.memory);
    int added = add_tensor(l, &tensor);
    l->tensors[added].packed = packed;
    return added;
}

static int add_bias(layers *l, const neo_memory_desc *plain)
{
    neo_tensor tensor = {
        .kind = NEO_TENSOR_CONSTANT, .memory = make_weights(l, plain, 100), .desc = *plain};
    return add_tensor(l, &tensor);
}

/* ---- nodes ---- */

static layer_node *begin_node(layers *l, const char *name)
{
    layer_node *node = &l->nodes[l->node_count];
    if (l->node_count == MAX_NODES)
        check(NEO_OUT_OF_MEMORY, "a node");
    snprintf(node->name, sizeof node->name, "%s %d", name, l->node_count++);
    node->given = (neo_node){.name = node->name, .args = node->args};
    return node;
}

static void add_arg(layer_node *node, int arg, int tensor, uint32_t access)
{
    node->args[node->given.count++] = (neo_node_arg){arg, tensor, access};
}

static void end_node(layers *l, layer_node *node)
{
    node->given.primitive = node->primitive;
    check(neo_network_add_node(l->network, &node->given, NULL), node->name);
}

/* ---- primitives ---- */

/* With a scratchpad of the user's, so that it becomes a part of the plan. */
static neo_attributes *make_attributes(int activation, int residual, int sum_first, float scale)
{
    neo_attributes *a;
    check(neo_attributes_create(&a), "attributes");
    check(neo_attributes_set_scratchpad_mode(a, NEO_SCRATCHPAD_USER), "attributes");
    if (scale != 1)
        check(neo_attributes_append_eltwise(a, NEO_ELTWISE_LINEAR, scale, 0), "attributes");
    if (residual >= 0 && sum_first)
        check(neo_attributes_append_sum(a, 1, 0, NEO_DATA_TYPE_UNDEF), "attributes");
    if (activation >= 0)
        check(neo_attributes_append_eltwise(a, (neo_eltwise)activation, 0, 6), "attributes");
    if (residual >= 0 && !sum_first)
        check(neo_attributes_append_sum(a, 1, 0, NEO_DATA_TYPE_UNDEF), "attributes");
    return a;
}

static void end_primitive(layers *l, layer_node *node, neo_primitive_desc *pd)
{
    check(neo_primitive_create(&node->primitive, pd), node->name);
    neo_primitive_desc_destroy(pd);
    end_node(l, node);
}

/* A sum reads what it is written over. */
static int add_destination(layers *l, layer_node *node, const neo_memory_desc *desc, int residual)
{
    int out = residual >= 0 ? add_over(l, desc, residual) : add_result(l, desc);
    if (residual >= 0)
        add_arg(node, NEO_ARG_UNDEF, residual, NEO_READS);
    add_arg(node, NEO_ARG_DST, out, NEO_WRITES);
    return out;
}

/* ---- layers without weights ---- */

/* A layer of one or two inputs: as arguments first and first + 1. */
static int end_layer(layers *l, const char *name, neo_primitive_desc *pd,
                     neo_attributes *attributes, int first, int a, int b, int out)
{
    layer_node *node = begin_node(l, name);
    neo_attributes_destroy(attributes);
    add_arg(node, first, a, NEO_READS);
    if (b >= 0)
        add_arg(node, first + 1, b, NEO_READS);
    add_arg(node, NEO_ARG_DST, out, NEO_WRITES);
    end_primitive(l, node, pd);
    return out;
}

static neo_attributes *plain_attributes(void)
{
    return make_attributes(LAYERS_NO_ACTIVATION, LAYERS_NO_RESIDUAL, 0, 1);
}

static int pool(layers *l, int in, const neo_pooling_desc *desc)
{
    neo_attributes *attributes = plain_attributes();
    neo_primitive_desc *pd;
    check(neo_pooling_primitive_desc_create(&pd, l->engine, desc, attributes), "pooling");
    return end_layer(l, "pool", pd, attributes, NEO_ARG_SRC, in, -1, add_result(l, &desc->dst));
}

int layers_max_pool(layers *l, int in, neo_dim kernel, neo_dim stride)
{
    const neo_dim *dims = dims_of(l, in);
    neo_dim pad = (kernel - 1) / 2;
    neo_pooling_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_POOLING_MAX,
        .src = l->tensors[in].given.desc,
        .dst = describe_image(dims[1], (dims[2] + 2 * pad - kernel) / stride + 1,
                              (dims[3] + 2 * pad - kernel) / stride + 1),
        .strides = {stride, stride},
        .kernel = {kernel, kernel},
        .padding_left = {pad, pad},
        .padding_right = {pad, pad},
    };
    return pool(l, in, &desc);
}

/* One pixel, seen as a row. */
int layers_average_pool(layers *l, int in)
{
    const neo_dim *dims = dims_of(l, in);
    neo_pooling_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_POOLING_AVERAGE_EXCLUDE_PADDING,
        .src = l->tensors[in].given.desc,
        .dst = describe_image(dims[1], 1, 1),
        .strides = {1, 1},
        .kernel = {dims[2], dims[3]},
    };
    neo_memory_desc row = describe_rows(1, dims[1]);
    return add_view(l, &row, pool(l, in, &desc));
}

int layers_upsample(layers *l, int in)
{
    const neo_dim *dims = dims_of(l, in);
    neo_memory_desc desc = describe_image(dims[1], dims[2] * 2, dims[3] * 2);
    neo_attributes *attributes = plain_attributes();
    neo_primitive_desc *pd;
    check(neo_resampling_primitive_desc_create(&pd, l->engine, NEO_FORWARD_INFERENCE,
                                               NEO_RESAMPLING_NEAREST, NULL,
                                               &l->tensors[in].given.desc, &desc, attributes),
          "resampling");
    return end_layer(l, "upsample", pd, attributes, NEO_ARG_SRC, in, -1, add_result(l, &desc));
}

int layers_concatenate(layers *l, int a, int b)
{
    const neo_dim *dims = dims_of(l, a);
    neo_memory_desc desc = describe_image(dims[1] + dims_of(l, b)[1], dims[2], dims[3]);
    neo_memory_desc sources[] = {l->tensors[a].given.desc, l->tensors[b].given.desc};
    neo_attributes *attributes = plain_attributes();
    neo_primitive_desc *pd;
    check(neo_concat_primitive_desc_create(&pd, l->engine, &desc, 2, 1, sources, attributes),
          "concatenation");
    return end_layer(l, "concatenate", pd, attributes, NEO_ARG_MULTIPLE_SRC, a, b,
                     add_result(l, &desc));
}

int layers_normalize(layers *l, int in)
{
    const neo_memory_desc *desc = &l->tensors[in].given.desc;
    neo_attributes *attributes = plain_attributes();
    neo_primitive_desc *pd;
    check(neo_layer_normalization_primitive_desc_create(&pd, l->engine, NEO_FORWARD_INFERENCE, desc,
                                                        desc, NULL, NEO_F32, 1e-5f,
                                                        NEO_NORMALIZATION_NONE, attributes),
          "normalisation");
    return end_layer(l, "normalize", pd, attributes, NEO_ARG_SRC, in, -1, add_over(l, desc, in));
}

int layers_softmax(layers *l, int in)
{
    const neo_memory_desc *desc = &l->tensors[in].given.desc;
    neo_attributes *attributes = plain_attributes();
    neo_primitive_desc *pd;
    check(neo_softmax_primitive_desc_create(&pd, l->engine, NEO_FORWARD_INFERENCE,
                                            NEO_SOFTMAX_ACCURATE, desc, desc, desc->ndims - 1,
                                            attributes),
          "softmax");
    return end_layer(l, "softmax", pd, attributes, NEO_ARG_SRC, in, -1, add_over(l, desc, in));
}

/* ---- layers with weights ---- */

static neo_dim or_one(neo_dim value)
{
    return value ? value : 1;
}

static neo_memory_desc describe_kernel(neo_dim groups, neo_dim oc, neo_dim ic, neo_dim k,
                                       const char *tag)
{
    if (groups == 1)
        return describe(tag ? tag : "oihw", 4, (neo_dim[]){oc, ic, k, k});
    return describe(tag ? tag : "goihw", 5, (neo_dim[]){groups, oc / groups, ic / groups, k, k});
}

int layers_convolve(layers *l, int in, const layers_conv *conv)
{
    const neo_dim *dims = dims_of(l, in);
    neo_dim k = or_one(conv->kernel), stride = or_one(conv->stride), groups = or_one(conv->groups);
    neo_dim ic = dims[1], oc = conv->channels, pad = (k - 1) / 2;
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = l->tensors[in].given.desc,
        .weights = describe_kernel(groups, oc, ic, k, "any"),
        .bias = describe("a", 1, &oc),
        .dst = describe_image(oc, (dims[2] + 2 * pad - k) / stride + 1,
                              (dims[3] + 2 * pad - k) / stride + 1),
        .strides = {stride, stride},
        .padding_left = {pad, pad},
        .padding_right = {pad, pad},
    };
    neo_attributes *attributes = make_attributes(conv->activation, conv->residual, 1, 1);
    neo_primitive_desc *pd;
    check(neo_convolution_primitive_desc_create(&pd, l->engine, &desc, attributes), "convolution");
    neo_attributes_destroy(attributes);
    neo_memory_desc plain = describe_kernel(groups, oc, ic, k, NULL);
    int weights = add_weights(l, &plain, pd, ic / groups * k * k);
    int bias = add_bias(l, &desc.bias);
    layer_node *node = begin_node(l, "convolution");
    add_arg(node, NEO_ARG_SRC, in, NEO_READS);
    add_arg(node, NEO_ARG_WEIGHTS, weights, NEO_READS);
    add_arg(node, NEO_ARG_BIAS, bias, NEO_READS);
    int out = add_destination(l, node, &desc.dst, conv->residual);
    end_primitive(l, node, pd);
    return out;
}

int layers_linear(layers *l, int in, neo_dim columns, int activation, int residual)
{
    const neo_dim *dims = dims_of(l, in);
    neo_matmul_desc desc = {
        .src = l->tensors[in].given.desc,
        .weights = describe("any", 2, (neo_dim[]){dims[1], columns}),
        .bias = describe_rows(1, columns),
        .dst = describe_rows(dims[0], columns),
    };
    neo_attributes *attributes = make_attributes(activation, residual, 0, 1);
    neo_primitive_desc *pd;
    check(neo_matmul_primitive_desc_create(&pd, l->engine, &desc, attributes), "linear");
    neo_attributes_destroy(attributes);
    neo_memory_desc plain = describe_rows(dims[1], columns);
    int weights = add_weights(l, &plain, pd, dims[1]);
    int bias = add_bias(l, &desc.bias);
    layer_node *node = begin_node(l, "linear");
    add_arg(node, NEO_ARG_SRC, in, NEO_READS);
    add_arg(node, NEO_ARG_WEIGHTS, weights, NEO_READS);
    add_arg(node, NEO_ARG_BIAS, bias, NEO_READS);
    int out = add_destination(l, node, &desc.dst, residual);
    end_primitive(l, node, pd);
    return out;
}

/* A product of two tensors, neither of which is a constant. */
static void multiply(layers *l, int a, int b, int out, float scale)
{
    neo_matmul_desc desc = {.src = l->tensors[a].given.desc,
                            .weights = l->tensors[b].given.desc,
                            .dst = l->tensors[out].given.desc};
    neo_attributes *attributes =
        make_attributes(LAYERS_NO_ACTIVATION, LAYERS_NO_RESIDUAL, 0, scale);
    neo_primitive_desc *pd;
    check(neo_matmul_primitive_desc_create(&pd, l->engine, &desc, attributes), "matmul");
    neo_attributes_destroy(attributes);
    layer_node *node = begin_node(l, "matmul");
    add_arg(node, NEO_ARG_SRC, a, NEO_READS);
    add_arg(node, NEO_ARG_WEIGHTS, b, NEO_READS);
    add_arg(node, NEO_ARG_DST, out, NEO_WRITES);
    end_primitive(l, node, pd);
}

/* rows × (heads * width) as heads × rows × width, or heads × width × rows. */
static int view_heads(layers *l, int tensor, neo_dim heads, bool transposed)
{
    neo_dim rows = dims_of(l, tensor)[0], d = dims_of(l, tensor)[1], width = d / heads;
    neo_dim dims[] = {heads, transposed ? width : rows, transposed ? rows : width};
    neo_dim strides[] = {width, transposed ? 1 : d, transposed ? d : 1};
    neo_memory_desc desc;
    check(neo_memory_desc_init_strides(&desc, 3, dims, NEO_F32, strides), "a view");
    return add_view(l, &desc, tensor);
}

int layers_attention(layers *l, int q, int k, int v, int heads)
{
    neo_dim rows = dims_of(l, q)[0], d = dims_of(l, q)[1], width = d / heads;
    neo_memory_desc scores_desc = describe("abc", 3, (neo_dim[]){heads, rows, rows});
    neo_memory_desc mixed_desc = describe_rows(rows, d);
    int scores = add_result(l, &scores_desc);
    multiply(l, view_heads(l, q, heads, false), view_heads(l, k, heads, true), scores,
             1 / sqrtf((float)width));
    int weights = layers_softmax(l, scores);
    int mixed = add_result(l, &mixed_desc); /* written through its view */
    multiply(l, weights, view_heads(l, v, heads, false), view_heads(l, mixed, heads, false), 1);
    return mixed;
}

/* ---- one by one, with separate buffers ---- */

/* What is written in place begins as a copy of what it is written over. */
static void copy_shared(layers *l, const layer_node *node)
{
    for (int i = 0; i < node->given.count; i++) {
        const layer_tensor *t = &l->tensors[node->args[i].tensor];
        if (node->args[i].access == NEO_WRITES && t->given.sharing == NEO_SHARES_IN_PLACE)
            memcpy(neo_memory_get_handle(t->separate),
                   neo_memory_get_handle(l->tensors[t->given.shares_with].separate),
                   neo_memory_desc_size(&t->given.desc));
    }
}

static neo_status run_primitive(layers *l, const layer_node *node, neo_memory *const *memories,
                                int count)
{
    neo_exec_arg args[MAX_ARGS + 1];
    neo_memory *scratchpad = NULL;
    const neo_primitive_desc *pd = neo_primitive_get_desc(node->primitive);
    neo_dim bytes =
        (neo_dim)neo_primitive_desc_scratchpad_size(pd, neo_stream_num_threads(l->stream));
    for (int i = 0, k = 0; i < node->given.count; i++)
        if (node->args[i].arg != NEO_ARG_UNDEF) {
            args[k] = (neo_exec_arg){node->args[i].arg, memories[k]};
            k++;
        }
    void *data = NULL;
    if (bytes && posix_memalign(&data, neo_primitive_desc_scratchpad_alignment(pd), (size_t)bytes))
        return NEO_OUT_OF_MEMORY;
    if (bytes) {
        neo_memory_desc desc;
        check(neo_memory_desc_init_tag(&desc, 1, &bytes, NEO_U8, "a"), "a scratchpad");
        check(neo_memory_create(&scratchpad, &desc, l->engine, data), "a scratchpad");
        args[count++] = (neo_exec_arg){NEO_ARG_SCRATCHPAD, scratchpad};
    }
    neo_status status = neo_primitive_execute(node->primitive, l->stream, count, args);
    neo_memory_destroy(scratchpad);
    free(data);
    return status;
}

static void run_separately(layers *l, const layer_node *node)
{
    neo_memory *memories[MAX_ARGS];
    int count = 0;
    for (int i = 0; i < node->given.count; i++)
        if (node->args[i].arg != NEO_ARG_UNDEF)
            memories[count++] = l->tensors[node->args[i].tensor].separate;
    copy_shared(l, node);
    check(run_primitive(l, node, memories, count), node->name);
}

/* ---- the end ---- */

/* The output is a copy of the result: results may be written over. */
static void copy_to_output(layers *l, int result, int output)
{
    neo_attributes *attributes = plain_attributes();
    neo_primitive_desc *pd;
    check(neo_reorder_primitive_desc_create(&pd, l->engine, &l->tensors[result].given.desc,
                                            &l->tensors[output].given.desc, attributes),
          "the output");
    end_layer(l, "output", pd, attributes, NEO_ARG_SRC, result, -1, output);
}

static void print_report(const layers *l, int same)
{
    neo_network_report r;
    check(neo_network_get_report(l->network, &r), "the report");
    printf(
        "%s: %d nodes, %d buffers: planned %.2f MiB, lower bound %.2f (%.4f), without reuse %.2f; "
        "%s\n",
        l->title, l->node_count, r.buffers, (double)r.planned_bytes / (1 << 20),
        (double)r.lower_bound_bytes / (1 << 20),
        (double)r.planned_bytes / (double)r.lower_bound_bytes, (double)r.no_reuse_bytes / (1 << 20),
        same ? "the same result as with separate buffers" : "THE RESULT DIFFERS");
    const char *plan = getenv("PLAN_CSV"), *history = getenv("HISTORY_CSV");
    if (plan)
        check(neo_network_dump_plan(l->network, plan), plan);
    if (history)
        check(neo_engine_dump_memory_history(l->engine, history), history);
}

static void destroy(layers *l)
{
    neo_network_destroy(l->network);
    for (int i = 0; i < l->node_count; i++)
        neo_primitive_destroy(l->nodes[i].primitive);
    for (int i = 0; i < l->tensor_count; i++)
        if (l->tensors[i].packed)
            neo_packed_weights_destroy(l->tensors[i].packed);
        else
            neo_memory_destroy(l->tensors[i].separate);
    neo_stream_destroy(l->stream);
    neo_engine_destroy(l->engine);
    free(l);
}

static int is_plausible(const float *values, size_t count)
{
    size_t nonzero = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            return 0;
        nonzero += values[i] != 0;
    }
    return nonzero > 0;
}

int layers_finish(layers *l, int result)
{
    neo_memory_desc desc = l->tensors[result].given.desc;
    int out = add_tensor(l, &(neo_tensor){.kind = NEO_TENSOR_OUTPUT, .desc = desc});
    copy_to_output(l, result, out);
    check(neo_network_finalize(l->network), "finalize");
    for (int round = 0; round < 2; round++)
        check(neo_network_execute(l->network, l->stream), "execute");
    for (int i = 0; i < l->node_count; i++)
        run_separately(l, &l->nodes[i]);
    const float *expected = neo_memory_get_handle(l->tensors[out].separate);
    int same =
        memcmp(neo_network_data(l->network, out), expected, neo_memory_desc_size(&desc)) == 0 &&
        is_plausible(expected, neo_memory_desc_elements(&desc));
    print_report(l, same);
    destroy(l);
    return !same;
}
