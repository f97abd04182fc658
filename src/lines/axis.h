/* Operations that look at all elements along one dimension of src before they can make one of dst:
 * each such row becomes a line of f32, in the scratchpad unless it is one already, the operation
 * makes another one, in dst if that is possible, and post-operations and the store follow. */
#ifndef SRC_LINES_AXIS_H
#define SRC_LINES_AXIS_H

#include "src/lines/operation.h"

/* The beginning of such an operation's plan. */
struct axis {
    int axis, ndims, order[NEO_MAX_NDIMS]; /* the other dimensions, as they are in dst */
    size_t length, count;                  /* elements of a row; rows */
    struct line_type src, dst;
    bool reads_dst;   /* what dst held before is wanted after rows are made */
    bool is_finished; /* what is made is what dst is to hold, but for its type */
};

/* One row that is being made. */
struct axis_row {
    const struct axis *rows;
    const struct execution *execution;
    neo_dim position[NEO_MAX_NDIMS]; /* of its first element */
    const float *x;                  /* src's elements, rows->length of them */
    float *values;                   /* for the results; may be where x is */
};

/* Makes results, before post-operations, of a row's elements, in values: what is written before all
 * of x has been read goes to the same place. src's scale multiplies what comes out, not what goes
 * in. */
typedef void axis_fn(const struct axis_row *row);

/* src and dst have the same sizes. */
void axis_init(struct axis *rows, const struct problem *problem, const struct cpu *cpu, int axis);
size_t axis_scratch_bytes(const void *plan, int threads);
void axis_run(const struct axis *rows, const struct execution *execution, axis_fn *make);

#endif
