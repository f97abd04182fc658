/* Softmax and its logarithm: three passes over a row: its maximum, powers with their sum, and the
 * quotients. */
#include "neoprene/softmax.h"

#include <math.h>
#include <string.h>

#include "kernels/elementwise/f32/binary.h"
#include "kernels/elementwise/f32/eltwise.h"
#include "kernels/elementwise/f32/fold.h"
#include "src/core/checked.h"
#include "src/lines/axis.h"
#include "src/primitive/primitive.h"

struct softmax_parameters {
    uint32_t algorithm; /* neo_softmax */
    int32_t axis;
};

struct softmax_plan {
    struct axis rows; /* first */
    neo_softmax algorithm;
    fold_f32_fn *max;
    exp_sum_f32_fn *exp_sum;
    eltwise_f32_fn *linear;
    binary_f32_fn *multiply;
};

static const struct softmax_parameters *parameters_of(const struct problem *problem)
{
    return (const void *)problem->parameters;
}

static const char *softmax_check(struct problem *problem, bool *unsupported)
{
    (void)unsupported;
    const struct softmax_parameters *p = parameters_of(problem);
    if (p->algorithm > NEO_SOFTMAX_ACCURATE_INF_AS_ZERO)
        return "the algorithm is unknown";
    const char *wrong = lines_check_axis(problem, p->axis);
    return wrong ? wrong : lines_check_same(problem, SRC);
}

static double softmax_estimate(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return lines_cycles(problem, 6);
}

static void softmax_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct softmax_plan *mine = plan;
    mine->algorithm = (neo_softmax)parameters_of(problem)->algorithm;
    mine->max = fold_f32_find(cpu->features, FOLD_F32_MAX)->run;
    mine->exp_sum = exp_sum_f32_find(cpu->features)->run;
    mine->linear = eltwise_f32_find(cpu->features, ELTWISE_F32_LINEAR)->run;
    mine->multiply = binary_f32_find(cpu->features, BINARY_F32_MUL)->run;
    axis_init(&mine->rows, problem, cpu, parameters_of(problem)->axis);
}

static const char *softmax_kernel(const void *plan)
{
    (void)plan;
    return "softmax_f32";
}

static void accurate(const struct axis_row *row)
{
    const struct softmax_plan *plan = (const void *)row->rows;
    size_t n = row->rows->length;
    float *y = row->values, max = plan->max(n, row->x, 0);
    if (plan->algorithm == NEO_SOFTMAX_ACCURATE_INF_AS_ZERO && max == -INFINITY) {
        memset(y, 0, n * sizeof *y);
        return;
    }
    float sum = plan->exp_sum(n, row->x, max, y);
    float factor = 1 / sum;
    plan->multiply(n, y, &factor, 0, y);
}

/* The row itself is still wanted after the sum, so its powers go to a part of it at a time. */
static void logarithm(const struct axis_row *row)
{
    const struct softmax_plan *plan = (const void *)row->rows;
    size_t n = row->rows->length;
    float powers[LINE_MOST], sum = 0, max = plan->max(n, row->x, 0);
    for (size_t from = 0; from < n; from += LINE_MOST)
        sum += plan->exp_sum(min_size(LINE_MOST, n - from), row->x + from, max, powers);
    plan->linear(n, row->x, row->values, 1, -max);
    plan->linear(n, row->values, row->values, 1, -logf(sum));
}

static void softmax_run(const void *plan, const struct execution *execution)
{
    const struct softmax_plan *mine = plan;
    axis_run(&mine->rows, execution, mine->algorithm == NEO_SOFTMAX_LOG ? logarithm : accurate);
}

static const struct algorithm softmax_lines = {
    .name = "lines",
    .quantizes = true,
    .refuse = lines_refuse,
    .choose = lines_choose,
    .estimate = softmax_estimate,
    .plan = softmax_plan,
    .plan_bytes = sizeof(struct softmax_plan),
    .scratch_bytes = axis_scratch_bytes,
    .kernel = softmax_kernel,
    .run = softmax_run,
};

static const struct algorithm *const softmax_algorithms[] = {&softmax_lines};

static const struct operation softmax_operation = {
    .name = "softmax",
    .parameter_bytes = sizeof(struct softmax_parameters),
    .takes_all_types = true,
    .in_place = true,
    .check = softmax_check,
    .check_quantization = lines_check_quantization,
    .algorithms = softmax_algorithms,
    .algorithm_count = count_of(softmax_algorithms),
    .describe = lines_describe,
};

neo_status neo_softmax_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                             neo_prop_kind prop_kind, neo_softmax algorithm,
                                             const neo_memory_desc *src, const neo_memory_desc *dst,
                                             int axis, const neo_attributes *attributes)
{
    neo_status status = lines_check_pointers(__func__, out, !engine || !src || !dst);
    if (status != NEO_OK)
        return status;
    struct softmax_parameters parameters = {(uint32_t)algorithm, axis};
    struct description description = {
        .operation = &softmax_operation,
        .tensors = {[SRC] = src, [DST] = dst},
        .attributes = attributes,
        .prop_kind = prop_kind,
        .parameters = &parameters,
    };
    return primitive_desc_create(out, engine, &description);
}
