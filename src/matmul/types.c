/* The types of tensors that products are computed of. */
#include "src/primitive/types.h"
#include "src/matmul/matmul.h"

/* Floats by floats and by integers, which become floats; integers by integers. */
const struct type_set matmul_types[] = {
    {{TYPES_FLOAT, TYPES_FLOAT | TYPES_BYTE | TYPES_HALF_BYTE, TYPES_WHOLE, TYPES_WHOLE}},
    {{TYPES_BYTE, TYPES_BYTE | TYPES_HALF_BYTE, TYPES_WHOLE, TYPES_WHOLE}},
    {{0}},
};
