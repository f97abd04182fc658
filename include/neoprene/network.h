/* Networks: primitives and functions of the user's chained over named tensors, which share
 * memory. */
#ifndef NEOPRENE_NETWORK_H
#define NEOPRENE_NETWORK_H

#include "neoprene/allocation.h"
#include "neoprene/engine.h"
#include "neoprene/primitive.h"
#include "neoprene/shape_predictor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Life of a network: add tensors and nodes, finalize once, then bind, execute and reshape any
 * number of times. One thread at a time may call functions of one network; networks share nothing
 * but their engine.
 *
 * Nodes are numbered in the order in which they are added, which must be one they could run in. */
typedef struct neo_network neo_network;

/* ---- making ---- */

typedef enum neo_network_order {
    NEO_NETWORK_IN_ORDER,     /* one node after another, each on all threads */
    NEO_NETWORK_OUT_OF_ORDER, /* independent nodes at the same time, one thread each; memory is
                                 shared only where no order of execution can do harm */
} neo_network_order;

/* For debugging: memory is filled with bytes 0xFF before an execution and as soon as its last user
 * is done, so that whoever reads what is not his reads NaN. */
#define NEO_NETWORK_POISON 1u

/* Zero-initialise it and set fields by name; zero means "default". */
typedef struct neo_network_options {
    neo_network_order order;
    uint32_t flags; /* NEO_NETWORK_* */
    int threads; /* the most threads of a stream that will execute it, for scratchpads in the plan;
                    0: as many as the engine's own pool has */
    neo_allocation_kind kind; /* of the arena */
    int max_plans;            /* remembered for shapes that come again; 0: 16 */
    /* For neo_network_reshape(): how much room tensors get. NULL: the predictor's defaults. */
    const neo_shape_predictor_settings *prediction;
    uint64_t reserved[4]; /* 0 */
} neo_network_options;

/* @param out     receives the network, or NULL on failure; release with neo_network_destroy().
 * @param engine  the network holds a reference to it.
 * @param options NULL for the defaults.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (a NULL pointer, an unknown order, flag or kind, a negative
 *         number, wrong settings), NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_network_create(neo_network **out, neo_engine *engine,
                                      const neo_network_options *options);

/* NULL is fine. Primitives stay the caller's. */
NEO_API void neo_network_destroy(neo_network *network);

/* ---- tensors ---- */

typedef enum neo_tensor_kind {
    NEO_TENSOR_INTERMEDIATE, /* in the arena, alive from its writer to its last reader */
    NEO_TENSOR_OUTPUT,       /* in the arena, valid until the next execution or reshape */
    NEO_TENSOR_INPUT,        /* the user's buffer: neo_network_bind() */
    NEO_TENSOR_BOUND_OUTPUT, /* the same, written */
    NEO_TENSOR_CONSTANT,     /* the buffer of a memory object, which stays the user's */
} neo_tensor_kind;

typedef enum neo_tensor_sharing {
    NEO_SHARES_NOTHING,
    NEO_SHARES_VIEW,     /* it is the bytes of shares_with, from share_offset on (a reshape, a part
                            of a concatenation); it has a writer of its own or not */
    NEO_SHARES_IN_PLACE, /* its writer overwrites shares_with. Refused at finalize if anybody could
                            still read that. A value that a loop carries into its next round is
                            written in place of its first value */
} neo_tensor_sharing;

/* Zero-initialise it and set fields by name. */
typedef struct neo_tensor {
    const char *name; /* copied; unique */
    neo_tensor_kind kind;
    neo_memory_desc desc; /* not `any`, without run-time sizes */
    neo_memory *memory;   /* CONSTANT; desc may then be absent: it is the memory's */
    neo_tensor_sharing sharing;
    int shares_with;      /* a tensor */
    size_t share_offset;  /* VIEW: in bytes, a multiple of an element's */
    uint64_t reserved[4]; /* 0 */
} neo_tensor;

/* @param tensor receives the number of the tensor, counted from 0; may be NULL.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (also: the name is taken; the network is final),
 *         NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_network_add_tensor(neo_network *network, const neo_tensor *description,
                                          int *tensor);

/* The tensor of that name.
 * @return NEO_OK, NEO_NOT_FOUND (*tensor is left alone; also if network or name is NULL). */
NEO_API neo_status neo_network_find_tensor(const neo_network *network, const char *name,
                                           int *tensor);

/* ---- nodes ---- */

#define NEO_READS 1u
#define NEO_WRITES 2u

typedef struct neo_node_arg {
    int arg; /* NEO_ARG_* of a primitive; a function may use any numbers. NEO_ARG_UNDEF: not passed
                on (the primitive reads it as what its dst is written in place of: a sum) */
    int tensor;
    uint32_t access; /* NEO_READS or NEO_WRITES; each tensor has one writer */
} neo_node_arg;

/* What a function gets: its memories in the order of its args, without those of NEO_ARG_UNDEF. */
typedef struct neo_node_call {
    void *context;
    neo_stream *stream;
    int count;
    neo_memory *const *memories;
    void *workspace; /* aligned to 64 bytes */
    size_t workspace_bytes;
} neo_node_call;

/* Anything but NEO_OK ends the execution with that status. It may run at the same time as other
 * nodes, and then finds neo_stream_num_threads() to be 1. */
typedef neo_status neo_node_fn(const neo_node_call *call);

/* The workspace for these shapes, in bytes; called at finalize and at every reshape. */
typedef size_t neo_workspace_fn(void *context, int count, neo_memory *const *memories);

/* Not 0: skip the node this time. Called when its turn comes. */
typedef int neo_skip_fn(void *context);

/* Zero-initialise it and set fields by name.
 *
 * Out of order, nodes of one primitive whose scratchpad is the library's get a block each when the
 * network becomes final. */
typedef struct neo_node {
    const char *name; /* copied */
    int count;
    const neo_node_arg *args;       /* copied */
    const neo_primitive *primitive; /* stays the caller's; must outlive the network. A scratchpad of
                                       the user's mode becomes a part of the plan */
    neo_node_fn *function;          /* or this */
    void *context;                  /* of function, workspace and skip */
    size_t workspace_bytes;         /* of function; */
    neo_workspace_fn *workspace;    /* or computed from the shapes */
    /* A node that may be skipped writes one tensor; its readers then get `skipped_to`, which the
     * node reads as well and which was added before it. */
    neo_skip_fn *skip;
    int skipped_to;
    uint64_t reserved[4]; /* 0 */
} neo_node;

/* @param node receives the number of the node, counted from 0; may be NULL.
 * @return NEO_OK, NEO_INVALID_ARGUMENT, NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_network_add_node(neo_network *network, const neo_node *description,
                                        int *node);

/* Not 0: another round. rounds have been run, at least 1. */
typedef int neo_loop_fn(void *context, int64_t rounds);

/* Nodes first … last are run once, and then as long as `again` says so. Loops may be nested. All
 * nodes before are done when a loop begins, all of it is done before the nodes after it begin.
 *
 * @return NEO_OK, NEO_INVALID_ARGUMENT (also: it overlaps another one without being inside it; the
 *         network is final), NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_network_add_loop(neo_network *network, int first, int last,
                                        neo_loop_fn *again, void *context);

/* ---- planning ---- */

/* Plans the memory, verifies the plan, allocates the arena.
 *
 * @return NEO_OK; NEO_INVALID_ARGUMENT, with the reason in the log: a tensor without a writer or
 *         with two, read before it is written, overwritten too early, larger than what it shares;
 *         loops that overlap; NEO_CORRUPT (the plan did not pass the check); NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_network_finalize(neo_network *network);

typedef struct neo_tensor_shape {
    int tensor;
    neo_memory_desc desc;
} neo_tensor_shape;

/* Gives tensors other sizes: all that change, also the intermediate ones. Primitives whose
 * descriptors have run-time sizes go on as they are, with the weights they packed.
 *
 * If everything fits where it is, nothing is done and nothing is allocated. Otherwise a plan that
 * was made for these sizes is used again, or a new one is made, with the room that the shape
 * predictor advises. Contents of the arena are lost. On failure the network cannot be executed
 * until a reshape succeeds.
 *
 * @return as neo_network_finalize(). */
NEO_API neo_status neo_network_reshape(neo_network *network, int count,
                                       const neo_tensor_shape *shapes);

typedef struct neo_network_report {
    size_t planned_bytes;              /* of the plan in use */
    size_t lower_bound_bytes;          /* what is alive at once: no plan can be smaller */
    size_t no_reuse_bytes;             /* every buffer by itself */
    size_t arena_bytes;                /* allocated */
    int optimal;                       /* planned_bytes is proven to be the least possible */
    int buffers;                       /* tensors and workspaces in the plan */
    const char *method;                /* what found the plan: a static text */
    uint64_t plans_made, plans_reused; /* reused: found by their sizes */
    uint64_t plans_kept;               /* reshapes for which everything fitted */
    uint64_t arena_allocations;
    uint64_t reserved[4]; /* 0 until a later version says what they are */
} neo_network_report;

/* @return NEO_OK, NEO_INVALID_ARGUMENT (a NULL pointer, or a network that is not final). */
NEO_API neo_status neo_network_get_report(const neo_network *network, neo_network_report *out);

/* Writes the plan as CSV: name,start,finish,offset,size. start and finish are the numbers of the
 * first and the last node that use the buffer; a finish of -1 is the end.
 * @return NEO_OK, NEO_INVALID_ARGUMENT, NEO_IO_ERROR. */
NEO_API neo_status neo_network_dump_plan(const neo_network *network, const char *path);

/* Writes who shares the arena, as neo_engine_dump_memory_pool() does: its users are tensors and, by
 * the names of their nodes, workspaces, with the bytes that they need; unique_id numbers both. The
 * text has the lower bound, too.
 * @return NEO_OK, NEO_INVALID_ARGUMENT, NEO_OUT_OF_MEMORY, NEO_IO_ERROR. */
NEO_API neo_status neo_network_dump_pool(const neo_network *network, const char *path,
                                         neo_dump_format format);

/* ---- running ---- */

/* Sets the buffer of a tensor of kind INPUT or BOUND_OUTPUT: as large as its descriptor says, and
 * not overlapping any other. It stays the caller's, and bound until it is replaced.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (NULL, no such tensor, or one of another kind). */
NEO_API neo_status neo_network_bind(neo_network *network, int tensor, void *data);

/* Runs all nodes, on the stream's threads. Once warm, nothing is allocated.
 *
 * @return NEO_OK; NEO_INVALID_ARGUMENT (not final, another engine, an unbound tensor, more threads
 *         than planned for); what a node returned. */
NEO_API neo_status neo_network_execute(neo_network *network, neo_stream *stream);

/* Where a tensor is: of an output after an execution; NULL if there is no such tensor or place. */
NEO_API void *neo_network_data(const neo_network *network, int tensor);

#ifdef __cplusplus
}
#endif

#endif
