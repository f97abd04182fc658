/* Finalizing, reshaping and reporting. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/core/log.h"
#include "src/memory/blocks/usage_report.h"
#include "src/memory/domain_report.h"
#include "src/network/network.h"
#include "src/primitive/implementation.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"

/* ---- finalize ---- */

void network_forget_analysis(neo_network *network)
{
    network_drop_plans(network);
    free(network->run.left);
    free(network->run.ready);
    free(network->unused_by);
    free(network->users);
    free(network->touched);
    free(network->successors);
    free(network->conflicts);
    free(network->finishes);
    free(network->starts);
    network->run.left = network->run.ready = NULL;
    network->unused_by = NULL;
    network->users = network->touched = network->successors = NULL;
    network->conflicts = NULL;
    network->finishes = network->starts = NULL;
    network->touched_count = network->successor_count = 0;
    for (int i = 0; i < network->node_count; i++)
        network->nodes[i].waits_for = 0;
    for (int i = 0; i < network->tensor_count; i++)
        network->tensors[i].first_follower = network->tensors[i].next_follower = NETWORK_NONE;
}

/* Now that tensors do not move any more. */
static void connect_node(neo_network *network, struct network_node *node)
{
    node->passed_count = 0;
    for (int k = 0; k < node->count; k++) {
        const neo_node_arg *arg = &node->args[k];
        neo_memory *memory = &network->tensors[arg->tensor].memory;
        if (arg->arg == NEO_ARG_UNDEF)
            continue;
        node->memories[node->passed_count] = memory;
        node->passed[node->passed_count++] = (neo_exec_arg){arg->arg, memory};
    }
}

/* A scratchpad in the arena is one more argument. */
static void connect_workspace(neo_network *network, struct network_node *node)
{
    neo_dim bytes = (neo_dim)node->workspace_bytes;
    if (!node->primitive || !bytes)
        return;
    neo_memory_desc desc;
    neo_memory_desc_init_tag(&desc, 1, &bytes, NEO_U8, "a");
    node->workspace.engine = network->engine;
    memory_describe(&node->workspace, &desc);
    node->passed[node->passed_count++] = (neo_exec_arg){NEO_ARG_SCRATCHPAD, &node->workspace};
}

/* By handle, then by number. */
static int compare_nodes(const void *a, const void *b)
{
    const struct network_node *const *x = a, *const *y = b;
    uintptr_t p = (uintptr_t)(*x)->primitive, q = (uintptr_t)(*y)->primitive;
    return p != q ? (p > q) - (p < q) : (*x > *y) - (*x < *y);
}

static bool lends_scratchpad(const struct network_node *node)
{
    return node->primitive && node->primitive->desc.implementation->reserve_bytes;
}

/* Nodes that may run at once get handles of their own where the library lends the scratchpad: a
 * block each, reserved now, instead of one that they lease when they happen to meet. */
static neo_status separate_handles(neo_network *network)
{
    if (network->order == NEO_NETWORK_IN_ORDER)
        return NEO_OK;
    struct network_node **sorted = malloc(((size_t)network->node_count + 1) * sizeof(void *));
    if (!sorted)
        return NEO_OUT_OF_MEMORY;
    size_t count = 0;
    for (int i = 0; i < network->node_count; i++)
        if (lends_scratchpad(&network->nodes[i]))
            sorted[count++] = &network->nodes[i];
    qsort(sorted, count, sizeof(void *), compare_nodes);
    neo_status status = NEO_OK;
    const neo_primitive *first = NULL;
    for (size_t i = 0; i < count && status == NEO_OK; i++) {
        if (sorted[i]->primitive == first)
            status = neo_primitive_create(&sorted[i]->own, neo_primitive_get_desc(first));
        else
            first = sorted[i]->primitive;
        if (sorted[i]->own)
            sorted[i]->primitive = sorted[i]->own;
    }
    free(sorted);
    return status;
}

static int threads_to_plan_for(const neo_network *network)
{
    struct parallel parallel;
    if (network->threads)
        return network->threads;
    parallel_init(&parallel, NULL, network->engine->threads, 0);
    return parallel_threads(&parallel);
}

static neo_status finalize(neo_network *network)
{
    size_t nodes = (size_t)network->node_count + 1;
    network->threads = threads_to_plan_for(network);
    network->run.ready = calloc(nodes, sizeof *network->run.ready);
    network->run.left = calloc(nodes, sizeof *network->run.left);
    if (!network->run.ready || !network->run.left)
        return NEO_OUT_OF_MEMORY;
    neo_status status = separate_handles(network);
    if (status == NEO_OK)
        status = network_analyse(network);
    for (int i = 0; i < network->node_count; i++)
        connect_node(network, &network->nodes[i]);
    if (status == NEO_OK)
        status = network_make_room(network);
    for (int i = 0; i < network->node_count && status == NEO_OK; i++)
        connect_workspace(network, &network->nodes[i]);
    return status;
}

neo_status neo_network_finalize(neo_network *network)
{
    if (!network || network->final)
        return network_refuse("finalize", NULL, "the network is NULL or final");
    neo_status status = finalize(network);
    if (status != NEO_OK) {
        network_forget_analysis(network);
        return status;
    }
    network->final = network->ready = true;
    return NEO_OK;
}

/* ---- reshape ---- */

static const char *find_shape_fault(const neo_network *network, const neo_tensor_shape *shape)
{
    if (shape->tensor < 0 || shape->tensor >= network->tensor_count)
        return "there is no such tensor";
    const neo_memory_desc *desc = &shape->desc;
    if (desc_is_absent(desc) || desc_wrong(desc) || desc->format_kind == NEO_FORMAT_ANY ||
        desc_is_runtime(desc))
        return "a descriptor is invalid, `any`, or has run-time sizes";
    if (network->tensors[shape->tensor].kind == NEO_TENSOR_CONSTANT)
        return "a constant has its size for good";
    return NULL;
}

neo_status neo_network_reshape(neo_network *network, int count, const neo_tensor_shape *shapes)
{
    if (!network || !network->final || count < 0 || (count && !shapes))
        return network_refuse("reshape", NULL, "a pointer is NULL or the network is not final");
    for (int i = 0; i < count; i++) {
        const char *fault = find_shape_fault(network, &shapes[i]);
        if (fault)
            return network_refuse("reshape", NULL, fault);
    }
    network->ready = false;
    for (int i = 0; i < count; i++)
        memory_describe(&network->tensors[shapes[i].tensor].memory, &shapes[i].desc);
    neo_status status = network_make_room(network);
    network->ready = status == NEO_OK;
    return status;
}

/* ---- reports ---- */

neo_status neo_network_get_report(const neo_network *network, neo_network_report *out)
{
    if (!network || !out || !network->plan)
        return network_refuse("report", NULL, "a pointer is NULL or the network is not final");
    const plan_report *report = &network->plan->report;
    *out = network->counts;
    out->planned_bytes = report->bytes;
    out->lower_bound_bytes = report->lower_bound;
    out->no_reuse_bytes = report->no_reuse_bytes;
    out->optimal = report->optimal;
    out->method = report->method;
    out->arena_bytes = network->arena.bytes;
    out->buffers = 0;
    for (size_t i = 0; i < network->buffer_count; i++)
        out->buffers += network->plan->sizes[i] != 0;
    return NEO_OK;
}

static const char *name_of_buffer(const neo_network *network, size_t i)
{
    size_t tensors = (size_t)network->tensor_count;
    return i < tensors ? network->tensors[i].name : network->nodes[i - tensors].name;
}

static void write_buffer(const neo_network *network, size_t i, FILE *file)
{
    bool is_tensor = i < (size_t)network->tensor_count;
    fprintf(file, "%s%s,%" PRId64 ",%" PRId64 ",%zu,%zu\n", name_of_buffer(network, i),
            is_tensor ? "" : ".workspace", network->starts[i], network->finishes[i],
            network->plan->offsets[i], network->plan->sizes[i]);
}

neo_status neo_network_dump_plan(const neo_network *network, const char *path)
{
    if (!network || !path || !network->plan)
        return network_refuse("dump", NULL, "a pointer is NULL or the network is not final");
    FILE *file = report_open(path);
    if (!file)
        return NEO_IO_ERROR;
    fputs("name,start,finish,offset,size\n", file);
    for (size_t i = 0; i < network->buffer_count; i++)
        if (network->plan->sizes[i])
            write_buffer(network, i, file);
    return report_close(file, path, ferror(file) ? NEO_IO_ERROR : NEO_OK);
}

static neo_status write_arena(const neo_network *network, FILE *file, neo_dump_format format)
{
    struct pool_user *users = calloc(network->buffer_count + 1, sizeof *users);
    if (!users)
        return NEO_OUT_OF_MEMORY;
    struct pool_record arena = {.pool_type = "arena",
                                .data = network->arena.data,
                                .kind = network->arena.kind,
                                .bytes = network->arena.bytes,
                                .users = users};
    for (size_t i = 0; i < network->buffer_count; i++)
        if (network->plan->needed[i])
            users[arena.user_count++] =
                (struct pool_user){name_of_buffer(network, i), i, network->plan->needed[i]};
    neo_status status = pool_write(file, format, &arena, 1, network->plan->report.lower_bound);
    free(users);
    return status;
}

neo_status neo_network_dump_pool(const neo_network *network, const char *path,
                                 neo_dump_format format)
{
    if (!network || !path || !network->plan || format > NEO_DUMP_TEXT)
        return network_refuse(
            "dump", NULL,
            "a pointer is NULL, there is no such format, or the network is not final");
    FILE *file = report_open(path);
    return file ? report_close(file, path, write_arena(network, file, format)) : NEO_IO_ERROR;
}
