/* The types of tensors that convolutions are computed of. */
#include "src/primitive/types.h"
#include "src/convolution/convolution.h"

/* Floats by floats, and integers by integers. */
const struct type_set convolution_types[] = {
    {{TYPES_FLOAT, TYPES_FLOAT | TYPES_BYTE, TYPES_WHOLE, TYPES_WHOLE}},
    {{TYPES_BYTE, TYPES_BYTE, TYPES_WHOLE, TYPES_WHOLE}},
    {{0}},
};
