/* Concatenation: each source is copied to its part of dst. */
#include "neoprene/concat.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/lines/copy.h"
#include "src/lines/operation.h"
#include "src/primitive/primitive.h"
#include "src/tensor/descriptor.h"

_Static_assert((int)NEO_MAX_SOURCES <= (int)MAX_EXTRAS, "there is room for all sources");

struct concat_parameters {
    int64_t axis;
};

static int axis_of(const struct problem *problem)
{
    return (int)((const struct concat_parameters *)(const void *)problem->parameters)->axis;
}

static const char *check_source(const struct problem *problem, const neo_memory_desc *source)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    if (source->ndims != dst->ndims)
        return "a source and dst do not have the same number of dimensions";
    if (source->format_kind == NEO_FORMAT_ANY)
        return "a source is `any`";
    for (int i = 0; i < dst->ndims; i++)
        if (i != axis_of(problem) && !lines_is_same_size(source->dims[i], dst->dims[i]))
            return "a source and dst differ in a size that is not the axis's";
    return NULL;
}

/* The sizes of a dimension that are known. */
static const char *check_lengths(const struct problem *problem, int axis)
{
    neo_dim rest = problem->tensors[DST].dims[axis];
    bool are_known = rest != NEO_RUNTIME_DIM;
    for (int i = 0; i < problem->extra_count && are_known; i++) {
        neo_dim length = problem->extras[i].desc.dims[axis];
        are_known = length != NEO_RUNTIME_DIM;
        if (are_known && length > rest)
            return "the sources are longer than dst";
        rest -= are_known ? length : 0;
    }
    return are_known && rest ? "the sources are shorter than dst" : NULL;
}

static const char *concat_check(struct problem *problem, bool *unsupported)
{
    int axis = axis_of(problem);
    const char *wrong = lines_check_axis(problem, axis);
    if (wrong)
        return wrong;
    *unsupported = problem->attributes.post_op_count > 0;
    if (*unsupported)
        return "post-operations are not served";
    for (int i = 0; i < problem->extra_count; i++) {
        wrong = check_source(problem, &problem->extras[i].desc);
        if (wrong)
            return wrong;
    }
    return check_lengths(problem, axis);
}

/* dst that is `any` has the first source's order. */
static void concat_choose(const struct algorithm *self, struct problem *problem,
                          const struct cpu *cpu)
{
    (void)self, (void)cpu;
    if (problem->tensors[DST].format_kind == NEO_FORMAT_ANY)
        desc_set_order_of(&problem->tensors[DST], &problem->extras[0].desc);
}

static double concat_estimate(const struct algorithm *self, const struct problem *problem,
                              const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return lines_cycles(problem, 1);
}

struct concat_plan {
    int axis;
};

static void concat_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    ((struct concat_plan *)plan)->axis = axis_of(problem);
}

static const char *concat_kernel(const void *plan)
{
    (void)plan;
    return "copy";
}

static void concat_run(const void *plan, const struct execution *execution)
{
    int axis = ((const struct concat_plan *)plan)->axis;
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    size_t bytes = neo_data_type_bits(dst->data_type) / 8;
    neo_dim at = 0;
    for (int i = 0; i < execution->problem->extra_count; i++) {
        const neo_memory_desc *source = &execution->problem->extras[i].desc;
        neo_memory_desc part = *dst;
        part.dims[axis] = source->dims[axis];
        if (!desc_is_empty(source))
            lines_copy(execution, source, execution->extras[i], &part,
                       (char *)execution->buffers[DST] + at * dst->strides[axis] * (neo_dim)bytes,
                       lines_scale_of(execution, TENSOR_COUNT + i));
        at += source->dims[axis];
    }
}

static const struct algorithm concat_lines = {
    .name = "lines",
    .quantizes = true,
    .refuse = lines_refuse,
    .choose = concat_choose,
    .estimate = concat_estimate,
    .plan = concat_plan,
    .plan_bytes = sizeof(struct concat_plan),
    .scratch_bytes = lines_scratch_none,
    .kernel = concat_kernel,
    .run = concat_run,
};

static const struct algorithm *const concat_algorithms[] = {&concat_lines};

static const struct operation concat_operation = {
    .name = "concat",
    .parameter_bytes = sizeof(struct concat_parameters),
    .takes_all_types = true,
    .check = concat_check,
    .check_quantization = lines_check_quantization,
    .algorithms = concat_algorithms,
    .algorithm_count = count_of(concat_algorithms),
    .describe = lines_describe,
};

neo_status neo_concat_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                            const neo_memory_desc *dst, int count, int axis,
                                            const neo_memory_desc *sources,
                                            const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !dst || !sources);
    if (status != NEO_OK)
        return status;
    struct extra *extras;
    status = lines_sources(__func__, &extras, count, sources);
    if (status != NEO_OK)
        return status;
    struct concat_parameters parameters = {axis};
    struct description description = {
        .operation = &concat_operation,
        .tensors = {[DST] = dst},
        .attributes = attributes,
        .extra_count = count,
        .extras = extras,
        .parameters = &parameters,
    };
    status = primitive_desc_create(out, engine, &description);
    free(extras);
    return status;
}
