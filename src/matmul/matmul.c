/* Matrix multiplication: the operation, its algorithms, the public function. */
#include "src/matmul/matmul.h"

#include <stdio.h>

#include "neoprene/matmul.h"
#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/primitive/primitive.h"
#include "src/tensor/block_layout.h"
#include "src/tensor/descriptor.h"

static void matmul_describe(const struct problem *problem, char *out, size_t size)
{
    char src[DESC_TEXT_BYTES], weights[DESC_TEXT_BYTES];
    snprintf(out, size, "%s:%s", desc_dims_text(&problem->tensors[SRC], src, sizeof src),
             desc_dims_text(&problem->tensors[WEIGHTS], weights, sizeof weights));
}

static const char *matmul_check_quantization(const struct problem *problem,
                                             const struct quantization *q, enum tensor t)
{
    if (t == WEIGHTS && block_layout_is(problem->tensors[t].packed.id) &&
        problem->tensors[t].format_kind == NEO_FORMAT_PACKED)
        return "weights in blocks have their own scales and zero points, and take no others";
    return t == DST && q->group_ndims ? "scales or zero points of dst are in groups" : NULL;
}

static const struct algorithm *const matmul_algorithms[] = {
    &matmul_dot,   &matmul_lines,  &matmul_direct,  &matmul_gemm,
    &matmul_typed, &matmul_blocks, &matmul_swapped, &matmul_reference};
_Static_assert(count_of(matmul_algorithms) <= MAX_ALGORITHMS, "there is room to rank all");

const struct operation matmul_operation = {
    .name = "matmul",
    .check = matmul_check,
    .types = matmul_types,
    .check_quantization = matmul_check_quantization,
    .algorithms = matmul_algorithms,
    .algorithm_count = count_of(matmul_algorithms),
    .describe = matmul_describe,
};

neo_status neo_matmul_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                            const neo_matmul_desc *desc,
                                            const neo_attributes *attributes)
{
    if (out)
        *out = NULL;
    if (!out || !engine || !desc)
        return log_refusal(__func__, "out, engine or desc is NULL");
    if (reserved_is_set(desc->reserved))
        return log_refusal(__func__, RESERVED_IS_SET);
    struct description description = {
        .operation = &matmul_operation,
        .tensors = {&desc->src, &desc->weights, &desc->bias, &desc->dst},
        .attributes = attributes,
    };
    return primitive_desc_create(out, engine, &description);
}
