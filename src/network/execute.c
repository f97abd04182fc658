/* Running a network: node by node, or all that is ready at once. */
#include "src/core/log.h"
#include "src/network/network.h"
#include "src/primitive/engine.h"

/* ---- memory ---- */

static void place_tensor(neo_network *network, int i)
{
    struct network_tensor *t = &network->tensors[i];
    if (t->shares_with != NETWORK_NONE)
        memory_set_handle(&t->memory,
                          (unsigned char *)network->tensors[t->shares_with].memory.handle +
                              t->share_offset);
    else if (!network_is_external(t))
        memory_set_handle(&t->memory,
                          network->arena.data ? network_in_arena(network, (size_t)i) : NULL);
}

/* As they are if no node is skipped. Tensors that share come after what they share. */
static void place_all(neo_network *network)
{
    for (int i = 0; i < network->tensor_count; i++)
        place_tensor(network, i);
    for (int i = 0; i < network->node_count; i++) {
        struct network_node *node = &network->nodes[i];
        size_t buffer = (size_t)network->tensor_count + (size_t)i;
        bool has = node->workspace_bytes && network->arena.data;
        memory_set_handle(&node->workspace, has ? network_in_arena(network, buffer) : NULL);
    }
}

static void place_followers(neo_network *network, int tensor)
{
    int i = network->tensors[tensor].first_follower;
    for (; i != NETWORK_NONE; i = network->tensors[i].next_follower) {
        place_tensor(network, i);
        place_followers(network, i);
    }
}

/* What a node writes is where it was planned to be, or what stands in when the node is skipped; and
 * what shares it is there too. Only with skippable nodes does anything differ from place_all(). */
static void place_written(neo_network *network, const struct network_node *node, bool skipped)
{
    for (int k = 0; k < node->count; k++) {
        int i = node->args[k].tensor;
        if (node->args[k].access != NEO_WRITES)
            continue;
        place_tensor(network, i);
        if (skipped)
            memory_set_handle(&network->tensors[i].memory,
                              network->tensors[node->skipped_to].memory.handle);
        place_followers(network, i);
    }
}

/* ---- one node ---- */

static neo_status call(const struct network_node *node, neo_stream *stream)
{
    if (node->primitive)
        return neo_primitive_execute(node->primitive, stream, node->passed_count, node->passed);
    neo_node_call arguments = {.context = node->context,
                               .stream = stream,
                               .count = node->passed_count,
                               .memories = node->memories,
                               .workspace = node->workspace.handle,
                               .workspace_bytes = node->workspace_bytes};
    return node->function(&arguments);
}

static neo_status run_node(neo_network *network, int i)
{
    struct network_node *node = &network->nodes[i];
    bool skipped = node->skip && node->skip(node->context);
    place_written(network, node, skipped);
    neo_status status = skipped ? NEO_OK : call(node, network->run.stream);
    if (status != NEO_OK)
        log_error("network: node '%s': %s", node->name, neo_status_text(status));
    else if (network->flags & NEO_NETWORK_POISON)
        network_poison_unused(network, i);
    return status;
}

/* ---- in order ---- */

static neo_status run_in_order(neo_network *network, int first, int last)
{
    neo_status status = NEO_OK;
    for (int i = first; i <= last && status == NEO_OK; i++)
        status = run_node(network, i);
    return status;
}

/* ---- out of order ----
 *
 * Nodes that wait for nothing are on a stack. A node that is alone there runs in the calling
 * thread, on all threads. Otherwise tasks take nodes from the stack until it is empty; no task
 * waits for another. When nodes become ready that more threads could run than are still there, all
 * tasks end after the node they are at, and a wider set of tasks begins. */

static void push(struct network_run *run, int node)
{
    run->ready[run->ready_count++] = node;
}

static void finish_node(neo_network *network, int i, neo_status status)
{
    struct network_run *run = &network->run;
    if (status != NEO_OK && run->status == NEO_OK)
        run->status = status;
    size_t end = i + 1 < network->node_count ? network->nodes[i + 1].first_successor
                                             : network->successor_count;
    for (size_t k = network->nodes[i].first_successor; k < end; k++)
        if (--run->left[network->successors[k]] == 0)
            push(run, network->successors[k]);
}

static bool is_too_narrow(const struct network_run *run)
{
    int wanted = run->active + run->ready_count;
    int possible = wanted < run->threads ? wanted : run->threads;
    return run->ready_count > 1 && possible > run->tasks - run->gone;
}

static bool has_work(const struct network_run *run)
{
    bool alone = run->ready_count == 1 && run->active == 0; /* better on all threads */
    return run->ready_count > 0 && run->status == NEO_OK && !run->stop && !alone;
}

static void run_ready(void *argument, int index, int count)
{
    (void)index;
    (void)count;
    neo_network *network = argument;
    struct network_run *run = &network->run;
    lock_take(&run->lock);
    while (has_work(run)) {
        int node = run->ready[--run->ready_count];
        run->active++;
        lock_give(&run->lock);
        neo_status status = run_node(network, node);
        lock_take(&run->lock);
        run->active--;
        finish_node(network, node, status);
        run->stop |= is_too_narrow(run);
    }
    run->gone++;
    lock_give(&run->lock);
}

static neo_status run_out_of_order(neo_network *network, int first, int last)
{
    struct network_run *run = &network->run;
    run->status = NEO_OK;
    run->ready_count = 0;
    for (int i = last; i >= first; i--) {
        run->left[i] = network->nodes[i].waits_for;
        if (run->left[i] == 0)
            push(run, i);
    }
    while (run->ready_count && run->status == NEO_OK) {
        if (run->ready_count == 1 || run->threads == 1) {
            int node = run->ready[--run->ready_count];
            finish_node(network, node, run_node(network, node));
            continue;
        }
        run->tasks = run->ready_count < run->threads ? run->ready_count : run->threads;
        run->gone = run->active = 0;
        run->stop = false;
        parallel_for(&run->stream->parallel, run->tasks, run_ready, network);
    }
    return run->status;
}

/* ---- loops ---- */

static neo_status run_range(neo_network *network, int first, int last, int loop);

static neo_status run_loop(neo_network *network, int loop)
{
    const struct network_loop *l = &network->loops[loop];
    neo_status status;
    int64_t rounds = 0;
    do
        status = run_range(network, l->first, l->last, loop + 1);
    while (status == NEO_OK && l->again(l->context, ++rounds));
    return status;
}

static neo_status run_region(neo_network *network, int first, int last)
{
    return network->order == NEO_NETWORK_IN_ORDER ? run_in_order(network, first, last)
                                                  : run_out_of_order(network, first, last);
}

/* Runs nodes first … last, where loops from number loop on may be. The recursion is as deep as
 * loops are nested. */
static neo_status run_range(neo_network *network, int first, int last, int loop)
{
    neo_status status = NEO_OK;
    int at = first;
    for (; loop < network->loop_count && status == NEO_OK; loop++) {
        const struct network_loop *l = &network->loops[loop];
        if (l->first < at) /* inside the one that was run before */
            continue;
        if (l->first > last)
            break;
        if (l->first > at)
            status = run_region(network, at, l->first - 1);
        if (status == NEO_OK)
            status = run_loop(network, loop);
        at = l->last + 1;
    }
    return status == NEO_OK && at <= last ? run_region(network, at, last) : status;
}

/* ---- the whole ---- */

static neo_status check_bound(const neo_network *network)
{
    for (int i = 0; i < network->tensor_count; i++) {
        const struct network_tensor *t = &network->tensors[i];
        if (network_is_external(t) && !t->memory.handle && neo_memory_desc_size(&t->memory.desc))
            return network_refuse("tensor", t->name, "it has no buffer");
    }
    return NEO_OK;
}

neo_status neo_network_execute(neo_network *network, neo_stream *stream)
{
    if (!network || !stream || !network->ready || stream->engine != network->engine)
        return network_refuse("execute", NULL,
                              "a pointer is NULL, the network is not ready, or the stream belongs "
                              "to another engine");
    struct network_run *run = &network->run;
    run->stream = stream;
    run->threads = parallel_threads(&stream->parallel);
    if (run->threads > network->threads)
        return network_refuse("execute", NULL, "the stream has more threads than were planned for");
    neo_status status = check_bound(network);
    if (status != NEO_OK)
        return status;
    if (network->flags & NEO_NETWORK_POISON)
        network_poison_all(network);
    place_all(network);
    return run_range(network, 0, network->node_count - 1, 0);
}
