/* Networks of vectors of integers, for tests: their nodes are functions. */
#ifndef TESTS_SUPPORT_CASES_GRAPH_H
#define TESTS_SUPPORT_CASES_GRAPH_H

#include "neoprene/neoprene.h"

typedef struct fixture {
    neo_engine *engine;
    neo_stream *stream;
} fixture;

/* cmocka fixtures: *state is a fixture. */
int graph_setup(void **state);
int graph_teardown(void **state);

#define GRAPH_TEST(name) cmocka_unit_test_setup_teardown(name, graph_setup, graph_teardown)

neo_memory_desc graph_vector(neo_dim count);
size_t graph_elements(const neo_memory *memory);

/* These return the tensor's number. */
int graph_tensor(neo_network *net, const char *name, neo_tensor_kind kind, neo_dim count);
int graph_sharing(neo_network *net, const char *name, neo_dim count, neo_tensor_sharing how,
                  int with, size_t offset);

/* Sources below 0 are none. */
neo_status graph_node(neo_network *net, const char *name, neo_node_fn *function, void *context,
                      int in, int in2, int out, size_t workspace);

/* A node: out[i] = 3 * in[i] + in2[i] + 1, with wrapping sources; in place too. */
neo_status graph_mix(const neo_node_call *call);

/* Tensor 0 is the input, tensor `nodes` the output; NULL if something fails. */
neo_network *graph_chain(fixture *f, int nodes, neo_dim count, neo_network_order order);
neo_network *graph_chain_with(fixture *f, int nodes, neo_dim count,
                              const neo_network_options *options);
void graph_reshape_chain(neo_network *net, int nodes, neo_dim count);

#endif
