/* Poisoning: memory that nobody is using is filled, so that who reads what is not his reads NaN. */
#include <stdlib.h>
#include <string.h>

#include "src/network/network.h"

#define POISON_BYTE 0xff

/* ---- who uses a buffer last ---- */

static bool is_touched(const neo_network *network, size_t first, int buffer)
{
    for (size_t k = first; k < network->touched_count; k++)
        if (network->touched[k] == buffer)
            return true;
    return false;
}

static bool touch(neo_network *network, size_t first, int buffer)
{
    if (is_touched(network, first, buffer))
        return true;
    size_t n = network->touched_count;
    if (!(n & (n - 1))) { /* a power of two, or 0: full */
        int *grown = realloc(network->touched, (n ? n * 2 : 1) * sizeof *grown);
        if (!grown)
            return false;
        network->touched = grown;
    }
    network->touched[network->touched_count++] = buffer;
    return true;
}

/* Readers of what a skipped node writes use what stands in for it. */
static bool touch_stand_ins(neo_network *network, size_t first)
{
    for (size_t k = first; k < network->touched_count; k++)
        for (int t = 0; t < network->tensor_count; t++) {
            const struct network_tensor *tensor = &network->tensors[t];
            if (tensor->root == network->touched[k] && tensor->skipped_to != NETWORK_NONE &&
                !touch(network, first, network->tensors[tensor->skipped_to].root))
                return false;
        }
    return true;
}

static bool touch_all(neo_network *network, int node)
{
    struct network_node *at = &network->nodes[node];
    at->first_touched = network->touched_count;
    for (int k = 0; k < at->count; k++)
        if (!touch(network, at->first_touched, network->tensors[at->args[k].tensor].root))
            return false;
    return touch(network, at->first_touched, network->tensor_count + node) &&
           touch_stand_ins(network, at->first_touched);
}

/* Buffers that are used in several regions live across a barrier, perhaps that of a loop: those are
 * not poisoned (users 0), nor are outputs and what may stand in for them. */
static void count_users(neo_network *network, int node, int *region)
{
    const struct network_node *at = &network->nodes[node];
    for (size_t k = at->first_touched; k < network->touched_count; k++) {
        int buffer = network->touched[k];
        bool is_first = network->users[buffer] == 0 && region[buffer] == NETWORK_NONE;
        if (is_first)
            region[buffer] = at->region;
        bool stays = region[buffer] == at->region && (is_first || network->users[buffer]);
        network->users[buffer] = stays ? network->users[buffer] + 1 : 0;
    }
}

static bool keep_outputs(neo_network *network)
{
    size_t first = network->touched_count;
    bool ok = true;
    for (int t = 0; t < network->tensor_count; t++) {
        const struct network_tensor *tensor = &network->tensors[t];
        if (tensor->kind == NEO_TENSOR_OUTPUT || tensor->kind == NEO_TENSOR_BOUND_OUTPUT)
            ok = ok && touch(network, first, tensor->root);
        if (network_is_external(&network->tensors[tensor->root]))
            network->users[tensor->root] = 0;
    }
    ok = ok && touch_stand_ins(network, first);
    for (size_t k = first; k < network->touched_count; k++)
        network->users[network->touched[k]] = 0;
    network->touched_count = first;
    return ok;
}

neo_status network_find_last_users(neo_network *network)
{
    size_t n = network->buffer_count + 1;
    int *region = calloc(n, sizeof *region);
    network->users = calloc(n, sizeof *network->users);
    network->unused_by = calloc(n, sizeof *network->unused_by);
    bool ok = region && network->users && network->unused_by;
    for (size_t i = 0; ok && i < n; i++)
        region[i] = NETWORK_NONE;
    for (int i = 0; i < network->node_count && ok; i++) {
        ok = touch_all(network, i);
        if (ok)
            count_users(network, i, region);
    }
    ok = ok && keep_outputs(network);
    free(region);
    return ok ? NEO_OK : NEO_OUT_OF_MEMORY;
}

/* ---- while it runs ---- */

void network_poison_all(neo_network *network)
{
    if (network->arena.data)
        memset(network->arena.data, POISON_BYTE, network->arena.bytes);
    for (size_t i = 0; i < network->buffer_count; i++)
        atomic_store(&network->unused_by[i], network->users[i]);
}

static void poison(const neo_network *network, size_t buffer)
{
    if (network->plan->sizes[buffer])
        memset(network_in_arena(network, buffer), POISON_BYTE, network->plan->sizes[buffer]);
}

void network_poison_unused(neo_network *network, int i)
{
    size_t end =
        i + 1 < network->node_count ? network->nodes[i + 1].first_touched : network->touched_count;
    for (size_t k = network->nodes[i].first_touched; k < end; k++) {
        int buffer = network->touched[k];
        if (network->users[buffer] == 0 || atomic_fetch_sub(&network->unused_by[buffer], 1) != 1)
            continue;
        atomic_store(&network->unused_by[buffer], network->users[buffer]); /* the next round */
        poison(network, (size_t)buffer);
    }
}
