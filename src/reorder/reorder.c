/* Reorder: the public function and checks. */
#include "src/reorder/reorder.h"

#include "neoprene/reorder.h"
#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/primitive/primitive.h"
#include "src/primitive/types.h"
#include "src/tensor/descriptor.h"

static const char *reorder_check(struct problem *problem, bool *unsupported)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    if (!src->ndims || !dst->ndims)
        return "src or dst is absent";
    if (src->format_kind == NEO_FORMAT_ANY || dst->format_kind == NEO_FORMAT_ANY)
        return "src or dst is `any`";
    if (src->ndims != dst->ndims)
        return "src and dst do not have the same number of dimensions";
    bool runtime = problem_is_runtime(problem);
    for (int i = 0; i < src->ndims; i++)
        if (src->dims[i] != dst->dims[i] && src->dims[i] != NEO_RUNTIME_DIM &&
            dst->dims[i] != NEO_RUNTIME_DIM)
            return "src and dst do not have the same sizes";
    if (runtime &&
        (src->format_kind == NEO_FORMAT_PACKED || dst->format_kind == NEO_FORMAT_PACKED)) {
        *unsupported = true;
        return "run-time sizes and a packed layout do not go together";
    }
    return NULL;
}

static void reorder_describe(const struct problem *problem, char *out, size_t size)
{
    desc_dims_text(&problem->tensors[DST], out, size);
}

static const char *reorder_check_quantization(const struct problem *problem,
                                              const struct quantization *q, enum tensor t)
{
    (void)problem, (void)q, (void)t;
    return NULL;
}

static const struct algorithm *const reorder_algorithms[] = {
    &reorder_pack,         &reorder_unpack,         &reorder_repack,           &reorder_pack_typed,
    &reorder_unpack_typed, &reorder_pack_depthwise, &reorder_unpack_depthwise, &reorder_copy,
    &reorder_converted}; /* last: it says what is missing */
_Static_assert(count_of(reorder_algorithms) <= MAX_ALGORITHMS, "there is room to rank all");

static const struct operation reorder_operation = {
    .name = "reorder",
    .check = reorder_check,
    .types = reorder_all_types,
    .in_place = true,
    .check_quantization = reorder_check_quantization,
    .algorithms = reorder_algorithms,
    .algorithm_count = count_of(reorder_algorithms),
    .describe = reorder_describe,
};

neo_status neo_reorder_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                             const neo_memory_desc *src, const neo_memory_desc *dst,
                                             const neo_attributes *attributes)
{
    if (out)
        *out = NULL;
    if (!out || !engine || !src || !dst)
        return log_refusal(__func__, "out, engine, src or dst is NULL");
    struct description description = {
        .operation = &reorder_operation,
        .tensors = {[SRC] = src, [DST] = dst},
        .attributes = attributes,
    };
    return primitive_desc_create(out, engine, &description);
}
