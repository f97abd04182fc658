/* Implementations: what the primitive cache holds.
 *
 * Immutable after creation but for the memory manager and the reference count, so any number of
 * handles and threads share one. An implementation belongs to an engine that outlives it: handles
 * keep their engine alive, and the engine's cache is emptied before the engine goes.
 *
 * An algorithm that is made of other primitives nests their implementations in its own
 * (implementation_nest()). They come from the cache too and live as long as their holder. Its
 * handles inherit what the nested ones need: the scratchpad of the whole tree is one block, and
 * create_resource() and destroy_resource() go through the tree. */
#ifndef SRC_PRIMITIVE_IMPLEMENTATION_H
#define SRC_PRIMITIVE_IMPLEMENTATION_H

#include <stdalign.h>

#include "src/core/checked.h"
#include "src/memory/blocks/manager.h"
#include "src/primitive/cache/cache.h"
#include "src/primitive/engine.h"
#include "src/primitive/problem.h"
#include "src/primitive/selection.h"
#include "src/tensor/descriptor.h"

enum { MAX_NESTED = 3, MAX_TOKENS = 4 };

/* A power of two, for a quick address. */
enum { IMAGE_ROOM = 32 };
_Static_assert((int)IMAGE_ROOM >= (int)DESC_IMAGE_WORDS, "an image fits");

/* An image's beginning if it had no dimensions, which none has, nor that of a missing buffer. */
enum { NO_IMAGE = 1 };

/* A tensor of the problem, for comparing quickly. */
struct expected {
    uint64_t image[2];         /* its image, or NO_IMAGE where */
    const uint64_t *if_longer; /* it is longer and all of it is here; else NULL */
    int32_t arg;               /* NEO_ARG_UNDEF: there is none here */
    uint16_t tensor, bit;      /* where the doer looks for it; 1 << what it is here */
};

/* For finding a tensor in dst's memory. With d from dst's first element to the tensor's, in bytes,
 * the two share some exactly if -behind <= d < dst's bytes; that is, d + behind < reach as unsigned
 * numbers. A tensor without bytes has no reach. */
struct near {
    uintptr_t behind, reach;
};

/* What an execution asks, decided once. */
struct execution_facts {
    const neo_engine *engine;          /* NULL if an execution can ask for more than tensors, */
    int plain_count;                   /* of which there are so many */
    bool in_place;                     /* src may be dst */
    bool only_tensors;                 /* no extra ones, operands, scales or zero points */
    bool empty;                        /* dst has no elements: nothing to do */
    bool parallel;                     /* large enough for more than one thread */
    struct near near[DST];             /* of what the doer takes for such a tensor */
    const struct implementation *doer; /* this one, or a nested one that does all of the work, */
    size_t scratch_bytes;              /* for one thread, */
    run_fn *run;                       /* and what it does there */
    const void *plan;
    uint32_t tensors;                       /* a bit for each one that the problem has */
    struct expected in_order[TENSOR_COUNT]; /* those there are, as most lists have them */
    struct expected expected[8];            /* at arg / 8 */
    uint64_t images[TENSOR_COUNT][IMAGE_ROOM];
};

struct by_size;

struct implementation {
    struct cache_value value; /* first: the cache counts the references */
    struct block_manager blocks;

    /* Nothing is written from here on once create is done. */
    alignas(64) neo_engine *engine;
    struct execution_facts facts;
    struct problem described; /* as given, `any` and all: for the next implementation */
    struct problem problem;   /* every `any` replaced */
    struct implementation *nested[MAX_NESTED]; /* references */
    int nested_count, token_count;             /* tokens: of the whole tree */
    const struct algorithm *algorithm;
    struct declined declined[MAX_ALGORITHMS];
    int declined_count;
    double estimate;
    bool runtime;            /* sizes are known at execution: the plan is made then, */
    struct by_size *by_size; /* or, if this is there, implementations of them are found */
    char name[64];
    void *table; /* the plan's, or NULL */
    size_t table_bytes;
    size_t bytes;         /* of this object with what it points to */
    size_t reserve_bytes; /* of a handle's block; 0: it needs none, or nobody knows of what size, or
                           the user brings it */
    alignas(64) unsigned char plan[PLAN_MAX_BYTES];
};

/* The index-th best implementation of the description, which is not checked yet. It has attributes,
 * and every tensor's ndims is from 0 to NEO_MAX_NDIMS.
 *
 * @return NEO_OK, NEO_INVALID_ARGUMENT, NEO_UNSUPPORTED, NEO_LAST_IMPLEMENTATION (index > 0 and
 * there are not so many), NEO_OUT_OF_MEMORY. */
neo_status implementation_create(struct implementation **out, neo_engine *engine,
                                 const struct description *description, int index);

/* The same from the engine's cache; *outcome tells whether it was there. */
neo_status implementation_find(struct implementation **out, neo_engine *engine,
                               const struct description *description, int index,
                               enum cache_outcome *outcome);
struct implementation *implementation_retain(struct implementation *implementation);
void implementation_release(struct implementation *implementation);

/* How the argument that is this tensor is described: a bias may be a vector where the problem has a
 * matrix of one row. */
static inline const neo_memory_desc *implementation_argument(const struct implementation *impl,
                                                             enum tensor t)
{
    const neo_memory_desc *described = &impl->described.tensors[t];
    return described->ndims != impl->problem.tensors[t].ndims ? described
                                                              : &impl->problem.tensors[t];
}

/* A nested one whose operation has no entry points of its own needs no token: it has its part of
 * the holder's block. */
static inline int implementation_nested_tokens(const struct implementation *nested)
{
    return nested->token_count - (nested->problem.operation->create_resource ? 0 : 1);
}

/* For an algorithm's nest(): adds the best implementation of the description to implementation,
 * which is being created. NEO_UNSUPPORTED also when the tree grows too large. */
neo_status implementation_nest(struct implementation *implementation,
                               const struct description *description);

/* The same with the implementation of this algorithm, whether or not it is the best one. */
neo_status implementation_nest_by(struct implementation *implementation,
                                  const struct description *description,
                                  const struct algorithm *algorithm);

/* For an algorithm's run(): executes nested implementation number index with these buffers, in the
 * holder's threads and scratchpad. Post-operations with operands are the holder's own ones. */
void implementation_run_nested(const struct execution *execution, int index,
                               void *const buffers[TENSOR_COUNT]);

/* What a nested implementation's attributes are in the holder's, where those are not the same: its
 * post-operations begin with this one, and these are the numbers of its scales and zero points. */
struct part {
    int first_post_op;
    uint8_t quantizations[MAX_QUANTIZATIONS];
};
void implementation_run_part(const struct execution *execution, int index,
                             void *const buffers[TENSOR_COUNT], const struct part *part);

/* How many of the available threads it is worth: small problems are not worth all of them. One of
 * run-time sizes may take all; an execution decides when it knows the sizes. */
int implementation_threads(const struct implementation *implementation, int available);

/* What a plan's execution by so many threads needs, without nested ones. */
static inline size_t implementation_own_bytes(const struct algorithm *algorithm, const void *plan,
                                              int threads)
{
    return algorithm->scratch_bytes
               ? round_up(algorithm->scratch_bytes(plan, threads), SCRATCH_ALIGNMENT)
               : 0;
}

/* Scratchpad bytes when so many threads are available, nested implementations included. */
size_t implementation_scratch_bytes(const struct implementation *implementation, int available);

/* "gemm:neon…,undef,src:f32:ab:…,attr-…,4x5:5x6": the middle of a log line; returns out. */
char *implementation_text(const struct implementation *implementation, char *out, size_t size);

#endif
