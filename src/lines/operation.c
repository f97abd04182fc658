/* What operations on lines have in common. */
#include "src/lines/operation.h"

#include <stdlib.h>

#include "neoprene/primitive.h"
#include "src/core/log.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/element.h"

const char *lines_check_quantization(const struct problem *problem, const struct quantization *q,
                                     enum tensor t)
{
    (void)problem, (void)t;
    if (q->arg & NEO_ARG_ATTR_ZERO_POINTS)
        return "the operation takes no zero points";
    return q->mask ? "the operation takes one scale for a tensor" : NULL;
}

float lines_scale_of(const struct execution *execution, int tensor)
{
    int index = execution->problem->scales[tensor];
    if (!index)
        return 1;
    const struct quantization *q = &execution->problem->attributes.quantizations[index - 1];
    return element_read(q->type, execution->quantizations[index - 1], 0);
}

void lines_scale(const struct execution *execution, int tensor, size_t count, float *values)
{
    float scale = lines_scale_of(execution, tensor);
    if (execution->problem->scales[tensor])
        execution->problem->binary[BINARY_F32_MUL].run(count, values, &scale, 0, values);
}

void lines_run(const struct execution *execution, const void *plan, size_t tiles,
               parallel_tiles_fn *run)
{
    struct lines_task task = {plan, execution};
    parallel_for_tiles(execution->parallel, tiles, execution->threads, run, &task);
}

const char *lines_refuse(const struct algorithm *self, const struct problem *problem,
                         const struct cpu *cpu)
{
    (void)self, (void)cpu;
    for (int t = 0; t < problem_tensor_count(problem); t++)
        if (problem_tensor(problem, t)->format_kind == NEO_FORMAT_PACKED)
            return "a tensor is packed";
    return NULL;
}

void lines_choose(const struct algorithm *self, struct problem *problem, const struct cpu *cpu)
{
    (void)self, (void)cpu;
    neo_memory_desc *src = &problem->tensors[SRC], *dst = &problem->tensors[DST];
    const neo_memory_desc *model = src->format_kind != NEO_FORMAT_ANY   ? src
                                   : dst->format_kind != NEO_FORMAT_ANY ? dst
                                                                        : NULL;
    for (int t = 0; t < problem_tensor_count(problem); t++) {
        neo_memory_desc *desc = problem_tensor(problem, t);
        if (!desc->ndims || desc->format_kind != NEO_FORMAT_ANY)
            continue;
        if (model && model->ndims == desc->ndims)
            desc_set_order_of(desc, model);
        else
            desc_set_plain(desc);
    }
}

size_t lines_scratch_none(const void *plan, int threads)
{
    (void)plan, (void)threads;
    return 0;
}

void lines_describe(const struct problem *problem, char *out, size_t size)
{
    desc_dims_text(&problem->tensors[DST], out, size);
}

double lines_cycles(const struct problem *problem, double cycles_per_element)
{
    double cycles = cycles_per_element + post_ops_cycles(problem);
    return 300 + cycles * (double)neo_memory_desc_elements(&problem->tensors[DST]);
}

bool lines_is_same_size(neo_dim a, neo_dim b)
{
    return a == b || a == NEO_RUNTIME_DIM || b == NEO_RUNTIME_DIM;
}

const char *lines_check_axis(const struct problem *problem, int64_t axis)
{
    int ndims = problem->tensors[DST].ndims;
    if (axis >= 0 && axis < ndims)
        return NULL;
    log_check("%s: the axis is %lld, and dst has %d dimensions", problem->operation->name,
              (long long)axis, ndims);
    return "the axis is none of dst's dimensions";
}

const char *lines_check_same(const struct problem *problem, int tensor)
{
    const neo_memory_desc *desc = problem_tensor(problem, tensor), *dst = &problem->tensors[DST];
    if (!desc->ndims || !dst->ndims)
        return "src or dst is absent";
    if (desc->ndims != dst->ndims)
        return "src and dst do not have the same number of dimensions";
    for (int i = 0; i < dst->ndims; i++)
        if (!lines_is_same_size(desc->dims[i], dst->dims[i]))
            return "src and dst do not have the same sizes";
    return NULL;
}

neo_status lines_sources(const char *function, struct extra **extras, int count,
                         const neo_memory_desc *sources)
{
    if (count < 1 || count > MAX_EXTRAS)
        return log_refusal(function, "there are no sources, or more than 32");
    *extras = malloc((size_t)count * sizeof **extras);
    if (!*extras)
        return NEO_OUT_OF_MEMORY;
    for (int i = 0; i < count; i++)
        (*extras)[i] = (struct extra){NEO_ARG_MULTIPLE_SRC + i, sources[i]};
    return NEO_OK;
}
