/* All tensors of one execution, filled, and the argument list that passes them. */
#ifndef BENCHDNN_DATA_H
#define BENCHDNN_DATA_H

#include "benchdnn/problem.h"
#include "benchdnn/tensor.h"

#define DATA_ARGS_MAX (OPERANDS + 2 * NEO_MAX_POST_OPS + 2 * QUANTITIES_MAX + 1)

struct data {
    struct tensor operands[OPERANDS];
    struct tensor post_ops[NEO_MAX_POST_OPS], conditions[NEO_MAX_POST_OPS];
    struct tensor scales[QUANTITIES_MAX], zero_points[QUANTITIES_MAX];
    neo_memory *scratchpad;
    void *scratchpad_buffer;
    int arg_count;
    neo_exec_arg args[DATA_ARGS_MAX];
};

/* Allocates, fills and stores everything the primitive takes in the stream.
 * On failure data is still to be given to data_deinit(). */
neo_status data_init(struct data *data, const struct problem *problem, const neo_primitive_desc *pd,
                     neo_engine *engine, neo_stream *stream);
void data_deinit(struct data *data);

/* Marks dst, or writes the values that a sum adds to. */
neo_status data_reset_dst(struct data *data, const struct problem *problem, neo_engine *engine,
                          neo_stream *stream);

/* An upper bound of the bytes data_init() and a check need. */
double data_estimate_bytes(const struct problem *problem);

#endif
