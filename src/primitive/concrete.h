/* Problems with run-time sizes, and the same ones with sizes: those of an execution, or likely
 * ones. */
#ifndef SRC_PRIMITIVE_CONCRETE_H
#define SRC_PRIMITIVE_CONCRETE_H

#include "src/primitive/memory.h"
#include "src/primitive/problem.h"

/* The arguments of one execution, each at its place. Of extras, operands and quantizations only as
 * many entries are valid as the primitive has extra tensors, places for operands, scales and zero
 * points. */
struct arguments {
    const neo_memory *tensors[TENSOR_COUNT];
    const neo_memory *scratchpad;
    const neo_memory *extras[MAX_EXTRAS];
    const neo_memory *operands[MAX_OPERANDS];
    const neo_memory *quantizations[MAX_QUANTIZATIONS];
};

/* A problem with the arrays that it points to. */
struct concrete {
    struct problem problem;
    struct extra extras[MAX_EXTRAS];
    struct post_op post_ops[NEO_MAX_POST_OPS];
};

/* With a plan for it: what an execution with run-time sizes works with, in a block. */
struct late {
    struct concrete concrete;
    _Alignas(64) unsigned char plan[PLAN_MAX_BYTES];
};

/* Sizes that the arguments agree on, checked as a description is: NEO_INVALID_ARGUMENT and a
 * sentence where they do not. The shape is not derived. */
neo_status concrete_of_arguments(struct concrete *concrete, const struct problem *problem,
                                 const struct arguments *args);

/* Sizes that the operation supposes. */
void concrete_suppose(struct concrete *concrete, const struct problem *problem);

#endif
