/* The network's insides. */
#ifndef SRC_NETWORK_NETWORK_H
#define SRC_NETWORK_NETWORK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "neoprene/network.h"
#include "src/core/lock.h"
#include "src/memory/allocation.h"
#include "src/memory/plan/interval_plan.h"
#include "src/network/dependency.h"
#include "src/primitive/memory.h"

#define NETWORK_NONE (-1)
#define NETWORK_ALIGNMENT 128u /* of every buffer in the arena: what a scratchpad must have */

/* A tensor is buffer number of the same value; the workspace of node i is buffer tensor_count + i.
 */
struct network_tensor {
    char *name;
    neo_tensor_kind kind;
    neo_tensor_sharing sharing;
    int shares_with; /* a tensor with a smaller number, or _NONE */
    size_t share_offset;
    int writer;     /* node, or _NONE */
    int skipped_to; /* tensor that stands in when the writer is skipped, or _NONE */
    int root;       /* the tensor whose bytes these are in the end */
    size_t root_offset;
    int first_follower, next_follower; /* tensors without a writer that share this one */
    neo_memory memory; /* the descriptor and, while nodes run, the address; owns nothing */
};

struct network_node {
    char *name;
    neo_node_arg *args;
    int count;
    const neo_primitive *primitive;
    neo_primitive *own; /* what `primitive` is, if the network made it */
    neo_node_fn *function;
    void *context;
    neo_workspace_fn *workspace_of;
    neo_skip_fn *skip;
    int skipped_to;
    size_t workspace_bytes;
    neo_memory workspace;   /* what a primitive gets as its scratchpad; owns nothing */
    neo_exec_arg *passed;   /* of a primitive */
    neo_memory **memories;  /* of a function */
    int passed_count;       /* of either */
    int region;             /* nodes of one region run without a barrier between them */
    int waits_for;          /* nodes of its region */
    size_t first_successor; /* in network.successors, up to that of the next node */
    size_t first_touched;   /* in network.touched, likewise */
};

struct network_loop {
    int first, last;
    neo_loop_fn *again;
    void *context;
};

/* sizes, offsets: one for each buffer; 0 where there is nothing in the arena. */
struct network_plan {
    size_t *needed; /* what it was made for */
    size_t *sizes;  /* at least as much */
    size_t *offsets;
    plan_report report;
    uint64_t used; /* when it was used last */
};

/* While it runs. */
struct network_run {
    struct lock lock; /* of all below */
    neo_stream *stream;
    neo_status status; /* the first failure */
    int *ready;        /* nodes, a stack */
    int *left;         /* per node: how many it still waits for */
    int ready_count, active, tasks, gone, threads;
    bool stop;
};

struct neo_network {
    neo_engine *engine; /* a reference */
    neo_network_order order;
    uint32_t flags;
    int threads, max_plans;
    neo_allocation_kind kind;
    neo_shape_predictor *predictor;

    struct network_tensor *tensors;
    int tensor_count, tensor_room;
    struct network_node *nodes;
    int node_count, node_room;
    struct network_loop *loops; /* sorted by first, outer before inner, once final */
    int loop_count, loop_room;

    /* from finalize on */
    bool final, ready;
    size_t buffer_count;
    int64_t *starts, *finishes;
    uint64_t *conflicts; /* out of order only */
    int *successors;
    size_t successor_count;
    int *touched; /* buffers that each node uses: with POISON only */
    size_t touched_count;
    int *users;            /* per buffer: how many nodes touch it; 0: it is not to be poisoned */
    atomic_int *unused_by; /* per buffer: how many of them are still to run */
    struct network_plan *plans;
    int plan_count;
    struct network_plan *plan; /* in use; one of plans */
    struct network_plan spare; /* for the next one */
    uint64_t clock;
    struct allocation arena;
    neo_network_report counts; /* only the counters */
    struct network_run run;
};

/* ---- graph.c ---- */

/* Finds roots, checks the graph, and fills starts, finishes, conflicts and successors. */
neo_status network_analyse(neo_network *network);

/* ---- poison.c ---- */

/* Notes which buffers each node uses, and how many nodes use a buffer. */
neo_status network_find_last_users(neo_network *network);

/* Before an execution: all of the arena. */
void network_poison_all(neo_network *network);

/* After node i: what no other node is going to use. */
void network_poison_unused(neo_network *network, int i);

/* ---- finalize.c ---- */

/* Releases all that finalize made but the arena, so that it can be tried again. */
void network_forget_analysis(neo_network *network);

/* ---- plan.c ---- */

/* Makes or finds a plan for the present descriptors, and sees to the arena. */
neo_status network_make_room(neo_network *network);
void network_drop_plans(neo_network *network);

/* Where a buffer of the plan in use is. */
static inline unsigned char *network_in_arena(const neo_network *network, size_t buffer)
{
    return (unsigned char *)network->arena.data + network->plan->offsets[buffer];
}

static inline bool network_is_external(const struct network_tensor *tensor)
{
    return tensor->kind == NEO_TENSOR_INPUT || tensor->kind == NEO_TENSOR_BOUND_OUTPUT ||
           tensor->kind == NEO_TENSOR_CONSTANT;
}

/* Logs why and returns NEO_INVALID_ARGUMENT. */
neo_status network_refuse(const char *what, const char *name, const char *why);

#endif
