/* Building networks: tensors, nodes, loops. */
#include "src/network/network.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/primitive/engine.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"

#define DEFAULT_PLANS 16

/* ---- the network ---- */

/* The predictor's limits are the engine's, unless the user set some. */
static uint64_t used_bytes(void *engine)
{
    return tracker_usage(&((neo_engine *)engine)->memory.tracker, NEO_KIND_ALL).current;
}

static neo_status make_predictor(neo_network *network, const neo_shape_predictor_settings *given)
{
    neo_shape_predictor_settings settings;
    if (given)
        settings = *given;
    else
        neo_shape_predictor_get_default_settings(&settings);
    struct limits *limits = &network->engine->memory.limits;
    if (!settings.max_object_bytes)
        settings.max_object_bytes = limits_object(limits);
    if (!settings.max_total_bytes)
        settings.max_total_bytes = limits_total(limits);
    if (!settings.used_bytes) {
        settings.used_bytes = used_bytes;
        settings.context = network->engine;
    }
    return neo_shape_predictor_create(&network->predictor, &settings);
}

static const char *find_fault(const neo_network_options *options)
{
    if (reserved_is_set(options->reserved))
        return RESERVED_IS_SET;
    if (options->order != NEO_NETWORK_IN_ORDER && options->order != NEO_NETWORK_OUT_OF_ORDER)
        return "the order is unknown";
    if (options->threads < 0 || options->max_plans < 0)
        return "threads or max_plans is negative";
    if (options->kind >= NEO_KIND_COUNT)
        return "the kind of allocation is unknown";
    return options->flags & ~NEO_NETWORK_POISON ? "a flag is unknown" : NULL;
}

neo_status neo_network_create(neo_network **out, neo_engine *engine,
                              const neo_network_options *options)
{
    const neo_network_options defaults = {0};
    options = options ? options : &defaults;
    const char *fault = !out || !engine ? "out or engine is NULL" : find_fault(options);
    if (out)
        *out = NULL;
    if (fault)
        return network_refuse("options", NULL, fault);
    neo_network *network = calloc(1, sizeof *network);
    if (!network)
        return NEO_OUT_OF_MEMORY;
    network->engine = engine_retain(engine);
    network->order = options->order;
    network->flags = options->flags;
    network->threads = options->threads;
    network->kind = options->kind;
    network->max_plans = options->max_plans ? options->max_plans : DEFAULT_PLANS;
    lock_init(&network->run.lock);
    neo_status status = make_predictor(network, options->prediction);
    if (status != NEO_OK) {
        neo_network_destroy(network);
        return status;
    }
    *out = network;
    return NEO_OK;
}

static void free_node(struct network_node *node)
{
    neo_primitive_destroy(node->own);
    free(node->memories);
    free(node->passed);
    free(node->args);
    free(node->name);
}

void neo_network_destroy(neo_network *network)
{
    if (!network)
        return;
    for (int i = 0; i < network->tensor_count; i++)
        free(network->tensors[i].name);
    for (int i = 0; i < network->node_count; i++)
        free_node(&network->nodes[i]);
    network_forget_analysis(network);
    allocation_destroy(&network->arena);
    free(network->loops);
    free(network->nodes);
    free(network->tensors);
    neo_shape_predictor_destroy(network->predictor);
    lock_deinit(&network->run.lock);
    engine_release(network->engine);
    free(network);
}

/* Room for one more element at *array; the elements may move. */
static bool grow(void **array, int count, int *room, size_t size)
{
    if (count < *room)
        return true;
    int wanted = *room ? *room * 2 : 16;
    void *grown = realloc(*array, (size_t)wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

/* ---- tensors ---- */

neo_status neo_network_find_tensor(const neo_network *network, const char *name, int *tensor)
{
    for (int i = 0; network && name && i < network->tensor_count; i++) {
        if (strcmp(network->tensors[i].name, name) != 0)
            continue;
        if (tensor)
            *tensor = i;
        return NEO_OK;
    }
    return NEO_NOT_FOUND;
}

static bool is_desc_valid(const neo_memory_desc *desc)
{
    return !desc_is_absent(desc) && !desc_wrong(desc) && desc->format_kind != NEO_FORMAT_ANY &&
           !desc_is_runtime(desc);
}

static const char *find_sharing_fault(const neo_network *network, const neo_tensor *t)
{
    if (t->sharing == NEO_SHARES_NOTHING)
        return NULL;
    if (t->sharing > NEO_SHARES_IN_PLACE)
        return "the sharing is unknown";
    if (t->shares_with < 0 || t->shares_with >= network->tensor_count)
        return "there is no tensor shares_with";
    if (network_is_external((const struct network_tensor *)&network->tensors[t->shares_with]) &&
        t->sharing == NEO_SHARES_IN_PLACE)
        return "it would overwrite the user's buffer";
    if (t->kind != NEO_TENSOR_INTERMEDIATE && t->kind != NEO_TENSOR_OUTPUT)
        return "a tensor with a buffer of the user's shares nothing";
    if (t->sharing == NEO_SHARES_IN_PLACE && t->share_offset)
        return "share_offset is for views";
    size_t element_bits = neo_data_type_bits(t->desc.data_type);
    if (element_bits >= 8 && t->share_offset % (element_bits / 8))
        return "share_offset is not at an element";
    return NULL;
}

static const char *find_tensor_fault(const neo_network *network, const neo_tensor *t)
{
    if (network->final)
        return "the network is final";
    if (reserved_is_set(t->reserved))
        return RESERVED_IS_SET;
    if (!t->name || neo_network_find_tensor(network, t->name, NULL) == NEO_OK)
        return "the name is missing or taken";
    if (t->kind > NEO_TENSOR_CONSTANT)
        return "the kind is unknown";
    if ((t->kind == NEO_TENSOR_CONSTANT) != (t->memory != NULL))
        return "a constant has a memory object, and nothing else has one";
    if (t->memory && t->memory->engine != network->engine)
        return "the memory is of another engine";
    if (!t->memory && !is_desc_valid(&t->desc))
        return "the descriptor is invalid, `any`, or has run-time sizes";
    return find_sharing_fault(network, t);
}

static void init_tensor(struct network_tensor *tensor, const neo_tensor *t, neo_engine *engine)
{
    bool shares = t->sharing != NEO_SHARES_NOTHING;
    *tensor = (struct network_tensor){
        .kind = t->kind,
        .sharing = t->sharing,
        .shares_with = shares ? t->shares_with : NETWORK_NONE,
        .share_offset = shares ? t->share_offset : 0,
        .writer = NETWORK_NONE,
        .skipped_to = NETWORK_NONE,
        .first_follower = NETWORK_NONE,
        .next_follower = NETWORK_NONE,
        .memory = {.engine = engine},
    };
    memory_describe(&tensor->memory, t->memory ? &t->memory->desc : &t->desc);
    if (t->memory)
        memory_set_handle(&tensor->memory, t->memory->handle);
}

neo_status neo_network_add_tensor(neo_network *network, const neo_tensor *description, int *tensor)
{
    if (!network || !description)
        return network_refuse("tensor", NULL, "a pointer is NULL");
    const char *fault = find_tensor_fault(network, description);
    if (fault)
        return network_refuse("tensor", description->name, fault);
    void *array = network->tensors;
    bool grown =
        grow(&array, network->tensor_count, &network->tensor_room, sizeof *network->tensors);
    network->tensors = array;
    char *name = grown ? strdup(description->name) : NULL;
    if (!name)
        return NEO_OUT_OF_MEMORY;
    struct network_tensor *added = &network->tensors[network->tensor_count];
    init_tensor(added, description, network->engine);
    added->name = name;
    if (tensor)
        *tensor = network->tensor_count;
    network->tensor_count++;
    return NEO_OK;
}

/* ---- nodes ---- */

static const char *find_arg_fault(const neo_network *network, const neo_node_arg *arg)
{
    if (arg->tensor < 0 || arg->tensor >= network->tensor_count)
        return "an argument is no tensor";
    const struct network_tensor *tensor = &network->tensors[arg->tensor];
    if (arg->access != NEO_READS && arg->access != NEO_WRITES)
        return "an argument is neither read nor written";
    if (arg->access == NEO_READS)
        return NULL;
    if (tensor->writer != NETWORK_NONE)
        return "a tensor it writes has a writer";
    if (tensor->kind == NEO_TENSOR_INPUT || tensor->kind == NEO_TENSOR_CONSTANT)
        return "it writes an input or a constant";
    return NULL;
}

static const neo_node_arg *find_access(const neo_node *n, int tensor, uint32_t access)
{
    for (int i = 0; i < n->count; i++)
        if (n->args[i].access == access && (tensor < 0 || n->args[i].tensor == tensor))
            return &n->args[i];
    return NULL;
}

static const char *find_skip_fault(const neo_node *n)
{
    const neo_node_arg *written = find_access(n, -1, NEO_WRITES);
    if (!written)
        return "a node that may be skipped writes one tensor";
    for (const neo_node_arg *arg = written + 1; arg < n->args + n->count; arg++)
        if (arg->access == NEO_WRITES)
            return "a node that may be skipped writes one tensor";
    if (!find_access(n, n->skipped_to, NEO_READS) || n->skipped_to >= written->tensor)
        return "skipped_to is not read, or was added after what the node writes";
    return NULL;
}

static const char *find_node_fault(const neo_network *network, const neo_node *n)
{
    if (network->final)
        return "the network is final";
    if (reserved_is_set(n->reserved))
        return RESERVED_IS_SET;
    if (!n->name || n->count < 0 || (n->count && !n->args))
        return "the name or an argument is missing";
    if (!n->primitive == !n->function)
        return "it is a primitive or a function";
    if (n->primitive && handle_engine(&n->primitive->desc.handle) != network->engine)
        return "the primitive is of another engine";
    for (int i = 0; i < n->count; i++) {
        const char *fault = find_arg_fault(network, &n->args[i]);
        if (fault)
            return fault;
        for (int k = 0; k < i; k++)
            if (n->args[i].tensor == n->args[k].tensor &&
                (n->args[i].access | n->args[k].access) & NEO_WRITES)
                return "a tensor is written and used otherwise by one node";
    }
    return n->skip ? find_skip_fault(n) : NULL;
}

/* The tensors are not at their final addresses yet; finalize fills passed and memories. */
static bool init_node(struct network_node *node, const neo_node *n)
{
    size_t count = (size_t)n->count;
    *node = (struct network_node){
        .name = strdup(n->name),
        .args = malloc((count + 1) * sizeof *node->args),
        .passed = calloc(count + 1, sizeof *node->passed), /* one more: the scratchpad */
        .memories = calloc(count + 1, sizeof *node->memories),
        .count = n->count,
        .primitive = n->primitive,
        .function = n->function,
        .context = n->context,
        .workspace_of = n->workspace,
        .workspace_bytes = n->workspace_bytes,
        .skip = n->skip,
        .skipped_to = n->skip ? n->skipped_to : NETWORK_NONE,
    };
    if (!node->name || !node->args || !node->passed || !node->memories)
        return false;
    if (count)
        memcpy(node->args, n->args, count * sizeof *node->args);
    return true;
}

neo_status neo_network_add_node(neo_network *network, const neo_node *description, int *node)
{
    if (!network || !description)
        return network_refuse("node", NULL, "a pointer is NULL");
    const char *fault = find_node_fault(network, description);
    if (fault)
        return network_refuse("node", description->name, fault);
    void *array = network->nodes;
    bool grown = grow(&array, network->node_count, &network->node_room, sizeof *network->nodes);
    network->nodes = array;
    if (!grown)
        return NEO_OUT_OF_MEMORY;
    struct network_node *added = &network->nodes[network->node_count];
    if (!init_node(added, description)) {
        free_node(added);
        return NEO_OUT_OF_MEMORY;
    }
    for (int i = 0; i < added->count; i++) {
        struct network_tensor *tensor = &network->tensors[added->args[i].tensor];
        if (added->args[i].access != NEO_WRITES)
            continue;
        tensor->writer = network->node_count;
        tensor->skipped_to = added->skipped_to;
    }
    if (node)
        *node = network->node_count;
    network->node_count++;
    return NEO_OK;
}

/* ---- loops ---- */

static bool cross(const struct network_loop *a, const struct network_loop *b)
{
    bool apart = a->last < b->first || b->last < a->first;
    bool inside = (a->first <= b->first && b->last <= a->last) ||
                  (b->first <= a->first && a->last <= b->last);
    return !apart && (!inside || (a->first == b->first && a->last == b->last));
}

/* Sorted by first node; of those with the same, the longest. */
static bool comes_before(const struct network_loop *a, const struct network_loop *b)
{
    return a->first < b->first || (a->first == b->first && a->last > b->last);
}

neo_status neo_network_add_loop(neo_network *network, int first, int last, neo_loop_fn *again,
                                void *context)
{
    if (!network || !again || first < 0 || first > last || network->final)
        return network_refuse("loop", NULL, "an argument is wrong, or the network is final");
    struct network_loop loop = {first, last, again, context};
    for (int i = 0; i < network->loop_count; i++)
        if (cross(&loop, &network->loops[i]))
            return network_refuse("loop", NULL, "it overlaps another one");
    void *array = network->loops;
    bool grown = grow(&array, network->loop_count, &network->loop_room, sizeof *network->loops);
    network->loops = array;
    if (!grown)
        return NEO_OUT_OF_MEMORY;
    int at = network->loop_count++;
    for (; at && comes_before(&loop, &network->loops[at - 1]); at--)
        network->loops[at] = network->loops[at - 1];
    network->loops[at] = loop;
    return NEO_OK;
}

/* ---- buffers of the user's ---- */

neo_status neo_network_bind(neo_network *network, int tensor, void *data)
{
    if (!network || tensor < 0 || tensor >= network->tensor_count || !data)
        return network_refuse("bind", NULL, "there is no such tensor, or no data");
    struct network_tensor *bound = &network->tensors[tensor];
    if (bound->kind != NEO_TENSOR_INPUT && bound->kind != NEO_TENSOR_BOUND_OUTPUT)
        return network_refuse("bind", bound->name, "it is neither an input nor a bound output");
    memory_set_handle(&bound->memory, data);
    return NEO_OK;
}

void *neo_network_data(const neo_network *network, int tensor)
{
    if (!network || tensor < 0 || tensor >= network->tensor_count)
        return NULL;
    return network->tensors[tensor].memory.handle;
}
