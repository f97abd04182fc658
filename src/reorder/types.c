/* The types of plain tensors that are reordered. */
#include "src/primitive/types.h"
#include "src/reorder/reorder.h"

const struct type_set reorder_types[] = {
    {{[SRC] = TYPES_WHOLE | TYPES_HALF_BYTE, [DST] = TYPES_WHOLE}}, {{0}}};

const struct type_set reorder_all_types[] = {
    {{[SRC] = TYPES_WHOLE | TYPES_HALF_BYTE, [DST] = TYPES_WHOLE | TYPES_HALF_BYTE}}, {{0}}};
