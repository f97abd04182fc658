/* Layer normalisation: a row of the last dimension at a time. */
#include <math.h>

#include "kernels/elementwise/f32/binary.h"
#include "kernels/elementwise/f32/eltwise.h"
#include "kernels/elementwise/f32/fold.h"
#include "src/core/checked.h"
#include "src/lines/axis.h"
#include "src/normalization/normalization.h"
#include "src/tensor/descriptor.h"

struct layer_plan {
    struct axis rows; /* first */
    struct normalization_parameters parameters;
    int scale, shift, mean, variance; /* extra tensors, or -1 */
    struct line_type scale_type;
    bool reads_statistics;
    fold_f32_fn *sum, *squares;
    eltwise_f32_fn *linear;
    binary_f32_fn *multiply, *add;
};

static const char *layer_check(struct problem *problem, bool *unsupported)
{
    const struct normalization_parameters *p = normalization_parameters(problem);
    const neo_memory_desc *dst = &problem->tensors[DST];
    const unsigned known = NEO_NORMALIZATION_USE_GLOBAL_STATS | NEO_NORMALIZATION_USE_SCALE |
                           NEO_NORMALIZATION_USE_SHIFT | NEO_NORMALIZATION_RMS;
    if (p->flags & ~known)
        return "a flag is unknown, or not one of layer normalisation's";
    if (dst->ndims < 2)
        return "dst has fewer than two dimensions";
    for (int i = 0; i < problem->extra_count; i++) {
        const struct extra *extra = &problem->extras[i];
        bool is_vector = extra->arg == NEO_ARG_SCALE || extra->arg == NEO_ARG_SHIFT;
        if (is_vector && extra->desc.dims[0] != dst->dims[dst->ndims - 1])
            return "scale or shift does not have a value for each element of a row";
        if (is_vector)
            continue;
        if (extra->desc.ndims != dst->ndims - 1)
            return "the statistics do not have one dimension less than dst";
        for (int d = 0; d < dst->ndims - 1; d++)
            if (extra->desc.dims[d] != dst->dims[d])
                return "the statistics do not have dst's sizes";
    }
    (void)unsupported;
    return lines_check_same(problem, SRC);
}

static double layer_estimate(const struct algorithm *self, const struct problem *problem,
                             const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return lines_cycles(problem, 4);
}

static void layer_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct layer_plan *mine = plan;
    mine->parameters = *normalization_parameters(problem);
    mine->scale = problem_extra(problem, NEO_ARG_SCALE);
    mine->shift = problem_extra(problem, NEO_ARG_SHIFT);
    mine->mean = problem_extra(problem, NEO_ARG_MEAN);
    mine->variance = problem_extra(problem, NEO_ARG_VARIANCE);
    int vector = mine->scale >= 0 ? mine->scale : mine->shift;
    if (vector >= 0)
        mine->scale_type = line_type(problem->extras[vector].desc.data_type, cpu);
    mine->reads_statistics = mine->parameters.flags & NEO_NORMALIZATION_USE_GLOBAL_STATS;
    mine->sum = fold_f32_find(cpu->features, FOLD_F32_SUM)->run;
    mine->squares = fold_f32_find(cpu->features, FOLD_F32_SQUARES)->run;
    mine->linear = eltwise_f32_find(cpu->features, ELTWISE_F32_LINEAR)->run;
    mine->multiply = binary_f32_find(cpu->features, BINARY_F32_MUL)->run;
    mine->add = binary_f32_find(cpu->features, BINARY_F32_ADD)->run;
    axis_init(&mine->rows, problem, cpu, problem->tensors[DST].ndims - 1);
}

static const char *layer_kernel(const void *plan)
{
    (void)plan;
    return "layer_normalization_f32";
}

/* One value of the statistics; NULL if this one is no argument. */
static float *statistic(const struct axis_row *row, int extra)
{
    if (extra < 0)
        return NULL;
    const neo_memory_desc *desc = &row->execution->problem->extras[extra].desc;
    return (float *)row->execution->extras[extra] + desc_offset(desc, row->position);
}

static struct moments make_moments(const struct axis_row *row)
{
    const struct layer_plan *plan = (const void *)row->rows;
    size_t n = row->rows->length;
    bool is_rms = plan->parameters.flags & NEO_NORMALIZATION_RMS;
    float *mean = statistic(row, plan->mean), *variance = statistic(row, plan->variance);
    if (plan->reads_statistics)
        return (struct moments){is_rms ? 0 : *mean, *variance};
    struct moments m = {is_rms ? 0 : plan->sum(n, row->x, 0) / (float)n, 0};
    m.variance = plan->squares(n, row->x, m.mean) / (float)n;
    if (mean)
        *mean = m.mean;
    if (variance)
        *variance = m.variance;
    return m;
}

/* Scale or shift, if it is there. */
static void apply_vector(const struct axis_row *row, int extra, binary_f32_fn *run)
{
    const struct layer_plan *plan = (const void *)row->rows;
    float buffer[LINE_MOST];
    for (size_t from = 0; extra >= 0 && from < row->rows->length; from += LINE_MOST) {
        size_t count = min_size(LINE_MOST, row->rows->length - from);
        const void *data = line_at(&plan->scale_type, row->execution->extras[extra], (neo_dim)from);
        float *values = row->values + from;
        run(count, values, lines_load(&plan->scale_type, data, 1, count, buffer), 1, values);
    }
}

static void normalize(const struct axis_row *row)
{
    const struct layer_plan *plan = (const void *)row->rows;
    size_t n = row->rows->length;
    struct moments m = make_moments(row);
    float factor = 1 / sqrtf(m.variance + plan->parameters.epsilon);
    plan->linear(n, row->x, row->values, 1, -m.mean);
    plan->linear(n, row->values, row->values, factor, 0);
    apply_vector(row, plan->scale, plan->multiply);
    apply_vector(row, plan->shift, plan->add);
}

static void layer_run(const void *plan, const struct execution *execution)
{
    axis_run(plan, execution, normalize);
}

static const struct algorithm layer_lines = {
    .name = "lines",
    .quantizes = true,
    .refuse = lines_refuse,
    .choose = lines_choose,
    .estimate = layer_estimate,
    .plan = layer_plan,
    .plan_bytes = sizeof(struct layer_plan),
    .scratch_bytes = axis_scratch_bytes,
    .kernel = layer_kernel,
    .run = layer_run,
};

static const struct algorithm *const layer_algorithms[] = {&layer_lines};

static const struct operation layer_operation = {
    .name = "layer_normalization",
    .parameter_bytes = sizeof(struct normalization_parameters),
    .takes_all_types = true,
    .in_place = true,
    .writes = normalization_writes,
    .check = layer_check,
    .check_quantization = lines_check_quantization,
    .algorithms = layer_algorithms,
    .algorithm_count = count_of(layer_algorithms),
    .describe = lines_describe,
};

neo_status neo_layer_normalization_primitive_desc_create(
    neo_primitive_desc **out, neo_engine *engine, neo_prop_kind prop_kind,
    const neo_memory_desc *src, const neo_memory_desc *dst, const neo_memory_desc *statistics,
    neo_data_type scale_shift_type, float epsilon, unsigned flags, const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !src || !dst);
    if (status != NEO_OK)
        return status;
    struct normalization n = {
        .operation = &layer_operation,
        .engine = engine,
        .prop_kind = prop_kind,
        .src = src,
        .dst = dst,
        .scale_shift_type = scale_shift_type,
        .parameters = {epsilon, flags, 0},
        .attributes = attributes,
    };
    if (dst->ndims > 0 && dst->ndims <= NEO_MAX_NDIMS) {
        n.channels = dst->dims[dst->ndims - 1];
        n.statistics = statistics ? *statistics : normalization_statistics(dst, dst->ndims - 1);
    }
    return normalization_create(out, &n);
}
