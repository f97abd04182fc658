/* Primitive descriptors and handles. */
#ifndef SRC_PRIMITIVE_PRIMITIVE_H
#define SRC_PRIMITIVE_PRIMITIVE_H

#include "neoprene/primitive.h"
#include "src/primitive/handle.h"
#include "src/primitive/implementation.h"

struct neo_primitive_desc {
    struct handle handle;                  /* first: keeps the engine alive */
    struct implementation *implementation; /* a reference */
    int index;                             /* which of the implementations */
    bool cache_hit;
};

struct neo_primitive {
    neo_primitive_desc desc;
    struct reservation tokens[MAX_TOKENS]; /* what create_resource() made */
};

_Static_assert(sizeof(neo_primitive_desc) <= HANDLE_BYTES, "descriptors fit into handles");
_Static_assert(sizeof(neo_primitive) <= HANDLE_BYTES, "primitives fit into handles");

/* What the operations' public functions end with. Attributes that are NULL become the default ones;
 * nothing in the description is kept. */
neo_status primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                 struct description *description);

/* primitive.c: neo_primitive_execute() with every check, for every kind of primitive, by its
 * implementation or by one for the arguments' sizes; pointers are not NULL but for the list's,
 * count is not negative. */
neo_status primitive_execute_checked(const neo_primitive *primitive,
                                     const struct implementation *implementation,
                                     const neo_stream *stream, int count, const neo_exec_arg *list);

/* With the handle's block, or another one of so many bytes. */
neo_status primitive_run_in_block(const neo_primitive *primitive, run_fn *run, const void *plan,
                                  struct execution *execution, size_t bytes);

#endif
