/* From tensors and nodes to dependencies: who waits for whom, and who may share memory. */
#include <stdlib.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/memory/plan/bitset.h"
#include "src/network/network.h"

/* A tensor whose parts are views that nodes write: whoever reads it waits for all of them. */
struct part {
    int writer, next;
};

/* Scratch of the analysis. */
struct analysis {
    neo_network *network;
    int *writer;     /* per tensor: its own, or that of what it shares, or of one of its parts */
    int *first_part; /* per tensor, in parts; or _NONE */
    struct part *parts;
    size_t part_count;
    dependency_buffer *buffers;
    dependency_read *reads;
    dependency_edge *edges;
    size_t read_count, edge_count, edge_room;
    dependency_loop *loops;
};

static struct network_tensor *tensor_at(const struct analysis *a, int i)
{
    return &a->network->tensors[i];
}

/* ---- what shares what ---- */

static neo_status find_roots(neo_network *network)
{
    for (int i = 0; i < network->tensor_count; i++) {
        struct network_tensor *t = &network->tensors[i];
        t->root = i;
        t->root_offset = 0;
        if (t->sharing == NEO_SHARES_NOTHING)
            continue;
        struct network_tensor *with = &network->tensors[t->shares_with];
        t->root = with->root;
        if (!checked_add(&t->root_offset, with->root_offset, t->share_offset))
            return network_refuse("tensor", t->name, "share_offset is too large");
        if (t->sharing == NEO_SHARES_IN_PLACE && t->writer == NETWORK_NONE)
            return network_refuse("tensor", t->name, "nobody writes it in place");
        if (t->sharing == NEO_SHARES_IN_PLACE && network_is_external(&network->tensors[t->root]))
            return network_refuse("tensor", t->name, "it would overwrite the user's buffer");
        if (t->writer == NETWORK_NONE) {
            t->next_follower = with->first_follower;
            with->first_follower = i;
        }
    }
    return NEO_OK;
}

static void add_part(struct analysis *a, int of, int writer)
{
    a->parts[a->part_count] = (struct part){writer, a->first_part[of]};
    a->first_part[of] = (int)a->part_count++;
}

/* Calls add_part() for everything that the view i is a part of, or only counts. */
static size_t visit_wholes(struct analysis *a, int i, bool add)
{
    size_t count = 0;
    const struct network_tensor *t = tensor_at(a, i);
    int writer = t->writer;
    for (; t->sharing == NEO_SHARES_VIEW; t = tensor_at(a, t->shares_with)) {
        if (add)
            add_part(a, t->shares_with, writer);
        count++;
    }
    return count;
}

static neo_status find_parts(struct analysis *a)
{
    size_t count = 0;
    int n = a->network->tensor_count;
    for (int i = 0; i < n; i++)
        count += tensor_at(a, i)->writer != NETWORK_NONE ? visit_wholes(a, i, false) : 0;
    a->parts = calloc(count + 1, sizeof *a->parts);
    if (!a->parts)
        return NEO_OUT_OF_MEMORY;
    for (int i = 0; i < n; i++)
        a->first_part[i] = NETWORK_NONE;
    for (int i = 0; i < n; i++)
        if (tensor_at(a, i)->writer != NETWORK_NONE)
            visit_wholes(a, i, true);
    return NEO_OK;
}

static neo_status find_writers(struct analysis *a)
{
    for (int i = 0; i < a->network->tensor_count; i++) {
        const struct network_tensor *t = tensor_at(a, i);
        a->writer[i] = t->writer;
        if (a->writer[i] == NETWORK_NONE && t->sharing == NEO_SHARES_VIEW)
            a->writer[i] = a->writer[t->shares_with];
        if (a->writer[i] == NETWORK_NONE && a->first_part[i] != NETWORK_NONE)
            a->writer[i] = a->parts[a->first_part[i]].writer;
        bool is_given = tensor_at(a, t->root)->kind == NEO_TENSOR_INPUT ||
                        tensor_at(a, t->root)->kind == NEO_TENSOR_CONSTANT;
        if (a->writer[i] == NETWORK_NONE && !is_given)
            return network_refuse("tensor", t->name, "no node writes it");
        if (is_given && t->writer != NETWORK_NONE)
            return network_refuse("tensor", t->name, "it is a view of what the user owns");
    }
    return NEO_OK;
}

/* ---- the graph ---- */

static bool add_edge(struct analysis *a, int before, int after)
{
    if (a->edge_count == a->edge_room) {
        size_t room = a->edge_room ? a->edge_room * 2 : 64;
        dependency_edge *grown = realloc(a->edges, room * sizeof *grown);
        if (!grown)
            return false;
        a->edges = grown;
        a->edge_room = room;
    }
    a->edges[a->edge_count++] = (dependency_edge){(uint32_t)before, (uint32_t)after};
    return true;
}

/* The tensor that was written as a whole, or whose parts were, when this one is read. */
static int whole_of(const struct analysis *a, int tensor)
{
    while (tensor_at(a, tensor)->writer == NETWORK_NONE &&
           tensor_at(a, tensor)->sharing == NEO_SHARES_VIEW)
        tensor = tensor_at(a, tensor)->shares_with;
    return tensor;
}

static neo_status add_read(struct analysis *a, int tensor, int node)
{
    int writer = a->writer[tensor];
    const char *name = tensor_at(a, tensor)->name;
    if (writer >= node)
        return network_refuse("tensor", name, "a node reads it before it is written");
    a->reads[a->read_count++] = (dependency_read){(uint32_t)tensor, (uint32_t)node};
    for (int k = a->first_part[whole_of(a, tensor)]; k != NETWORK_NONE; k = a->parts[k].next) {
        if (a->parts[k].writer >= node)
            return network_refuse("tensor", name,
                                  "a node reads it before all its parts are written");
        if (!add_edge(a, a->parts[k].writer, node))
            return NEO_OUT_OF_MEMORY;
    }
    return NEO_OK;
}

/* Who writes over something, or a part of it, comes after its writer. */
static neo_status order_writer(struct analysis *a, int tensor)
{
    const struct network_tensor *t = tensor_at(a, tensor);
    if (t->sharing == NEO_SHARES_NOTHING || t->writer == NETWORK_NONE)
        return NEO_OK;
    int whole = whole_of(a, t->shares_with);
    int before = tensor_at(a, whole)->writer;
    if (t->sharing == NEO_SHARES_IN_PLACE)
        return add_read(a, t->shares_with, t->writer);
    if (before == NETWORK_NONE)
        return NEO_OK;
    if (before >= t->writer)
        return network_refuse("tensor", t->name, "it is a part of what is written later");
    return add_edge(a, before, t->writer) ? NEO_OK : NEO_OUT_OF_MEMORY;
}

static neo_status fill_edges(struct analysis *a)
{
    neo_status status = NEO_OK;
    for (int i = 0; i < a->network->node_count && status == NEO_OK; i++) {
        const struct network_node *node = &a->network->nodes[i];
        for (int k = 0; k < node->count && status == NEO_OK; k++)
            if (node->args[k].access == NEO_READS)
                status = add_read(a, node->args[k].tensor, i);
    }
    for (int i = 0; i < a->network->tensor_count && status == NEO_OK; i++)
        status = order_writer(a, i);
    return status;
}

static uint32_t number_or_none(int i)
{
    return i == NETWORK_NONE ? DEPENDENCY_NONE : (uint32_t)i;
}

/* At any shape. */
static bool may_have_workspace(const struct network_node *node)
{
    return node->primitive || node->workspace_of || node->workspace_bytes;
}

static void fill_buffers(struct analysis *a)
{
    const neo_network *network = a->network;
    int n = network->tensor_count;
    for (int i = 0; i < n; i++) {
        const struct network_tensor *t = tensor_at(a, i);
        bool is_output = t->kind == NEO_TENSOR_OUTPUT || t->kind == NEO_TENSOR_BOUND_OUTPUT;
        a->buffers[i] = (dependency_buffer){
            .writer = number_or_none(a->writer[i]),
            .flags = (is_output ? DEPENDENCY_OUTPUT : 0u) |
                     (network_is_external(t) ? DEPENDENCY_EXTERNAL : 0u) |
                     (t->sharing == NEO_SHARES_IN_PLACE ? DEPENDENCY_IN_PLACE : 0u),
            .alias_of = number_or_none(t->shares_with),
            .stands_in = number_or_none(t->skipped_to),
        };
    }
    for (int i = 0; i < network->node_count; i++)
        a->buffers[n + i] = (dependency_buffer){
            (uint32_t)i, may_have_workspace(&network->nodes[i]) ? 0 : DEPENDENCY_EXTERNAL,
            DEPENDENCY_NONE, DEPENDENCY_NONE};
    for (int i = 0; i < network->loop_count; i++)
        a->loops[i] =
            (dependency_loop){(uint32_t)network->loops[i].first, (uint32_t)network->loops[i].last};
}

static size_t count_reads(const neo_network *network)
{
    size_t count = (size_t)network->tensor_count; /* those of in-place writers */
    for (int i = 0; i < network->node_count; i++)
        count += (size_t)network->nodes[i].count;
    return count;
}

static neo_status build(struct analysis *a)
{
    const neo_network *network = a->network;
    size_t tensors = (size_t)network->tensor_count, loops = (size_t)network->loop_count;
    a->writer = calloc(tensors + 1, sizeof *a->writer);
    a->first_part = calloc(tensors + 1, sizeof *a->first_part);
    a->buffers = calloc(network->buffer_count + 1, sizeof *a->buffers);
    a->reads = calloc(count_reads(network) + 1, sizeof *a->reads);
    a->loops = calloc(loops + 1, sizeof *a->loops);
    if (!a->writer || !a->first_part || !a->buffers || !a->reads || !a->loops)
        return NEO_OUT_OF_MEMORY;
    for (size_t i = 0; i < loops; i++)
        if (network->loops[i].last >= network->node_count)
            return network_refuse("loop", NULL, "there is no such node");
    neo_status status = find_parts(a);
    if (status == NEO_OK)
        status = find_writers(a);
    if (status == NEO_OK)
        status = fill_edges(a);
    if (status == NEO_OK)
        fill_buffers(a);
    return status;
}

/* ---- who runs when ---- */

/* Nodes get one region up to the next loop that begins or ends. */
static void find_regions(neo_network *network)
{
    int region = 0;
    for (int i = 0; i < network->node_count; i++) {
        for (int k = 0; i && k < network->loop_count; k++) {
            if (network->loops[k].first == i || network->loops[k].last == i - 1) {
                region++;
                break;
            }
        }
        network->nodes[i].region = region;
    }
}

static bool is_waited_for(const neo_network *network, uint32_t before, uint32_t after)
{
    return network->nodes[before].region == network->nodes[after].region;
}

/* Counts the edge or, when successors is there, stores it: positions then hold where. */
static void visit_edge(neo_network *network, size_t *positions, uint32_t before, uint32_t after)
{
    if (!is_waited_for(network, before, after))
        return;
    if (!network->successors) {
        positions[before]++;
        network->nodes[after].waits_for++;
        return;
    }
    network->successors[positions[before]++] = (int)after;
}

static void visit_edges(const struct analysis *a, size_t *positions)
{
    for (size_t i = 0; i < a->read_count; i++) {
        uint32_t writer = a->buffers[a->reads[i].buffer].writer;
        if (writer != DEPENDENCY_NONE)
            visit_edge(a->network, positions, writer, a->reads[i].node);
    }
    for (size_t i = 0; i < a->edge_count; i++)
        visit_edge(a->network, positions, a->edges[i].before, a->edges[i].after);
}

static neo_status find_successors(const struct analysis *a)
{
    neo_network *network = a->network;
    size_t n = (size_t)network->node_count, total = 0;
    size_t *positions = calloc(n + 1, sizeof *positions);
    if (!positions)
        return NEO_OUT_OF_MEMORY;
    visit_edges(a, positions);
    for (size_t i = 0; i < n; i++) {
        network->nodes[i].first_successor = total;
        total += positions[i];
        positions[i] = network->nodes[i].first_successor;
    }
    network->successor_count = total;
    network->successors = calloc(total + 1, sizeof *network->successors);
    if (network->successors)
        visit_edges(a, positions);
    free(positions);
    return network->successors ? NEO_OK : NEO_OUT_OF_MEMORY;
}

/* ---- the whole ---- */

static neo_status find_dependencies(struct analysis *a)
{
    neo_network *network = a->network;
    dependency_graph graph = {
        .node_count = (size_t)network->node_count,
        .buffer_count = network->buffer_count,
        .read_count = a->read_count,
        .edge_count = a->edge_count,
        .loop_count = (size_t)network->loop_count,
        .buffers = a->buffers,
        .reads = a->reads,
        .edges = a->edges,
        .loops = a->loops,
    };
    bool in_order = network->order == NEO_NETWORK_IN_ORDER;
    dependency_order order = in_order ? DEPENDENCY_IN_ORDER : DEPENDENCY_OUT_OF_ORDER;
    size_t unsafe = SIZE_MAX, n = network->buffer_count;
    neo_status status = dependency_check_in_place(&graph, order, &unsafe);
    if (status == NEO_INVALID_ARGUMENT && unsafe != SIZE_MAX)
        return network_refuse("tensor", network->tensors[unsafe].name,
                              "what it is written in place of may still be read");
    if (status == NEO_OK)
        status = dependency_lives(&graph, network->starts, network->finishes);
    if (status != NEO_OK || in_order)
        return status;
    network->conflicts = calloc(n * bitset_words(n) + 1, sizeof *network->conflicts);
    return network->conflicts ? dependency_conflicts(&graph, order, network->conflicts)
                              : NEO_OUT_OF_MEMORY;
}

neo_status network_analyse(neo_network *network)
{
    struct analysis a = {.network = network};
    network->buffer_count = (size_t)network->tensor_count + (size_t)network->node_count;
    network->starts = calloc(network->buffer_count + 1, sizeof *network->starts);
    network->finishes = calloc(network->buffer_count + 1, sizeof *network->finishes);
    neo_status status = network->starts && network->finishes ? NEO_OK : NEO_OUT_OF_MEMORY;
    if (status == NEO_OK)
        status = find_roots(network);
    if (status == NEO_OK)
        status = build(&a);
    if (status == NEO_OK)
        status = find_dependencies(&a);
    if (status == NEO_OK) {
        find_regions(network);
        status = find_successors(&a);
    }
    if (status == NEO_OK && network->flags & NEO_NETWORK_POISON)
        status = network_find_last_users(network);
    free(a.loops);
    free(a.edges);
    free(a.reads);
    free(a.buffers);
    free(a.parts);
    free(a.first_part);
    free(a.writer);
    return status;
}
