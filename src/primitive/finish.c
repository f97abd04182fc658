/* Finishing lines of sums. */
#include "src/primitive/finish.h"

#include "src/primitive/quantization.h"
#include "src/tensor/element.h"

static void quantize(const struct execution *execution, const struct line *line, float *values)
{
    const struct problem *problem = execution->problem;
    const neo_memory_desc *dst = &problem->tensors[DST];
    quantization_apply(execution, problem->scales[DST], dst, problem->binary[BINARY_F32_DIV].run,
                       line, values);
    quantization_apply(execution, problem->zero_points[DST], dst,
                       problem->binary[BINARY_F32_ADD].run, line, values);
}

void finish_values(const struct execution *execution, const struct line *line, float *values,
                   bool bias, const void *dst, neo_dim dst_step)
{
    const struct problem *problem = execution->problem;
    const neo_memory_desc *bias_desc = &problem->tensors[BIAS];
    if (bias && bias_desc->ndims)
        line_apply(problem->convert, problem->binary[BINARY_F32_ADD].run, bias_desc,
                   execution->buffers[BIAS], line, values);
    if (problem->attributes.post_op_count)
        post_ops_apply(execution, line, values, dst, dst_step);
    if (problem->attributes.quantization_count)
        quantize(execution, line, values);
}

void finish_line(const struct execution *execution, const struct line *line, float *values,
                 bool bias, void *dst, neo_dim dst_step)
{
    const struct problem *problem = execution->problem;
    finish_values(execution, line, values, bias, dst, dst_step);
    if (values != dst)
        line_store(problem->convert, problem->tensors[DST].data_type, dst, 0, dst_step, line->count,
                   values);
}
