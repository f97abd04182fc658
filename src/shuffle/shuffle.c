/* Shuffle: a copy between two views that divide the axis in different ways. */
#include "neoprene/shuffle.h"

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/lines/copy.h"
#include "src/lines/operation.h"
#include "src/primitive/primitive.h"

struct shuffle_parameters {
    int64_t axis;
    neo_dim group_size;
};

static const struct shuffle_parameters *parameters_of(const struct problem *problem)
{
    return (const void *)problem->parameters;
}

static const char *shuffle_check(struct problem *problem, bool *unsupported)
{
    const struct shuffle_parameters *p = parameters_of(problem);
    const neo_memory_desc *dst = &problem->tensors[DST];
    const char *wrong = lines_check_axis(problem, p->axis);
    if (!wrong)
        wrong = lines_check_same(problem, SRC);
    if (wrong)
        return wrong;
    *unsupported = problem->attributes.post_op_count > 0 || dst->ndims == NEO_MAX_NDIMS;
    if (*unsupported)
        return "post-operations and twelve dimensions are not served";
    bool is_known = dst->dims[p->axis] != NEO_RUNTIME_DIM;
    if (p->group_size < 1 || (is_known && dst->dims[p->axis] % p->group_size)) {
        log_check("shuffle: groups of %lld, and dimension %lld of dst has %lld",
                  (long long)p->group_size, (long long)p->axis, (long long)dst->dims[p->axis]);
        return "the size of a group does not divide the axis";
    }
    return NULL;
}

static double shuffle_estimate(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return lines_cycles(problem, 2);
}

static void shuffle_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    *(struct shuffle_parameters *)plan = *parameters_of(problem);
}

static const char *shuffle_kernel(const void *plan)
{
    (void)plan;
    return "copy";
}

/* The axis as two dimensions: it becomes rows × columns, and the columns are the last dimension. */
static neo_memory_desc divide(const neo_memory_desc *desc, int axis, neo_dim rows, neo_dim columns,
                              neo_dim row_step, neo_dim column_step)
{
    neo_memory_desc view = *desc;
    int last = view.ndims++;
    view.dims[last] = columns;
    view.strides[last] = desc->strides[axis] * column_step;
    view.dims[axis] = rows;
    view.strides[axis] = desc->strides[axis] * row_step;
    return view;
}

static void shuffle_run(const void *plan, const struct execution *execution)
{
    const struct shuffle_parameters *p = plan;
    const neo_memory_desc *src = &execution->problem->tensors[SRC];
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    int axis = (int)p->axis;
    neo_dim groups = dst->dims[axis] / p->group_size;
    neo_memory_desc from = divide(src, axis, groups, p->group_size, p->group_size, 1);
    neo_memory_desc to = divide(dst, axis, groups, p->group_size, 1, groups);
    lines_copy(execution, &from, execution->buffers[SRC], &to, execution->buffers[DST], 1);
}

static const struct algorithm shuffle_lines = {
    .name = "lines",
    .refuse = lines_refuse,
    .choose = lines_choose,
    .estimate = shuffle_estimate,
    .plan = shuffle_plan,
    .plan_bytes = sizeof(struct shuffle_parameters),
    .scratch_bytes = lines_scratch_none,
    .kernel = shuffle_kernel,
    .run = shuffle_run,
};

static const struct algorithm *const shuffle_algorithms[] = {&shuffle_lines};

static const struct operation shuffle_operation = {
    .name = "shuffle",
    .parameter_bytes = sizeof(struct shuffle_parameters),
    .takes_all_types = true,
    .check = shuffle_check,
    .algorithms = shuffle_algorithms,
    .algorithm_count = count_of(shuffle_algorithms),
    .describe = lines_describe,
};

neo_status neo_shuffle_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                             neo_prop_kind prop_kind, const neo_memory_desc *src,
                                             const neo_memory_desc *dst, int axis,
                                             neo_dim group_size, const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !src || !dst);
    if (status != NEO_OK)
        return status;
    struct shuffle_parameters parameters = {axis, group_size};
    struct description description = {
        .operation = &shuffle_operation,
        .tensors = {[SRC] = src, [DST] = dst},
        .attributes = attributes,
        .prop_kind = prop_kind,
        .parameters = &parameters,
    };
    return primitive_desc_create(out, engine, &description);
}
