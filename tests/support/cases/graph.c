/* Networks of vectors of integers, for tests. */
#include "tests/support/cases/graph.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/test.h"

neo_memory_desc graph_vector(neo_dim count)
{
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 1, &count, NEO_S32, "a"), NEO_OK);
    return desc;
}

int graph_tensor(neo_network *net, const char *name, neo_tensor_kind kind, neo_dim count)
{
    int tensor = -1;
    neo_tensor t = {.name = name, .kind = kind, .desc = graph_vector(count)};
    assert_int_equal(neo_network_add_tensor(net, &t, &tensor), NEO_OK);
    return tensor;
}

int graph_sharing(neo_network *net, const char *name, neo_dim count, neo_tensor_sharing how,
                  int with, size_t offset)
{
    int tensor = -1;
    neo_tensor t = {.name = name,
                    .desc = graph_vector(count),
                    .sharing = how,
                    .shares_with = with,
                    .share_offset = offset};
    assert_int_equal(neo_network_add_tensor(net, &t, &tensor), NEO_OK);
    return tensor;
}

neo_status graph_node(neo_network *net, const char *name, neo_node_fn *function, void *context,
                      int in, int in2, int out, size_t workspace)
{
    neo_node_arg args[3];
    int count = 0;
    if (in >= 0)
        args[count++] = (neo_node_arg){1, in, NEO_READS};
    if (in2 >= 0)
        args[count++] = (neo_node_arg){2, in2, NEO_READS};
    args[count++] = (neo_node_arg){3, out, NEO_WRITES};
    neo_node node = {.name = name,
                     .count = count,
                     .args = args,
                     .function = function,
                     .context = context,
                     .workspace_bytes = workspace};
    return neo_network_add_node(net, &node, NULL);
}

int graph_setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    neo_set_verbose(0);
    assert_int_equal(neo_engine_create(&f->engine), NEO_OK);
    assert_int_equal(neo_stream_create(&f->stream, f->engine, NULL), NEO_OK);
    *state = f;
    return 0;
}

int graph_teardown(void **state)
{
    fixture *f = *state;
    neo_stream_destroy(f->stream);
    neo_engine_destroy(f->engine);
    free(f);
    return 0;
}

size_t graph_elements(const neo_memory *memory)
{
    return neo_memory_desc_elements(neo_memory_get_desc(memory));
}

neo_status graph_mix(const neo_node_call *call)
{
    neo_memory *out = call->memories[call->count - 1];
    uint32_t *dst = neo_memory_get_handle(out);
    for (size_t i = 0; i < graph_elements(out); i++) {
        uint32_t value = 1;
        for (int k = 0; k < call->count - 1; k++) {
            const uint32_t *src = neo_memory_get_handle(call->memories[k]);
            value += src[i % graph_elements(call->memories[k])] * (k ? 1u : 3u);
        }
        dst[i] = value;
    }
    return NEO_OK;
}

neo_network *graph_chain(fixture *f, int nodes, neo_dim count, neo_network_order order)
{
    return graph_chain_with(f, nodes, count, &(neo_network_options){.order = order});
}

neo_network *graph_chain_with(fixture *f, int nodes, neo_dim count,
                              const neo_network_options *options)
{
    neo_network *net;
    if (neo_network_create(&net, f->engine, options) != NEO_OK)
        return NULL;
    for (int i = 0; i <= nodes; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        neo_tensor t = {.name = name,
                        .kind = i == 0       ? NEO_TENSOR_INPUT
                                : i == nodes ? NEO_TENSOR_OUTPUT
                                             : NEO_TENSOR_INTERMEDIATE,
                        .desc = graph_vector(count)};
        if (neo_network_add_tensor(net, &t, NULL) != NEO_OK ||
            (i && graph_node(net, name, graph_mix, NULL, i - 1, -1, i, 256) != NEO_OK)) {
            neo_network_destroy(net);
            return NULL;
        }
    }
    return net;
}

void graph_reshape_chain(neo_network *net, int nodes, neo_dim count)
{
    neo_tensor_shape shapes[32];
    for (int i = 0; i <= nodes; i++)
        shapes[i] = (neo_tensor_shape){i, graph_vector(count)};
    assert_int_equal(neo_network_reshape(net, nodes + 1, shapes), NEO_OK);
}
