/* Primitive descriptors and handles. */
#ifndef SRC_PRIMITIVE_PRIMITIVE_H
#define SRC_PRIMITIVE_PRIMITIVE_H

#include "neoprene/primitive.h"
#include "src/primitive/implementation.h"

struct neo_primitive_desc {
    neo_engine *engine;                    /* a reference */
    struct implementation *implementation; /* a reference */
    struct problem problem; /* as described, `any` and all: for the next implementation */
    int index;              /* which of the implementations */
    bool cache_hit;
};

struct neo_primitive {
    neo_primitive_desc desc;
    struct reservation resource; /* what create_resource() made */
};

/* What the operations' public functions end with. problem->attributes is copied. */
neo_status primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                 const struct problem *problem);

/* A log line about a description that cannot be used; returns NEO_INVALID_ARGUMENT. */
neo_status primitive_desc_refuse(const char *function, const char *why);

#endif
