/* Which combinations of data types operations and algorithms serve. */
#ifndef SRC_PRIMITIVE_TYPES_H
#define SRC_PRIMITIVE_TYPES_H

#include "src/primitive/problem.h"

/* Sets of types, to be combined with |. */
enum {
    TYPES_F32 = 1 << NEO_F32,
    TYPES_FLOAT = 1 << NEO_F32 | 1 << NEO_F16 | 1 << NEO_BF16,
    TYPES_BYTE = 1 << NEO_S8 | 1 << NEO_U8,
    TYPES_HALF_BYTE = 1 << NEO_S4 | 1 << NEO_U4,
    TYPES_WHOLE = TYPES_FLOAT | TYPES_BYTE | 1 << NEO_S32 /* of whole bytes */
};

static inline bool types_have(uint16_t set, neo_data_type type)
{
    return (unsigned)type < 16 && (set >> (unsigned)type & 1);
}

extern const struct type_set types_f32_alone[], types_whole_alone[];
extern const enum tensor types_order[TENSOR_COUNT]; /* in which tensors are looked at */

/* How many tensors, in that order, have types of the set. */
static inline int types_served(const struct type_set *set, const struct problem *problem)
{
    int count = 0;
    for (; count < TENSOR_COUNT; count++) {
        const neo_memory_desc *desc = &problem->tensors[types_order[count]];
        if (desc->ndims && !types_have(set->types[types_order[count]], desc->data_type))
            break;
    }
    return count;
}

/* What is missing where types of so many tensors are served. */
const char *types_sentence(const struct problem *problem, int served);

/* NULL if one of the sets has the types of all of the problem's tensors, else a sentence that says
 * what is missing. sets: see struct type_set; NULL: of f32 alone, or of all types of whole bytes,
 * as the operation says. */
static inline const char *types_refuse(const struct type_set *sets, const struct problem *problem)
{
    int most = 0;
    if (!sets)
        sets = problem->operation->takes_all_types ? types_whole_alone : types_f32_alone;
    for (; sets->types[SRC]; sets++) {
        int served = types_served(sets, problem);
        most = served > most ? served : most;
    }
    return most == TENSOR_COUNT ? NULL : types_sentence(problem, most);
}

#endif
