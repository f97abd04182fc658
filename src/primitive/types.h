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

/* NULL if one of the sets has the types of all of the problem's tensors, else a sentence that says
 * what is missing. sets: see struct type_set; NULL: of f32 alone, or
 * of all types of whole bytes, as the operation says. */
const char *types_refuse(const struct type_set *sets, const struct problem *problem);

#endif
