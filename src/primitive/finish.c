/* Finishing lines of sums. */
#include "src/primitive/finish.h"

static void store(const float *values, size_t count, float *dst, neo_dim step)
{
    for (size_t i = 0; i < count; i++)
        dst[(neo_dim)i * step] = values[i];
}

void finish_line(const struct execution *execution, const struct line *line, float *values,
                 bool bias, float *dst, neo_dim dst_step)
{
    const neo_memory_desc *bias_desc = &execution->problem->tensors[BIAS];
    if (bias && bias_desc->ndims)
        line_apply(execution->problem->add, bias_desc, execution->buffers[BIAS], line, values);
    post_ops_apply(execution, line, values, dst, dst_step);
    if (values != dst)
        store(values, line->count, dst, dst_step);
}
