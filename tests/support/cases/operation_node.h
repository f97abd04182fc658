/* An operation as the node of a network. */
#ifndef TESTS_SUPPORT_CASES_OPERATION_NODE_H
#define TESTS_SUPPORT_CASES_OPERATION_NODE_H

#include <stdbool.h>

#include "tests/support/cases/typed.h"

struct node_tensor {
    int arg;
    const struct typed *typed;
    bool is_output;
};

/* Executes the primitive as a node. Outputs are written where their tensors are, whose contents the
 * node finds there. in_place: the number of the tensor that the first output takes the place of, or
 * -1; its contents are then copied into the network, and the output out of it. */
void operation_node_run(neo_primitive *primitive, neo_network_order order, int count,
                        const struct node_tensor *tensors, int in_place);

#endif
