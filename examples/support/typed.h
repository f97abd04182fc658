/* A network of the library's primitives in one type, and what runs it. typed.c makes it from a
 * model, of typed_parts.c's; typed_run.c runs and compares it. */
#ifndef EXAMPLES_SUPPORT_TYPED_H
#define EXAMPLES_SUPPORT_TYPED_H

#include "examples/support/model.h"

enum { TYPED_MOST_TENSORS = 2048, TYPED_MOST_NODES = 512, TYPED_MOST_ARGS = 10 };

/* separate: a buffer of the tensor's own, or a view of one; for running one by one. */
typedef struct typed_tensor {
    neo_tensor given;
    neo_memory *separate;
    neo_packed_weights *packed; /* owns `separate` then */
    char name[16];
} typed_tensor;

typedef struct typed_node {
    neo_node given;
    neo_node_arg args[TYPED_MOST_ARGS];
    neo_attributes *attributes; /* until the primitive is there */
    neo_primitive *primitive;
    char name[32];
} typed_node;

typedef struct typed_network {
    const layers *model;
    int result; /* a layer */
    neo_data_type type;
    neo_engine *engine;
    neo_stream *stream;
    neo_network *network;
    typed_tensor tensors[TYPED_MOST_TENSORS];
    int tensor_count;
    typed_node nodes[TYPED_MOST_NODES];
    int node_count;
    int of_layer[MODEL_MOST_LAYERS]; /* the tensor that has a layer's result */
    int scale_of[MODEL_MOST_LAYERS]; /* and its scale; -1: not made yet */
} typed_network;

/* Adds the nodes of every layer; returns the tensor of the result's copy, an output. */
int typed_build(typed_network *n);

#endif
