#include "tests/support/cases/operation_node.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/session.h"
#include "tests/support/test.h"

enum { MOST = 96 };

struct net {
    neo_network *network;
    int count;
    const struct node_tensor *tensors;
    int numbers[MOST];
    int replaced,
        copy; /* of an execution in place: the tensor, and the number of its copy; or -1 */
    int first_output;
};

static neo_status copy_bytes(const neo_node_call *call)
{
    const neo_memory_desc *desc = neo_memory_get_desc(call->memories[0]);
    memcpy(neo_memory_get_handle(call->memories[1]), neo_memory_get_handle(call->memories[0]),
           neo_memory_desc_size(desc));
    return NEO_OK;
}

static int add_tensor(struct net *net, int i, neo_tensor_kind kind, const char *suffix)
{
    char name[32];
    int number;
    neo_tensor tensor = {.name = name, .kind = kind, .desc = net->tensors[i].typed->desc};
    snprintf(name, sizeof name, "%d%s", net->tensors[i].arg, suffix);
    if (kind == NEO_TENSOR_OUTPUT && net->copy >= 0) {
        tensor.sharing = NEO_SHARES_IN_PLACE;
        tensor.shares_with = net->copy;
    }
    assert_int_equal(neo_network_add_tensor(net->network, &tensor, &number), NEO_OK);
    return number;
}

static void add_copy(struct net *net)
{
    net->copy = add_tensor(net, net->replaced, NEO_TENSOR_INTERMEDIATE, " copied");
    const neo_node_arg args[] = {{1, net->numbers[net->replaced], NEO_READS},
                                 {2, net->copy, NEO_WRITES}};
    const neo_node node = {.name = "copy", .count = 2, .args = args, .function = copy_bytes};
    assert_int_equal(neo_network_add_node(net->network, &node, NULL), NEO_OK);
}

static void add_operation(const struct net *net, neo_primitive *primitive)
{
    neo_node_arg args[MOST];
    for (int i = 0; i < net->count; i++)
        args[i] = (neo_node_arg){net->tensors[i].arg, net->numbers[i],
                                 net->tensors[i].is_output ? NEO_WRITES : NEO_READS};
    if (net->copy >= 0)
        args[net->replaced].tensor = net->copy;
    const neo_node node = {
        .name = "operation", .count = net->count, .args = args, .primitive = primitive};
    assert_int_equal(neo_network_add_node(net->network, &node, NULL), NEO_OK);
}

/* Inputs first, since a copy of one is made before the operation. */
static void add_tensors(struct net *net)
{
    for (int i = 0; i < net->count; i++)
        if (!net->tensors[i].is_output)
            net->numbers[i] = add_tensor(net, i, NEO_TENSOR_INPUT, "");
    if (net->replaced >= 0)
        add_copy(net);
    for (int i = net->count - 1; i >= 0; i--) {
        if (!net->tensors[i].is_output)
            continue;
        bool is_first = i == net->first_output;
        net->numbers[i] = add_tensor(
            net, i, is_first && net->copy >= 0 ? NEO_TENSOR_OUTPUT : NEO_TENSOR_BOUND_OUTPUT, "");
    }
}

static void bind_tensors(const struct net *net)
{
    for (int i = 0; i < net->count; i++)
        if (net->copy < 0 || i != net->first_output)
            assert_int_equal(
                neo_network_bind(net->network, net->numbers[i], net->tensors[i].typed->data),
                NEO_OK);
}

static void run(struct net *net, neo_primitive *primitive)
{
    add_tensors(net);
    add_operation(net, primitive);
    assert_int_equal(neo_network_finalize(net->network), NEO_OK);
    bind_tensors(net);
    assert_int_equal(neo_network_execute(net->network, stream), NEO_OK);
    const struct typed *dst = net->tensors[net->first_output].typed;
    if (net->copy >= 0)
        memcpy(dst->data, neo_network_data(net->network, net->numbers[net->first_output]),
               neo_memory_desc_size(&dst->desc));
}

void operation_node_run(neo_primitive *primitive, neo_network_order order, int count,
                        const struct node_tensor *tensors, int in_place)
{
    const neo_network_options options = {.order = order, .flags = NEO_NETWORK_POISON};
    struct net net = {
        .count = count, .tensors = tensors, .replaced = in_place, .copy = -1, .first_output = 0};
    assert_true(count <= MOST);
    while (!tensors[net.first_output].is_output)
        net.first_output++;
    assert_int_equal(neo_network_create(&net.network, engine, &options), NEO_OK);
    run(&net, primitive);
    neo_network_destroy(net.network);
}
